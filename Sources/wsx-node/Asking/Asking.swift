import PeerNode
import WorkspaceModel

/// Asks for confirmation before a command that cannot be undone, naming its target.
///
/// The question comes after every check that changes nothing: what the node refuses
/// anyway needs no question.
struct Asking: SessionPart {
    var scan: ArgumentScan
    let environment: [String: String]
    let io: any ProgramIO

    /// A confirmation.
    private struct Question {
        let text: String
        /// What did not happen, shown after a no.
        let undone: String
        /// The word to type; `nil` for a plain yes.
        var word: String?
    }

    /// Gets the yes that an irreversible command needs, as `consent` says.
    ///
    /// - Throws: exit status 2 after a no, or if nobody may be asked.
    func ask(before command: Command, _ parameters: JSONObject) throws(NodeError) {
        let consent = consent(isSevere: command.line?.question?.isSevere == true)
        guard consent != .given, let question = try question(before: command, parameters) else {
            return
        }
        guard consent == .asked else { throw unconfirmed }
        let answer = io.ask(question.text) ?? ""
        let isMeant =
            question.word.map { $0 == answer } ?? ["y", "yes"].contains(answer.lowercased())
        guard isMeant else {
            throw .usage("nothing was \(question.undone)")
        }
    }

    /// - Returns: `nil` if no question is needed, or the node will refuse.
    private func question(
        before command: Command, _ parameters: JSONObject
    ) throws(NodeError) -> Question? {
        switch command.line?.question {
        case .deletesWorkspace: return try aboutDeleting(parameters)
        case .transfersWorkspace: return try aboutTransferring(parameters)
        case .transfersChannel: return try aboutTransferringChannel(parameters)
        case .leavesWorkspace:
            let workspace = try workspaceObject(parameters)
            guard try mayLeave(workspace) else { return nil }
            return yes("Leave \(shown(workspace["name"]))?", "done")
        case .forgetsWorkspace:
            guard let workspace = try forgotten(parameters) else { return nil }
            return yes(
                "Remove \(shown(workspace["name"])) and its data from this device?", "removed")
        case .deletesChannel: return try aboutDeletingChannel(parameters)
        case .removesMember where parameters["recut"]?.boolValue != true:
            return try aboutRemoving(parameters)
        case .revokesDevice: return try aboutRevoking(parameters)
        case .deletesMessage where parameters["undo"]?.boolValue != true:
            return try aboutDeletingMessage(parameters)
        case .purgesNote where parameters["purge"]?.boolValue == true:
            return try aboutPurging(parameters)
        case .logsOut: return aboutLoggingOut(parameters["wipe"]?.stringValue)
        case .removesPassphrase where parameters["remove"]?.boolValue == true:
            guard try called("session.status", [:], [])["passphrase"] == true else { return nil }
            return yes(
                "Remove the passphrase? Your keys will be stored on this disk unprotected.",
                "changed")
        default: return nil
        }
    }

    private func yes(_ text: String, _ undone: String) -> Question {
        Question(text: text + " [y/N] ", undone: undone)
    }

    // MARK: One by one

    private func aboutDeleting(_ parameters: JSONObject) throws(NodeError) -> Question? {
        let workspace = try workspaceObject(parameters, isCounted: true)
        guard workspace["role"] == "owner", workspace["deleted"] == false,
            let name = workspace["name"]?.stringValue, parameters["name"]?.stringValue == name
        else { return nil }
        func many(_ field: String, _ one: String, _ several: String) -> String {
            let count = workspace[field]?.integerValue ?? 0
            return "\(count) \(count == 1 ? one : several)"
        }
        let lost = [
            many("members", "person", "people"), many("channels", "channel", "channels"),
            many("messages", "message", "messages"),
        ].joined(separator: ", ")
        let safe = sanitised(name)
        return Question(
            text: """
                This deletes \(safe) for everyone: \(lost). It cannot be undone.
                Type the name of the workspace to delete it: 
                """, undone: "deleted", word: name)
    }

    private func aboutRemoving(_ parameters: JSONObject) throws(NodeError) -> Question? {
        let member = try called("member.get", parameters, ["member", "workspace"])
        let workspace = try workspaceObject(parameters)
        guard let role = workspace["role"]?.stringValue, ["owner", "admin"].contains(role),
            member["self"] != true, member["removed"] != true,
            Self.reaches(role, member["role"]?.stringValue ?? "")
        else { return nil }
        let who = "\(shown(member["name"])) (\(shown(member["role"])))"
        return yes("Remove \(who) from \(shown(workspace["name"]))?", "done")
    }

    private func aboutTransferring(_ parameters: JSONObject) throws(NodeError) -> Question? {
        let member = try called("member.get", parameters, ["member", "workspace"])
        let workspace = try workspaceObject(parameters)
        guard workspace["role"] == "owner", member["self"] != true, member["removed"] != true,
            member["role"] != "guest"
        else { return nil }
        return yes(
            "Make \(shown(member["name"])) the owner of \(shown(workspace["name"]))? You stay as "
                + "an admin, and only the new owner can give it back.", "changed")
    }

    private func aboutTransferringChannel(_ parameters: JSONObject) throws(NodeError) -> Question? {
        let channel = try called("channel.get", parameters, ["channel", "workspace"])
        let place = channel["workspace"] ?? .null
        let workspace = try workspaceObject(["workspace": place])
        guard let actor = try actor(in: workspace), Self.allows(.manage, in: channel, to: actor)
        else { return nil }
        let isPrivate = channel["private"] == true
        let given: JSONObject = ["member": parameters["member"] ?? .null, "workspace": place]
        let member = try called("member.get", given, ["member", "workspace"])
        guard member["id"] != channel["owner"]?["id"], member["removed"] != true,
            isPrivate || member["role"] != "guest"
        else { return nil }
        let admins = actor.isAdmin ? " or an admin" : " or an admin of the workspace"
        let others = isPrivate ? "" : admins
        return yes(
            "Make \(shown(member["name"])) the owner of #\(shown(channel["name"]))? Only the new "
                + "owner\(others) can change that again.", "changed")
    }

    private func aboutDeletingChannel(_ parameters: JSONObject) throws(NodeError) -> Question? {
        let channel = try called("channel.get", parameters, ["channel", "workspace"])
        let workspace = try workspaceObject(["workspace": channel["workspace"] ?? .null])
        guard channel["default"] != true, let actor = try actor(in: workspace),
            Self.allows(.manage, in: channel, to: actor)
        else { return nil }
        return yes("Delete #\(shown(channel["name"])) and everything said in it?", "deleted")
    }

    private func aboutRevoking(_ parameters: JSONObject) throws(NodeError) -> Question? {
        let wanted = parameters["device"]?.stringValue ?? ""
        let found = Self.devices(wanted, among: try ownDevices(parameters))
        guard found.isEmpty else {
            guard found.count == 1, let device = found.first, device["self"] != true else {
                return nil
            }
            return aboutRevoking(device, of: "")
        }
        // Another member's device is named by its id, and only admins may revoke it.
        let role = try workspaceObject(parameters)["role"]
        guard role == "owner" || role == "admin",
            let other = try foreignDevice(wanted, parameters)
        else { return nil }
        return aboutRevoking(other.device, of: "\(shown(other.owner["name"]))'s ")
    }

    private func aboutRevoking(_ device: JSONValue, of owner: String) -> Question? {
        guard device["revoked"] != true else { return nil }
        let added = " (added \(rendering.momentInSentence(device["added_at"])))"
        let name = "\(owner)\"\(shown(device["name"]))\""
        return yes("Revoke \(name)\(added)? It can never come back.", "done")
    }

    private func aboutDeletingMessage(_ parameters: JSONObject) throws(NodeError) -> Question? {
        var given = JSONObject()
        given["ids"] = parameters["message"].map { .array([$0]) }
        given["workspace"] = parameters["workspace"]
        var client = try client()
        let page = try client.call("message.get", given)
        guard let message = page["items"]?.arrayValue?.first,
            message["deleted"]?.isNull != false
        else { return nil }
        let isOwn = message["self"]?.boolValue == true
        // What you take back is yours: severe is only the deletion of what others said.
        guard !isOwn || io.isInputTerminal else { return nil }
        if !isOwn, try !mayDeleteOthers(message) { return nil }
        return yes("Delete \(rendering.summary(message)) for everyone?", "deleted")
    }

    private func aboutPurging(_ parameters: JSONObject) throws(NodeError) -> Question? {
        let note = try called("note.get", parameters, ["note", "in", "workspace"])
        return yes(
            "Erase all of the note \(shown(note["title"])) everywhere? It cannot be undone.",
            "erased")
    }

    /// Whether the caller administers the channel of a message.
    private func mayDeleteOthers(_ message: JSONValue) throws(NodeError) -> Bool {
        let place: JSONObject = [
            "workspace": message["workspace"] ?? .null, "channel": message["channel"] ?? .null,
        ]
        guard let actor = try actor(in: try workspaceObject(place)) else { return false }
        let channel = try called("channel.get", place, ["channel", "workspace"])
        return Self.allows(.change, in: channel, to: actor)
    }

    private func aboutLoggingOut(_ wipe: String?) -> Question? {
        switch wipe {
        case "messages":
            yes("Erase all messages on this device? What others have comes back later.", "erased")
        case "all":
            yes(
                "Erase everything in this home, your keys too? You can come back only with "
                    + "another device of yours or your 24 words.", "erased")
        default: nil
        }
    }

    // MARK: Looking

    /// The workspace that a name means where it is removed from this device: among several, the one
    /// with an ended membership.
    private func forgotten(_ parameters: JSONObject) throws(NodeError) -> JSONValue? {
        let workspace = try workspaceObject(parameters)
        guard workspace["state"] == "member" else { return workspace }
        let name = workspace["name"]?.stringValue ?? ""
        guard NameFolding.matches(parameters["workspace"]?.stringValue ?? "", name) else {
            return nil
        }
        return try every("workspace.list", [:]).first {
            $0["state"] != "member" && NameFolding.matches($0["name"]?.stringValue ?? "", name)
        }
    }

    private func shown(_ value: JSONValue?) -> String {
        rendering.fitting(sanitised(value?.stringValue ?? ""))
    }

    private func workspaceObject(
        _ parameters: JSONObject, isCounted: Bool = false
    ) throws(NodeError) -> JSONValue {
        var given = parameters
        given["counted"] = isCounted ? true : nil
        return try called("workspace.get", given, ["workspace", "counted"])
    }

    private func called(
        _ method: String, _ parameters: JSONObject, _ names: [String]
    ) throws(NodeError) -> JSONValue {
        var given = JSONObject()
        for name in names { given[name] = parameters[name] }
        var client = try client()
        return try client.call(method, given)
    }
}
