import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// Bits that flip on a disk, pages that are gone and rows that are lost: found, and with a peer
/// that has everything, everything comes back. `make campaign-rot` does 1,000.
@Suite struct `A store that rots` {
    /// What somebody sees of a life with everything in it.
    private struct Shown: Equatable {
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
            sealed.append(
                .array(try node.ok("read.status").items.map { $0["unread"] ?? .null }))
            sealed.append((try? history("board")) ?? .null)
        }
    }

    private static func life(_ bench: CoreBench) throws -> (BenchNode, BenchNode) {
        let mina = try bench.node("Mina")
        let joon = try bench.guest("Joon", of: mina)
        try joon.ok("channel.join", ["channel": "general"])
        try mina.ok("channel.create", ["name": "plans"])
        try mina.ok("channel.create", ["name": "board", "private": true])
        try mina.ok("channel.add", ["channel": "board", "members": ["@Joon"]])
        let root = try mina.send("one").text("id")
        let answer = try joon.send("two @Mina", thread: root).text("id")
        for number in 0..<20 { try [mina, joon][number % 2].send("m\(number)", to: "plans") }
        bench.advance(60_000)
        try mina.ok("message.edit", ["message": .string(root), "text": "one, said better"])
        try joon.ok("message.react", ["message": .string(root), "emoji": "👍"])
        try mina.ok("message.react", ["message": .string(answer), "emoji": "👍"])
        try mina.ok("message.pin", ["message": .string(root)])
        let gone = try joon.send("away with it").text("id")
        bench.advance(60_000)
        try mina.ok("message.delete", ["message": .string(gone)])
        try mina.ok("read.mark", ["channel": "plans"])
        try mina.send("secret", to: "board")
        try joon.send("secret too", to: "board")
        bench.advance(600_000)
        return (mina, joon)
    }

    private static let pageSize = 8_192

    /// - Returns: what was done, for the report.
    private func rot(_ image: inout [UInt8], _ random: inout SeededGenerator) -> String {
        switch random.below(4) {
        case 0:
            let page = 1 + random.below(image.count / Self.pageSize - 1)
            let range = page * Self.pageSize..<(page + 1) * Self.pageSize
            image.replaceSubrange(range, with: [UInt8](repeating: 0, count: Self.pageSize))
            return "page \(page)"
        default:
            let place = 100 + random.below(image.count - 100)
            image[place] ^= 1 << UInt8(random.below(8))
            return "byte \(place)"
        }
    }

    @Test(arguments: Seeds.explore(12))
    func `is found out, and comes back`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let bench = CoreBench()
        let (mina, joon) = try Self.life(bench)
        let node = [mina, joon][random.below(2)]
        let shown = try Shown(node)
        bench.cut(mina, joon)
        node.kill()
        var image = try node.image
        let what = rot(&image, &random)
        try node.replaceStore(image)
        try node.boot()
        // Either it is said, or nothing is wrong that anybody sees.
        // Either it is said, or nothing is wrong that anybody sees. Whoever meets the damage is told
        // to ask again.
        var found = node.call("node.check")
        if case .failure(let error) = found, error.kind == .busy { found = node.call("node.check") }
        if try found.get()["ok"] == true, node.rebuildCount == 0 {
            #expect(try Shown(node) == shown, "\(what)")
        }
        try node.ok("node.check", ["repair": true])
        bench.heal(mina, joon)
        bench.advance(1_500_000)
        try node.ok("node.check", ["repair": true])
        bench.advance(1_500_000)
        var now = try Shown(node)
        if node.lastLoss.tables.contains("epoch_key") { now.sealed = shown.sealed }
        #expect(now == shown, "\(what) \(node.lastLoss)")
        let left = try node.ok("node.check")
        #expect(left["problem_count"] == 0, "\(what) \(left.text)")
        #expect(try mina.digest() == joon.digest(), "\(what)")
        try node.send("after")
        bench.advance(60_000)
        #expect(try mina.digest() == joon.digest(), "\(what)")
        #expect(try !mina.eventTypes().contains("fork.found"), "\(what)")
        #expect(try !joon.eventTypes().contains("fork.found"), "\(what)")
    }
}
