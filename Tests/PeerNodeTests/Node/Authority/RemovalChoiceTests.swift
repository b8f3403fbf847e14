import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

struct `What a removal leaves to choose` {
    private let world: RemovalBench

    init() throws { world = try RemovalBench() }

    @Test func `a widening that has nothing to keep says so and writes nothing`() throws {
        let (mina, joon, bench) = (world.mina, world.joon, world.bench)
        try joon.send("known")
        bench.advance(5_000)
        #expect(try mina.ok("member.remove", ["member": "Joon"])["kept"] == .null)
        bench.advance(5_000)
        let before = try mina.rowCount("operation")
        let told = try mina.ok("member.remove", ["member": "Joon", "recut": true])
        #expect(told["kept"] == 0)
        #expect(try mina.rowCount("operation") == before)
    }

    @Test func `what only the removed holds cannot be had`() throws {
        let (mina, joon, bench) = (world.mina, world.joon, world.bench)
        for other in [mina, world.ada, world.wim] { bench.cut(joon, other) }
        try joon.send("alone")
        try mina.ok("member.remove", ["member": "Joon"])
        bench.heal(joon, mina)
        bench.advance(60_000)
        #expect(try mina.ok("member.remove", ["member": "Joon", "recut": true])["kept"] == 0)
        #expect(try mina.log() == [])
        #expect(try joon.states() == ["alone refused"])
    }

    @Test func `the author is told which posts count after all`() throws {
        let (mina, ada, wim, joon, bench) =
            (world.mina, world.ada, world.wim, world.joon, world.bench)
        for other in [mina, ada] {
            bench.cut(joon, other)
            bench.cut(wim, other)
        }
        try joon.send("late")
        bench.advance(5_000)
        try mina.ok("member.remove", ["member": "Joon"])
        bench.heal(wim, mina)
        bench.advance(60_000)
        #expect(try joon.told("message.refused").count == 1)
        let kept = try mina.ok("member.remove", ["member": "Joon", "recut": true])
        #expect(kept["kept"] == 1)
        bench.advance(5_000)
        #expect(try wim.log() == ["late"])
        #expect(try joon.told("message.restored").isEmpty, "he hears nothing of it until then")
        bench.heal(joon, mina)
        try joon.comeBack(to: mina, in: bench)
        bench.advance(60_000)
        #expect(try joon.told("message.restored").compactMap { $0["text"] } == ["late"])
        #expect(try joon.log() == ["late"])
        try world.expectEqual("after the widening", [mina, wim, joon])
    }

    @Test func `ends all open invites of the removed, but for those that are taken over`() throws {
        let (mina, ada, bench) = (world.mina, world.ada, world.bench)
        let ends = try ada.ok("invite.create", ["uses": 3])
        let stays = try ada.ok("invite.create", ["uses": 2])
        let first = try bench.bareNode("First")
        try first.join(try stays.text("link"))
        bench.advance(5_000)
        #expect(
            try mina.refused(
                "member.remove", ["member": "Ada", "keep_invites": ["i_nothing0"]]
            ).kind == .notFound)
        let id = stays["id"] ?? .null
        let removed = try mina.ok("member.remove", ["member": "Ada", "keep_invites": [id]])
        #expect(removed["ended_invites"] == [ends["id"] ?? .null])
        #expect(removed["kept_invites"]?.arrayValue?.count == 1)
        bench.advance(5_000)
        let open = try mina.ok("invite.list").items.filter { $0["state"] == "open" }
        #expect(open.map { $0["uses"] } == [1])
        #expect(open.first?["created_by"]?["name"] == "Mina")
        // The link that was handed out goes on, for what was left of it.
        let second = try bench.bareNode("Second")
        try second.join(try stays.text("link"))
        #expect(try mina.memberNames() == ["First", "Joon", "Mina", "Second", "Wim"])
        let third = try bench.bareNode("Third")
        for link in [ends, stays] {
            let answer = third.call(
                "workspace.join",
                ["link": link["link"] ?? .null, "name": "Third", "timeout_ms": 5_000])
            guard case .failure = answer else {
                Issue.record("admitted")
                continue
            }
        }
    }

    @Test func `invites that somebody stronger has made stand, and the remover is told`() throws {
        let (mina, ada, bench) = (world.mina, world.ada, world.bench)
        let old = try mina.ok("invite.create")["id"] ?? .null
        bench.advance(5_000)
        // As a program hands it over that does not end its invites before.
        let heir = try ada.workspace().member
        try mina.inTurn { core, workspace in
            let standing = try #require(workspace.members.first { $0.member == heir })
            _ = try #require(try WorkspaceHandler(core).handOver(workspace, to: standing))
        }
        bench.advance(10_000)
        let removed = try ada.ok("member.remove", ["member": "Mina"])
        #expect(removed["open_invites"] == [old] && removed["ended_invites"] == [])
    }

    @Test func `who is out is listed with the role they had last`() throws {
        let (mina, joon, bench) = (world.mina, world.joon, world.bench)
        try mina.ok("member.role", ["member": "Joon", "role": "admin"])
        bench.advance(5_000)
        try mina.ok("member.role", ["member": "Wim", "role": "guest"])
        try mina.ok("member.remove", ["member": "Joon"])
        try mina.ok("member.remove", ["member": "Wim"])
        bench.advance(5_000)
        let gone = try mina.ok("member.list", ["removed": true]).items
        #expect(gone.map { $0["name"] } == ["Wim", "Joon"])
        #expect(gone.map { $0["role"] } == ["guest", "admin"])
        withExtendedLifetime(joon) {}
    }

    @Test func `events keep the role of their time`() throws {
        let (mina, wim, joon, bench) = (world.mina, world.wim, world.joon, world.bench)
        try mina.ok("member.role", ["member": "Joon", "role": "admin"])
        bench.advance(5_000)
        try mina.ok("member.remove", ["member": "Joon"])
        bench.advance(10_000)
        #expect(try joon.told("workspace.joined").map { $0["role"] } == ["member"])
        #expect(try joon.told("workspace.joined").map { $0["removed_at"] } == [.null])
        #expect(try joon.told("workspace.removed").map { $0["role"] } == [.null])
        let changed = try wim.told("member.role_changed")
        #expect(changed.map { $0["role"] } == ["admin"] && changed[0]["removed"] == false)
        let joined = try mina.told("member.joined").first { $0["name"] == "Joon" }
        #expect(joined?["role"] == "member" && joined?["removed"] == false)
        #expect(try wim.told("member.removed").map { $0["removed"] } == [true])
        let founder = try mina.told("workspace.created")
        #expect(founder.map { $0["role"] } == ["owner"])
    }
}
