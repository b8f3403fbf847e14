import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// Two people who use everything that leaves data in a store.
extension CoreBench {
    func life() throws -> (BenchNode, BenchNode) {
        let mina = try node("Mina")
        let joon = try guest("Joon", of: mina)
        try joon.ok("channel.join", ["channel": "general"])
        try mina.ok("channel.create", ["name": "plans"])
        try mina.ok("channel.create", ["name": "board", "private": true])
        try mina.ok("channel.add", ["channel": "board", "members": ["@Joon"]])
        let root = try mina.send("one").text("id")
        let answer = try joon.send("two @Mina", thread: root).text("id")
        for number in 0..<20 { try mina.send("m\(number)", to: "plans") }
        try joon.ok("channel.join", ["channel": "plans"])
        for number in 0..<5 { try joon.send("j\(number)", to: "plans") }
        advance(60_000)
        try mina.ok("message.edit", ["message": .string(root), "text": "one, said better"])
        try joon.ok("message.react", ["message": .string(root), "emoji": "👍"])
        try mina.ok("message.react", ["message": .string(answer), "emoji": "👍"])
        try mina.ok("message.pin", ["message": .string(root)])
        try mina.ok("ui.pref.set", ["setting": "theme", "value": "dark"])
        advance(60_000)
        try joon.ok("message.unpin", ["message": .string(root)])
        advance(60_000)
        try mina.ok("message.pin", ["message": .string(root)])
        try mina.ok("ui.pref.set", ["setting": "theme", "value": "dark"])
        let gone = try joon.send("away with it").text("id")
        advance(60_000)
        try mina.ok("message.delete", ["message": .string(gone)])
        let note = try mina.ok(
            "note.create", ["channel": "general", "title": "List", "text": "milk"])
        advance(60_000)
        try joon.ok("note.edit", ["note": note["id"] ?? .null, "text": "milk\nbread"])
        try joon.ok("note.rename", ["note": note["id"] ?? .null, "title": "Shopping"])
        try mina.ok("note.delete", ["note": note["id"] ?? .null])
        try mina.ok("note.delete", ["note": note["id"] ?? .null, "undo": true])
        try mina.ok("read.mark", ["channel": "plans"])
        try joon.ok("channel.leave", ["channel": "plans"])
        try mina.send("secret", to: "board")
        try joon.send("secret too", to: "board")
        advance(600_000)
        return (mina, joon)
    }

    /// Both of them after such a life and a restart, as the first nodes of this bench: most tests need
    /// no more than what is stored by then, and that is made once for all of them.
    func laterLife() throws -> (BenchNode, BenchNode) {
        let nodes = try LivedThrough.snapshot.get().resume(on: self)
        return (try #require(nodes.first), try #require(nodes.last))
    }
}

private enum LivedThrough {
    static let snapshot: Result<BenchSnapshot, any Error> = Result {
        let bench = CoreBench(seed: 31)
        _ = try bench.life()
        return try BenchSnapshot(endingAll: bench)
    }
}

/// What a person sees of such a life.
struct ShownLife: Equatable {
    let general: JSONValue
    let plans: JSONValue
    let members: JSONValue
    /// What only keys open that nobody else may have.
    var sealed: [JSONValue] = []

    init(_ node: BenchNode) throws {
        func history(_ channel: String) throws -> JSONValue {
            .array(
                try node.ok(
                    "message.history", ["channel": .string(channel), "limit": 100]
                ).items.map { message in
                    [
                        "id": message["id"] ?? .null, "text": message["text"] ?? .null,
                        "edited": message["edited"] ?? .null,
                        "pinned": message["pinned"] ?? .null,
                        "reactions": message["reactions"] ?? .null,
                        "deleted": message["deleted"] ?? .null,
                    ]
                })
        }
        general = try history("general")
        plans = try history("plans")
        members = .array(try node.ok("member.list").items.map { $0["role"] ?? .null })
        sealed.append(.array(try node.ok("read.status").items.map { $0["unread"] ?? .null }))
        sealed.append((try? history("board")) ?? .null)
    }
}
