import Foundation
import Testing
import WorkspaceModel
import WorkspaceTestKit

/// What one person typed, of the editing histories in the shared data.
private struct TypedHistory {
    /// `[at, deleted, inserted]`, places in scalars.
    let patches: [(at: Int, deleted: Int, inserted: String)]

    init(_ name: String, most: Int) throws {
        let file = try Vectors.editingTrace(named: name)
        var all: [(at: Int, deleted: Int, inserted: String)] = []
        for transaction in try #require(file["txns"] as? [[String: Any]]) {
            for patch in transaction["patches"] as? [[Any]] ?? [] where all.count < most {
                all.append(
                    (
                        try #require(patch[0] as? Int), try #require(patch[1] as? Int),
                        try #require(patch[2] as? String)
                    ))
            }
        }
        patches = all
    }
}

extension AttackedEndToEnd {
    /// Real editing histories through real nodes, which are killed in the middle of drafts. A part of each,
    /// or with `WSX_TRACE_CHANGES=1000000` all of it.
    struct `Editing histories between real nodes` {
        private static let names = [
            "automerge-paper", "seph-blog1", "rustcode", "sveltecomponent", "friendsforever_flat",
            "clownschool_flat",
        ]
        private static let most =
            ProcessInfo.processInfo.environment["WSX_TRACE_CHANGES"].flatMap { Int($0) } ?? 240
        private static let changesPerCall = 8

        private func ops(_ patches: ArraySlice<(at: Int, deleted: Int, inserted: String)>)
            -> JSONValue
        {
            var list: [JSONValue] = []
            for patch in patches {
                let at = JSONValue.integer(Int64(patch.at))
                if patch.deleted > 0 {
                    list.append(["delete": ["at": at, "length": .integer(Int64(patch.deleted))]])
                }
                if !patch.inserted.isEmpty {
                    list.append(["insert": ["at": at, "text": .string(patch.inserted)]])
                }
            }
            return .array(list)
        }

        private func text(_ note: JSONValue, _ node: TemporaryNode) -> String? {
            ControlSocket(node.socket)?.call("note.get", ["note": note])?["result"]?["text"]?
                .stringValue
        }

        @Test(.vectors(Vectors.editingTrace("rustcode")))
        func `end in one text, though nodes are killed while somebody types`() throws {
            let (mina, joon) = try TemporaryNode.pair()
            var random = SeededGenerator(seed: 22)
            for name in Self.names {
                let history = try TypedHistory(name, most: Self.most)
                var socket = try #require(ControlSocket(mina.socket))
                let made = socket.call(
                    "note.create", ["channel": "general", "title": .string(name)])
                let note = try #require(made?["result"]?["id"])
                let kills = Set((0..<2).map { _ in random.below(history.patches.count) })
                var now: [Unicode.Scalar] = []
                var place = 0
                while place < history.patches.count {
                    let part = history.patches[place...].prefix(Self.changesPerCall)
                    place += part.count
                    let before = String(String.UnicodeScalarView(now))
                    for patch in part {
                        now.replaceSubrange(
                            patch.at..<patch.at + patch.deleted, with: patch.inserted.unicodeScalars
                        )
                    }
                    let given: JSONObject = ["note": note, "ops": ops(part), "brief": true]
                    guard kills.contains(where: { part.indices.contains($0) }) else {
                        let answer = socket.call("note.edit", given)
                        try #require(answer?["result"] != nil, "\(name) \(answer ?? .null)")
                        continue
                    }
                    // The last call before the end has no answer: it was done, or not.
                    socket.post("note.edit", given)
                    mina.kill()
                    if random.oneIn(2) {
                        joon.kill()
                        joon.up()
                    }
                    #expect(mina.up().status == 0)
                    socket = try #require(ControlSocket(mina.socket))
                    let after = String(String.UnicodeScalarView(now))
                    let found = text(note, mina)
                    #expect(found == before || found == after, "\(name)")
                    guard found != after else { continue }
                    let answer = socket.call("note.edit", given)
                    try #require(answer?["result"] != nil, "\(name) \(answer ?? .null)")
                }
                let end = String(String.UnicodeScalarView(now))
                #expect(text(note, mina) == end, "\(name)")
                #expect(eventually { text(note, joon) == end }, "\(name)")
            }
        }
    }
}
