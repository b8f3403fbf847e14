import PeerNode
import WorkspaceModel

/// Single objects for people: a line for each property, without empty fields.
extension Rendering {
    /// An answer with one object, or `nil` if it has another form.
    func object(_ value: JSONValue, as shape: Command.Shape) -> String? {
        switch shape {
        case .workspace: workspace(value)
        case .successor: successor(value)
        case .identity where value["phrase"] != nil: nil
        case .identity: identity(value)
        case .deviceLink where value["link"] == nil:
            "this device is now linked to \(shown(value["name"]))\n" + identity(value)
        case .recoveredWorkspace: recovered(value, name: nil)
        case .newPhrase: newPhrase(value)
        case .revokedDevice:
            devices(value, value["changed"] == false ? "already revoked:" : "revoked")
        case .renamedDevice: devices(value, "renamed")
        case .network: network(value)
        case .channel: channel(value)
        case .member: member(value)
        case .profile: profile(value)
        case .emailCheck: emailCheck(value)
        case .emailClaim: emailClaim(value)
        case .accountClaim: accountClaim(value)
        case .presence: presence(value)
        case .session: session(value)
        case .channelRoles: channelRoles(value)
        case .memberRole: "\(shown(value["name"])) is now \(withArticle(value["role"]))\n"
        case .removedMember: removed(value)
        case .deletedMessage: deletedMessage(value)
        case .removedPeer: removedPeer(value)
        case .backup: backup(value)
        case .policy: policy(value)
        case .notice: notice(value)
        default: nil
        }
    }

    private func workspace(_ workspace: JSONValue) -> String {
        var rows: [(String, String)] = [("name", shown(workspace["name"]))]
        rows.append(("id", shown(workspace["id"])))
        if let text = workspace["description"]?.stringValue {
            rows.append(("about", sanitised(text)))
        }
        if let image = workspace["image"]?.stringValue { rows.append(("image", sanitised(image))) }
        if let role = workspace["role"]?.stringValue { rows.append(("you are", sanitised(role))) }
        rows.append(("owner", shown(workspace["owner"]?["name"])))
        rows.append(("members", shown(workspace["members"])))
        rows.append(("channels", shown(workspace["channels"])))
        rows.append(("created", moment(workspace["created_at"])))
        if workspace["successor"]?.isNull == false {
            rows.append(("successor", shown(workspace["successor"]?["name"])))
        }
        if let address = workspace["address"]?.stringValue {
            rows.append(("address", sanitised(address)))
        }
        if let payment = payment(workspace["payment"]) { rows.append(("payment", payment)) }
        rows.append(("digest", shown(workspace["digest"])))
        if workspace["selected"] == true { rows.append(("selected", "yes")) }
        if workspace["deleted"] == true { rows.append(("deleted", deletion(workspace))) }
        return lines(rows) + note(workspace)
    }

    /// A role in a sentence: `a member`, `an admin`, `the owner`.
    private func withArticle(_ role: JSONValue?) -> String {
        let word = shown(role)
        let article = word == "owner" ? "the" : word == "admin" ? "an" : "a"
        return "\(article) \(word)"
    }

    private func deletedMessage(_ message: JSONValue) -> String {
        guard let deleted = message["deleted"], !deleted.isNull else { return "restored\n" }
        guard deleted["by"]?["id"] != message["author"]?["id"] else {
            return "deleted for everyone: your message from \(momentInSentence(message["at"]))\n"
        }
        return "deleted for everyone, and erased after a day: "
            + "\(person(message["author"]))'s message from \(momentInSentence(message["at"]))\n"
            + "  to undo: "
            + hints.text("wsx-node message delete \(shown(message["id"])) --undo\n")
    }

    private func deletion(_ workspace: JSONValue) -> String {
        let names = (workspace["acknowledged"]?.arrayValue ?? []).map { row in
            let device = shortID(row["device"])
            guard row["member"]?.isNull == false else { return device }
            return "\(shown(row["member"]?["name"])) (\(device))"
        }
        return "for everyone it reaches; "
            + (names.isEmpty ? "no other device has confirmed it yet" : "confirmed by ")
            + names.joined(separator: ", ")
    }

    /// The sentence about the end of your membership, in two halves.
    private func note(_ workspace: JSONValue) -> String {
        guard let text = workspace["note"]?.stringValue else { return "" }
        let bytes = text.utf8
        guard let end = bytes.firstIndex(of: UInt8(ascii: ";")) else {
            return "! \(sanitised(text))\n"
        }
        let rest = text[bytes.index(after: end)...].drop { $0 == " " }
        return "! \(sanitised(String(text[..<end])))\n  \(sanitised(String(rest)))\n"
    }

    private func successor(_ workspace: JSONValue) -> String {
        let heir =
            workspace["successor"]?.isNull == false
            ? shown(workspace["successor"]?["name"]) : "nobody"
        return "\(heir) takes over \(shown(workspace["name"])) when its owner leaves\n"
    }

    private func newPhrase(_ answer: JSONValue) -> String {
        func names(_ field: String) -> [String] {
            (answer[field]?.arrayValue ?? []).map { shown($0["name"]) }
        }
        let done = names("done")
        let replaced =
            done.isEmpty
            ? ""
            : "your recovery phrase was replaced in \(done.joined(separator: ", ")). "
                + "The old words no longer work there\n"
        return replaced
            + (answer["left"]?.arrayValue ?? []).map {
                "! not in \(shown($0["name"])): \(shown($0["message"]))\n"
            }.joined()
    }

    /// - Parameter name: that of the person who has just recovered their identity, if known.
    func recovered(_ workspace: JSONValue, name: String?) -> String {
        let name = name.map { " \(fitting(sanitised($0))):" } ?? ""
        return "welcome back,\(name) this is now a device of yours in \(shown(workspace["name"])), "
            + "role \(shown(workspace["role"]))\n"
            + "  for each of your other workspaces, run this with an invite link to it:\n"
            + hints.text("  wsx-node identity recover LINK\n")
    }

    private func identity(_ identity: JSONValue) -> String {
        guard identity["locked"] != true else {
            return lines([
                ("device", shown(identity["id"])),
                ("locked", hints.text("yes: wsx-node session unlock")),
            ])
        }
        var rows: [(String, String)] = [
            ("name", shown(identity["name"])), ("device", shown(identity["id"])),
            ("created", moment(identity["created_at"])),
            ("recovery", hints.text(recovery(identity["recovery"]?.stringValue))),
            ("passphrase", identity["passphrase"] == true ? "protects the keys" : "none"),
        ]
        for member in identity["members"]?.arrayValue ?? [] {
            let name = member["name"]?.stringValue ?? member["workspace"]?.stringValue ?? "-"
            rows.append(("in", "\(sanitised(name)) as \(shown(member["member"]))"))
        }
        return lines(rows)
    }

    private func recovery(_ state: String?) -> String {
        switch state {
        case "shown": "you have seen the phrase; it is not stored here"
        case "unshown": "the phrase has not been shown yet: wsx-node identity show --phrase"
        case "elsewhere": "the phrase of your first device works here too"
        case "lost": "no recovery phrase: it was not shown in time; link a second device"
        default: "no recovery phrase; link a second device: wsx-node device link"
        }
    }

    private func network(_ network: JSONValue) -> String {
        let peers = network["peers"]
        return lines([
            ("network", networkState(network)),
            ("listening", shown(network["listen"])),
            ("announces", shown(network["announce"])),
            (
                "peers",
                "\(shown(peers?["connected"])) connected, \(shown(peers?["waiting"])) waiting"
            ),
        ])
    }

    private func networkState(_ network: JSONValue) -> String {
        if network["failure"]?.stringValue != nil { return shown(network["failure"]) }
        return network["suspended"] == true ? "suspended" : "on"
    }

    /// By name if there is one, else by address.
    private func removedPeer(_ peer: JSONValue) -> String {
        let name = peer["name"]?.stringValue ?? peer["member"]?["name"]?.stringValue
        let called = [name, peer["address"]?.stringValue].compactMap { $0.map(sanitised) }
        return "removed \(called.isEmpty ? shortID(peer["id"]) : called.joined(separator: ", "))\n"
    }

    private func channelRoles(_ channel: JSONValue) -> String {
        let admins = (channel["admins"]?.arrayValue ?? []).map { shown($0["name"]) }
        return "#\(shown(channel["name"])): owner \(shown(channel["owner"]?["name"])), admins "
            + (admins.isEmpty ? "none" : admins.joined(separator: ", ")) + "\n"
    }

    private func removed(_ member: JSONValue) -> String {
        let name = shown(member["name"])
        if let kept = member["kept"]?.integerValue {
            guard kept == 0 else {
                return "now kept: \(kept) operations by \(name) that had been refused\n"
            }
            return "all that has arrived from \(name) is already kept; nothing was changed\n"
                + "  what only their own devices have is out of reach: nothing they send is accepted\n"
        }
        var text = "\(name) was removed. Their messages up to now stay; later ones are rejected\n"
        let ended = (member["ended_invites"]?.arrayValue ?? []).map(shortID)
        if !ended.isEmpty {
            text += "  their open invites, which have ended: \(ended.joined(separator: ", "))\n"
        }
        let open = (member["open_invites"]?.arrayValue ?? []).map(shortID)
        if !open.isEmpty {
            text += "  invites still open, made with a stronger role than yours: "
            text += "\(open.joined(separator: ", "))\n"
        }
        let kept = (member["kept_invites"]?.arrayValue ?? []).map(shown)
        if !kept.isEmpty { text += "  invites now yours: \(kept.joined(separator: ", "))\n" }
        return text + "  devices that have applied it: "
            + hints.text("wsx-node member status \(shown(member["id"]))\n")
    }

    /// The result for a device in each workspace, and the command for the rest.
    private func devices(_ device: JSONValue, _ done: String) -> String? {
        guard let all = device["workspaces"]?.arrayValue, !all.isEmpty else { return nil }
        return all.map { row in
            let name = shown(row["name"])
            guard row["done"] != true else {
                return "\(done) \(shown(device["name"])) in \(name)  \(shown(device["id"]))\n"
            }
            return "not in \(name): \(shown(row["message"]))\n  \(hints.text(shown(row["hint"])))\n"
        }.joined() + elsewhere(device)
    }

    /// Where else a revoked device must be revoked: it may still act there.
    private func elsewhere(_ device: JSONValue) -> String {
        let others = (device["still_in"]?.arrayValue ?? []).map { shown($0["name"]) }
        var text = ""
        if !others.isEmpty {
            text += "  it can still act in: \(others.joined(separator: ", "))\n"
        }
        if device["certified"] == true {
            text += """
                  a recovery phrase vouches for this device in every workspace: revoke it in each
                  one it is in, including those this home does not know

                """
        }
        guard !text.isEmpty, let first = others.first else { return text }
        let workspace = NodeError.shellWord(first)
        return text + "  "
            + hints.text("wsx-node -w \(workspace) device revoke \(shown(device["id"]))\n")
    }
}
