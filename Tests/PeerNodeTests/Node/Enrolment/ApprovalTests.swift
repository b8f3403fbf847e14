import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

extension BenchNode {
    /// The kind of failure of a call, or `ok`.
    func outcome(_ method: String, _ parameters: JSONValue = [:]) -> String {
        switch call(method, parameters) {
        case .success: "ok"
        case .failure(let error): error.kind.rawValue
        }
    }

    /// Asks to be let in, and is told to wait.
    func ask(_ link: String) -> String {
        outcome("workspace.join", ["link": .string(link), "name": .string(name)])
    }

    /// The requests in the order of the list.
    func requests() throws -> [JSONValue] { try ok("join.requests").items }

    /// Decides the first request that waits.
    @discardableResult
    func decide(_ method: String) throws -> JSONValue {
        let first = try #require(try requests().first { $0["state"] == "pending" })
        return try ok(method, ["id": first["id"] ?? .null])
    }

    /// Asks to come back after a removal or a departure, which an admin approves.
    func comeBack(to admin: BenchNode, in bench: CoreBench) throws {
        #expect(ask(try admin.link()) == "pending", "\(name) is back without a person's word")
        bench.advance(2_000)
        try admin.decide("join.approve")
        bench.advance(5_000)
    }

    /// The names of workspaces here.
    func workspaceNames() throws -> [String] { try ok("workspace.list").texts("name") }

    /// The words of the warnings in `status`.
    func warnings() throws -> [String] {
        try ok("node.status")["warnings"]?.arrayValue?.compactMap { $0["kind"]?.stringValue } ?? []
    }

    func memberNames() throws -> [String] { try ok("member.list").texts("name").sorted() }
}

/// Invites that need an admin's approval.
struct `Approval` {
    private func bench() throws -> (CoreBench, BenchNode, BenchNode, String) {
        let bench = CoreBench()
        let mina = try bench.node("Mina")
        let link = try mina.link(["approve": true, "uses": 2])
        return (bench, mina, try bench.bareNode("Joon"), link)
    }

    @Test func `lets in who is there at once`() throws {
        let (bench, mina, joon, link) = try bench()
        try mina.send("hello")
        let error = try joon.refused(
            "workspace.join", ["link": .string(link), "name": "Joon"])
        #expect(error.kind == .pending && error.exitStatus == 7)
        #expect(try joon.workspaceNames().isEmpty)
        #expect(try joon.ok("node.status")["workspaces"] == [])
        #expect(try joon.warnings() == ["join.pending"])
        #expect(try mina.memberNames() == ["Mina"])
        let request = try #require(try mina.requests().first)
        #expect(request["name"] == "Joon" && request["state"] == "pending")
        #expect(request["device"] == (try joon.ok("identity.show")["id"]))
        let decided = try mina.ok("join.approve", ["id": request["id"] ?? .null])
        #expect(decided["state"] == "approved" && decided["id"] == request["id"])
        bench.advance(2_000)
        #expect(try joon.workspaceNames() == ["acme"])
        #expect(try joon.log() == ["hello"])
        #expect(try joon.warnings().isEmpty)
        #expect(try joon.eventTypes().contains("workspace.joined"))
        #expect(try joon.digest() == mina.digest())
        // Once more is the same answer, and no operation.
        let count = try mina.rowCount("operation")
        try mina.ok("join.approve", ["id": request["id"] ?? .null])
        #expect(try mina.rowCount("operation") == count)
        #expect(try mina.requests().map { $0["state"] } == ["approved"])
        let types = try mina.eventTypes()
        #expect(types.filter { $0 == "request.created" }.count == 1)
        #expect(types.filter { $0 == "request.decided" }.count == 1)
    }

    @Test func `lets in who was away, and survives restarts of both`() throws {
        let (bench, mina, joon, link) = try bench()
        #expect(joon.ask(link) == "pending")
        try joon.restart()
        #expect(try joon.warnings() == ["join.pending"])
        // A user who waits for approval is not told to create a workspace.
        let failure = try joon.refused("message.send", ["channel": "general", "text": "hi"])
        #expect(failure.kind == .notFound && failure.reason == "workspace.pending")
        joon.kill()
        bench.advance(60_000)
        try mina.restart()
        try mina.decide("join.approve")
        mina.kill()
        bench.advance(60_000)
        try joon.boot()
        bench.advance(60_000)
        #expect(try joon.workspaceNames().isEmpty)
        try mina.boot()
        bench.advance(700_000)
        #expect(try joon.workspaceNames() == ["acme"])
        #expect(try joon.digest() == mina.digest())
        try joon.restart()
        #expect(try joon.warnings().isEmpty)
    }

    @Test func `has room again for others when requests were rejected`() throws {
        let (bench, mina, joon, link) = try bench()
        for number in 0..<Limits.requestsPerInviteMin {
            #expect(try bench.bareNode("Stranger \(number)").ask(link) == "pending")
        }
        #expect(joon.ask(link) != "pending")
        for _ in 0..<Limits.requestsPerInviteMin { try mina.decide("join.reject") }
        bench.advance(2_000)
        #expect(joon.ask(link) == "pending")
        try mina.decide("join.approve")
        bench.advance(2_000)
        #expect(try mina.memberNames() == ["Joon", "Mina"])
    }

    @Test func `turns somebody down, who is told and leaves nothing behind`() throws {
        let (bench, mina, joon, link) = try bench()
        #expect(joon.ask(link) == "pending")
        try mina.decide("join.reject")
        #expect(try mina.requests().map { $0["state"] } == ["rejected"])
        bench.advance(2_000)
        #expect(try joon.warnings() == ["join.refused"])
        #expect(joon.ask(link) == "invite_invalid")
        #expect(try joon.warnings().isEmpty)
        #expect(try joon.rowCount("operation") == 0)
        #expect(try mina.memberNames() == ["Mina"])
        #expect(try mina.eventTypes().filter { $0 == "request.decided" }.count == 1)
        // An admin may think again while the invite stands.
        let id = try #require(try mina.requests().first?["id"])
        #expect(try mina.ok("join.approve", ["id": id])["state"] == "approved")
        try joon.join(link)
        #expect(try mina.memberNames() == ["Joon", "Mina"])
    }

    /// Who was let in and removed later was not rejected.
    @Test func `stays the answer of somebody who was removed later, who is shown so`() throws {
        let (bench, mina, joon, link) = try bench()
        #expect(joon.ask(link) == "pending")
        bench.advance(2_000)
        try mina.decide("join.approve")
        bench.advance(5_000)
        try mina.ok("member.remove", ["member": "Joon"])
        bench.advance(5_000)
        #expect(try mina.requests().map { $0["state"] } == ["removed"])
        let again = try mina.ok("join.reject", ["id": try mina.requests()[0]["id"] ?? .null])
        #expect(again["state"] == "removed")
    }

    @Test func `is asked for again by the same link`() throws {
        let (bench, mina, joon, link) = try bench()
        for _ in 0..<3 { #expect(joon.ask(link) == "pending") }
        #expect(try mina.requests().count == 1)
        mina.kill()
        bench.advance(1_000)
        #expect(
            joon.outcome("workspace.join", ["link": .string(link), "timeout_ms": 2_000])
                == "pending")
        try mina.boot()
        try mina.decide("join.approve")
        try joon.join(link)
        #expect(try joon.workspaceNames() == ["acme"])
    }

    @Test func `is decided only by admins, no matter who was asked`() throws {
        let bench = CoreBench()
        let mina = try bench.node("Mina")
        let ada = try bench.guest("Ada", of: mina, role: "admin")
        let bob = try bench.guest("Bob", of: mina)
        let made = try InviteLink(try mina.link(["approve": true]))
        bench.advance(2_000)
        let joon = try bench.bareNode("Joon")
        bench.cut(mina, joon)
        bench.cut(ada, joon)
        let link = InviteLink(
            workspace: made.workspace, secret: made.secret,
            invite: made.invite,
            hints: [try #require(PeerAddress(bob.address, defaultPort: 0))]
        ).text.link
        #expect(joon.ask(link) == "pending")
        bench.advance(2_000)
        let id = try #require(try bob.requests().first?["id"])
        for method in ["join.approve", "join.reject"] {
            #expect(bob.outcome(method, ["id": id]) == "forbidden")
            #expect(ada.outcome(method, ["id": "r_00000000000000000000000000"]) == "not_found")
        }
        #expect(try ada.requests().first?["id"] == id)
        try ada.decide("join.approve")
        bench.advance(2_000)
        #expect(try joon.workspaceNames() == ["acme"])
        for node in [mina, ada, bob] {
            #expect(try node.requests().map { $0["state"] } == ["approved"])
        }
    }

    @Test func `that two admins decide apart ends the same for both`() throws {
        let bench = CoreBench()
        let mina = try bench.node("Mina")
        let ada = try bench.guest("Ada", of: mina, role: "admin")
        let joon = try bench.bareNode("Joon")
        #expect(joon.ask(try mina.link(["approve": true])) == "pending")
        bench.advance(2_000)
        bench.cut(mina, ada)
        bench.cut(mina, joon)
        bench.cut(ada, joon)
        try mina.decide("join.approve")
        try ada.decide("join.reject")
        bench.heal(mina, ada)
        bench.heal(mina, joon)
        bench.advance(60_000)
        for node in [mina, ada] {
            let requests = try node.requests()
            #expect(requests.map { $0["state"] } == ["rejected"], "\(requests)")
            #expect(try node.memberNames() == ["Ada", "Mina"])
        }
        #expect(try mina.digest() == ada.digest())
    }

    @Test func `of a request in time is possible after the invite has ended`() throws {
        let bench = CoreBench()
        let mina = try bench.node("Mina")
        let link = try mina.link(["approve": true, "uses": 5, "expires_ms": 600_000])
        let joon = try bench.bareNode("Joon")
        let late = try bench.bareNode("Late")
        #expect(joon.ask(link) == "pending")
        joon.kill()
        bench.advance(700_000)
        #expect(late.ask(link) == "invite_expired")
        try mina.decide("join.approve")
        try joon.boot()
        bench.advance(30_000)
        #expect(try joon.workspaceNames() == ["acme"])
    }

    @Test func `ends with the invite`() throws {
        let (bench, mina, joon, link) = try bench()
        #expect(joon.ask(link) == "pending")
        let invite = try #require(try mina.ok("invite.list").items.first?["id"])
        try mina.ok("invite.revoke", ["id": invite])
        bench.advance(2_000)
        let request = try #require(try mina.requests().first)
        #expect(request["state"] == "void")
        #expect(mina.outcome("join.approve", ["id": request["id"] ?? .null]) == "conflict")
        #expect(try joon.warnings() == ["join.refused"])
    }

    @Test func `is asked for by a bounded number of people`() throws {
        let bench = CoreBench()
        let mina = try bench.node("Mina")
        let link = try mina.link(["approve": true])
        for number in 0..<16 {
            let node = try bench.bareNode("P\(number)")
            #expect(node.ask(link) == "pending")
            node.kill()
        }
        let last = try bench.bareNode("Last")
        #expect(last.ask(link) == "unreachable")
        #expect(try mina.requests().count == 16)
        try mina.decide("join.approve")
        // One use: the others wait in vain.
        #expect(try mina.requests().filter { $0["state"] == "void" }.count == 15)
    }

    @Test func `is no longer waited for after declining, and nobody is told`() throws {
        let (bench, mina, joon, link) = try bench()
        #expect(joon.ask(link) == "pending")
        let before = try mina.rowCount("operation")
        let declined = try joon.ok("invite.decline", ["link": .string(link)])
        #expect(declined["was_pending"] == true && declined["declined"] == true)
        #expect(declined["id"] == (try mina.ok("workspace.get")["id"]))
        #expect(try joon.warnings().isEmpty)
        try mina.decide("join.approve")
        #expect(try mina.rowCount("operation") == before + 1)
        try joon.restart()
        bench.advance(700_000)
        #expect(try joon.workspaceNames().isEmpty)
        let again = try joon.ok("invite.decline", ["link": .string(link)])
        #expect(again["was_pending"] == false)
        #expect(joon.outcome("invite.decline", ["link": "wsx://join/nonsense"]) == "invite_invalid")
        // It was approved: accepting the link again succeeds.
        try joon.ok("invite.accept", ["link": .string(link)])
        #expect(try mina.memberNames() == ["Joon", "Mina"])
    }

    @Test func `does not change which workspace is selected`() throws {
        let (bench, mina, joon, link) = try bench()
        try joon.ok("identity.create", ["name": "Joon"])
        try joon.ok("workspace.create", ["name": "mine"])
        #expect(joon.ask(link) == "pending")
        try mina.decide("join.approve")
        bench.advance(2_000)
        #expect(try joon.workspaceNames().sorted() == ["acme", "mine"])
        #expect(try joon.ok("workspace.get")["name"] == "mine")
    }

    /// Who asked by two links got one answer, and a departure does not undo it.
    @Test(arguments: ["join.approve", "join.reject"])
    func `that somebody asks for by several links is decided once`(method: String) throws {
        let (bench, mina, joon, link) = try bench()
        for asked in [link, try mina.link(["approve": true])] {
            #expect(joon.ask(asked) == "pending")
            bench.advance(2_000)
        }
        #expect(try mina.requests().map { $0["state"] } == ["pending", "pending"])
        try mina.decide(method)
        bench.advance(20_000)
        let state: JSONValue = method == "join.approve" ? "approved" : "rejected"
        #expect(try mina.requests().map { $0["state"] } == [state, state])
        guard method == "join.approve" else { return }
        #expect(try joon.warnings().isEmpty)
        try joon.ok("workspace.leave")
        bench.advance(20_000)
        #expect(try mina.memberNames() == ["Mina"])
        #expect(try mina.requests().map { $0["state"] } == [state, state])
    }

    @Test func `remembered joins are read as they were written, and nothing else`() throws {
        let joins = [
            PendingJoin(link: "wsx://join/a", since: 5, isRefused: false),
            PendingJoin(link: "wsx://join/b", since: .max, isRefused: true),
            PendingJoin(link: "wsx://join/c", since: 6, isRefused: true, isEnded: true),
        ]
        let bytes = PendingJoin.encoded(joins)
        #expect(try PendingJoin.list(decoding: bytes) == joins)
        for count in 0..<bytes.count {
            #expect(throws: Malformed.self) {
                try PendingJoin.list(decoding: Array(bytes.prefix(count)))
            }
        }
    }
}
