import PeerNode
import WorkspaceModel

/// Looking back: what stands above the first message on the screen, and whole threads. It comes
/// under the conversation, with ids, since numbers count what was said and not what was read again.
extension Chat {
    /// Messages of the page that one looks back to.
    var pageSize: Int { hasReader ? min(max(screen.rows - 4, 5), 100) : 1 }

    /// Shows what was said before the oldest message that was shown.
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

    /// Shows a message and all that answers it.
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

    /// Asks for what those messages answer, where that is not known.
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

    /// The same, with what those messages answer that is known.
    func withRoots(_ rendering: Rendering, of items: ArraySlice<JSONValue>) -> Rendering {
        var rendering = rendering
        for thread in items.compactMap({ $0["thread"]?.stringValue }) {
            rendering.threadRoots[thread] = room.messages[thread]
        }
        return rendering
    }

    /// Shows messages between two lines that part them from what is being said.
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
        // What comes next stands under something else than before.
        room.lastThread = nil
        room.lastDay = nil
    }
}
