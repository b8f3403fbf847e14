import PeerNode
import WorkspaceModel

/// What somebody at a terminal is told besides an answer, on standard error.
extension SessionPart {
    /// Whether a person reads along: programs take what they need from the answer itself.
    private var hasReader: Bool {
        io.isOutputTerminal && !globals.json && !globals.plain && !globals.quiet
    }

    /// Says that all was as it should become.
    func tellUnchanged(_ result: JSONValue) {
        guard hasReader, result["changed"] == false else { return }
        io.tell("nothing changed\n")
    }

    /// Says that a list goes on, which nobody would see otherwise.
    func tellMore(_ result: JSONValue, _ command: Command) {
        guard command.parameters.contains(where: { $0.name == "cursor" }), result.has("next")
        else { return }
        tellMore("there is more", "cursor", result["next"])
    }

    /// Says where a part of the past goes on.
    func tellMore(_ what: String, _ flag: String, _ place: JSONValue?) {
        guard hasReader, let place = place?.stringValue else { return }
        io.tell("\(what): add --\(flag) \(sanitised(place))\n")
    }

    /// Says that filters are flags, to whoever found nothing with them in the query.
    func tellFilters(in query: String) {
        guard !globals.json, !globals.plain, !globals.quiet else { return }
        let flags = SearchFilterWords.flags(in: query)
        guard !flags.isEmpty else { return }
        io.tell("hint: use flags to filter: \(sanitised(flags.joined(separator: " ")))\n")
    }

    /// Says that links which are still open let in whoever has them.
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

    /// Names the devices of somebody who has come back by the phrase: one that was lost is revoked by
    /// nobody else.
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

    /// Says how one's other devices come into a workspace that is new.
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

/// Filters as other programs want them inside a query.
enum SearchFilterWords {
    private static let words = ["from", "in", "after", "before", "has"]

    /// The flags that say what words such as `from:mina` were to say.
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
    /// Whether a field is there and says something.
    func has(_ field: String) -> Bool { self[field].map { !$0.isNull } ?? false }
}
