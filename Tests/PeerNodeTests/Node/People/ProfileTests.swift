import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// Profiles as commands: what is stored, who sees it, and what is refused.
struct `A profile` {
    private let table: Table

    init() throws { table = try Table() }

    private typealias Table = `Private channels`.Table

    static let phone = "01098765432"

    static func profile(of name: String, on node: BenchNode) throws -> JSONValue {
        try node.ok("profile.of", ["member": .string("@" + name)])
    }

    /// Whether text stands anywhere in a store, or in what its own keys open of it.
    static func knows(_ word: String, _ node: BenchNode) throws -> Bool {
        let core = try #require(node.host).core
        let wanted = Array(word.utf8)
        for workspace in core.workspaces.values {
            for document in core.turn.store.operations.documents(ofWorkspace: workspace.number) {
                var isFound = false
                try core.turn.store.operations.forEachOperation(
                    in: document, of: workspace.number
                ) { (stored) throws(StorageError) in
                    guard let content = try core.keys.content(of: stored, in: workspace) else {
                        return
                    }
                    isFound = isFound || ByteSearch.finds(wanted, in: content.encoded)
                }
                if isFound { return true }
            }
        }
        return ByteSearch.finds(wanted, in: try node.image)
    }

    @Test func `is seen by everybody, with a new name from then on`() throws {
        let sent = try table.bob.send("hello")
        let set = try table.bob.ok(
            "profile.set",
            [
                "name": " Robert ", "description": "Paints at night", "country": "Korea",
                "email": "Bob@Example.org",
            ])
        #expect(set["name"] == "Robert")
        #expect(set["email"] == "bob@example.org")
        #expect(set["self"] == true)
        #expect(set["visible"]?["phone"] == "nobody")
        #expect(set["visible"]?["email"] == "workspace")
        let seen = try Self.profile(of: "Robert", on: table.ada)
        #expect(seen["description"] == "Paints at night")
        #expect(seen["country"] == "Korea")
        #expect(seen["email"] == "bob@example.org")
        #expect(seen["phone"] == .null)
        #expect(seen["visible"] == .null)
        #expect(seen["self"] == false)
        let shown = try table.ada.ok("member.get", ["member": "@robert"])
        #expect(shown["description"] == "Paints at night")
        #expect(shown["image"] == .null)
        #expect(try table.ada.ok("member.list").texts("name").contains("Robert"))
        for text in ["rober", "BOB@exam"] {
            #expect(
                try table.ada.ok("user.find", ["text": .string(text)]).texts("name")
                    == ["Robert"])
        }
        for text in ["obert", "bob", "bob@example.com"] {
            #expect(try table.ada.ok("user.find", ["text": .string(text)]).items.isEmpty)
        }
        let message = try table.ada.ok("message.get", ["ids": [sent["id"] ?? .null]])
        #expect(message.items.first?["author"]?["name"] == "Robert")
        // Who asks for the old name is shown the same person, and told so.
        let former = try table.ada.ok("profile.of", ["member": "@Bob"])
        #expect(former["name"] == "Robert")
        #expect(former["formerly"]?[0]?["name"] == "Bob")
        // Mentions and conversations go by the new name.
        let mention = try table.ada.send("@Robert look")
        #expect(mention["mentions"]?.arrayValue?.count == 1)
        let direct = try table.ada.ok("dm.open", ["members": ["@Robert"]])
        #expect(direct["name"] == "Robert")
        try table.bob.ok("profile.set", ["name": "Rob"])
        #expect(try table.ada.ok("dm.list").texts("name") == ["Rob"])
    }

    @Test func `tells of a change once, and of none not at all`() throws {
        let cursor = try table.ada.cursor()
        let own = try table.bob.cursor()
        let draft: JSONValue = ["description": "Paints", "country": "Korea", "name": "Robert"]
        try table.bob.ok("profile.set", draft)
        let count = try `What was read`.operations(table.bob)
        let again = try table.bob.ok("profile.set", draft)
        #expect(again["description"] == "Paints")
        try table.bob.ok("profile.set")
        try table.bob.ok("profile.set", ["phone": "", "name": " Robert"])
        #expect(try `What was read`.operations(table.bob) == count)
        #expect(
            try table.ada.events(since: cursor, types: ["member.edited"]).allSatisfy {
                $0["data"]?["name"] == "Robert" && $0["data"]?["country"] == "Korea"
            })
        #expect(!(try table.ada.events(since: cursor, types: ["member.edited"]).isEmpty))
        #expect(try table.bob.events(since: own, types: ["member.edited"]).count == 1)
    }

    @Test func `lists everything that is wrong with it at once`() throws {
        let count = try `What was read`.operations(table.bob)
        let failure = try table.bob.refused(
            "profile.set",
            [
                "name": "   ", "phone": "12", "email": "nobody", "country": "a\nb",
                "description": "fine", "show": ["phone"], "hide": ["phone"],
            ])
        #expect(failure.kind == .badRequest)
        #expect(failure.fields.map(\.name) == ["name", "country", "phone", "email", "show"])
        #expect(failure.fields.allSatisfy { $0.reason == "form" })
        for said in [
            "'name': a name needs at least one visible character",
            "'phone' must be '+' and 8 to 15",
            "'email' must be an address", "'country' can have at most 30",
            "'phone' cannot be both shown and hidden",
        ] { #expect(failure.message.contains(said), "\(failure.message)") }
        let controls = try table.bob.refused("profile.set", ["description": "a\u{7}b"])
        #expect(
            controls.message == "'description' can have no control characters except line breaks")
        let long = try table.bob.refused(
            "profile.set",
            [
                "name": .string(String(repeating: "x", count: 300)),
                "description": .string(String(repeating: "x", count: 2_000)),
            ])
        #expect(long.fields.map(\.reason) == ["too_long", "too_long"])
        #expect(long.message.contains("'description' can have at most 1024 bytes"))
        let two = try table.bob.refused("profile.set", ["name": "A", "nickname": "B"])
        #expect(two.fields.map(\.name) == ["nickname"])
        #expect(try table.bob.refused("profile.image.set", ["preset": 0]).kind == .badRequest)
        #expect(try `What was read`.operations(table.bob) == count)
        #expect(try table.bob.ok("profile.set", ["nickname": "@Rob"])["name"] == "Rob")
        #expect(try table.bob.ok("profile.set", ["description": "a\nb"])["description"] == "a\nb")
    }

    @Test func `has a picture, and none again`() throws {
        #expect(try table.bob.ok("profile.image.set", ["preset": 7])["image"] == "preset:7")
        #expect(try Self.profile(of: "Bob", on: table.ada)["image"] == "preset:7")
        #expect(try table.bob.ok("profile.image.clear")["image"] == .null)
        #expect(try Self.profile(of: "Bob", on: table.ada)["image"] == .null)
    }

    @Test func `keeps what is hidden only on its person's devices`() throws {
        let phone = try table.bench.bareNode("Phone")
        try table.bob.link(phone)
        let set = try table.bob.ok("profile.set", ["phone": .string("010-9876-5432")])
        #expect(set["phone"] == .string(Self.phone))
        #expect(set["visible"]?["phone"] == "nobody")
        table.bench.advance(5_000)
        for node in [table.ada, table.cleo] {
            #expect(try Self.profile(of: "Bob", on: node)["phone"] == .null)
            #expect(try !Self.knows(Self.phone, node))
        }
        #expect(try Self.knows(Self.phone, table.bob))
        #expect(try phone.ok("profile.get")["phone"] == .string(Self.phone))
        try table.bob.restart()
        #expect(try table.bob.ok("profile.get")["phone"] == .string(Self.phone))

        // Shown, everybody has it; hidden again, nobody, and the bytes are gone.
        let shown = try phone.ok("profile.set", ["show": ["phone"]])
        #expect(shown["visible"]?["phone"] == "workspace")
        table.bench.advance(5_000)
        #expect(try Self.profile(of: "Bob", on: table.ada)["phone"] == .string(Self.phone))
        #expect(try Self.knows(Self.phone, table.ada))
        let hidden = try table.bob.ok("profile.set", ["hide": ["phone"]])
        #expect(hidden["phone"] == .string(Self.phone))
        #expect(hidden["visible"]?["phone"] == "nobody")
        table.bench.advance(5_000)
        for node in [table.ada, table.cleo] {
            #expect(try Self.profile(of: "Bob", on: node)["phone"] == .null)
            #expect(try !Self.knows(Self.phone, node))
        }
        #expect(try phone.ok("profile.get")["phone"] == .string(Self.phone))
        try table.ada.restart()
        #expect(try Self.profile(of: "Bob", on: table.ada)["phone"] == .null)
        // Who comes later gets the same gaps, and no payload.
        let dora = try table.bench.guest("Dora", of: table.ada)
        #expect(try !Self.knows(Self.phone, dora))
        #expect(try Self.profile(of: "Bob", on: dora)["phone"] == .null)
        #expect(try dora.digest() == table.ada.digest())
        #expect(try table.ada.ok("node.check")["findings"]?.arrayValue?.isEmpty != false)
    }

    @Test func `takes back what was said, bytes and all`() throws {
        try table.bob.ok("profile.set", ["email": "canary@example.org", "description": "stays"])
        table.bench.advance(1_000)
        #expect(try Self.knows("canary@example", table.ada))
        let cleared = try table.bob.ok("profile.set", ["email": ""])
        #expect(cleared["email"] == .null)
        #expect(cleared["visible"]?["email"] == "workspace")
        table.bench.advance(5_000)
        for node in [table.ada, table.bob, table.cleo] {
            #expect(try !Self.knows("canary@example", node))
            #expect(try Self.profile(of: "Bob", on: node)["description"] == "stays")
        }
        let hidden = try table.bob.ok("profile.set", ["email": "b@example.org", "hide": ["email"]])
        #expect(hidden["visible"]?["email"] == "nobody")
        #expect(hidden["email"] == "b@example.org")
        #expect(try Self.profile(of: "Bob", on: table.ada)["email"] == .null)
        // A choice without a value is kept, too.
        try table.bob.ok("profile.set", ["show": ["phone"]])
        #expect(try table.bob.ok("profile.get")["visible"]?["phone"] == "workspace")
        try table.bob.ok("profile.set", ["phone": "010 9876 5432"])
        #expect(try Self.profile(of: "Bob", on: table.ada)["phone"] == .string(Self.phone))
    }

    @Test func `of two devices that wrote apart is one in the end`() throws {
        let phone = try table.bench.bareNode("Phone")
        try table.bob.link(phone)
        table.bench.advance(5_000)
        for other in [table.bob, table.ada, table.cleo] { table.bench.cut(phone, other) }
        // A clock years ahead wins once at most.
        phone.clockSkew = 200_000
        try phone.ok("profile.set", ["description": "from the phone", "country": "Korea"])
        try table.bob.ok("profile.set", ["description": "from the desk", "name": "Robert"])
        phone.clockSkew = 0
        for other in [table.bob, table.ada, table.cleo] { table.bench.heal(phone, other) }
        table.bench.advance(60_000)
        let nodes = [table.ada, table.bob, table.cleo, phone]
        let seen = try nodes.map { try Self.profile(of: "Robert", on: $0)["description"] }
        #expect(Set(seen.map { $0?.stringValue }) == ["from the phone"])
        let after = try table.bob.ok("profile.set", ["description": "agreed"])
        #expect(after["country"] == "Korea")
        table.bench.advance(60_000)
        for node in nodes {
            #expect(try Self.profile(of: "Robert", on: node)["description"] == "agreed")
        }
        try table.ada.restart()
        #expect(try Self.profile(of: "Robert", on: table.ada)["description"] == "agreed")
    }

    /// The desk hides what the phone says at the same time. Whichever of them hears of the other has
    /// it erased.
    @Test(arguments: [false, true])
    func `hides also what another device said meanwhile`(isDeskGone: Bool) throws {
        let phone = try table.bench.bareNode("Phone")
        try table.bob.link(phone)
        try table.bob.ok("profile.set", ["description": "canaryfirst"])
        table.bench.advance(5_000)
        let others = [table.bob, table.ada, table.cleo]
        for other in others { table.bench.cut(phone, other) }
        try phone.ok("profile.set", ["description": "canarysecond"])
        table.bench.advance(5_000)
        try table.bob.ok("profile.set", ["hide": ["description"]])
        table.bench.advance(5_000)
        if isDeskGone {
            for other in [phone, table.ada, table.cleo] { table.bench.cut(table.bob, other) }
        }
        for other in others where !isDeskGone || other !== table.bob {
            table.bench.heal(phone, other)
        }
        table.bench.advance(60_000)
        for node in [table.ada, table.cleo] {
            #expect(try Self.profile(of: "Bob", on: node)["description"] == .null)
            #expect(try !Self.knows("canaryfirst", node))
            #expect(try !Self.knows("canarysecond", node))
        }
        let count = try `What was read`.operations(phone)
        try phone.restart()
        table.bench.advance(5_000)
        #expect(try `What was read`.operations(phone) == count)
        #expect(try table.ada.digest() == table.cleo.digest())
    }

    // Each name that is asked for goes over all that authority has said.
    @Test func `is loaded without a look at what anybody is called`() throws {
        try table.bob.ok("profile.set", ["name": "Robert", "description": "Paints"])
        try table.cleo.ok("profile.set", ["name": "Cleopatra"])
        table.bench.advance(1_000)
        let core = try #require(table.ada.host?.core)
        let workspace = try table.ada.workspace()
        _ = try table.ada.ok("member.list")
        #expect(!workspace.judged.derived.names.isEmpty)
        try core.profiles.reloadProfiles(of: workspace)
        #expect(workspace.judged.derived.names.isEmpty)
        #expect(Set(workspace.people.profileNames.values).isSuperset(of: ["Cleopatra", "Robert"]))
        #expect(try table.ada.ok("member.list").texts("name").contains("Cleopatra"))
        #expect(try Self.profile(of: "Robert", on: table.ada)["description"] == "Paints")
    }

    @Test func `is read again once a turn, however often something asks for it`() throws {
        try table.bob.ok("profile.set", ["name": "Robert", "description": "Paints"])
        table.bench.advance(1_000)
        let core = try #require(table.ada.host?.core)
        let workspace = try table.ada.workspace()
        _ = try table.ada.ok("member.list")
        #expect(!workspace.judged.derived.names.isEmpty)
        let peer = OperationSource.peer(.zero, source: 9, isBackfill: false)
        for _ in 0..<100 { try core.profiles.reloadProfilesLater(of: workspace, from: peer) }
        // Nothing was read yet, or no name would be known.
        #expect(!workspace.judged.derived.names.isEmpty)
        try core.integrity.foldWhole()
        #expect(workspace.judged.derived.names.isEmpty)
        _ = try table.ada.ok("member.list")
        try core.integrity.foldWhole()
        #expect(!workspace.judged.derived.names.isEmpty)
        // Who writes here reads what that did at once.
        try core.profiles.reloadProfilesLater(of: workspace, from: .ourselves)
        #expect(workspace.judged.derived.names.isEmpty)
        #expect(try Self.profile(of: "Robert", on: table.ada)["description"] == "Paints")
    }

    @Test func `stays as it was when its owner is removed, and is nobody else's to change`() throws
    {
        try table.bob.ok("profile.set", ["description": "was here", "name": "Robert"])
        table.bench.advance(1_000)
        try table.ada.ok("member.remove", ["member": "@Robert", "force": true])
        #expect(try Self.profile(of: "Robert", on: table.ada)["description"] == "was here")
        #expect(try Self.profile(of: "Robert", on: table.cleo)["description"] == "was here")
        table.bench.advance(1_000)
        #expect(
            try table.bob.refused("profile.set", ["description": "back"]).kind == .forbidden)
        #expect(try table.bob.refused("presence.set", ["state": "busy"]).kind == .forbidden)
    }

    @Test func `is nothing for a guest but names`() throws {
        let bench = CoreBench()
        let ada = try bench.node("Ada")
        try ada.ok("channel.create", ["name": "board", "private": true, "history": "all"])
        try ada.ok("profile.set", ["description": "canarydescription"])
        let link = try ada.link(["role": "guest", "channels": ["board"]])
        let gil = try bench.bareNode("Gil")
        try gil.join(link)
        bench.advance(5_000)
        #expect(try gil.ok("member.list").texts("name").contains("Ada"))
        let seen = try Self.profile(of: "Ada", on: gil)
        #expect(seen["description"] == .null)
        #expect(try !Self.knows("canarydescription", gil))
        #expect(try gil.refused("profile.set", ["description": "x"]).kind == .forbidden)
        #expect(try gil.refused("presence.set", ["state": "busy"]).kind == .forbidden)
        #expect(try gil.ok("presence.list").items.isEmpty)
        #expect(try ada.ok("presence.list").items.count == 1)
        // A member sees more, and who becomes a guest is told no more than a guest.
        let bob = try bench.guest("Bob", of: ada)
        bench.advance(1_000)
        #expect(try Self.profile(of: "Ada", on: bob)["description"] == "canarydescription")
        #expect(try Self.profile(of: "Ada", on: bob)["presence"]?["state"] == "online")
        try ada.ok("channel.add", ["channel": "board", "members": ["@Bob"]])
        try ada.ok("member.role", ["member": "@Bob", "role": "guest"])
        try ada.ok("profile.set", ["description": "canarynews"])
        bench.advance(5_000)
        #expect(try Self.profile(of: "Ada", on: bob)["presence"] == .null)
        #expect(try !Self.knows("canarynews", bob))
    }
}

/// The profile before there is a workspace.
struct `A profile from the start` {
    private let bench = CoreBench()

    @Test(arguments: [nil, goodPassphrase])
    func `goes into each workspace that its person makes or joins`(passphrase: String?) throws {
        let joon = try bench.bareNode("Blank")
        var given: JSONObject = [
            "name": "Joon", "email": "joon@example.org", "phone": "+821012345678",
        ]
        given["passphrase"] = passphrase.map { .string($0) }
        try joon.ok("identity.create", .object(given))
        let own = try joon.ok("workspace.create", ["name": "own"])
        #expect(own["name"] == "own")
        let mine = try joon.ok("profile.get")
        #expect(mine["email"] == "joon@example.org" && mine["phone"] == "+821012345678")
        #expect(mine["visible"]?["email"] == "workspace" && mine["visible"]?["phone"] == "nobody")
        let mina = try bench.node("Mina")
        try joon.ok("workspace.join", ["link": .string(try mina.link())])
        bench.advance(5_000)
        let seen = try mina.ok("profile.of", ["member": "Joon"])
        #expect(seen["email"] == "joon@example.org" && seen["phone"] == .null)
        #expect(try joon.ok("profile.get")["phone"] == "+821012345678")
    }

    @Test func `is checked before anything is made`() throws {
        let joon = try bench.bareNode("Blank")
        let refused = try joon.refused(
            "identity.create", ["name": "Joon", "email": "x", "phone": "12"])
        #expect(Set(refused.fields.map(\.name)) == ["email", "phone"])
        #expect(try joon.refused("identity.show").kind == .notFound)
    }
}
