import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

extension BenchNode {
    /// The sentences of the warnings in `status`.
    fileprivate func warningTexts() throws -> [String] {
        try ok("node.status")["warnings"]?.arrayValue?.compactMap { $0["message"]?.stringValue }
            ?? []
    }

    /// The states of all requests, in the order of the list.
    fileprivate func requestStates() throws -> [String] {
        try requests().compactMap { $0["state"]?.stringValue }
    }

    /// The note on the first request.
    fileprivate func requestNote() throws -> String {
        try requests().first?["note"]?.stringValue ?? ""
    }
}

/// Somebody whose membership ended asks to come back, and an admin says no (PROTOCOL.md, 5.6).
struct `Somebody who was in and is turned down` {
    private struct Table {
        let bench = CoreBench()
        let mina: BenchNode
        let ada: BenchNode
        let joon: BenchNode

        init() throws {
            mina = try bench.node("Mina")
            ada = try bench.guest("Ada", of: mina, role: "admin")
            joon = try bench.guest("Joon", of: mina)
            bench.advance(20_000)
        }

        var admins: [BenchNode] { [mina, ada] }

        /// A fresh link that says where each admin is: who is refused by one asks the other.
        func link(_ parameters: JSONValue = [:]) throws -> String {
            let made = try InviteLink(try mina.link(parameters))
            return InviteLink(
                workspace: made.workspace, secret: made.secret, invite: made.invite,
                hints: admins.compactMap { PeerAddress($0.address, defaultPort: 0) }
            ).text.link
        }

        func end(byLeaving: Bool) throws {
            if byLeaving {
                try joon.ok("workspace.leave")
            } else {
                try mina.ok("member.remove", ["member": "Joon"])
            }
            bench.advance(20_000)
        }
    }

    @Test(arguments: [true, false])
    func `stays so, hears of it, and asks again only by another invite`(hasLeft: Bool) throws {
        let table = try Table()
        let (mina, joon) = (table.mina, table.joon)
        try table.end(byLeaving: hasLeft)
        let link = try table.link()
        let told = try joon.refused("workspace.join", ["link": .string(link)])
        #expect(told.kind == .pending && told.message.contains("member here before"))
        table.bench.advance(2_000)
        try mina.decide("join.reject")
        table.bench.advance(700_000)
        let note = hasLeft ? "Joon, who left " : "Joon, removed "
        for node in table.admins {
            #expect(try node.requestStates() == ["rejected"], "\(node.name)")
            #expect(try node.requestNote().hasPrefix(note), "\(node.name)")
            #expect(try node.memberNames() == ["Ada", "Mina"], "\(node.name)")
        }
        #expect(try joon.warningTexts().contains("your request to join acme was declined"))
        // The same link says so once more, also after restarts, and writes nothing.
        try joon.restart()
        table.bench.advance(700_000)
        let again = try joon.refused("workspace.join", ["link": .string(link)])
        #expect(again.kind == .inviteInvalid && again.reason == "request.declined")
        #expect(try !joon.warnings().contains("join.refused"))
        for node in table.admins { #expect(try node.requestStates() == ["rejected"]) }
        // Another invite is another request.
        #expect(joon.ask(try table.link()) == "pending")
        table.bench.advance(2_000)
        for node in table.admins {
            #expect(try node.requestStates() == ["pending", "rejected"], "\(node.name)")
        }
        try mina.decide("join.approve")
        table.bench.advance(20_000)
        for node in table.admins {
            #expect(try node.memberNames() == ["Ada", "Joon", "Mina"], "\(node.name)")
        }
    }

    @Test func `stays so after having been away`() throws {
        let table = try Table()
        let joon = table.joon
        try table.end(byLeaving: true)
        #expect(joon.ask(try table.link()) == "pending")
        joon.kill()
        table.bench.advance(2_000)
        try table.mina.decide("join.reject")
        table.bench.advance(20_000)
        try joon.boot()
        table.bench.advance(700_000)
        for node in table.admins {
            #expect(try node.requestStates() == ["rejected"], "\(node.name)")
        }
        #expect(try joon.warningTexts().contains("your request to join acme was declined"))
    }

    /// A removal that knows of old requests is an end all the same: they were granted.
    @Test func `and let in later and removed again is shown as removed`() throws {
        let table = try Table()
        let (mina, joon) = (table.mina, table.joon)
        try table.end(byLeaving: true)
        for method in ["join.reject", "join.approve"] {
            #expect(joon.ask(try table.link()) == "pending")
            table.bench.advance(2_000)
            try mina.decide(method)
            table.bench.advance(20_000)
        }
        try table.end(byLeaving: false)
        #expect(joon.ask(try table.link()) == "pending")
        table.bench.advance(2_000)
        #expect(try mina.requestNote().hasPrefix("Joon, removed today by Mina"))
        let former = FormerMembership(of: try joon.workspace().member, in: try mina.workspace())
        #expect(former.ends.count == 2 && former.rejections.count == 1)
        try mina.decide("join.reject")
        table.bench.advance(20_000)
        #expect(try mina.requestStates().contains("pending") == false)
    }

    @Test func `is told while waiting that the request waits`() throws {
        let table = try Table()
        try table.end(byLeaving: false)
        let send: JSONValue = ["channel": "general", "text": "x"]
        #expect(try table.joon.refused("message.send", send).reason == "removed")
        #expect(table.joon.ask(try table.link()) == "pending")
        let waiting = try table.joon.refused("message.send", send)
        #expect(waiting.kind == .forbidden && waiting.reason == "workspace.pending")
        table.bench.advance(2_000)
        try table.mina.decide("join.reject")
        table.bench.advance(20_000)
        #expect(try table.joon.refused("message.send", send).reason == "removed")
    }
}

/// A request whose invite ended before an admin decided.
struct `A request that nobody decided` {
    @Test(arguments: ["revoked", "handed over"])
    func `ends with its invite, which is not called a rejection`(how: String) throws {
        let bench = CoreBench()
        let mina = try bench.node("Mina")
        _ = try bench.guest("Ada", of: mina)
        bench.advance(20_000)
        let dana = try bench.bareNode("Dana")
        #expect(dana.ask(try mina.link(["approve": true])) == "pending")
        bench.advance(2_000)
        if how == "revoked" {
            let id = try #require(try mina.requests().first?["invite"])
            try mina.ok("invite.revoke", ["id": id])
        } else {
            try mina.ok("workspace.transfer", ["member": "Ada"])
        }
        bench.advance(20_000)
        #expect(try mina.requestStates() == ["void"])
        #expect(try dana.warnings() == ["join.refused"])
        #expect(try dana.warningTexts() == ["the invite of your request to join has ended"])
        try dana.restart()
        #expect(try dana.warningTexts() == ["the invite of your request to join has ended"])
    }
}
