import CRDTStore
import SyncProtocol
import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// Who gets which keys of private documents, and when a new one is introduced.
struct `Keys of private documents` {
    private let table: Table

    init() throws { table = try Table() }

    private typealias Table = `Private channels`.Table

    private static func texts(_ channel: String, on node: BenchNode) throws -> [String] {
        try `Private channels`.texts(channel, on: node)
    }

    private static func document(
        _ name: String, on node: BenchNode
    ) throws -> PrivateDocument {
        let workspace = try #require(node.host?.core.workspaces.values.first)
        let channel = try #require(workspace.channelIndex.all.first { $0.name == name })
        return try #require(workspace.sealed.documents[channel.id])
    }

    @Test func `a newcomer sees the past only where everybody may`() throws {
        for history in ["all", "from-join"] {
            let name = JSONValue.string(history)
            try table.bob.ok(
                "channel.create", ["name": name, "private": true, "history": name])
            let shown = try table.bob.ok("message.send", ["channel": name, "text": "one"])
            #expect(shown["text"] == "one")
            try table.bob.ok("channel.add", ["channel": name, "members": ["Cleo"]])
            try table.cleo.ok("message.send", ["channel": name, "text": "two"])
            try table.bob.ok("channel.add", ["channel": name, "members": ["Ada"]])
            try table.ada.ok("message.send", ["channel": name, "text": "three"])
        }
        #expect(try Self.texts("all", on: table.ada) == ["one", "two", "three"])
        #expect(try Self.texts("from-join", on: table.bob) == ["one", "two", "three"])
        #expect(try Self.texts("from-join", on: table.cleo) == ["two", "three"])
        #expect(try Self.texts("from-join", on: table.ada) == ["three"])
        #expect(
            try table.ada.ok("channel.get", ["channel": "from-join"])["history"] == "from-join")
        // She judges the membership of all epochs alike, with subkeys that open no content.
        let (first, last) = (
            try Self.document("from-join", on: table.bob),
            try Self.document("from-join", on: table.ada)
        )
        #expect(last.authority.members == first.authority.members)
        #expect(last.closed.isEmpty)
        #expect(last.keys.count == 1)
        #expect(last.authorityKeys.names.count == 3)
        // And so do all after a restart.
        try table.ada.restart()
        #expect(try Self.texts("from-join", on: table.ada) == ["three"])
        #expect(try Self.texts("all", on: table.ada) == ["one", "two", "three"])
    }

    @Test func `a new one is made before anything is written after somebody is out`() throws {
        try table.bob.ok("channel.create", ["name": "board", "private": true, "history": "all"])
        try table.bob.ok("channel.add", ["channel": "board", "members": ["Cleo", "Ada"]])
        try table.bob.ok("message.send", ["channel": "board", "text": "three of us"])
        let before = try Self.document("board", on: table.bob).keys.names
        // Who leaves the channel.
        try table.cleo.ok("channel.leave", ["channel": "board"])
        try table.ada.ok("message.send", ["channel": "board", "text": "two of us"])
        #expect(try Self.texts("board", on: table.bob) == ["three of us", "two of us"])
        #expect(try Self.texts("board", on: table.cleo) == ["three of us"])
        let after = try Self.document("board", on: table.bob)
        #expect(after.keys.count == before.count + 1)
        #expect(try Self.document("board", on: table.cleo).keys.count == before.count)
        // Who is removed from the workspace.
        let dora = try table.bench.guest("Dora", of: table.ada)
        try table.bob.ok("channel.add", ["channel": "board", "members": ["Dora"]])
        #expect(try Self.texts("board", on: dora) == ["three of us", "two of us"])
        try table.ada.ok("member.remove", ["member": "Dora"])
        try table.bob.ok("message.send", ["channel": "board", "text": "without Dora"])
        let held = try Self.document("board", on: dora).keys.names
        let sealing = try #require(after.authority.epochs.last?.epoch.keyID)
        #expect(!held.contains(sealing))
        #expect(try Self.texts("board", on: table.ada).last == "without Dora")
        #expect(try table.bob.ok("channel.get", ["channel": "board"])["members"] == 2)
        // Nothing else has happened since, so nothing new is made.
        let count = after.keys.count
        try table.ada.ok("message.send", ["channel": "board", "text": "again"])
        #expect(try Self.document("board", on: table.ada).keys.count == count)
    }

    @Test func `a newcomer gets those from then on by default`() throws {
        let made = try table.bob.ok("channel.create", ["name": "board", "private": true])
        #expect(made["history"] == "from-join")
        #expect(try table.bob.ok("channel.create", ["name": "open"])["history"] == "all")
        try table.bob.ok("message.send", ["channel": "board", "text": "before Cleo"])
        try table.bob.ok("channel.add", ["channel": "board", "members": ["Cleo"]])
        try table.bob.ok("message.send", ["channel": "board", "text": "with Cleo"])
        table.bench.advance(5_000)
        #expect(try Self.texts("board", on: table.cleo) == ["with Cleo"])
    }

    @Test func `a linked device gets those of its person`() throws {
        try table.bob.ok("channel.create", ["name": "board", "private": true, "history": "all"])
        try table.bob.ok(
            "channel.create", ["name": "later", "private": true, "history": "from-join"])
        try table.bob.ok("message.send", ["channel": "later", "text": "before Cleo"])
        try table.bob.ok("channel.add", ["channel": "later", "members": ["Cleo"]])
        try table.bob.ok("message.send", ["channel": "later", "text": "with Cleo"])
        try table.bob.ok("message.send", ["channel": "board", "text": "old"])
        try table.cleo.ok("message.send", ["channel": "@Bob", "text": "psst"])
        let phone = try table.bench.bareNode("Phone")
        try table.bob.link(phone)
        table.bench.advance(5_000)
        #expect(try Self.texts("board", on: phone) == ["old"])
        #expect(try Self.texts("@Cleo", on: phone) == ["psst"])
        #expect(try Self.texts("later", on: phone) == ["before Cleo", "with Cleo"])
        try phone.ok("message.send", ["channel": "@Cleo", "text": "from the phone"])
        #expect(try Self.texts("@Bob", on: table.cleo) == ["psst", "from the phone"])
        // A revoked device gets nothing that is written from then on.
        try table.bob.ok("device.revoke", ["device": .string(try phone.deviceID())])
        try table.cleo.ok("message.send", ["channel": "@Bob", "text": "not for the phone"])
        #expect(try Self.texts("@Cleo", on: table.bob).last == "not for the phone")
        #expect(try Self.texts("@Cleo", on: phone) == ["psst", "from the phone"])
    }

    @Test func `the phrase opens what was for it`() throws {
        try table.bob.ok("channel.create", ["name": "board", "private": true, "history": "all"])
        try table.bob.ok("message.send", ["channel": "board", "text": "old"])
        try table.cleo.ok("message.send", ["channel": "@Bob", "text": "psst"])
        let phrase = try table.bob.ok("identity.show", ["phrase": true])["phrase"] ?? .null
        let link = try table.ada.ok("invite.create")["link"] ?? .null
        table.bench.advance(5_000)
        table.bob.kill()
        // Cleo, who wrote to him, is away too: a third node has all that he needs.
        table.cleo.kill()
        let new = try table.bench.bareNode("New")
        try new.ok("identity.recover", ["phrase": phrase, "link": link, "name": "Bob"])
        table.bench.advance(30_000)
        #expect(try Self.texts("board", on: new) == ["old"])
        #expect(try Self.texts("@Cleo", on: new) == ["psst"])
        try new.ok("message.send", ["channel": "@Cleo", "text": "I am back"])
        try new.restart()
        #expect(try Self.texts("@Cleo", on: new) == ["psst", "I am back"])
        try table.cleo.boot()
        table.bench.advance(30_000)
        #expect(try Self.texts("@Bob", on: table.cleo) == ["psst", "I am back"])
    }

    @Test func `a device that the author did not know asks for it`() throws {
        let phone = try table.bench.bareNode("Phone")
        table.bench.cut(table.bob, table.cleo)
        table.bench.cut(table.ada, table.cleo)
        table.bench.cut(phone, table.cleo)
        try table.bob.link(phone)
        // Cleo has not heard of the phone, so there is no box for it.
        try table.cleo.ok("message.send", ["channel": "@Bob", "text": "psst"])
        table.bob.kill()
        table.bench.heal(table.ada, table.cleo)
        table.bench.advance(5_000)
        #expect(try Self.texts("@Cleo", on: phone) == [])
        table.bench.heal(phone, table.cleo)
        table.bench.advance(60_000)
        #expect(try Self.texts("@Cleo", on: phone) == ["psst"])
    }

    @Test func `a device passes on what came for it alone`() throws {
        try expectPassedOn(byMail: false)
    }

    /// Where the two have no link it goes by mail, through somebody who cannot open it: whom nobody
    /// asks, for she has nothing to give.
    @Test func `a device passes on what came for it alone, through others too`() throws {
        try expectPassedOn(byMail: true)
    }

    private func expectPassedOn(byMail: Bool) throws {
        let table = try Table()
        let phone = try table.bench.bareNode("Phone")
        for node in [table.bob, table.ada, phone] { table.bench.cut(node, table.cleo) }
        try table.bob.link(phone)
        if byMail {
            table.bench.advance(5_000)
            table.bench.cut(table.bob, phone)
        }
        try table.cleo.ok("message.send", ["channel": "@Bob", "text": "psst"])
        table.bench.heal(table.bob, table.cleo)
        table.bench.advance(5_000)
        table.cleo.kill()
        table.bench.advance(60_000)
        #expect(try Self.texts("@Cleo", on: table.bob) == ["psst"])
        #expect(try Self.texts("@Cleo", on: phone) == ["psst"])
    }

    /// Who was added to a channel whose past is closed asks for the keys of before by name.
    @Test func `a newcomer is given no earlier ones, whichever is requested`() throws {
        let (bob, ada) = (table.bob, table.ada)
        try bob.ok("channel.create", ["name": "board", "private": true, "history": "from-join"])
        try bob.ok("message.send", ["channel": "board", "text": "one"])
        let before = try Self.document("board", on: bob).keys.names
        try bob.ok("channel.add", ["channel": "board", "members": ["Ada"]])
        table.bench.advance(5_000)
        let document = try Self.document("board", on: ada)
        #expect(!before.isEmpty && before.isDisjoint(with: document.keys.names))
        func link(_ node: BenchNode, to other: BenchNode) throws -> PeerLink {
            let device = try #require(other.host?.core.session.home).device
            return try #require(node.host?.core.links.network.links(to: device).first)
        }
        let (asking, asked) = (try link(ada, to: bob), try link(bob, to: ada))
        let names = before.sorted()
        asking.keys.wanted[document.id] = names
        let given = asked.keys.givenKeys
        try bob.inTurn { core, workspace in
            try core.privates.asking.keysWanted(
                KeyWant(workspace: 1, document: document.id, keys: names), in: workspace,
                on: asked)
        }
        #expect(asked.keys.givenKeys > given, "she is answered, with what she may have")
        table.bench.advance(5_000)
        #expect(try before.isDisjoint(with: Self.document("board", on: ada).keys.names))
        #expect(try Self.texts("board", on: ada) == [])
    }

    @Test func `check and why go through them`() throws {
        try table.bob.ok("channel.create", ["name": "board", "private": true, "history": "all"])
        try table.bob.ok("channel.add", ["channel": "board", "members": ["Cleo"]])
        let sent = try table.cleo.ok("message.send", ["channel": "board", "text": "m"])
        try table.bob.ok("channel.remove", ["channel": "board", "members": ["Cleo"]])
        try table.bob.ok("message.send", ["channel": "@Cleo", "text": "sorry"])
        table.bench.advance(60_000)
        for node in [table.ada, table.bob, table.cleo] {
            let answer = try node.ok("node.check")
            #expect(answer["ok"] == true, "\(answer.text)")
        }
        let why = try table.bob.ok("why", ["subject": "#board", "can": "send"])
        #expect(why["answer"] == true)
        let kinds = (why["steps"]?.arrayValue ?? []).compactMap { $0["kind"]?.stringValue }
        // Last comes what gives the one who asks a place there.
        #expect(kinds == ["root", "add", "remove", "root"])
        #expect(try table.cleo.ok("why", ["subject": "#board", "can": "send"])["answer"] == false)
        let message = try table.bob.ok("why", ["subject": sent["id"] ?? .null])
        #expect(message["answer"] == true)
        #expect(try table.ada.refused("why", ["subject": sent["id"] ?? .null]).kind == .notFound)
    }

    @Test func `what somebody wrote who is out of the workspace stays as far as it was known`()
        throws
    {
        try table.bob.ok("channel.create", ["name": "board", "private": true, "history": "all"])
        try table.bob.ok("channel.add", ["channel": "board", "members": ["Cleo"]])
        try table.cleo.send("known", to: "board")
        table.bench.advance(2_000)
        table.bench.cut(table.cleo, table.ada)
        table.bench.cut(table.cleo, table.bob)
        try table.cleo.send("late", to: "board")
        try table.ada.ok("member.remove", ["member": "Cleo"])
        try table.bob.send("after", to: "board")
        table.bench.heal(table.cleo, table.ada)
        table.bench.heal(table.cleo, table.bob)
        table.bench.advance(60_000)
        #expect(try Self.texts("board", on: table.bob) == ["known", "after"])
        #expect(try table.ada.digest() == table.bob.digest())
        let own = try table.cleo.ok("message.history", ["channel": "board"]).items
        #expect(own.map { $0["text"] } == ["known", "late"])
        #expect(own.last?["state"] == "refused")
        #expect(
            try table.cleo.refused("message.send", ["channel": "board", "text": "x"]).kind
                == .forbidden)
        #expect(try table.cleo.refused("dm.open", ["members": ["Bob"]]).kind == .forbidden)
        #expect(try table.bob.ok("node.check")["ok"] == true)
    }
}
