import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// Invites for whoever has an address.
@Suite struct `An invite for an address` {
    @Test func `is mailed, and its link works`() throws {
        let table = try ProofTable()
        let made = try table.ada.ok("invite.create", ["email": "Dora@example.org"])
        #expect(made["email"] == "dora@example.org" && made["delivery"] == "mail")
        #expect(made["seed"] == "E03")
        let letter = try #require(table.ada.letters.first)
        let text = String(decoding: letter.input, as: UTF8.self)
        #expect(text.hasPrefix("To: dora@example.org\n"))
        let link = try made.text("link")
        #expect(text.contains("wsx-node join \(link) ") && !letter.command.contains(link))
        for variable in letter.variables { #expect(!variable.value.contains(link)) }
        let dora = try table.bench.bareNode("Dora")
        try dora.join(link)
        #expect(try table.ada.memberNames().contains("Dora"))
    }

    @Test func `is printed where nothing sends letters, or that fails`() throws {
        let table = try ProofTable(ada: nil)
        let made = try table.ada.ok("invite.create", ["email": "dora@example.org"])
        #expect(made["delivery"] == "none" && made["seed"] == "E03")
        #expect(made["link"]?.stringValue != nil)
        try table.ada.ok("mail.command", ["command": "false"])
        table.ada.mailStatus = 1
        #expect(
            try table.ada.ok("invite.create", ["email": "dora@example.org"])["delivery"] == "none")
    }

    @Test func `goes as a message to who is known elsewhere`() throws {
        let table = try ProofTable()
        let dora = try table.bench.node("Dora", workspace: "other")
        try dora.ok("profile.set", ["email": "dora@example.org"])
        try table.ada.join(try dora.link())
        table.bench.advance(5_000)
        let made = try table.ada.ok(
            "invite.create", ["email": "dora@example.org", "workspace": "acme"])
        #expect(made["delivery"] == "message" && made["seed"] == nil)
        #expect(table.ada.letters.isEmpty)
        table.bench.advance(5_000)
        let link = try made.text("link")
        #expect(try dora.log(of: "@Ada").last?.contains(link) == true)
    }

    @Test func `is none for members, and for what is no address`() throws {
        let table = try ProofTable()
        try table.bob.ok("profile.set", ["email": "bob@example.org"])
        table.bench.advance(5_000)
        let before = try table.ada.ok("invite.list").items.count
        let known = try table.ada.refused("invite.create", ["email": "bob@example.org"])
        #expect(known.kind == .duplicate && known.kind.seed == "E12")
        #expect(try table.ada.refused("invite.create", ["email": "bob"]).kind.seed == "E11")
        #expect(
            try table.bob.refused("invite.create", ["email": "x@example.org"]).kind == .forbidden)
        #expect(try table.ada.ok("invite.list").items.count == before)
        #expect(table.ada.letters.isEmpty)
    }
}
