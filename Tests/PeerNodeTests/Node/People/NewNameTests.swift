import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// Which names can be given here, and how unusual names from others are resolved.
struct `A name that references must reach` {
    private typealias Table = `Private channels`.Table

    @Test func `of a channel has no sign in front`() throws {
        let table = try Table()
        #expect(try table.ada.ok("channel.create", ["name": "#plans"])["name"] == "plans")
        try table.ada.ok("message.send", ["channel": "#plans", "text": "x"])
        #expect(try table.ada.refused("channel.create", ["name": "# plans"]).kind == .duplicate)
        let edited = try table.ada.ok(
            "channel.edit", ["channel": "plans", "name": "#goals"])
        #expect(edited["name"] == "goals")
        let made = try table.ada.ok(
            "workspace.create", ["name": "second", "first_channel": "#lobby"])
        #expect(
            try table.ada.ok("channel.list", ["workspace": made["id"] ?? .null]).texts("name")
                == ["lobby"])
    }

    @Test(arguments: [
        "#", "##plans", "@Mina", "#@Mina", "c_abcdefgh", "C_ABCDEFGH", "#c_abcdefgh",
        "u_abcdefgh", "pl\u{200b}ans", "plans\u{200d}",
    ])
    func `of a channel is refused where it would name something else`(_ name: String) throws {
        let table = try Table()
        for (method, given) in [
            ("channel.create", ["name": .string(name)]),
            ("channel.create", ["name": .string(name), "private": true, "history": "all"]),
            ("channel.edit", ["channel": "general", "name": .string(name)]),
        ] as [(String, JSONValue)] {
            let error = try table.ada.refused(method, given)
            #expect(error.kind == .badRequest && error.reason == "bad_name", "\(method)")
            #expect(error.fields == [.init(name: "name", reason: "form")])
        }
        let first = try table.ada.refused(
            "workspace.create", ["name": "second", "first_channel": .string(name)])
        #expect(first.fields.map(\.name) == ["first_channel"])
    }

    @Test(arguments: ["c_list", "c_", "u_turn", "plan#b", "a@b", "-"])
    func `of a channel may look a little like a reference`(_ name: String) throws {
        let table = try Table()
        #expect(
            try table.ada.ok("channel.create", ["name": .string(name)])["name"] == .string(name))
        #expect(
            try table.ada.ok("channel.get", ["channel": .string("#" + name)])["name"]
                == .string(name))
    }

    @Test(arguments: [
        "@", "@@Mina", "#x", "@#x", "u_abcdef", "U_ABCDEF", "channel", "Here", "EVERYONE", "me",
        "@me", "Mi\u{200b}na", "Joon, Nora",
    ])
    func `of a person is refused where it would mean somebody else`(_ name: String) throws {
        let table = try Table()
        for field in ["name", "nickname"] {
            let error = try table.bob.refused("profile.set", [field: .string(name)])
            #expect(error.kind == .badRequest && error.fields.map(\.name) == [field])
        }
        let fresh = try table.bench.bareNode("Fresh")
        let error = try fresh.refused("identity.create", ["name": .string(name)])
        #expect(error.kind == .badRequest && error.fields.map(\.name) == ["name"])
    }

    @Test func `of a person has no sign in front`() throws {
        let bench = CoreBench()
        let node = try bench.bareNode("Mina")
        #expect(try node.ok("identity.create", ["name": "@Mina"])["name"] == "Mina")
        #expect(
            try node.refused("workspace.create", ["name": "w_abcdefgh"]).reason == "bad_name")
    }

    /// Others may run another program, and no rule of ours makes their operation invalid.
    @Test func `of a channel is found where somebody else gave it against these rules`() throws {
        let table = try Table()
        try table.bob.makeChannel(named: "#hash")
        try table.bob.makeChannel(named: "@Mina")
        try table.bob.makeChannel(named: "c_abcdefgh")
        table.bench.advance(1_000)
        for (reference, name) in [
            ("#hash", "#hash"), ("hash", "#hash"), ("##hash", "#hash"), ("#@Mina", "@Mina"),
            ("#c_abcdefgh", "c_abcdefgh"),
        ] {
            let found = try table.ada.ok("channel.get", ["channel": .string(reference)])
            #expect(found["name"] == .string(name), "\(reference)")
        }
        // What is called so without the sign comes first.
        try table.ada.ok("channel.create", ["name": "hash"])
        #expect(try table.ada.ok("channel.get", ["channel": "#hash"])["name"] == "hash")
        #expect(try table.ada.ok("channel.get", ["channel": "##hash"])["name"] == "#hash")
    }

    /// A changed program writes any name for its own person. It is shown, and takes nothing that is
    /// meant for others: not by a command, and not in a text.
    @Test(arguments: ["@Cleo", "me", "here", "Cleo, Ada", "#general", "u_abcdefgh", "Cle\u{200b}o"])
    func `of a person is shown and reached by id where it could not be given`(
        _ name: String
    ) throws {
        let table = try Table()
        try table.bob.write(
            .profile(name: name), to: try table.bob.workspace().profileDocument)
        table.bench.advance(1_000)
        let bob = PublicID.member(try table.bob.workspace().member)
        let shown = try table.ada.ok("member.get", ["member": .string(bob)])
        #expect(shown["name"] == .string(name))
        for reference in [name, "@" + name] {
            let found = try? table.ada.ok("member.get", ["member": .string(reference)])
            #expect(found?["id"]?.stringValue != bob, "\(reference)")
        }
        #expect(try table.ada.ok("member.get", ["member": "@Cleo"])["name"] == "Cleo")
        #expect(try table.ada.ok("channel.get", ["channel": "@me"])["kind"] == "self")
        for text in ["@\(name) look", "@me look", "@Cleo look"] {
            try table.ada.send(text, to: "general")
        }
        table.bench.advance(1_000)
        let reading = try table.bob.ok("read.status").items.first { $0["name"] == "general" }
        // Everybody is meant by the word alone.
        #expect(reading?["mentions"] == .integer(name == "here" ? 1 : 0))
        // By id the person with that name is addressed, and meant.
        let sent = try table.ada.ok(
            "message.send", ["channel": .string("@" + bob), "text": "hello"])
        table.bench.advance(1_000)
        #expect(
            try table.bob.ok("message.get", ["ids": [sent["id"] ?? .null]]).items.first?["text"]
                == "hello")
    }
}
