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
