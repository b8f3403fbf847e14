import CRDTStore
import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// Members added to a private channel by an admin who had been removed from it.
struct `A person added by somebody who was removed` {
    let bench = CoreBench()
    let mina: BenchNode
    let kim: BenchNode
    let joon: BenchNode

    init() throws {
        mina = try bench.node("Mina")
        kim = try bench.guest("Kim", of: mina)
        joon = try bench.guest("Joon", of: mina)
        bench.advance(5_000)
        try mina.ok("channel.create", ["name": "vault", "private": true])
        try mina.ok("channel.add", ["channel": "vault", "members": ["Kim"]])
        try mina.ok("channel.role", ["channel": "vault", "member": "Kim", "role": "admin"])
        bench.advance(60_000)
    }

    private func isShown(to node: BenchNode) throws -> Bool {
        guard let workspace = try? node.workspace(),
            let shown = workspace.channelIndex.all.first(where: { $0.name == "vault" })
        else { return false }
        return shown.includes(workspace.member)
    }

    /// Kim adds Joon while Mina removes Kim: neither operation knows of the other.
    private func addAndRemoveApart() throws {
        for node in [kim, joon] { bench.cut(mina, node) }
        try mina.ok("channel.remove", ["channel": "vault", "members": ["Kim"]])
        try kim.ok("channel.add", ["channel": "vault", "members": ["Joon"]])
        bench.advance(10_000)
        #expect(try isShown(to: joon))
        try joon.send("hello", to: "vault")
    }

    @Test func `is told that this has no effect`() throws {
        try addAndRemoveApart()
        bench.cut(kim, joon)
        for node in [kim, joon] { bench.heal(mina, node) }
        bench.advance(60_000)
        #expect(try !isShown(to: joon))
        _ = try joon.refused("message.send", ["channel": "vault", "text": "anybody?"])
        #expect(try mina.log(of: "vault") == [])
        try joon.restart()
        bench.advance(60_000)
        #expect(try !isShown(to: joon))
    }

    @Test func `is in once somebody with the right adds them`() throws {
        try addAndRemoveApart()
        for node in [kim, joon] { bench.heal(mina, node) }
        bench.advance(60_000)
        #expect(try !isShown(to: joon))
        try mina.ok("channel.add", ["channel": "vault", "members": ["Joon"]])
        bench.advance(10_000)
        #expect(try isShown(to: joon))
        try joon.send("in at last", to: "vault")
        bench.advance(10_000)
        #expect(try mina.log(of: "vault").contains("in at last"))
    }

    /// The same word is left once for each person, whatever else makes the channel be judged anew.
    @Test func `is told once`() throws {
        try addAndRemoveApart()
        for node in [kim, joon] { bench.heal(mina, node) }
        bench.advance(60_000)
        func mailed() throws -> Int {
            let device = try #require(mina.host?.core.session.home).device
            let known = try mina.workspace()
            return try #require(mina.host?.core).turn.store.operations
                .branches(in: known.mailboxDocument, of: known.number)
                .filter { $0.log.device == device }
                .reduce(0) { $0 + Int($1.tipSequence) }
        }
        let before = try mailed()
        try mina.restart()
        for topic in ["one", "two"] {
            try mina.ok("channel.edit", ["channel": "vault", "topic": .string(topic)])
        }
        bench.advance(60_000)
        #expect(try mailed() == before)
    }

    /// Two are put out, the second of whom knows of the first: what ends the first opens for whom the
    /// second adds.
    @Test func `is told of everyone who adds them`() throws {
        let ada = try bench.guest("Ada", of: mina)
        bench.advance(2_000)
        try mina.ok("channel.add", ["channel": "vault", "members": ["Ada"]])
        try mina.ok("channel.role", ["channel": "vault", "member": "Ada", "role": "admin"])
        bench.advance(10_000)
        // Kim hears of nothing any more, Ada of Kim's end.
        for node in [mina, ada, joon] { bench.cut(kim, node) }
        for node in [kim, ada] {
            let name = node === kim ? "Kim" : "Ada"
            try mina.ok("channel.remove", ["channel": "vault", "members": [.string(name)]])
            bench.advance(10_000)
            if node === kim { for other in [mina, joon] { bench.cut(ada, other) } }
        }
        for node in [kim, ada] {
            try node.ok("channel.add", ["channel": "vault", "members": ["Joon"]])
        }
        bench.cut(mina, joon)
        for node in [kim, ada] { bench.heal(node, joon) }
        bench.advance(20_000)
        #expect(try isShown(to: joon))
        for node in [kim, ada, joon] { bench.heal(mina, node) }
        bench.advance(60_000)
        #expect(try !isShown(to: joon))
    }

    @Test func `leaves room for as many people as there are`() {
        var additions = IneffectiveAdditions([])
        let people = (0..<2_000).map { number in
            MemberID([UInt8](repeating: 0, count: 14) + [UInt8(number >> 8), UInt8(number & 255)])
        }
        let removal = OperationID([UInt8](repeating: 1, count: 32))
        let named = Dictionary(uniqueKeysWithValues: people.map { ($0, Set([removal])) })
        #expect(additions.take(named).count == Limits.ineffectiveAdditionsToldMax)
        #expect(additions.take(named).isEmpty)
        #expect(IneffectiveAdditions(additions.bytes).told == additions.told)
    }
}
