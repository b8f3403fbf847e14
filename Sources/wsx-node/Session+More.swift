import PeerNode
import WorkspaceModel

/// Additional remarks for a person at a terminal, on standard error.
extension SessionPart {
    /// Whether a person reads along: programs take what they need from the answer itself.
    private var hasReader: Bool {
        io.isOutputTerminal && !globals.json && !globals.plain && !globals.quiet
    }

    /// Reports that nothing had to change.
    func tellUnchanged(_ result: JSONValue) {
        guard hasReader, result["changed"] == false else { return }
        io.tell("nothing changed\n")
    }

    /// Reports that a list continues, which would go unnoticed otherwise.
    func tellMore(_ result: JSONValue, _ command: Command) {
        guard command.parameters.contains(where: { $0.name == "cursor" }), result.has("next")
        else { return }
        tellMore("there is more", "cursor", result["next"])
    }

    /// Reports how to read on in the history.
    func tellMore(_ what: String, _ flag: String, _ place: JSONValue?) {
        guard hasReader, let place = place?.stringValue else { return }
        io.tell("\(what): add --\(flag) \(sanitised(place))\n")
    }

    /// Explains that filters are flags, if a query with filters in it found nothing.
    func tellFilters(in query: String) {
        guard !globals.json, !globals.plain, !globals.quiet else { return }
        let flags = SearchFilterWords.flags(in: query)
        guard !flags.isEmpty else { return }
        io.tell("hint: use flags to filter: \(sanitised(flags.joined(separator: " ")))\n")
    }

    /// Warns that open invite links still admit anyone who has them.
    func tellOpenInvites(_ client: inout ControlClient) {
        guard !globals.json, !globals.plain, !globals.quiet else { return }
        var given: JSONObject = ["limit": 1_000]
        given["workspace"] = workspace.map { .string($0) }
        let invites = (try? client.call("invite.list", given))?["items"]?.arrayValue ?? []
        let open = invites.count { $0["state"] == "open" && $0["approve"] != true }
        guard open > 0 else { return }
        let how = rendering.hints.text("wsx-node invite list")
        io.tell(
            "note: \(open) open invite\(open == 1 ? " lets" : "s let") anyone with the link join: "
                + "\(how), then invite revoke\n")
    }

    /// Lists the devices of a person who has just recovered: only they can revoke a lost one.
    func tellOwnDevices(_ workspace: JSONValue, _ client: inout ControlClient) {
        guard !globals.json, !globals.plain, !globals.quiet, let id = workspace["id"] else {
            return
        }
        let devices = (try? client.call("device.list", ["workspace": id, "limit": 1_000]))?["items"]
        let others = (devices?.arrayValue ?? []).filter { device in
            device["self"] != true && device["revoked"] != true && device["recovery"] != true
        }
        guard !others.isEmpty else { return }
        let names = others.compactMap { $0["name"]?.stringValue }.map(sanitised)
        let how = rendering.hints.text("wsx-node device lost")
        io.tell(
            "your other devices there: \(names.joined(separator: ", "))\n"
                + "revoke any that you have lost: \(how)\n")
    }

    /// Explains how your other devices join a new workspace.
    func tellOtherDevices(_ workspace: JSONValue, _ client: inout ControlClient) {
        guard hasReader, let page = try? client.call("workspace.list", ["limit": 1_000]) else {
            return
        }
        let others = (page["items"]?.arrayValue ?? []).compactMap { $0["id"] }
        for id in others where id != workspace["id"] {
            let devices = try? client.call("device.list", ["workspace": id])
            let isAway = (devices?["items"]?.arrayValue ?? []).contains { device in
                device["self"] != true && device["revoked"] != true && device["recovery"] != true
            }
            guard isAway else { continue }
            let how = rendering.hints.text("wsx-node device link")
            io.tell("your other devices are not in it yet: \(how) adds them\n")
            return
        }
    }
}

/// Filters inside a query, as in other programs.
enum SearchFilterWords {
    private static let words = ["from", "in", "after", "before", "has"]

    /// The flags for filters such as `from:mina`.
    static func flags(in query: String) -> [String] {
        query.split(separator: " ").compactMap { word in
            let parts = word.split(separator: ":", maxSplits: 1)
            guard parts.count == 2, let name = words.first(where: { $0 == parts[0].lowercased() })
            else { return nil }
            return "--\(name) \(NodeError.shellWord(String(parts[1])))"
        }
    }
}

extension JSONValue {
    /// Whether a field exists and is not null.
    func has(_ field: String) -> Bool { self[field].map { !$0.isNull } ?? false }
}
