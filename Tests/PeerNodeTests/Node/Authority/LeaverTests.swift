import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

struct `Somebody who left` {
    private func world() throws -> (bench: CoreBench, mina: BenchNode, joon: BenchNode) {
        let bench = CoreBench()
        let mina = try bench.node("Mina")
        let joon = try bench.guest("Joon", of: mina)
        bench.advance(20_000)
        return (bench, mina, joon)
    }

    @Test func `does not come back by the phrase alone, but by an invite`() throws {
        let (bench, mina, joon) = try world()
        let phrase = try joon.ok("identity.show", ["phrase": true])["phrase"] ?? .null
        let link = try mina.ok("invite.create")["link"] ?? .null
        let member = try joon.ok("identity.show")["members"]?[0]?["member"]
        try joon.ok("workspace.leave")
        bench.advance(20_000)
        #expect(try mina.memberNames() == ["Mina"])
        let fresh = try bench.bareNode("Fresh")
        let refused = try fresh.refused(
            "identity.recover", ["phrase": phrase, "link": link, "name": "Joon"])
        #expect(refused.kind == .pending && refused.reason == "recovery.pending")
        #expect(refused.hint?.contains("identity recover") == true)
        try mina.decide("join.approve")
        bench.advance(2_000)
        try fresh.ok("identity.recover", ["phrase": phrase, "link": link, "name": "Joon"])
        bench.advance(10_000)
        #expect(try fresh.ok("identity.show")["members"]?[0]?["member"] == member)
        #expect(try mina.memberNames() == ["Joon", "Mina"])
        try fresh.send("back")
        bench.advance(5_000)
        #expect(try mina.log() == ["back"])
    }

    @Test func `left with all devices, the older one too`() throws {
        let (bench, mina, joon) = try world()
        let phone = try bench.bareNode("Phone")
        try joon.link(phone)
        try joon.send("from the laptop")
        bench.advance(10_000)
        try phone.ok("workspace.leave")
        bench.advance(20_000)
        #expect(try mina.memberNames() == ["Mina"])
        for node in [joon, phone] {
            #expect(try node.ok("workspace.get")["state"] == "left", "\(node.name)")
            #expect(
                try node.refused("message.send", ["channel": "general", "text": "x"]).reason
                    == "removed")
        }
        #expect(try mina.log() == ["from the laptop"])
        let key = try #require(try mina.workspace().sealingKey)
        #expect(key.answersAll)
        #expect(try joon.workspace().secrets.keys[key.id] == nil)
    }

    @Test func `and had founded the workspace rejoins with the same device`() throws {
        let (bench, mina, joon) = try world()
        try mina.send("first")
        let member = try mina.ok("identity.show")["members"]?[0]?["member"]
        try mina.ok("workspace.transfer", ["member": "Joon"])
        bench.advance(10_000)
        try mina.ok("workspace.leave")
        bench.advance(20_000)
        #expect(try joon.memberNames() == ["Joon"])
        try mina.comeBack(to: joon, in: bench)
        bench.advance(20_000)
        #expect(try mina.ok("identity.show")["members"]?[0]?["member"] == member)
        #expect(try mina.ok("workspace.get")["role"] == "member")
        try mina.send("again")
        bench.advance(5_000)
        #expect(try joon.log() == ["first", "again"])
        #expect(try joon.digest() == mina.digest())
    }

    @Test func `gets all messages back on return, also if the leaving device was behind`() throws {
        let (bench, mina, joon) = try world()
        let phone = try bench.bareNode("Phone")
        try joon.link(phone)
        bench.advance(10_000)
        for node in [mina, joon] { bench.cut(phone, node) }
        try joon.send("late")
        bench.advance(5_000)
        try phone.ok("workspace.leave")
        for node in [mina, joon] { bench.heal(phone, node) }
        bench.advance(20_000)
        #expect(try mina.log() == [])
        try phone.comeBack(to: mina, in: bench)
        bench.advance(20_000)
        #expect(try mina.log() == ["late"] && phone.log() == ["late"])
        #expect(try mina.digest() == phone.digest())
    }

    /// Otherwise a former member would lead again what they led before, merely because somebody
    /// readmits them.
    @Test func `gets messages back on return, but nothing done to others meanwhile`() throws {
        let (bench, mina, joon) = try world()
        let kim = try bench.guest("Kim", of: mina)
        let phone = try bench.bareNode("Phone")
        try joon.link(phone)
        try mina.ok("channel.create", ["name": "vault", "private": true])
        try mina.ok("channel.add", ["channel": "vault", "members": ["Joon"]])
        try mina.ok("channel.role", ["channel": "vault", "member": "Joon", "role": "admin"])
        try mina.send("mine", to: "vault")
        bench.advance(10_000)
        for node in [mina, kim, joon] { bench.cut(phone, node) }
        try joon.send("late", to: "vault")
        try joon.ok("channel.edit", ["channel": "vault", "name": "taken"])
        try joon.ok("channel.add", ["channel": "taken", "members": ["Kim"]])
        let words = try joon.ok("message.history", ["channel": "taken", "limit": 10]).items
        let minas = try #require(words.first { $0["text"] == "mine" })
        try joon.ok("message.delete", ["message": minas["id"] ?? .null])
        bench.advance(20_000)
        #expect(try mina.ok("channel.get", ["channel": "taken"])["members"] == 3)
        // The device that leaves knows nothing of that.
        try phone.ok("workspace.leave")
        for node in [mina, kim, joon] { bench.heal(phone, node) }
        bench.advance(20_000)
        #expect(try mina.log(of: "vault") == ["mine"])
        try phone.comeBack(to: mina, in: bench)
        bench.advance(20_000)
        #expect(try mina.log(of: "vault") == ["mine", "late"])
        let shown = try mina.ok("channel.get", ["channel": "vault"])
        #expect(shown["members"] == 1, "\(shown)")
        #expect(try kim.ok("channel.list").items.allSatisfy { $0["name"] != "taken" })
        try mina.send("to nobody else", to: "vault")
        bench.advance(5_000)
        #expect(try kim.ok("channel.list").items.allSatisfy { $0["name"] != "taken" })
        #expect(try mina.digest() == kim.digest())
        #expect(try mina.ok("node.check")["problem_count"] == 0)
    }

    /// A link of before, of which there is one for admins, or a used one, brings nobody back as more than
    /// they were.
    @Test func `comes back as no more than before`() throws {
        let (bench, mina, joon) = try world()
        let link = try mina.link(["role": "admin", "uses": 2])
        let kim = try bench.bareNode("Kim")
        try kim.join(link)
        bench.advance(5_000)
        #expect(try kim.ok("workspace.get")["role"] == "admin")
        for (node, last) in [(kim, "member"), (joon, "member")] {
            if node === kim {
                try mina.ok("member.role", ["member": "Kim", "role": "member"])
                bench.advance(2_000)
            }
            try mina.ok("member.remove", ["member": .string(node.name), "force": true])
            bench.advance(20_000)
            #expect(node.ask(link) == "pending")
            bench.advance(2_000)
            let request = try #require(try mina.requests().first { $0["state"] == "pending" })
            #expect(
                request["note"]?.stringValue?.hasSuffix("asks to come back as a member") == true)
            try mina.decide("join.approve")
            bench.advance(20_000)
            #expect(try node.ok("workspace.get")["role"] == .string(last), "\(node.name)")
        }
    }

    /// An admin makes no admin, and is told so before approving; the owner does.
    @Test func `is shown to each as what their approval makes of them`() throws {
        let (bench, mina, joon) = try world()
        let link = try mina.link(["role": "admin", "uses": 2])
        let kim = try bench.bareNode("Kim")
        try kim.join(link)
        bench.advance(5_000)
        try mina.ok("member.role", ["member": "Joon", "role": "admin"])
        bench.advance(2_000)
        try mina.ok("member.remove", ["member": "Kim", "force": true])
        bench.advance(20_000)
        #expect(kim.ask(link) == "pending")
        bench.advance(20_000)
        for (node, role) in [(mina, "an admin"), (joon, "a member")] {
            let request = try #require(try node.requests().first { $0["state"] == "pending" })
            let note = try #require(request["note"]?.stringValue)
            #expect(note.hasSuffix("asks to come back as \(role)"), "\(node.name): \(note)")
        }
        try joon.decide("join.approve")
        bench.advance(20_000)
        #expect(try kim.ok("workspace.get")["role"] == "member")
    }

    /// No is an answer to a question, and takes nothing that was said before.
    @Test(arguments: [true, false])
    func `and is turned down keeps every word`(hasLeft: Bool) throws {
        let (bench, mina, joon) = try world()
        let kim = try bench.guest("Kim", of: mina)
        bench.advance(5_000)
        try mina.ok("channel.create", ["name": "board", "private": true])
        try mina.ok("channel.add", ["channel": "board", "members": ["Joon", "Kim"]])
        bench.advance(5_000)
        try joon.send("one")
        try joon.send("two", to: "board")
        bench.advance(5_000)
        if hasLeft {
            try joon.ok("workspace.leave")
        } else {
            try mina.ok("member.remove", ["member": "Joon"])
        }
        bench.advance(20_000)
        #expect(joon.ask(try mina.link()) == "pending")
        bench.advance(2_000)
        try mina.decide("join.reject")
        bench.advance(20_000)
        for node in [mina, kim] {
            #expect(try node.log() == ["one"], "\(node.name)")
            #expect(try node.log(of: "board") == ["two"], "\(node.name)")
        }
        // And it is kept for good, also where somebody thinks better of it.
        let request = try #require(try mina.requests().first)
        try mina.ok("join.approve", ["id": request["id"] ?? .null])
        bench.advance(20_000)
        #expect(try mina.memberNames() == ["Joon", "Kim", "Mina"])
        for node in [mina, kim, joon] { #expect(try node.log() == ["one"], "\(node.name)") }
        #expect(try mina.digest() == kim.digest())
    }

    /// The admin who says no has not heard all of it yet, and what the departure lists stays.
    @Test func `and is turned down keeps what that admin has not heard`() throws {
        let (bench, mina, joon) = try world()
        let kim = try bench.guest("Kim", of: mina)
        bench.advance(5_000)
        try mina.ok("member.role", ["member": "Kim", "role": "admin"])
        bench.advance(5_000)
        bench.cut(mina, joon)
        bench.cut(mina, kim)
        try joon.send("unheard")
        bench.advance(5_000)
        try kim.ok("member.remove", ["member": "Joon"])
        let removal = try #require(try kim.workspace().authorityOrder.last)
        try mina.take([try kim.authorityRun(of: removal)])
        let member = try joon.workspace().member
        try mina.inTurn { core, known in _ = try core.membership.turnDown(member, in: known) }
        bench.heal(mina, kim)
        bench.advance(20_000)
        for node in [mina, kim] { #expect(try node.log() == ["unheard"], "\(node.name)") }
    }

    @Test func `with a linked device comes back with that one`() throws {
        let (bench, mina, joon) = try world()
        let phone = try bench.bareNode("Phone")
        try joon.link(phone)
        bench.advance(10_000)
        try phone.ok("workspace.leave")
        bench.advance(20_000)
        try phone.comeBack(to: mina, in: bench)
        #expect(try mina.memberNames() == ["Joon", "Mina"])
        try phone.send("from the phone")
        bench.advance(5_000)
        #expect(try mina.log() == ["from the phone"])
        // The grant names the device that asked, and no other.
        #expect(try joon.ok("workspace.get")["role"] == .null)
    }

    @Test func `owns no channel that others are in`() throws {
        let bench = CoreBench()
        let ada = try bench.node("Ada")
        let bob = try bench.guest("Bob", of: ada)
        let plans = try bob.ok("channel.create", ["name": "plans"])["id"]
        try bob.ok("channel.create", ["name": "board", "private": true])
        try bob.ok("channel.create", ["name": "alone", "private": true])
        try bob.ok("channel.add", ["channel": "board", "members": ["@Ada"]])
        let failure = try bob.refused("workspace.leave")
        #expect(failure.kind == .transferFirst && failure.reason == "channel.owner")
        let listed = failure.details["channels"]?.arrayValue ?? []
        #expect(listed.compactMap { $0["name"] } == ["plans", "board"])
        #expect(listed.first?["id"] == plans)
        let absent = try bob.refused("channel.transfer", ["channel": "plans", "member": "@Ada"])
        #expect(absent.reason == "channel.absent")
        try bob.ok("channel.add", ["channel": "plans", "members": ["@Ada"]])
        try bob.ok("channel.transfer", ["channel": "plans", "member": "@Ada"])
        try bob.ok("channel.delete", ["channel": "board"])
        try bob.ok("workspace.leave")
        withExtendedLifetime(bench) {}
    }

    @Test func `does not come back by a link without approval`() throws {
        let bench = CoreBench()
        let ada = try bench.node("Ada")
        let bob = try bench.bareNode("Bob")
        let link = try ada.link(["uses": 5])
        try bob.ok("workspace.join", ["link": .string(link), "name": "Bob"])
        for end in ["removed", "left"] {
            if end == "removed" {
                try ada.ok("member.remove", ["member": "@Bob", "force": true])
            } else {
                try bob.ok("workspace.leave")
            }
            bench.advance(2_000)
            let failure = try bob.refused("workspace.join", ["link": .string(link)])
            #expect(failure.kind == .pending, "\(end)")
            bench.advance(2_000)
            #expect(try ada.memberNames() == ["Ada"])
            try ada.decide("join.approve")
            bench.advance(5_000)
            #expect(try ada.memberNames() == ["Ada", "Bob"])
        }
        withExtendedLifetime(bench) {}
    }

    /// Otherwise approving pending requests would readmit somebody who has left and asked nobody.
    @Test func `leaves again, and what let them back in is not asked once more`() throws {
        let (bench, mina, _) = try world()
        let link = try mina.link(["approve": true, "uses": 5])
        let kim = try bench.bareNode("Kim")
        func states() throws -> [String] {
            try mina.requests().compactMap { $0["state"]?.stringValue }
        }
        for expected in [["approved"], ["approved", "approved"]] {
            #expect(kim.ask(link) == "pending")
            bench.advance(2_000)
            try mina.decide("join.approve")
            bench.advance(20_000)
            #expect(try mina.memberNames() == ["Joon", "Kim", "Mina"])
            try kim.ok("workspace.leave")
            bench.advance(20_000)
            #expect(try mina.memberNames() == ["Joon", "Mina"])
            #expect(try states() == expected)
        }
        // To approve it again says so, and brings nobody back.
        let old = try #require(try mina.requests().last)
        #expect(try mina.ok("join.approve", ["id": old["id"] ?? .null])["state"] == "approved")
        bench.advance(5_000)
        #expect(try mina.memberNames() == ["Joon", "Mina"])
        // A new departure is a new question, which waits, also after a restart.
        #expect(kim.ask(link) == "pending")
        bench.advance(2_000)
        try mina.restart()
        #expect(try states() == ["pending", "approved", "approved"])
        try mina.decide("join.approve")
        bench.advance(20_000)
        #expect(try mina.memberNames() == ["Joon", "Kim", "Mina"])
    }

    @Test func `as the only owner hands over to the successor, or does not leave`() throws {
        let (bench, mina, joon) = try world()
        #expect(try mina.refused("workspace.leave").kind == .transferFirst)
        try mina.ok("workspace.successor.set", ["member": "Joon"])
        try mina.ok("workspace.leave")
        bench.advance(20_000)
        #expect(try joon.ok("workspace.get")["role"] == "owner")
        #expect(try joon.memberNames() == ["Joon"])
    }
}

struct `A device of several workspaces` {
    @Test func `is renamed and revoked in all of them at once`() throws {
        let bench = CoreBench()
        let mina = try bench.node("Mina")
        try mina.ok("workspace.create", ["name": "duo"])
        let phone = try bench.bareNode("Phone")
        try mina.link(phone)
        bench.advance(5_000)
        let id = JSONValue.string(try phone.deviceID())
        let named = try mina.ok("device.rename", ["device": id, "name": "phone"])
        #expect(named["workspaces"]?.arrayValue?.map { $0["done"] } == [true, true])
        for name in ["acme", "duo"] {
            let names = try mina.ok("device.list", ["workspace": .string(name)]).texts("name")
            #expect(names.contains("phone"), "\(name)")
        }
        // The one that is named alone.
        try mina.ok(
            "device.rename", ["device": id, "name": "old phone", "workspace": "duo"])
        #expect(
            try mina.ok("device.list", ["workspace": "acme"]).texts("name").contains("phone"))
        let gone = try mina.ok("device.revoke", ["device": id])
        #expect(gone["revoked"] == true)
        #expect(gone["workspaces"]?.arrayValue?.count == 2)
        for name in ["acme", "duo"] {
            let rows = try mina.ok("device.list", ["workspace": .string(name)]).items
            #expect(rows.first { $0["id"] == id }?["revoked"] == true, "\(name)")
        }
    }

    @Test func `tells where it could not be done, and by which command it can`() throws {
        let bench = CoreBench()
        let mina = try bench.node("Mina")
        let phone = try bench.bareNode("Phone")
        try mina.link(phone)
        bench.advance(5_000)
        // In a workspace that the phone made, the laptop is the younger device.
        try phone.ok("workspace.create", ["name": "duo"])
        #expect(try phone.refused("device.revoke", ["device": "nothing"]).kind == .notFound)
        let link = try phone.ok("device.link")["link"] ?? .null
        try mina.ok("device.link", ["code": link])
        bench.advance(5_000)
        let id = JSONValue.string(try phone.deviceID())
        let gone = try mina.ok("device.revoke", ["device": id, "workspace": "acme"])
        #expect(gone["workspaces"]?.arrayValue?.map { $0["done"] } == [true])
        let left = try mina.refused("device.revoke", ["device": id, "workspace": "duo"])
        #expect(left.reason == "device.older")
    }
}
