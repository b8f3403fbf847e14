import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// Notes as people make, change, rename and delete them.
struct `A note` {
    private let bench: CoreBench
    private let ada: BenchNode
    private let bob: BenchNode
    private let cleo: BenchNode

    init() throws {
        let table = try `Private channels`.Table()
        (bench, ada, bob, cleo) = (table.bench, table.ada, table.bob, table.cleo)
    }

    @Test func `is made in a channel, listed, and shown to everybody there`() throws {
        let made = try ada.makeNote("Shopping", saying: "milk\nbread\n")
        #expect(made["title"] == "Shopping" && made["deleted"] == false)
        bench.advance(2_000)
        for node in [ada, bob] {
            let list = try node.ok("note.list", ["channel": "general"]).items
            #expect(list.map { $0["id"] } == [made["id"]], "\(node.name)")
            let shown = try node.show(made)
            #expect(shown["text"] == "milk\nbread" && shown["length"] == 10)
            #expect(shown["author"]?["name"] == "Ada" && shown["edited_by"]?["name"] == "Ada")
            #expect(shown["complete"] == true && shown["next"] == .null)
            #expect(try node.ok("note.get", ["note": "shopping"])["id"] == made["id"])
        }
        #expect(try ada.show(made)["version"] == bob.show(made)["version"])
    }

    @Test func `merges what two people wrote concurrently`() throws {
        let made = try ada.makeNote("Plan", saying: "one\ntwo\nthree")
        bench.advance(2_000)
        let seen = try bob.show(made)
        bench.cut(ada, bob)
        try ada.edit(made, to: "zero\none\ntwo\nthree")
        try bob.edit(made, to: "one\ntwo\nthree\nfour", base: seen["version"])
        bench.heal(ada, bob)
        bench.advance(60_000)
        for node in [ada, bob, cleo] {
            #expect(try node.text(of: made) == "zero\none\ntwo\nthree\nfour", "\(node.name)")
        }
        #expect(try ada.show(made)["version"] == bob.show(made)["version"])
    }

    @Test func `takes the text of an earlier version, and keeps what came since`() throws {
        let made = try ada.makeNote("Plan", saying: "one\ntwo\nthree")
        let base = try ada.show(made)["version"]
        try ada.edit(made, to: "one\nTWO\nthree")
        bench.advance(2_000)
        try bob.edit(made, to: "one\nTWO\nthree\nfour")
        bench.advance(2_000)
        let answer = try ada.edit(made, to: "first\none\ntwo\nthree", base: base)
        #expect(answer["text"] == "first\none\nTWO\nthree\nfour")
        let refused = try ada.refused(
            "note.edit", ["note": made["id"] ?? .null, "text": "x", "base": "v_000000"])
        #expect(refused.kind == .conflict && refused.reason == "note.base")
        #expect(try ada.text(of: made) == "first\none\nTWO\nthree\nfour")
    }

    @Test func `takes changes by place, of an earlier version too`() throws {
        let made = try ada.makeNote("Plan", saying: "hello world")
        let base = try ada.show(made)["version"] ?? .null
        let one = try ada.ok(
            "note.edit",
            [
                "note": made["id"] ?? .null, "base": base,
                "ops": [
                    ["insert": ["at": 5, "text": ","]], ["delete": ["at": 7, "length": 5]],
                    ["insert": ["at": 7, "text": "Bob"]],
                ],
            ])
        #expect(one["text"] == "hello, Bob")
        let other = try ada.ok(
            "note.edit",
            [
                "note": made["id"] ?? .null, "base": base,
                "ops": [
                    ["insert": ["at": 0, "text": "Oh "]], ["insert": ["at": 4, "text": "H"]],
                ],
            ])
        #expect(other["text"] == "Oh hHello, Bob")
        #expect(try ada.textMadeAnew(of: made) == "Oh hHello, Bob")
    }

    @Test func `that nobody gives a title is called Untitled`() throws {
        #expect(try ada.ok("note.create", ["channel": "general"])["title"] == "Untitled")
        let other = try ada.ok("note.create", ["channel": "general", "title": ""])
        #expect(other["title"] == "Untitled", "two may be called so")
        let blank = try ada.refused("note.create", ["channel": "general", "title": " "])
        #expect(blank.kind == .badRequest && blank.fields.map(\.name) == ["title"])
    }

    @Test func `is written and shown as Markdown`() throws {
        let made = try ada.ok(
            "note.create",
            [
                "channel": "general", "title": "Doc", "format": "markdown",
                "text": "# Title\n\n- **bold**-[link](<https://example.org>)\n- two",
            ])
        bench.advance(2_000)
        for node in [ada, bob] {
            let shown = try node.show(made, ["markdown": true, "blocks": true])
            #expect(
                shown["text"]
                    == "# Title\n\n- **bold**-[link](<https://example.org>)\n- two")
            let kinds = shown["blocks"]?.arrayValue?.compactMap { $0["kind"]?.stringValue }
            #expect(kinds == ["heading1", "paragraph", "bulleted", "bulleted"])
            #expect(try node.text(of: made) == "Title\n\nbold-link\ntwo")
        }
        let again = try bob.ok(
            "note.edit",
            [
                "note": made["id"] ?? .null, "format": "markdown",
                "text": "## Title\n\n- bold-**link**\n- two",
            ])
        #expect(again["text"] == "Title\n\nbold-link\ntwo")
        bench.advance(2_000)
        #expect(
            try ada.show(made, ["markdown": true])["text"]
                == "## Title\n\n- bold-**link**\n- two")
    }

    @Test func `is renamed, deleted and brought back, and everybody is told`() throws {
        let made = try ada.makeNote("Plan", saying: "text")
        bench.advance(2_000)
        let since = try bob.cursor()
        try ada.ok("note.rename", ["note": "Plan", "title": "Project"])
        try ada.edit(made, to: "more text")
        bench.advance(2_000)
        try bob.ok("note.delete", ["note": "project"])
        bench.advance(2_000)
        for node in [ada, bob] {
            #expect(try node.ok("note.list").items.isEmpty)
            #expect(try node.ok("note.list", ["deleted": true]).items.count == 1)
            let refused = try node.refused(
                "note.edit", ["note": made["id"] ?? .null, "text": "x"])
            #expect(refused.kind == .conflict && refused.reason == "note.deleted")
        }
        let back = try ada.ok("note.delete", ["note": made["id"] ?? .null, "undo": true])
        #expect(back["title"] == "Project" && back["deleted"] == false)
        bench.advance(2_000)
        #expect(try bob.text(of: made) == "more text")
        let types = try bob.eventTypes(since: since).filter { $0.hasPrefix("note.") }
        #expect(types == ["note.renamed", "note.edited", "note.deleted", "note.restored"])
        let events = try bob.events(since: since, types: ["note.*"])
        #expect(events.map { $0["data"]?["id"] } == [JSONValue?](repeating: made["id"], count: 4))
        #expect(events.first?["data"]?["by"]?["name"] == "Ada")
        let told = try ada.ok("note.history", ["note": made["id"] ?? .null]).texts("action")
        #expect(told == ["restored", "deleted", "edited", "renamed", "edited", "created"])
    }

    @Test func `is erased everywhere by its author, or by who runs the channel`() throws {
        let made = try bob.makeNote("Secret", saying: "the code is 4711")
        bench.advance(2_000)
        try cleo.edit(made, to: "the code is 4711 indeed")
        bench.advance(2_000)
        let refused = try bob.refused(
            "note.delete", ["note": made["id"] ?? .null, "purge": true])
        #expect(refused.kind == .forbidden && refused.reason == "note.not_yours")
        try ada.ok("note.delete", ["note": made["id"] ?? .null, "purge": true])
        bench.advance(60_000)
        bench.letPass(Limits.redactionUndoMilliseconds + 60_000)
        for node in [ada, bob, cleo] {
            #expect(try node.ok("note.list").items.isEmpty, "\(node.name)")
            #expect(
                try node.refused("note.get", ["note": made["id"] ?? .null]).kind == .notFound)
            #expect(try node.rowCount("note_edit") == 0, "\(node.name)")
            #expect(try node.ok("node.check")["problem_count"] == 0, "\(node.name)")
        }
    }

    @Test func `is there after a restart as it was, and costs no memory before`() throws {
        let made = try ada.makeNote("Plan", saying: "one")
        for number in 0..<80 { try ada.edit(made, to: "one \(number)") }
        let before = try ada.show(made)
        try ada.restart()
        let core = try #require(ada.host?.core)
        #expect(core.notes.texts.open.isEmpty)
        let after = try ada.show(made)
        #expect(after["text"] == before["text"] && after["version"] == before["version"])
        let base = before["version"]
        try ada.edit(made, to: "two", base: base)
        #expect(try ada.text(of: made) == "two")
    }

    @Test func `of a private channel is read by those who are in it alone`() throws {
        try ada.ok("channel.create", ["name": "board", "private": true])
        try ada.ok("channel.add", ["channel": "board", "members": ["Bob"]])
        bench.advance(2_000)
        let made = try ada.makeNote("Money", in: "board", saying: "42")
        bench.advance(2_000)
        #expect(try bob.text(of: made) == "42")
        #expect(try cleo.refused("note.get", ["note": made["id"] ?? .null]).kind == .notFound)
        #expect(try cleo.ok("note.list").items.isEmpty)
        try bob.edit(made, to: "43")
        bench.advance(2_000)
        #expect(try ada.text(of: made) == "43")
        try ada.ok("channel.remove", ["channel": "board", "members": ["Bob"]])
        bench.advance(2_000)
        try ada.edit(made, to: "44")
        bench.advance(2_000)
        #expect((try? bob.text(of: made)) != "44")
        #expect(try ada.text(of: made) == "44")
    }

    @Test func `counts neither as unread nor in a history`() throws {
        let before = try bob.ok("message.history", ["channel": "general"]).items.count
        let unread = try bob.ok("unread.get")
        let made = try ada.makeNote("Plan", saying: "one")
        try ada.edit(made, to: "two")
        bench.advance(2_000)
        #expect(try bob.ok("message.history", ["channel": "general"]).items.count == before)
        #expect(try bob.ok("unread.get") == unread)
    }

    @Test func `of one title is asked for by its id, or in its channel`() throws {
        try ada.ok("channel.create", ["name": "plans"])
        let one = try ada.makeNote("Plan", saying: "one")
        let other = try ada.makeNote("plan", in: "plans", saying: "two")
        #expect(try ada.refused("note.get", ["note": "Plan"]).kind == .ambiguous)
        #expect(try ada.ok("note.get", ["note": "Plan", "in": "plans"])["id"] == other["id"])
        #expect(try ada.text(of: one) == "one")
        // All of them are counted, and some are named.
        for _ in 3...12 { _ = try ada.makeNote("Plan", saying: "more") }
        let many = try ada.refused("note.get", ["note": "Plan"])
        #expect(many.message == "'Plan' could be any of 12 things")
        #expect(many.details["candidates"]?.arrayValue?.count == 10)
    }

    @Test func `says who wrote what`() throws {
        let made = try ada.makeNote("Plan", saying: "milk")
        bench.advance(2_000)
        try bob.edit(made, to: "milk, bread")
        let blame = try bob.show(made, ["blame": true])["blame"]?.arrayValue ?? []
        #expect(blame.map { $0["by"]?["name"] } == ["Ada", "Bob"])
        #expect(blame.map { $0["length"] } == [4, 7])
    }
}
