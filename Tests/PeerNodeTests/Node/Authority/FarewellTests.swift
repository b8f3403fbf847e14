import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

struct `Somebody who is out` {
    private func links(_ node: BenchNode, to other: BenchNode) throws -> [PeerLink] {
        let core = try #require(node.host?.core)
        let device = try #require(other.host?.core.session.home?.device)
        return core.links.network.links(to: device)
    }

    private func peerNames(_ node: BenchNode) throws -> [String] {
        try node.ok("peer.list").items.compactMap { $0["id"]?.stringValue }
    }

    @Test func `is told so, and then the link ends and nobody dials it`() throws {
        let world = try RemovalBench()
        let (mina, ada, joon, bench) = (world.mina, world.ada, world.joon, world.bench)
        let id = try joon.deviceID()
        #expect(try peerNames(mina).contains(id))
        let dials = [mina, ada].map(\.dialled.count)
        try mina.ok("member.remove", ["member": "Joon"])
        bench.advance(2_000)
        #expect(try joon.ok("workspace.get")["role"] == .null, "told before the link ends")
        bench.advance(30_000)
        for (node, count) in zip([mina, ada], dials) {
            #expect(!node.dialled[count...].contains(joon.address), "\(node.name)")
            #expect(try links(node, to: joon).isEmpty, "\(node.name)")
            #expect(try !peerNames(node).contains(id), "\(node.name)")
        }
        // He dials in again, hears it again, and the link ends again, without an event.
        let before = try mina.cursor()
        let dialled = mina.dialled.count
        bench.give(.networkChanged, to: joon)
        bench.give(.tick, to: joon)
        bench.settle()
        #expect(try !links(mina, to: joon).isEmpty)
        #expect(try !peerNames(mina).contains(id))
        bench.advance(20_000)
        #expect(try links(mina, to: joon).isEmpty)
        #expect(try !mina.eventTypes(since: before).contains("peer.connected"))
        let errors = try joon.ok("peer.list").texts("last_error")
        #expect(errors.contains("removed"))
        bench.advance(120_000)
        #expect(!mina.dialled[dialled...].contains(joon.address))
        // After a restart too.
        try mina.restart()
        bench.advance(60_000)
        #expect(try !peerNames(mina).contains(id))
    }

    @Test func `is dialled until it was told`() throws {
        let world = try RemovalBench()
        let (mina, joon, bench) = (world.mina, world.joon, world.bench)
        for other in [mina, world.ada, world.wim] { bench.cut(joon, other) }
        try mina.ok("member.remove", ["member": "Joon"])
        bench.advance(60_000)
        #expect(try joon.ok("workspace.get")["role"] == "member")
        bench.heal(mina, joon)
        bench.advance(2_000)
        #expect(try joon.ok("workspace.get")["role"] == .null)
        bench.advance(60_000)
        #expect(try links(mina, to: joon).isEmpty)
        let dialled = mina.dialled.count
        bench.advance(120_000)
        #expect(!mina.dialled[dialled...].contains(joon.address))
    }

    @Test func `is told plainly by status, doctor and workspace show`() throws {
        let world = try RemovalBench()
        let (mina, joon, bench) = (world.mina, world.joon, world.bench)
        let removed = try mina.ok("member.remove", ["member": "Joon"])
        bench.advance(10_000)
        let shown = try joon.ok("workspace.get")
        #expect(shown["state"] == "removed" && shown["removed_how"] == "removed")
        #expect(shown["removed_by"]?["name"] == "Mina")
        #expect(shown["removed_at"] == removed["removed_at"])
        #expect(try shown.text("note").hasPrefix("you were removed from 'acme' by Mina on 20"))
        #expect(try shown.text("note").hasSuffix("wsx-node join LINK"))
        let status = try joon.ok("node.status")
        #expect(status["workspaces"]?[0]?["state"] == "removed")
        let warning = status["warnings"]?.arrayValue?.first { $0["kind"] == "workspace.removed" }
        #expect(warning?["message"]?.stringValue?.contains("by Mina") == true)
        let finding = try joon.ok("node.doctor").items.first { $0["id"] == "membership" }
        #expect(finding?["state"] == "warn")
        let refused = try joon.refused("message.send", ["channel": "general", "text": "x"])
        #expect(refused.message.contains("by Mina on 20"))
        #expect(try mina.ok("node.status")["warnings"] == [])
        #expect(try mina.ok("workspace.get")["state"] == "member")
    }

    /// A phone that was lost a year ago is not what ended the membership.
    @Test(arguments: [true, false])
    func `is told what ended it, whatever was revoked before`(isRemoval: Bool) throws {
        let world = try RemovalBench()
        let (mina, joon, bench) = (world.mina, world.joon, world.bench)
        let phone = try bench.bareNode("Phone")
        try joon.link(phone)
        bench.advance(10_000)
        try joon.ok("device.revoke", ["device": .string(try phone.deviceID())])
        bench.advance(60_000)
        if isRemoval {
            try mina.ok("member.remove", ["member": "Joon"])
        } else {
            try joon.ok("workspace.leave")
        }
        bench.advance(10_000)
        let shown = try joon.ok("workspace.get")
        #expect(shown["removed_how"] == (isRemoval ? "removed" : "left"))
        let ends = try mina.workspace().authorityOrder.suffix(2).compactMap {
            try mina.workspace().authority[$0]
        }
        let end = try #require(
            ends.first {
                switch $0.payload {
                case .remove, .leave: true
                default: false
                }
            })
        #expect(shown["removed_at"]?.integerValue == Int64(end.timestamp.milliseconds))
        let gone = try mina.ok("member.list", ["removed": true]).items.first {
            $0["name"] == "Joon"
        }
        #expect(gone?["removed_at"] == shown["removed_at"])
    }

    @Test func `by a revoked device is told which device did it, and has no role`() throws {
        let bench = CoreBench()
        let laptop = try bench.node("Mina")
        let phone = try bench.bareNode("Phone")
        try laptop.link(phone)
        bench.advance(5_000)
        try laptop.ok("device.revoke", ["device": .string(try phone.deviceID())])
        bench.advance(10_000)
        let shown = try phone.ok("workspace.get")
        #expect(shown["role"] == .null && shown["state"] == "device_revoked")
        #expect(try shown.text("note").contains("by another device of yours"))
        #expect(try laptop.ok("workspace.get")["role"] == "owner")
        bench.advance(30_000)
        #expect(try links(laptop, to: phone).isEmpty)
    }

    @Test func `by a farewell that is being fetched keeps the link, for ten minutes at most`() {
        var farewell = Farewell(at: 1_000)
        let quiet = 1_000 + Limits.farewellMilliseconds
        let early = farewell.isOver(at: quiet - 1, isBusy: false)
        farewell.moved(at: 4_000)
        let fetching = farewell.isOver(at: quiet, isBusy: false)
        let over = farewell.isOver(at: 4_000 + Limits.farewellMilliseconds, isBusy: false)
        #expect(!early && !fetching && over)
        for isBusy in [true, false] {
            var slow = Farewell(at: 0)
            var now: UInt64 = 0
            while !slow.isOver(at: now, isBusy: isBusy), now < 2 * Limits.farewellMillisecondsMax {
                if !isBusy { slow.moved(at: now) }
                now = min(slow.due, now + 4_000)
            }
            #expect(now == Limits.farewellMillisecondsMax, "busy or asking without end")
        }
    }

    @Test func `is listed and reported as before when readmitted on the same link`() throws {
        let world = try RemovalBench()
        let (mina, joon, bench) = (world.mina, world.joon, world.bench)
        try mina.ok("member.remove", ["member": "Joon"])
        bench.advance(60_000)
        try joon.comeBack(to: mina, in: bench)
        bench.advance(60_000)
        #expect(try peerNames(mina).contains(try joon.deviceID()))
        #expect(try joon.ok("workspace.get")["note"] == .null)
        try joon.send("back")
        bench.advance(5_000)
        #expect(try mina.log() == ["back"])
    }

    /// A laptop that was away has revoked the phone that left meanwhile: nobody but the laptop has
    /// what undoes the leave, and everybody else takes it for one that is out.
    @Test(arguments: [false, true])
    func `is asked for what undoes the end`(isAnswered: Bool) throws {
        let bench = CoreBench()
        let mina = try bench.node("Mina")
        let ann = try bench.guest("Ann", of: mina)
        let laptop = try bench.guest("Kim", of: mina)
        let phone = try bench.bareNode("Phone")
        try laptop.link(phone)
        bench.advance(10_000)
        let others = [mina, ann, phone]
        for other in others { bench.cut(laptop, other) }
        try phone.ok("workspace.leave")
        bench.advance(isAnswered ? 2 * Limits.confirmingMilliseconds : 5_000)
        #expect(try mina.memberNames() == ["Ann", "Mina"])
        try laptop.ok("device.revoke", ["device": .string(try phone.deviceID())])
        for other in others { bench.heal(laptop, other) }
        bench.advance(60_000)
        try laptop.send("still here")
        bench.advance(5_000)
        for node in [mina, ann, laptop] {
            #expect(try node.memberNames() == ["Ann", "Kim", "Mina"], "\(node.name)")
            #expect(try node.log() == ["still here"], "\(node.name)")
            #expect(try node.digest() == mina.digest(), "\(node.name)")
        }
        #expect(try !laptop.ok("peer.list").texts("last_error").contains("removed"))
    }
}
