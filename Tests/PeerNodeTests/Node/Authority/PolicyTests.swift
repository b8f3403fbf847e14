import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// Who may join, and who may invite.
struct `The policy of a workspace` {
    private let bench = CoreBench()
    private let mina: BenchNode

    init() throws { mina = try bench.node("Mina") }

    @Test func `is admins and closed by default, and the same everywhere`() throws {
        let joon = try bench.guest("Joon", of: mina)
        for node in [mina, joon] {
            let policy = try node.ok("policy.get")
            #expect(policy["who_may_invite"] == "admins" && policy["join"] == "closed")
            #expect(policy["address"] == .null)
            #expect(policy["id"] == (try node.ok("workspace.get")["id"]))
        }
        let set = try mina.ok("policy.set", ["who_may_invite": "members"])
        #expect(set["who_may_invite"] == "members" && set["join"] == "closed")
        #expect(try joon.ok("policy.get")["who_may_invite"] == "members")
        #expect(try joon.eventTypes().contains("workspace.edited"))
        #expect(mina.outcome("policy.set") == "bad_request")
        #expect(joon.outcome("policy.set", ["join": "open"]) == "forbidden")
    }

    @Test func `lets members invite members while it says so`() throws {
        let joon = try bench.guest("Joon", of: mina)
        #expect(joon.outcome("invite.create") == "forbidden")
        try mina.ok("policy.set", ["who_may_invite": "members"])
        #expect(joon.outcome("invite.create", ["role": "admin"]) == "forbidden")
        let invite = try joon.ok("invite.create", ["uses": 5])
        let kim = try bench.bareNode("Kim")
        try kim.join(try invite.text("link"))
        #expect(try mina.memberNames() == ["Joon", "Kim", "Mina"])
        // Members end their own invites, and no others.
        let foreign = try mina.ok("invite.create").text("id")
        #expect(joon.outcome("invite.revoke", ["id": .string(foreign)]) == "forbidden")
        #expect(kim.outcome("invite.revoke", ["id": invite["id"] ?? .null]) == "forbidden")
        let revoked = try joon.ok("invite.revoke", ["id": invite["id"] ?? .null])
        #expect(revoked["state"] == "revoked" && revoked["used"] == 1)
        try mina.ok("policy.set", ["who_may_invite": "admins"])
        #expect(joon.outcome("invite.create") == "forbidden")
        #expect(try kim.ok("workspace.get")["role"] == "member")
        for node in [mina, joon, kim] { #expect(node.openCount == 1) }
    }

    @Test func `finds the address of the workspace without looking at every invite`() throws {
        for _ in 0..<40 { try mina.ok("invite.create") }
        func looks() -> Int { mina.host?.core.turn.tally.addressLooks ?? 0 }
        let before = looks()
        #expect(try mina.ok("policy.get")["address"] == .null)
        #expect(looks() == before)
        try mina.ok("policy.set", ["join": "open"])
        let address = try mina.ok("policy.get")["address"]
        #expect(address != .null)
        let open = looks()
        _ = try mina.ok("home.get")
        #expect(try mina.ok("workspace.get")["address"] == address)
        #expect(looks() - open == 2)
    }

    @Test func `is the new owner's to change after a transfer, and so are invites`() throws {
        let joon = try bench.guest("Joon", of: mina)
        let before = try mina.ok("invite.create").text("id")
        try mina.ok("policy.set", ["join": "open"])
        let address = try mina.ok("policy.get")["address"]
        try mina.ok("workspace.transfer", ["member": "Joon"])
        // What the owner of before had open has ended: nobody could end it any more.
        let states = try joon.ok("invite.list").items.filter { $0["id"] == .string(before) }
        #expect(states.map { $0["state"] } == ["revoked"])
        let renewed = try joon.ok("policy.get")
        #expect(renewed["join"] == "open" && renewed["address"]?.isNull == false)
        #expect(renewed["address"] != address)
        let later = try mina.ok("invite.create")["id"] ?? .null
        #expect(try joon.ok("invite.revoke", ["id": later])["state"] == "revoked")
        let own = try mina.ok("invite.create")["id"] ?? .null
        #expect(try mina.ok("invite.revoke", ["id": own])["state"] == "revoked")
        let closed = try joon.ok("policy.set", ["join": "closed"])
        #expect(closed["join"] == "closed" && closed["address"] == .null)
        try mina.ok("policy.set", ["join": "open"])
        #expect(try mina.ok("policy.set", ["join": "closed"])["address"] == .null)
        for node in [mina, joon] { #expect(try node.ok("node.check")["problem_count"] == 0) }
    }

    @Test func `ends with the removal of the admin who opened it`() throws {
        let ada = try bench.guest("Ada", of: mina, role: "admin")
        try ada.ok("policy.set", ["join": "open"])
        try mina.ok("member.remove", ["member": "Ada"])
        #expect(try mina.ok("policy.get")["address"] == .null)
        #expect(try mina.ok("policy.set", ["join": "closed"])["join"] == "closed")
        #expect(try mina.ok("policy.set", ["join": "open"])["address"]?.isNull == false)
    }

    @Test func `keeps no invites of a member who leaves`() throws {
        let ada = try bench.guest("Ada", of: mina, role: "admin")
        let id = try ada.ok("invite.create")["id"] ?? .null
        let open = try ada.ok("policy.set", ["join": "open"])
        try ada.ok("workspace.leave")
        let left = try mina.ok("invite.list").items.first { $0["id"] == id }
        #expect(left?["state"] == "revoked")
        // The address belongs to everybody, and the remaining members can close it.
        let stays = try mina.ok("policy.get")["address"]
        #expect(stays?.isNull == false && open["address"]?.isNull == false)
        #expect(try mina.ok("policy.set", ["join": "closed"])["address"] == .null)
    }

    @Test(arguments: ["admins", "owner"])
    func `of an owner who leaves is the successor's`(_ right: String) throws {
        let joon = try bench.guest("Joon", of: mina)
        try mina.ok("policy.set", ["join": "open", "who_may_invite": .string(right)])
        try mina.ok("workspace.successor.set", ["member": "Joon"])
        try mina.ok("workspace.leave")
        #expect(try joon.ok("workspace.get")["role"] == "owner")
        // Where nobody but owners may invite, the next owner makes the next address.
        #expect(try joon.ok("policy.get")["address"]?.isNull == (right == "owner"))
        #expect(try joon.ok("policy.set", ["join": "closed"])["address"] == .null)
        #expect(try joon.ok("policy.set", ["join": "open"])["address"]?.isNull == false)
        #expect(try joon.ok("node.check")["problem_count"] == 0)
    }

    @Test func `leaves inviting to the owner where the owner wants that`() throws {
        let ada = try bench.guest("Ada", of: mina, role: "admin")
        try mina.ok("policy.set", ["who_may_invite": "owner"])
        #expect(try ada.refused("invite.create").reason == "policy")
        #expect(try ada.refused("policy.set", ["join": "open"]).reason == "policy")
        #expect(mina.outcome("invite.create") == "ok")
    }

    @Test(arguments: ["open", "request"])
    func `has an address that every member can show`(_ rule: String) throws {
        let joon = try bench.guest("Joon", of: mina)
        let address = try mina.ok("policy.set", ["join": .string(rule)]).text("address")
        #expect(try mina.ok("workspace.get")["address"] == .string(address))
        let shown = try joon.ok("policy.get").text("address")
        let (first, second) = (try InviteLink(address), try InviteLink(shown))
        #expect(first.secret.publicKey == second.secret.publicKey)
        #expect(second.hints.first?.text == joon.address)
        #expect(shown.utf8.count <= 150)
        // Mina is away, and the address works all the same.
        mina.kill()
        let kim = try bench.bareNode("Kim")
        #expect(kim.ask(shown) == (rule == "open" ? "ok" : "pending"))
        try mina.boot()
        bench.advance(60_000)
        if rule == "request" { try mina.decide("join.approve") }
        bench.advance(60_000)
        #expect(try mina.memberNames() == ["Joon", "Kim", "Mina"])
        #expect(try kim.ok("policy.get")["join"] == .string(rule))
        let again = try mina.ok("policy.set", ["join": .string(rule)])
        #expect(
            try InviteLink(try again.text("address")).secret.publicKey == first.secret.publicKey)
    }

    @Test func `takes its address back when it is closed`() throws {
        let open = try mina.ok("policy.set", ["join": "open"]).text("address")
        let asking = try mina.ok("policy.set", ["join": "request"]).text("address")
        #expect(open != asking)
        let late = try bench.bareNode("Late")
        #expect(late.ask(open) == "invite_invalid")
        let joon = try bench.bareNode("Joon")
        #expect(joon.ask(asking) == "pending")
        let closed = try mina.ok("policy.set", ["join": "closed"])
        #expect(closed["address"] == .null)
        #expect(try mina.ok("workspace.get")["address"] == .null)
        #expect(try mina.requests().first?["state"] == "void")
        #expect(late.ask(asking) == "invite_invalid")
        let other = try mina.ok("policy.set", ["join": "open"]).text("address")
        try late.join(other)
        #expect(try mina.memberNames() == ["Late", "Mina"])
    }

    @Test func `is closed by nobody weaker than who opened it`() throws {
        let ada = try bench.guest("Ada", of: mina, role: "admin")
        try mina.ok("policy.set", ["join": "open"])
        #expect(try ada.refused("policy.set", ["join": "closed"]).reason == "role")
        #expect(try ada.ok("policy.get")["join"] == "open")
        #expect(ada.openCount == 1)
        try mina.ok("policy.set", ["join": "closed"])
        try ada.ok("policy.set", ["join": "open"])
        #expect(try mina.ok("policy.set", ["join": "closed"])["address"] == .null)
    }

    @Test func `that two admins change apart is the same in the end, and serves no old address`()
        throws
    {
        let ada = try bench.guest("Ada", of: mina, role: "admin")
        bench.cut(mina, ada)
        let left = try mina.ok("policy.set", ["join": "open"]).text("address")
        let right = try ada.ok("policy.set", ["join": "request"]).text("address")
        bench.heal(mina, ada)
        bench.advance(30_000)
        let policy = try mina.ok("policy.get")
        #expect(try ada.ok("policy.get")["join"] == policy["join"])
        let isOpen = policy["join"] == "open"
        let joon = try bench.bareNode("Joon")
        #expect(joon.ask(isOpen ? right : left) == "invite_invalid")
        #expect(joon.ask(isOpen ? left : right) == (isOpen ? "ok" : "pending"))
    }
}
