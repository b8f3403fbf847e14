import PeerNode
import WorkspaceModel

/// Looking back: messages before the first one on the screen, and whole threads. They are printed
/// below the conversation, with ids, since numbers count only live messages.
extension Chat {
    /// Messages per page of history.
    var pageSize: Int { hasReader ? min(max(screen.rows - 4, 5), 100) : 1 }

    /// Shows the messages before the oldest one shown.
    func tellOlder() throws(NodeError) {
        guard let place = room.older else { return remark("there is nothing older here") }
        let page = try call(
            "message.history",
            [
                "channel": .string(room.id), "before": .string(place),
                "limit": .integer(Int64(pageSize)),
            ])
        room.older = page["older"]?.stringValue
        let more = room.older == nil ? "there are no more" : "/older shows more"
        look(
            at: page["items"]?.arrayValue ?? [], title: "older messages",
            end: "end of older messages; \(more)")
    }

    /// Shows a message and all its replies.
    func tellThread(_ message: String) throws(NodeError) {
        let id = try room.message(message)
        let root = room.messages[id]?["thread"]?.stringValue ?? id
        let first = try call("message.get", ["ids": [.string(root)]])["items"]?.arrayValue ?? []
        let page = try call(
            "message.history",
            ["channel": .string(room.id), "thread": .string(root), "limit": 100])
        let answers = (page["items"]?.arrayValue ?? []).filter { $0["id"] != .string(root) }
        let isCut = page["older"]?.stringValue != nil
        look(
            at: first + answers,
            title: isCut ? "thread, its newest \(answers.count) replies" : "thread",
            end: answers.isEmpty ? "no replies yet" : "end of thread")
    }

    /// Requests the unknown thread roots of those messages.
    func learnRoots(of items: [JSONValue]) {
        let unknown = items.filter { item in
            item["thread"]?.stringValue.map { room.messages[$0] == nil } ?? false
        }
        guard !unknown.isEmpty else { return }
        let workspace = workspaceID.map { JSONValue.string($0) }
        asking { client in
            for root in LogShowing(session).roots(of: unknown, in: workspace, &client).values {
                room.know(root)
            }
        }
    }

    /// The same rendering, with the known thread roots of those messages.
    func withRoots(_ rendering: Rendering, of items: ArraySlice<JSONValue>) -> Rendering {
        var rendering = rendering
        for thread in items.compactMap({ $0["thread"]?.stringValue }) {
            rendering.threadRoots[thread] = room.messages[thread]
        }
        return rendering
    }

    /// Shows messages between two lines that separate them from the live conversation.
    private func look(at items: [JSONValue], title: String, end: String) {
        if session.globals.json { return print(items.map { $0.text + "\n" }.joined()) }
        items.forEach { room.know($0) }
        learnRoots(of: items)
        var rendering = withRoots(rendering, of: items[...])
        rendering.isVerbose = true
        remark("── \(title) ──")
        var day: Int64?
        print(
            rendering.messages(
                items, lastDay: &day, namesChannel: false, authorColumns: room.authorColumns,
                mark: hasReader ? room.mark : { _ in "" }))
        remark("── \(end) ──")
        // The next message follows a different one now.
        room.lastThread = nil
        room.lastDay = nil
    }
}
