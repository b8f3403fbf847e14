import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// Invites for the owner of an address.
struct `An invite for an address` {
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

    @Test func `goes as a message to who is verified elsewhere`() throws {
        let table = try ProofTable()
        let dora = try table.bench.node("Dora", workspace: "other")
        try table.ada.join(try dora.link())
        table.bench.advance(5_000)
        try dora.ok("member.role", ["member": "Ada", "role": "admin"])
        table.bench.advance(5_000)
        try table.prove("dora@example.org", of: dora, by: table.ada)
        table.bench.advance(5_000)
        table.ada.letters = []
        let made = try table.ada.ok(
            "invite.create", ["email": "dora@example.org", "workspace": "acme"])
        #expect(made["delivery"] == "message" && made["seed"] == nil)
        #expect(table.ada.letters.isEmpty)
        table.bench.advance(5_000)
        let link = try made.text("link")
        #expect(try dora.log(of: "@Ada").last?.contains(link) == true)
    }

    /// Anybody can write any address into their profile. The link is for its owner alone.
    @Test func `goes to nobody who only shows it, here or elsewhere`() throws {
        let table = try ProofTable()
        let mallory = try table.bench.node("Mallory", workspace: "other")
        for node in [mallory, table.bob] {
            try node.ok("profile.set", ["email": "dora@example.org"])
        }
        try table.ada.join(try mallory.link())
        table.bench.advance(5_000)
        let ask: JSONValue = ["email": "dora@example.org", "workspace": "acme"]
        let mailed = try table.ada.ok("invite.create", ask)
        #expect(mailed["delivery"] == "mail" && mailed["seed"] == "E03")
        let letter = String(decoding: try #require(table.ada.letters.last).input, as: UTF8.self)
        #expect(letter.hasPrefix("To: dora@example.org\n"))
        #expect(letter.contains(try mailed.text("link")))
        try table.ada.ok("mail.command", ["command": ""])
        let printed = try table.ada.ok("invite.create", ask)
        #expect(printed["delivery"] == "none" && printed["seed"] == "E03")
        table.bench.advance(5_000)
        for node in [mallory, table.bob, table.ada] {
            let texts = try node.events(types: ["message.created"]).compactMap {
                $0["data"]?["text"]?.stringValue
            }
            for made in [mailed, printed] {
                let link = try made.text("link")
                #expect(!texts.contains { $0.contains(link) }, "\(node.name)")
            }
        }
    }

    @Test func `is none for verified members, and for what is no address`() throws {
        let table = try ProofTable()
        try table.prove("bob@example.org", of: table.bob, by: table.ada)
        table.bench.advance(5_000)
        table.ada.letters = []
        let before = try table.ada.ok("invite.list").items.count
        let known = try table.ada.refused("invite.create", ["email": "bob@example.org"])
        #expect(known.kind == .duplicate && known.kind.seed == "E12")
        #expect(known.message.contains("'Bob' is a member already"))
        #expect(try table.ada.refused("invite.create", ["email": "bob"]).kind.seed == "E11")
        #expect(
            try table.bob.refused("invite.create", ["email": "x@example.org"]).kind == .forbidden)
        #expect(try table.ada.ok("invite.list").items.count == before)
        #expect(table.ada.letters.isEmpty)
    }

    @Test func `is refused to nobody for a proof that is over or was taken back`() throws {
        let table = try ProofTable()
        let bob = try table.bob.workspace().member
        let said = Attestation(bob, .email, .init("bob@example.org", by: .letter, until: 1))
        let made = try table.ada.inTurn { core, workspace in
            try core.profiles.attest(said, in: workspace)
        }
        #expect(made != nil)
        table.bench.advance(5_000)
        let ask: JSONValue = ["email": "bob@example.org"]
        #expect(try table.ada.ok("invite.create", ask)["delivery"] == "mail")
        // It is proved again, by another letter.
        try table.prove("bob@example.org", of: table.bob, by: table.ada)
        #expect(try table.ada.refused("invite.create", ask).kind == .duplicate)
        try table.ada.ok("attestation.withdraw", ["member": "@Bob"])
        #expect(try table.ada.ok("invite.create", ask)["delivery"] == "mail")
    }
}
