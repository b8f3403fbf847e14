import PeerNode
import WorkspaceModel

/// Shows a part of a channel's history, with the context of replies.
struct LogShowing: SessionPart {
    var scan: ArgumentScan
    let environment: [String: String]
    let io: any ProgramIO

    /// How many further pages are read until there is enough to show.
    private static let morePagesMax = 5

    func log(_ command: Command) throws(NodeError) -> Int32 {
        let parameters = try parameters(for: command)
        guard !globals.json, !globals.plain else {
            return try callAndPrint(command, parameters)
        }
        var client = try client()
        var result = try client.call(command.name, parameters)
        var items = result["items"]?.arrayValue ?? []
        var rendering = rendering
        if let thread = parameters["thread"] {
            readOwnNames(for: items, &client, into: &rendering)
            var lastDay: Int64?
            // A reply as the argument shows its thread, from the first message on.
            let first = items.first?["thread"] ?? thread
            let root = items.contains { $0["id"] == first } ? [] : messages([first], &client)
            let all = root + items
            let text = rendering.messages(all, lastDay: &lastDay, namesChannel: false)
            show(text.isEmpty ? rendering.text(result, of: command.name) : text, isLong: true)
            return status(of: result)
        }
        let hasOlder = try fill(&items, of: result, parameters, &client)
        let hasNewer = (parameters["after"] ?? parameters["around"]) != nil && result.has("newer")
        readOwnNames(for: items, &client, into: &rendering)
        rendering.threadRoots = roots(of: items, &client)
        result = .object(["items": .array(items)])
        // With a place given, the log continues from there; by default it shows the latest
        // messages.
        let isFromPlace = ["after", "around", "since"].contains { parameters[$0] != nil }
        show(
            rendering.text(result, of: command.name), isLong: true, opensAtEnd: !isFromPlace)
        if hasOlder, let first = items.first {
            tellMore("there are older messages", "before", first["id"])
        }
        if hasNewer, let last = items.last {
            tellMore("there are newer messages", "after", last["id"])
        }
        return status(of: result)
    }

    /// `message show`: messages by id, with the thread roots of replies.
    func showMessages(_ command: Command) throws(NodeError) -> Int32 {
        var client = try client()
        let result = try client.call(command.name, try parameters(for: command))
        var rendering = rendering
        if !globals.json, !globals.plain {
            let items = result["items"]?.arrayValue ?? []
            readOwnNames(for: items, &client, into: &rendering)
            rendering.threadRoots = roots(of: items, &client)
        }
        show(rendering.text(result, of: command.name))
        return status(of: result)
    }

    /// Reads older pages, since replies are folded into their threads, until there are as many
    /// messages as requested. A given place in the past shows its page only.
    ///
    /// - Returns: whether there are older ones.
    private func fill(
        _ items: inout [JSONValue], of first: JSONValue, _ parameters: JSONObject,
        _ client: inout ControlClient
    ) throws(NodeError) -> Bool {
        guard parameters["after"] == nil else { return false }
        guard parameters["around"] == nil else { return first.has("older") }
        let wanted = items.count
        var older = first["older"]
        var given = parameters
        for _ in 0..<Self.morePagesMax {
            guard Self.shown(items).count < wanted, let place = older, !place.isNull else { break }
            given["before"] = place
            let page = try client.call("message.history", given)
            items = (page["items"]?.arrayValue ?? []) + items
            older = page["older"]
        }
        let visible = Self.shown(items)
        guard visible.count > wanted, let begin = visible.dropLast(wanted - 1).last, begin > 0
        else {
            return older.map { !$0.isNull } ?? false
        }
        items.removeFirst(begin)
        return true
    }

    /// The indexes of the messages that are not replies to others among them.
    private static func shown(_ items: [JSONValue]) -> [Int] {
        let ids = Set(items.compactMap { $0["id"]?.stringValue })
        return items.indices.filter { index in
            items[index]["thread"]?.stringValue.map { !ids.contains($0) } ?? true
        }
    }

    /// The thread roots that are missing among those messages.
    func roots(
        of items: [JSONValue], in workspace: JSONValue? = nil, _ client: inout ControlClient
    ) -> [String: JSONValue] {
        let ids = Set(items.compactMap { $0["id"]?.stringValue })
        var missing: [JSONValue] = []
        for thread in items.compactMap({ $0["thread"]?.stringValue })
        where !ids.contains(thread) && !missing.contains(.string(thread)) {
            missing.append(.string(thread))
        }
        var roots: [String: JSONValue] = [:]
        for root in messages(missing, in: workspace, &client) {
            if let id = root["id"]?.stringValue { roots[id] = root }
        }
        return roots
    }

    /// How many messages are requested per call.
    private static let idsPerCallMax = 100

    /// Messages by id; unavailable ones are left out.
    func messages(
        _ ids: [JSONValue], in workspace: JSONValue? = nil, _ client: inout ControlClient
    ) -> [JSONValue] {
        var found: [JSONValue] = []
        var rest = ids[...]
        while !rest.isEmpty {
            let part = rest.prefix(Self.idsPerCallMax)
            rest = rest.dropFirst(part.count)
            // If one is missing, or they are too long for one answer, each is requested separately.
            found +=
                fetch(Array(part), in: workspace, &client)
                ?? part.flatMap { fetch([$0], in: workspace, &client) ?? [] }
        }
        return found
    }

    private func fetch(
        _ ids: [JSONValue], in workspace: JSONValue?, _ client: inout ControlClient
    ) -> [JSONValue]? {
        var given: JSONObject = ["ids": .array(ids)]
        given["workspace"] = workspace ?? self.workspace.map { .string($0) }
        return (try? client.call("message.get", given))?["items"]?.arrayValue
    }
}
