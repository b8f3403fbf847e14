import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// Who follows a channel, where an admission loses its effect: Ann lets Joon in while Mina, who
/// cannot know, removes Ann.
@Suite struct `Followers of a channel` {
    private let bench = CoreBench()
    private let mina: BenchNode
    private let bob: BenchNode
    private let joon: BenchNode

    init() throws {
        mina = try bench.node("Mina")
        try mina.ok("policy.set", ["who_may_invite": "members"])
        try mina.ok("channel.create", ["name": "plans"])
        bob = try bench.guest("Bob", of: mina)
        let ann = try bench.guest("Ann", of: mina)
        bench.advance(5_000)
        for other in [bob, ann] { bench.cut(mina, other) }
        joon = try bench.bareNode("Joon")
        bench.cut(mina, joon)
        try joon.join(try ann.link())
        bench.advance(5_000)
        try joon.ok("channel.join", ["channel": "plans"])
        bench.advance(5_000)
        #expect(try followers(bob) == ["Joon", "Mina"])
        try mina.ok("member.remove", ["member": "Ann"])
        ann.kill()
        for other in [bob, joon] { bench.heal(mina, other) }
        bench.advance(60_000)
    }

    private func followers(_ node: BenchNode) throws -> [String] {
        try node.ok("channel.members", ["channel": "plans"]).texts("name").sorted()
    }

    @Test func `are the same whether words came before a removal or after it`() throws {
        #expect(try mina.memberNames() == ["Bob", "Mina"])
        try joon.join(try mina.link())
        bench.advance(5_000)
        #expect(try mina.memberNames() == ["Bob", "Joon", "Mina"])
        for node in [mina, bob, joon] {
            #expect(try followers(node) == ["Mina"], "\(node.name)")
            #expect(try node.ok("node.check")["problem_count"] == 0, "\(node.name)")
        }
    }

    @Test func `follow again by a new word`() throws {
        try joon.join(try mina.link())
        bench.advance(5_000)
        try joon.ok("channel.join", ["channel": "plans"])
        bench.advance(5_000)
        for node in [mina, bob, joon] {
            #expect(try followers(node) == ["Joon", "Mina"], "\(node.name)")
        }
    }
}

/// What somebody said last before a removal that does not know it has no effect, and what was said
/// before that counts again.
@Suite struct `Followers of a channel whose last word is cut off` {
    @Test func `are those of the word before, on every node`() throws {
        let bench = CoreBench()
        let mina = try bench.node("Mina")
        let bob = try bench.guest("Bob", of: mina)
        let joon = try bench.guest("Joon", of: mina)
        try mina.ok("channel.create", ["name": "plans"])
        bench.advance(5_000)
        try joon.ok("channel.join", ["channel": "plans"])
        let root = try joon.send("one", to: "plans").text("id")
        try mina.ok("message.react", ["message": .string(root), "emoji": "👍"])
        bench.advance(5_000)
        func followers(_ node: BenchNode) throws -> [String] {
            try node.ok("channel.members", ["channel": "plans"]).texts("name").sorted()
        }
        for node in [mina, bob, joon] { #expect(try followers(node) == ["Joon", "Mina"]) }
        for other in [bob, joon] { bench.cut(mina, other) }
        try joon.ok("channel.leave", ["channel": "plans"])
        bench.advance(5_000)
        #expect(try followers(bob) == ["Mina"])
        try mina.ok("member.remove", ["member": "Joon"])
        for other in [bob, joon] { bench.heal(mina, other) }
        bench.advance(60_000)
        try joon.comeBack(to: mina, in: bench)
        bench.advance(60_000)
        for node in [mina, bob, joon] {
            #expect(try followers(node) == ["Joon", "Mina"], "\(node.name)")
            #expect(try node.ok("node.check")["problem_count"] == 0, "\(node.name)")
        }
    }
}
