import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

struct `A role` {
    @Test func `is given and taken, and everybody is told`() throws {
        let world = try RemovalBench()
        let (mina, ada, wim, bench) = (world.mina, world.ada, world.wim, world.bench)
        let start = try wim.cursor()
        #expect(try mina.ok("member.role", ["member": "Wim", "role": "admin"])["role"] == "admin")
        bench.advance(5_000)
        #expect(try wim.ok("member.get", ["member": "@Wim"])["role"] == "admin")
        _ = try wim.ok("invite.create")
        try mina.ok("member.role", ["member": "Wim", "role": "member"])
        bench.advance(5_000)
        #expect(try wim.refused("invite.create").reason == "role")
        let roles = try wim.events(since: start, types: ["member.role_changed"]).compactMap {
            $0["data"]?["name"]
        }
        #expect(roles == ["Wim", "Wim"])
        // The same again writes nothing.
        let before = try mina.rowCount("operation")
        try mina.ok("member.role", ["member": "Wim", "role": "member"])
        #expect(try mina.rowCount("operation") == before)
        #expect(
            try ada.refused("member.role", ["member": "Wim", "role": "admin"]).reason
                == "rank")
        #expect(
            try ada.refused("member.role", ["member": "Nobody", "role": "member"]).kind
                == .unknownUser)
        try world.expectEqual("after the changes")
    }

    @Test func `owner is given only by a transfer, and the former owner may leave`() throws {
        let world = try RemovalBench()
        let (mina, ada, bench) = (world.mina, world.ada, world.bench)
        let error = try mina.refused("workspace.leave")
        #expect(error.kind == .transferFirst && error.exitStatus == 6)
        for node in [mina, ada] {
            let refused = try node.refused("member.role", ["member": "Wim", "role": "owner"])
            #expect(refused.kind == .badRequest && refused.fields.map(\.name) == ["role"])
            #expect(refused.hint == "to change the owner: wsx-node workspace transfer @U")
        }
        try mina.ok("workspace.transfer", ["member": "Ada"])
        bench.advance(5_000)
        #expect(try ada.ok("workspace.get")["role"] == "owner")
        let left = try mina.ok("workspace.leave")
        #expect(left["role"] == .null)
        #expect(try left.number("removed_at") > 0)
        bench.advance(30_000)
        #expect(try ada.memberNames() == ["Ada", "Joon", "Wim"])
    }

    @Test func `that is promoted keeps what was done meanwhile`() throws {
        let world = try RemovalBench()
        let (mina, wim, ada, joon, bench) =
            (world.mina, world.wim, world.ada, world.joon, world.bench)
        for other in [mina, ada, joon] { bench.cut(wim, other) }
        try wim.ok("channel.create", ["name": "plans"])
        try wim.send("offline")
        try mina.ok("member.role", ["member": "Wim", "role": "admin"])
        for other in [mina, ada] { bench.heal(wim, other) }
        bench.advance(60_000)
        #expect(try ada.log() == ["offline"])
        #expect(
            try ada.ok("channel.list", ["scope": "all"]).texts("name").sorted()
                == ["general", "plans"])
        try world.expectEqual("after the promotion")
    }

    @Test func `guest ends what its member wrote offline meanwhile, and tells them`() throws {
        let world = try RemovalBench()
        let (mina, wim, ada, joon, bench) =
            (world.mina, world.wim, world.ada, world.joon, world.bench)
        try wim.send("known")
        bench.advance(5_000)
        for other in [mina, ada, joon] { bench.cut(wim, other) }
        try wim.send("offline 1")
        try wim.send("offline 2")
        try mina.ok("member.role", ["member": "Wim", "role": "guest"])
        for other in [mina, ada] { bench.heal(wim, other) }
        bench.advance(60_000)
        for node in [mina, ada, joon] { #expect(try node.log() == ["known"], "\(node.name)") }
        // A guest is in no public channel any more, and is told all the same.
        #expect(
            try wim.refused("message.history", ["channel": "general"]).reason
                == "channel.not_found")
        let refusals = try wim.told("message.refused")
        #expect(refusals.compactMap { $0["reason"] } == ["role", "role"])
        #expect(refusals.compactMap { $0["by"]?["name"] } == ["Mina", "Mina"])
        #expect(
            try wim.refused("message.send", ["channel": "general", "text": "x"]).reason
                == "channel.not_found")
        #expect(try !wim.opens(whatIsSealedBy: mina))
        // Promoted again, the old ones stay cut off and new ones count.
        try mina.ok("member.role", ["member": "Wim", "role": "member"])
        bench.advance(10_000)
        try wim.send("again")
        // Scopes that change over and over are opened twice a minute.
        bench.advance(60_000)
        for node in [mina, ada, joon] { #expect(try node.log() == ["known", "again"]) }
        #expect(
            try wim.states() == [
                "known held_by_others", "offline 1 refused", "offline 2 refused",
                "again held_by_others",
            ])
    }
}

struct `Leaving` {
    @Test func `keeps what was written, and what was there to read`() throws {
        let world = try RemovalBench()
        let (mina, ada, wim, joon, bench) =
            (world.mina, world.ada, world.wim, world.joon, world.bench)
        try joon.send("hello")
        try joon.ok("channel.create", ["name": "plans"])
        try joon.send("a plan", to: "plans")
        try joon.ok("channel.add", ["channel": "plans", "members": ["@Mina"]])
        try joon.ok("channel.transfer", ["channel": "plans", "member": "@Mina"])
        bench.advance(5_000)
        let left = try joon.ok("workspace.leave")
        #expect(left["role"] == .null)
        bench.advance(10_000)
        try wim.send("among us")
        bench.advance(10_000)
        for node in [mina, ada, wim] {
            #expect(try node.memberNames() == ["Ada", "Mina", "Wim"])
            #expect(try node.log() == ["hello", "among us"])
            #expect(try node.log(of: "plans") == ["a plan"])
        }
        #expect(try joon.log() == ["hello"])
        #expect(try joon.log(of: "plans") == ["a plan"])
        let listed = try joon.ok("workspace.list").items
        #expect(listed.count == 1 && listed.first?["role"] == .null)
        #expect(listed.first?["removed_at"] == left["removed_at"])
        for (method, parameters) in [
            ("message.send", ["channel": "general", "text": "x"]), ("workspace.leave", [:]),
            ("workspace.rekey", [:]), ("member.remove", ["member": "Wim"]),
        ] as [(String, JSONValue)] {
            let error = try joon.refused(method, parameters)
            #expect(error.kind == .forbidden && error.reason == "removed", "\(method)")
        }
        #expect(try joon.told("message.refused").isEmpty)
        #expect(try wim.told("member.removed").compactMap { $0["name"] } == ["Joon"])
        try joon.restart()
        #expect(try joon.ok("workspace.list").items.first?["removed_at"] == left["removed_at"])
    }
}
