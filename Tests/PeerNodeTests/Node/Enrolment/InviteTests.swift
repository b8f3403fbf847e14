import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

struct `An invite` {
    private let bench = CoreBench()
    private let mina: BenchNode

    init() throws { mina = try bench.node("Mina") }

    @Test func `is for one member and 24 hours by default`() throws {
        let invite = try mina.ok("invite.create")
        #expect(invite["role"] == "member")
        #expect(invite["uses"] == 1)
        #expect(invite["used"] == 0)
        #expect(try invite.number("expires_at") == Int64(bench.wall) + 86_400_000)
        #expect(invite["state"] == "open")
        #expect(invite["approve"] == false)
        #expect(invite["channels"] == [])
        #expect(invite["code"] == .null)
        #expect(invite["created_by"]?["name"] == "Mina")
        let link = try invite.text("link")
        #expect(link.hasPrefix("wsx://join/"))
        #expect(link.utf8.count <= 150)
        #expect(invite["qr_text"] == .string(link.uppercased()))
    }

    @Test(arguments: [(1, 60_000), (7, 3_600_000), (1_000, 31_536_000_000)] as [(Int64, Int64)])
    func `takes uses and time`(_ uses: Int64, _ duration: Int64) throws {
        let invite = try mina.ok(
            "invite.create",
            ["uses": .integer(uses), "expires_ms": .integer(duration), "role": "admin"])
        #expect(invite["uses"] == .integer(uses))
        #expect(try invite.number("expires_at") == Int64(bench.wall) + duration)
        #expect(invite["role"] == "admin")
    }

    struct Right: Sendable, CustomTestStringConvertible {
        let own: String
        let invited: String
        let isAllowed: Bool
        var testDescription: String { "\(own) invites \(invited)" }
    }

    static let rights = [
        Right(own: "owner", invited: "admin", isAllowed: true),
        Right(own: "owner", invited: "member", isAllowed: true),
        Right(own: "admin", invited: "admin", isAllowed: false),
        Right(own: "admin", invited: "member", isAllowed: true),
        Right(own: "member", invited: "admin", isAllowed: false),
        Right(own: "member", invited: "member", isAllowed: false),
    ]

    @Test(arguments: rights)
    func `is for a weaker role than your own`(_ right: Right) throws {
        let caller =
            right.own == "owner" ? mina : try bench.guest("Joon", of: mina, role: right.own)
        let result = caller.call("invite.create", ["role": .string(right.invited)])
        switch result {
        case .success(let invite):
            #expect(right.isAllowed)
            #expect(invite["role"] == .string(right.invited))
        case .failure(let error):
            #expect(!right.isAllowed)
            #expect(error.kind == .forbidden)
            #expect(error.reason == "role")
        }
    }

    @Test(arguments: rights)
    func `makes people what it says`(_ right: Right) throws {
        guard right.isAllowed else { return }
        let bench = CoreBench()
        let mina = try bench.node("Mina")
        let caller =
            right.own == "owner" ? mina : try bench.guest("Joon", of: mina, role: right.own)
        let kim = try bench.guest("Kim", of: caller, role: right.invited)
        for node in [mina, caller, kim] {
            let people = try node.ok("member.list").items
            let member = try #require(people.first { $0["name"] == "Kim" })
            #expect(member["role"] == .string(right.invited))
            #expect(member["self"] == .bool(node === kim))
            #expect(member["devices"] == 1)
            #expect(member["removed"] == false)
        }
        #expect(try kim.ok("workspace.get")["role"] == .string(right.invited))
    }

    @Test func `has a state that everybody sees alike, but a link here only`() throws {
        let short = try mina.ok("invite.create", ["expires_ms": 60_000]).text("id")
        let gone = try mina.ok("invite.create").text("id")
        let open = try mina.ok("invite.create", ["uses": 2]).text("id")
        let joon = try bench.guest("Joon", of: mina)
        let revoked = try mina.ok("invite.revoke", ["id": .string(gone)])
        #expect(revoked["state"] == "revoked")
        #expect(revoked["id"] == .string(gone))
        bench.advance(60_001)
        for node in [mina, joon] {
            let invites = try node.ok("invite.list").items
            #expect(invites.count == 4)
            let states = Dictionary(
                uniqueKeysWithValues: try invites.map {
                    (try $0.text("id"), try $0.text("state"))
                })
            #expect(states[short] == "expired")
            #expect(states[gone] == "revoked")
            #expect(states[open] == "open")
            #expect(states.values.filter { $0 == "used" }.count == 1)
            #expect(invites.allSatisfy { ($0["link"] == .null) == (node === joon) })
            #expect(invites.allSatisfy { ($0["qr_text"] == .null) == (node === joon) })
        }
        // Once more is the same answer, and no operation.
        let count = try mina.rowCount("operation")
        #expect(try mina.ok("invite.revoke", ["id": .string(gone)])["state"] == "revoked")
        #expect(try mina.rowCount("operation") == count)
    }

    @Test func `is revoked by admins, and by nobody weaker than its author`() throws {
        let ada = try bench.guest("Ada", of: mina, role: "admin")
        let bob = try bench.guest("Bob", of: mina, role: "admin")
        let kim = try bench.guest("Kim", of: mina)
        func revoke(_ id: String, by node: BenchNode) -> String {
            switch node.call("invite.revoke", ["id": .string(id)]) {
            case .success(let invite): invite["state"]?.stringValue ?? "?"
            case .failure(let error): error.kind.rawValue
            }
        }
        let owners = try mina.ok("invite.create").text("id")
        for node in [ada, bob, kim] { #expect(revoke(owners, by: node) == "forbidden") }
        #expect(revoke(owners, by: mina) == "revoked")
        // Of two admins the one who was admitted first is the stronger.
        let bobs = try bob.ok("invite.create").text("id")
        let adas = try ada.ok("invite.create").text("id")
        #expect(revoke(adas, by: bob) == "forbidden")
        #expect(revoke(bobs, by: kim) == "forbidden")
        #expect(revoke(bobs, by: ada) == "revoked")
        #expect(revoke(adas, by: ada) == "revoked")
        for node in [mina, ada, bob, kim] { #expect(node.openCount == 1) }
    }

    @Test func `names up to two addresses, one of another member`() throws {
        #expect(try InviteLink(try mina.link()).hints.map(\.text) == ["10.0.0.1:29790"])
        _ = try bench.guest("Joon", of: mina)
        #expect(
            try InviteLink(try mina.link()).hints.map(\.text)
                == ["10.0.0.1:29790", "10.0.0.2:29790"])
        bench.give(
            .listening(["10.0.0.1:29790", "[2001:db8::1]:29790"]), to: mina)
        bench.settle()
        let link = try mina.link()
        #expect(
            try InviteLink(link).hints.map(\.text) == ["10.0.0.1:29790", "10.0.0.2:29790"])
        #expect(link.utf8.count <= 150)
        try mina.ok("net.suspend")
        #expect(try InviteLink(try mina.link()).hints.map(\.text) == ["10.0.0.2:29790"])
    }
}

struct `Joining` {
    private let bench = CoreBench()
    private let mina: BenchNode

    init() throws { mina = try bench.node("Mina") }

    @Test func `shows all channels and messages at once`() throws {
        for name in ["plans", "random"] { try mina.ok("channel.create", ["name": .string(name)]) }
        for number in 0..<300 {
            try mina.send("\(number)", to: ["general", "plans", "random"][number % 3])
        }
        let joon = try bench.bareNode("Joon")
        let joined = try joon.join(try mina.link())
        #expect(joined["name"] == "acme")
        #expect(joined["role"] == "member")
        #expect(joined["members"] == 2)
        #expect(joined["channels"] == 3)
        #expect(joined["owner"]?["name"] == "Mina")
        #expect(joined["selected"] == true)
        #expect(try joined.text("digest") == mina.digest())
        #expect(
            try joon.ok("channel.list", ["scope": "all"]).texts("name")
                == ["general", "plans", "random"])
        #expect(try joon.ok("channel.list").texts("name") == ["general"])
        #expect(try joon.log(of: "plans") == mina.log(of: "plans"))
        #expect(try joon.eventTypes().contains("workspace.joined"))
    }

    @Test func `makes the identity that is missing`() throws {
        let joon = try bench.bareNode("Joon")
        let link = try mina.link()
        let error = try joon.refused("workspace.join", ["link": .string(link)])
        #expect(error.kind == .badRequest)
        #expect(error.fields.map(\.name) == ["name"])
        #expect(joon.files.identity == nil)
        #expect(
            try joon.refused("workspace.join", ["link": .string(link), "name": " "]).kind
                == .badRequest)
        #expect(joon.files.identity == nil)
        try joon.join(link)
        #expect(try joon.ok("identity.show")["name"] == "Joon")
        #expect(try mina.ok("member.list").texts("name").sorted() == ["Joon", "Mina"])
    }

    @Test func `takes the link in upper case and with blanks`() throws {
        let joon = try bench.bareNode("Joon")
        try joon.join(" \n" + (try mina.link()).uppercased() + "\n")
        #expect(try joon.digest() == mina.digest())
    }

    @Test func `a workspace that you are in selects it`() throws {
        let joon = try bench.guest("Joon", of: mina)
        try joon.ok("workspace.create", ["name": "mine"])
        let link = try mina.link()
        let answer = try joon.join(link)
        #expect(answer["name"] == "acme")
        #expect(answer["selected"] == true)
        // What is open comes first.
        #expect(try mina.ok("invite.list").items.first?["used"] == 0)
        #expect(try mina.ok("member.list").items.count == 2)
    }

    @Test func `works through any member who may admit`() throws {
        let joon = try bench.guest("Joon", of: mina)
        let link = try mina.link()
        bench.advance(2_000)
        let kim = try bench.bareNode("Kim")
        bench.cut(mina, kim)
        bench.cut(mina, joon)
        try kim.join(link)
        #expect(kim.dialled.contains("10.0.0.1:29790"))
        #expect(try kim.digest() == joon.digest())
        #expect(try mina.ok("member.list").items.count == 2)
        bench.heal(mina, joon)
        bench.heal(mina, kim)
        bench.advance(30_000)
        #expect(try mina.ok("member.list").texts("name").sorted() == ["Joon", "Kim", "Mina"])
        let invite = try #require(try mina.ok("invite.list").items.last)
        #expect(invite["used"] == 1)
        #expect(invite["state"] == "used")
        #expect(try Set([mina.digest(), joon.digest(), kim.digest()]).count == 1)
    }

    @Test func `lets as many in as the invite says`() throws {
        let link = try mina.link(["uses": 2])
        for name in ["Joon", "Kim"] { try bench.bareNode(name).join(link) }
        let late = try bench.bareNode("Late")
        #expect(
            try late.refused("workspace.join", ["link": .string(link), "name": "Late"]).kind
                == .inviteUsed)
        #expect(try mina.ok("member.list").items.count == 3)
    }

    // MARK: Refusals

    /// How an invite was spoilt before somebody comes with it.
    enum Spoiling: String, CaseIterable { case used, expired, revoked, unknown, silent, alone }

    @Test(arguments: Spoiling.allCases)
    func `that fails leaves nothing behind`(_ spoiling: Spoiling) throws {
        try mina.ok("channel.create", ["name": "plans"])
        let joon = try bench.bareNode("Joon")
        try joon.ok("identity.create", ["name": "Joon"])
        let invite = try mina.ok("invite.create", ["expires_ms": 600_000])
        let link = try invite.text("link")
        let expected: (NodeError.Kind, Int32)
        switch spoiling {
        case .used:
            try bench.bareNode("Other").join(link)
            expected = (.inviteUsed, 1)
        case .expired:
            bench.advance(600_001)
            expected = (.inviteExpired, 1)
        case .revoked:
            try mina.ok("invite.revoke", ["id": invite["id"] ?? .null])
            expected = (.inviteInvalid, 1)
        case .unknown:
            // The inviter's store is put back to before the invite was made.
            let late = try mina.link()
            #expect(late != link)
            try joon.ok("net.suspend")
            expected = (.unreachable, 7)
        case .silent:
            bench.cut(mina, joon)
            expected = (.unreachable, 7)
        case .alone:
            mina.kill()
            expected = (.unreachable, 7)
        }
        // Grant numbers are names of foreign ids and mean nothing by themselves.
        let tables = [
            "document", "log", "operation", "epoch_key", "workspace", "message", "subscription",
            "request",
        ]
        let before = try tables.map { try joon.rowCount($0) }
        let started = bench.wall
        let error = try joon.refused("workspace.join", ["link": .string(link)])
        #expect(error.kind == expected.0, "\(error.message)")
        #expect(error.exitStatus == expected.1)
        if expected.0 != .unreachable { #expect(bench.wall - started < 2_000) }
        for (table, count) in zip(tables, before) {
            #expect(try joon.rowCount(table) == count, "\(table)")
        }
        #expect(try joon.ok("workspace.list").items.isEmpty)
        #expect(joon.openCount == 1)
        // Neither does the other side keep anything of it.
        if spoiling != .alone {
            #expect(try !mina.ok("member.list").texts("name").contains("Joon"))
        }
        // And another invite works.
        if spoiling == .alone { try mina.boot() }
        if spoiling == .silent { bench.heal(mina, joon) }
        try joon.ok("net.resume")
        try joon.join(try mina.link())
        #expect(try joon.digest() == mina.digest())
    }

    @Test func `tells somebody who was told before that the invite is used`() throws {
        let link = try mina.link()
        _ = try bench.bareNode("Joon").join(link)
        let kim = try bench.bareNode("Kim")
        for _ in 0..<2 {
            let error = try kim.refused(
                "workspace.join", ["link": .string(link), "name": "Kim"])
            #expect(error.kind == .inviteUsed)
            #expect(error.reason == "invite.used")
        }
    }

    @Test func `gives up after the time that was asked for`() throws {
        let joon = try bench.bareNode("Joon")
        let link = try mina.link()
        mina.kill()
        let call = joon.begin(
            "workspace.join",
            ["link": .string(link), "name": "Joon", "timeout_ms": 5_000])
        bench.advance(4_999)
        #expect(joon.answer(to: call) == nil)
        #expect(joon.dialled.count > 3)
        bench.advance(1)
        guard case .failure(let error)? = joon.answer(to: call) else {
            Issue.record("no refusal")
            return
        }
        #expect(error.kind == .unreachable)
        #expect(error.reason == "join.timeout")
    }

    @Test func `goes on when the inviter comes up in time`() throws {
        let joon = try bench.bareNode("Joon")
        let link = try mina.link()
        mina.kill()
        let call = joon.begin("workspace.join", ["link": .string(link), "name": "Joon"])
        bench.advance(10_000)
        try mina.boot()
        bench.advance(2_000)
        #expect(try #require(joon.answer(to: call)).get()["name"] == "acme")
    }

    @Test func `that a crash cut short starts again`() throws {
        let joon = try bench.bareNode("Joon")
        let link = try mina.link()
        mina.kill()
        _ = joon.begin("workspace.join", ["link": .string(link), "name": "Joon"])
        try joon.restart()
        #expect(try joon.ok("workspace.list").items.isEmpty)
        try mina.boot()
        try joon.join(link)
        #expect(try joon.digest() == mina.digest())
    }

    /// A crash of the joiner after each of its COMMITs: it is in, or it is not, and joining again
    /// always works.
    @Test(arguments: 0..<8)
    func `survives a failing COMMIT at every step`(_ place: Int) throws {
        try mina.send("hello")
        let joon = try bench.bareNode("Joon")
        try joon.ok("identity.create", ["name": "Joon"])
        let link = try mina.link(["uses": 5])
        joon.plant(
            place.isMultiple(of: 2) ? .commitBefore(place / 2) : .commitAfter(place / 2), .full)
        _ = joon.call("workspace.join", ["link": .string(link), "timeout_ms": 5_000])
        switch joon.call("workspace.join", ["link": .string(link)]) {
        case .success: break
        case .failure(let error):
            Issue.record("\(error.message)\n\(joon.log)\n\(mina.log)")
        }
        #expect(try joon.log() == ["hello"])
        #expect(try mina.ok("member.list").texts("name").sorted() == ["Joon", "Mina"])
        bench.advance(60_000)
        #expect(try joon.digest() == mina.digest())
    }

    /// N07: a peer that knows no secret of ours is not even answered.
    @Test func `by the link of another workspace is not answered`() throws {
        let other = try bench.node("Other", workspace: "elsewhere")
        let link = try InviteLink(try other.link())
        other.kill()
        let forged = InviteLink(
            workspace: link.workspace, secret: link.secret,
            invite: link.invite,
            hints: try InviteLink(try mina.link()).hints
        ).text.link
        let joon = try bench.bareNode("Joon")
        let error = try joon.refused(
            "workspace.join",
            ["link": .string(forged), "name": "Joon", "timeout_ms": 2_000])
        #expect(error.kind == .unreachable)
        #expect(try joon.rowCount("operation") == 0)
        #expect(try mina.ok("member.list").items.count == 1)
        #expect(try mina.eventTypes().allSatisfy { $0 != "peer.connected" })
    }

    @Test func `somebody with a name that others have is told apart by the id`() throws {
        let first = try bench.guest("Joon", of: mina)
        let second = try bench.bareNode("Joon2")
        try second.ok("workspace.join", ["link": .string(try mina.link()), "name": "Joon"])
        let people = try mina.ok("member.list").items
        #expect(people.filter { $0["name"] == "Joon" }.count == 2)
        #expect(Set(people.compactMap { $0["id"]?.stringValue }).count == 3)
        #expect(try first.ok("identity.show")["id"] != second.ok("identity.show")["id"])
    }
}
