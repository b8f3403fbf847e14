import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// A removed member keeps writing, in every way that their keys allow, and somebody relays all of
/// it to the others.
struct `What removed members write later` {
    /// Gives a node everything of a workspace that another has stored, as if a member brought it.
    static func bring(_ source: BenchNode, to target: BenchNode, by relay: BenchNode) throws {
        let theirs = try #require(source.host?.core.turn.store.operations)
        let device = try #require(relay.host?.core.session.home?.device)
        let number = try source.workspace().number
        try target.inTurn { core, workspace in
            for document in theirs.documents(ofWorkspace: number) {
                for branch in theirs.branches(in: document, of: 1) {
                    let run = try theirs.run(
                        of: branch.number, from: 0, through: branch.tipSequence,
                        byteCountMax: 1 << 20)
                    guard let run else { continue }
                    try core.acceptAtOnce(
                        run, in: workspace, from: .peer(device, source: 1, isBackfill: false))
                }
            }
        }
    }

    struct Trick: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// How far the clock of the removed is from the others', milliseconds.
        var skew: Int64 = 0
        var newStore = false
        var newChannel = false
    }

    @Test(arguments: [
        Trick(testDescription: "on the old log"),
        Trick(testDescription: "dated a year back, in a new incarnation", skew: -31_536_000_000),
        Trick(testDescription: "dated an hour ahead", skew: 3_600_000),
        Trick(testDescription: "in a new store", newStore: true),
        Trick(testDescription: "in a channel of their own", newChannel: true),
    ])
    func `counts nowhere, no matter who relays it`(_ trick: Trick) throws {
        let world = try RemovalBench()
        let (mina, ada, wim, joon, bench) =
            (world.mina, world.ada, world.wim, world.joon, world.bench)
        try joon.send("known")
        bench.advance(5_000)
        for other in [mina, ada, wim] { bench.cut(joon, other) }
        joon.clockSkew = trick.skew
        if trick.newStore {
            joon.kill()
            joon.files.guardBytes = nil
            try joon.boot()
        }
        if trick.newChannel { try joon.ok("channel.create", ["name": "mine"]) }
        for number in 0..<3 {
            try joon.send("late \(number)", to: trick.newChannel ? "mine" : "general")
        }
        try mina.ok("member.remove", ["member": "Joon"])
        bench.advance(10_000)
        let before = try mina.digest()
        let events = try mina.cursor()
        try Self.bring(joon, to: mina, by: wim)
        try Self.bring(joon, to: wim, by: ada)
        bench.advance(60_000)
        for node in [mina, ada, wim] {
            #expect(try node.log() == ["known"], "\(node.name)")
            #expect(try node.ok("channel.list", ["scope": "all"]).texts("name") == ["general"])
        }
        try world.expectEqual(trick.testDescription)
        #expect(try mina.digest() == before, "nothing of it is even passed on")
        #expect(try mina.events(since: events, types: ["message.created"]).isEmpty)
        // He himself is told as soon as he hears of it.
        bench.heal(joon, mina)
        bench.advance(60_000)
        #expect(try joon.ok("workspace.get")["role"] == .null)
        #expect(try joon.told("message.refused").count == 3)
        #expect(try !joon.opens(whatIsSealedBy: mina))
    }

    @Test func `lets nobody in, by an invite that was left open or by a new one`() throws {
        let world = try RemovalBench()
        let (mina, ada, wim, bench) = (world.mina, world.ada, world.wim, world.bench)
        let old = try ada.link()
        bench.advance(5_000)
        for other in [mina, wim, world.joon] { bench.cut(ada, other) }
        try mina.ok("member.remove", ["member": "Ada"])
        let friends = try ["Kim", "Lou"].map { name in
            let friend = try bench.bareNode(name)
            for other in [mina, wim] { bench.cut(friend, other) }
            return friend
        }
        try friends[0].join(old)
        try friends[1].join(try ada.link())
        try friends[0].send("hello")
        try Self.bring(friends[0], to: mina, by: wim)
        try Self.bring(ada, to: wim, by: mina)
        bench.advance(60_000)
        for node in [mina, wim] {
            #expect(try node.memberNames() == ["Joon", "Mina", "Wim"], "\(node.name)")
            #expect(try node.log() == [])
        }
        try world.expectEqual("after the friends", [mina, wim])
        for friend in friends {
            bench.heal(friend, mina)
            bench.advance(30_000)
            #expect(try !friend.opens(whatIsSealedBy: mina))
        }
    }

    /// Cuts that do not fit into the removal stand in parts before it.
    @Test func `is cut by parts where there is much of it`() throws {
        let world = try RemovalBench()
        let (mina, wim, joon, bench) = (world.mina, world.wim, world.joon, world.bench)
        try joon.send("known")
        bench.advance(5_000)
        let workspace = try mina.workspace()
        let core = try #require(mina.host?.core)
        let member = try joon.workspace().member
        let cuts = core.membership.cuts(
            ofDevices: core.membership.devices(everOf: member, in: workspace), in: workspace)
        #expect(!cuts.isEmpty)
        for other in [mina, world.ada, wim] { bench.cut(joon, other) }
        try joon.send("late")
        let part = try mina.author(.cutPart(cuts))
        // A removal whose hash names other parts than those before it is void.
        func removal(_ hash: [UInt8]) -> AuthorityPayload {
            .remove(
                .init(
                    member: member, cuts: [], rekey: nil, revokedInvites: [], cutPartCount: 1,
                    cutPartHash: hash))
        }
        core.beginTurn(at: mina.time)
        let wrong = CutParts.hash(of: [part, part])
        #expect(try core.log.authorAuthority(in: workspace, { _ in removal(wrong) }) == nil)
        try mina.author(removal(CutParts.hash(of: [part])))
        try Self.bring(joon, to: mina, by: wim)
        bench.advance(60_000)
        for node in [mina, wim] { #expect(try node.log() == ["known"]) }
        try wim.restart()
        #expect(try wim.log() == ["known"])
    }

    @Test func `is cut in pieces of what one operation takes`() {
        func entries(_ count: Int) -> [CutEntry] {
            (0..<count).map { number in
                CutEntry(
                    log: LogName(document: .zero, device: .zero, incarnation: UInt32(number)),
                    sequence: 0, id: Identifier16(prefixOf: OperationID.zero))
            }
        }
        let limit = Limits.cutsPerOperationMax
        for (count, pieces) in [(0, [0]), (1, [1]), (limit, [limit]), (limit + 1, [limit, 1])] {
            let split = CutParts.split(entries(count))
            #expect(split.map(\.count) == pieces)
            #expect(split.flatMap { $0 } == entries(count))
        }
        #expect(CutParts.hash(of: []) == [])
    }
}
