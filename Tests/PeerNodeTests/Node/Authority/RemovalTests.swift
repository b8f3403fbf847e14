import CRDTStore
import SyncProtocol
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// Mina owns the workspace, Ada is an admin, Wim and Joon are members.
struct RemovalBench {
    let bench = CoreBench()
    let mina: BenchNode
    let ada: BenchNode
    let wim: BenchNode
    let joon: BenchNode

    init() throws {
        mina = try bench.node("Mina")
        ada = try bench.guest("Ada", of: mina, role: "admin")
        wim = try bench.guest("Wim", of: mina)
        joon = try bench.guest("Joon", of: mina)
        bench.advance(20_000)
    }

    /// Everybody but Joon holds and shows the same.
    func expectEqual(_ note: String, _ nodes: [BenchNode]? = nil) throws {
        let nodes = nodes ?? [mina, ada, wim]
        let digests = try nodes.map { try $0.digest() }
        #expect(Set(digests).count == 1, "\(note): \(digests)")
        let logs = try nodes.map { try $0.log() }
        #expect(Set(logs).count == 1, "\(note): \(logs)")
    }
}

extension BenchNode {
    /// Events of one type, oldest first.
    func told(_ type: String) throws -> [JSONValue] {
        try events(types: [type]).compactMap { $0["data"] }
    }

    /// (text, state) of the messages of general.
    func states() throws -> [String] {
        try ok("message.history", ["channel": "general", "limit": 100]).items.map {
            "\($0["text"]?.stringValue ?? "-") \($0["state"]?.stringValue ?? "-")"
        }
    }

    /// Whether the core holds the key that another seals with.
    func opens(whatIsSealedBy other: BenchNode) throws -> Bool {
        let key = try #require(try other.workspace().sealingKey)
        return try workspace().secrets.keys[key.id] != nil
    }

    func memberNames(_ parameters: JSONValue = [:]) throws -> [String] {
        try ok("member.list", parameters).texts("name").sorted()
    }
}

struct `A removal` {
    private let world: RemovalBench

    init() throws { world = try RemovalBench() }

    @Test func `keeps what was known, and refuses the rest alike everywhere`() throws {
        let (mina, ada, wim, joon, bench) =
            (world.mina, world.ada, world.wim, world.joon, world.bench)
        try joon.send("known")
        bench.advance(5_000)
        for other in [mina, ada] {
            bench.cut(joon, other)
            bench.cut(wim, other)
        }
        let removed = try mina.ok("member.remove", ["member": "@Joon"])
        #expect(removed["removed"] == true)
        #expect(try removed.number("removed_at") > 0)
        // Wim has not heard of it: he holds and shows what Joon goes on writing.
        try joon.send("late")
        bench.advance(5_000)
        #expect(try wim.log() == ["known", "late"])
        try wim.send("from Wim")
        bench.heal(wim, mina)
        bench.heal(wim, ada)
        bench.advance(120_000)
        for node in [mina, ada, wim] { #expect(try node.log() == ["known", "from Wim"]) }
        try world.expectEqual("after the removal")
        #expect(try mina.memberNames() == ["Ada", "Mina", "Wim"])
        let gone = try wim.ok("member.list", ["removed": true]).items
        #expect(gone.compactMap { $0["name"] } == ["Joon"])
        #expect(gone.first?["removed_at"] == removed["removed_at"])

        // Joon was told by Wim, and which of his messages it is about.
        #expect(try joon.ok("workspace.get")["role"] == .null)
        #expect(try joon.ok("workspace.get")["removed_at"] == removed["removed_at"])
        #expect(
            try joon.states() == [
                "known held_by_others", "late refused", "from Wim held_by_others",
            ])
        let refusals = try joon.told("message.refused")
        #expect(refusals.count == 1)
        let late = try joon.ok("message.history", ["channel": "general"]).items[1]
        #expect(refusals.first?["message"] == late["id"])
        #expect(refusals.first?["reason"] == "removed")
        #expect(refusals.first?["by"]?["name"] == "Mina")
        #expect(try joon.told("workspace.removed").count == 1)
        #expect(
            try joon.refused("message.send", ["channel": "general", "text": "x"]).reason
                == "removed")
        // All of it holds after a restart.
        try joon.restart()
        try wim.restart()
        bench.advance(60_000)
        #expect(
            try joon.states() == [
                "known held_by_others", "late refused", "from Wim held_by_others",
            ])
        #expect(try wim.log() == ["known", "from Wim"])
        try world.expectEqual("after the restart")
    }

    @Test func `changes the key, which those who stay open and nobody else`() throws {
        let (mina, ada, wim, joon, bench) =
            (world.mina, world.ada, world.wim, world.joon, world.bench)
        try wim.send("before")
        bench.advance(5_000)
        let before = try #require(try mina.workspace().sealingKey)
        try mina.ok("member.remove", ["member": "@Joon"])
        bench.advance(10_000)
        let after = try #require(try mina.workspace().sealingKey)
        #expect(after.id != before.id && after.answersAll)
        for node in [mina, ada, wim] {
            #expect(try node.workspace().sealingKey?.id == after.id, "\(node.name)")
        }
        #expect(try !joon.opens(whatIsSealedBy: mina))
        #expect(try joon.ok("workspace.get")["role"] == .null, "but he knows that he is out")
        try wim.send("among us")
        bench.advance(5_000)
        for node in [mina, ada, wim] { #expect(try node.log() == ["before", "among us"]) }
        #expect(try joon.log() == ["before"])
        // Who comes later reads what was written before, through the newest key.
        let late = try bench.guest("Late", of: mina)
        bench.advance(5_000)
        #expect(try late.log() == ["before", "among us"])
        #expect(try late.workspace().secrets.keys.count == 2)
        try late.send("me too")
        bench.advance(5_000)
        #expect(try wim.log().last == "me too")
    }

    @Test func `reaches every node at once, and closes sessions in the same turn`() throws {
        let (mina, joon, bench) = (world.mina, world.joon, world.bench)
        let core = try #require(mina.host?.core)
        let workspace = try mina.workspace()
        let device = try #require(joon.host?.core.session.home?.device)
        // A removal and a message in one turn: the message is not told.
        core.beginTurn(at: mina.time)
        _ = try core.membership.remove(try joon.workspace().member, from: workspace)
        let general = try #require(workspace.book.channels.values.first)
        _ = try core.privates.authorContent(
            .message(.init(text: "after", format: .text, thread: nil)), to: general.id,
            in: workspace)
        let effects = core.turn.takeEffects() + (try core.endTurn())
        try core.turn.store.commit()
        mina.carryOut(effects)
        bench.advance(30_000)
        for link in core.links.network.links(to: device) {
            #expect(link.syncs.values.allSatisfy { $0.standing == .removed })
        }
        let his = try #require(joon.host?.core.turn.store)
        #expect(try joon.log() == [])
        let places = [his, core.turn.store].map { store in
            store.operations.branches(in: general.id, of: 1)
                .first { $0.log.device == core.session.home?.device }?.tipSequence ?? 0
        }
        #expect(places[0] < places[1], "not even sealed")
        #expect(try joon.ok("workspace.get")["role"] == .null)
        #expect(try world.wim.log() == ["after"])
        // Nor is anything of the authority document that came behind it.
        try mina.ok("channel.create", ["name": "secret"])
        bench.advance(60_000)
        #expect(try !joon.ok("channel.list", ["scope": "all"]).texts("name").contains("secret"))
        #expect(try world.wim.ok("channel.list", ["scope": "all"]).texts("name").count == 2)
        try joon.restart()
        bench.advance(60_000)
        #expect(his.operations.branches(in: workspace.id, of: 1).map(\.tipSequence).max() != nil)
        #expect(try !joon.ok("channel.list", ["scope": "all"]).texts("name").contains("secret"))
    }

    @Test func `closes the invites of the removed, and lets an admin's bring them back`() throws {
        let (mina, ada, wim, joon, bench) =
            (world.mina, world.ada, world.wim, world.joon, world.bench)
        let link = try ada.link()
        bench.advance(5_000)
        try mina.ok("member.remove", ["member": "Ada"])
        bench.advance(10_000)
        // Named in the removal itself: an older program knows by nothing else that they are closed.
        let known = try mina.workspace()
        let secret = try InviteLink(link).secret
        let named = known.authority.values.flatMap { record -> [OperationID] in
            if case .remove(let remove) = record.payload { remove.revokedInvites } else { [] }
        }
        let keys = named.compactMap { id -> [UInt8]? in
            if case .invite(let invite)? = known.authority[id]?.payload {
                invite.publicKey
            } else {
                nil
            }
        }
        #expect(keys == [secret.publicKey.bytes])
        let states = try mina.ok("invite.list").items.map { $0["state"]?.stringValue ?? "" }
        #expect(states.filter { $0 == "open" }.isEmpty, "\(states)")
        let stranger = try bench.bareNode("Stranger")
        let refused = stranger.call(
            "workspace.join", ["link": .string(link), "name": "Stranger", "timeout_ms": 5_000])
        guard case .failure = refused else {
            Issue.record("admitted")
            return
        }
        #expect(try mina.memberNames() == ["Joon", "Mina", "Wim"])

        try mina.ok("member.remove", ["member": "Joon"])
        try wim.send("while Joon is out")
        bench.advance(10_000)
        try joon.comeBack(to: mina, in: bench)
        bench.advance(60_000)
        #expect(try joon.ok("workspace.get")["role"] == "member")
        #expect(try joon.ok("workspace.get")["removed_at"] == .null)
        #expect(try joon.log() == ["while Joon is out"])
        try joon.send("back")
        bench.advance(10_000)
        #expect(try wim.log() == ["while Joon is out", "back"])
        #expect(try wim.memberNames() == ["Joon", "Mina", "Wim"])
        try world.expectEqual("after coming back", [mina, wim, joon])
    }

    @Test func `is widened to what has arrived since`() throws {
        let (mina, ada, wim, joon, bench) =
            (world.mina, world.ada, world.wim, world.joon, world.bench)
        bench.cut(mina, joon)
        bench.cut(mina, wim)
        bench.cut(mina, ada)
        try joon.send("unheard")
        bench.advance(5_000)
        try mina.ok("member.remove", ["member": "Joon"])
        bench.heal(mina, wim)
        bench.heal(mina, ada)
        bench.advance(60_000)
        #expect(try wim.log() == [])
        #expect(
            try wim.refused("member.remove", ["member": "Joon", "recut": true]).kind
                == .forbidden)
        #expect(try mina.refused("member.remove", ["member": "Joon"]).reason == "member.removed")
        // Ada holds it, but is weaker than the member who removed Joon.
        #expect(
            try ada.refused("member.remove", ["member": "Joon", "recut": true]).kind
                == .forbidden)
        // It came to Mina in the moment in which she met Wim again.
        try mina.ok("member.remove", ["member": "Joon", "recut": true])
        bench.advance(60_000)
        for node in [mina, ada, wim] { #expect(try node.log() == ["unheard"], "\(node.name)") }
        try world.expectEqual("after the widening")
    }

    @Test func `is followed from device to device`() throws {
        let (mina, ada, wim, bench) = (world.mina, world.ada, world.wim, world.bench)
        for other in [mina, ada, world.joon] { bench.cut(wim, other) }
        #expect(
            try mina.refused("member.status", ["member": "Joon"]).reason
                == "member.not_removed")
        try mina.ok("member.remove", ["member": "Joon"])
        bench.advance(10_000)
        func complete() throws -> [String] {
            try mina.ok("member.status", ["member": "Joon"]).items
                .filter { $0["complete"] == true }
                .compactMap { $0["member"]?["name"]?.stringValue }.sorted()
        }
        #expect(try complete() == ["Ada", "Mina"])
        bench.heal(wim, mina)
        bench.advance(60_000)
        #expect(try complete() == ["Ada", "Mina", "Wim"])
        #expect(try mina.ok("member.status", ["member": "Joon"]).items.count == 3)
    }

    @Test func `waits until a peer was met, unless it is forced`() throws {
        let (mina, ada, wim, joon, bench) =
            (world.mina, world.ada, world.wim, world.joon, world.bench)
        for other in [ada, wim, joon] { bench.cut(mina, other) }
        try mina.restart()
        let error = try mina.refused("member.remove", ["member": "Joon"])
        #expect(error.kind == .unsynced && error.exitStatus == 7)
        #expect(try mina.memberNames().contains("Joon"))
        try mina.ok("member.remove", ["member": "Joon", "force": true])
        bench.heal(mina, wim)
        bench.advance(60_000)
        try mina.ok("member.remove", ["member": "Ada"])
        // Nobody else is there to be asked.
        let (kim, lou) = try (bench.node("Kim", workspace: "duo"), bench.bareNode("Lou"))
        try lou.join(try kim.link())
        bench.cut(kim, lou)
        try kim.restart()
        try kim.ok("member.remove", ["member": "Lou"])
    }

    struct Refusal: Sendable, CustomTestStringConvertible {
        let who: String
        let whom: String
        let reason: String
        var testDescription: String { "\(who) removes \(whom)" }
    }

    @Test(arguments: [
        Refusal(who: "Wim", whom: "Joon", reason: "role"),
        Refusal(who: "Ada", whom: "Mina", reason: "rank"),
        Refusal(who: "Ada", whom: "Ada", reason: "own"),
        Refusal(who: "Mina", whom: "Mina", reason: "own"),
    ])
    func `needs somebody stronger`(_ row: Refusal) throws {
        let node = try #require(world.bench.nodes.first { $0.name == row.who })
        let before = try node.rowCount("operation")
        let error = try node.refused("member.remove", ["member": .string(row.whom)])
        #expect(error.kind == .forbidden && error.reason == row.reason)
        let role = try node.refused(
            "member.role", ["member": .string(row.whom), "role": "guest"])
        #expect(role.kind == .forbidden && role.reason == row.reason)
        #expect(try node.rowCount("operation") == before, "nothing was written")
    }

    @Test func `of each other by two admins has one winner`() throws {
        let (mina, ada, wim, joon, bench) =
            (world.mina, world.ada, world.wim, world.joon, world.bench)
        try mina.ok("member.role", ["member": "Wim", "role": "admin"])
        bench.advance(10_000)
        for node in [mina, joon] { bench.cut(ada, node) }
        bench.cut(ada, wim)
        for node in [mina, joon] { bench.cut(wim, node) }
        try ada.ok("member.remove", ["member": "Wim", "force": true])
        // The elder admin is Ada: Wim may not remove her by a command, so he does it without.
        #expect(try wim.refused("member.remove", ["member": "Ada"]).reason == "rank")
        try wim.remove(ada)
        for (left, right) in [(ada, mina), (wim, mina), (ada, joon), (ada, wim)] {
            bench.heal(left, right)
        }
        bench.advance(120_000)
        for node in [mina, ada, joon] {
            #expect(try node.memberNames() == ["Ada", "Joon", "Mina"], "\(node.name)")
        }
        try world.expectEqual("after the duel", [mina, ada, joon])
    }
}
