import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// `search` finds notes by title and by their current text.
struct `A note that is looked for` {
    private let bench: CoreBench
    private let ada: BenchNode
    private let bob: BenchNode
    private let cleo: BenchNode

    init() throws {
        let table = try `Private channels`.Table()
        (bench, ada, bob, cleo) = (table.bench, table.ada, table.bob, table.cleo)
    }

    /// The ids of the notes that a search finds.
    private func notes(
        _ node: BenchNode, _ query: String, _ more: JSONObject = [:]
    ) throws -> [JSONValue] {
        try node.search(query, more).items.filter { $0["kind"] == "note" }
            .compactMap { $0["id"] }
    }

    @Test func `is found by its title and by its text, with where they say it`() throws {
        let made = try ada.makeNote("Shopping list", saying: "first\nmilk and bread")
        bench.advance(2_000)
        for node in [ada, bob] {
            let hit = try #require(try node.search("milk").items.first { $0["kind"] == "note" })
            #expect(
                hit.fieldNames == ["kind", "id", "channel", "at", "matches", "excerpt", "note"])
            #expect(hit["id"] == made["id"] && hit["note"]?["title"] == "Shopping list")
            #expect(hit["matches"] == [["field": "text", "start": 6, "length": 4]])
            #expect(hit["excerpt"] == ["start": 6, "text": "milk and bread"])
            let titled = try #require(
                try node.search("shopping").items.first { $0["kind"] == "note" })
            #expect(titled["matches"] == [["field": "title", "start": 0, "length": 8]])
            #expect(titled["excerpt"]?["text"] == "")
            #expect(try notes(node, "shopping milk") == [made["id"]])
        }
    }

    @Test func `is found by what it says today alone`() throws {
        let made = try ada.makeNote("Plan", saying: "apples")
        bench.advance(2_000)
        #expect(try notes(bob, "apples") == [made["id"]])
        try ada.edit(made, to: "pears")
        try ada.ok("note.rename", ["note": made["id"] ?? .null, "title": "Orchard"])
        bench.advance(2_000)
        for node in [ada, bob] {
            #expect(
                try notes(node, "apples").isEmpty && notes(node, "plan").isEmpty, "\(node.name)")
            #expect(try notes(node, "pears") == [made["id"]], "\(node.name)")
            #expect(try notes(node, "orchard") == [made["id"]], "\(node.name)")
        }
        try ada.restart()
        #expect(try notes(ada, "pears") == [made["id"]])
    }

    @Test func `that was deleted is not found until it comes back`() throws {
        let made = try ada.makeNote("Plan", saying: "apples")
        bench.advance(2_000)
        try ada.ok("note.delete", ["note": made["id"] ?? .null])
        bench.advance(2_000)
        for node in [ada, bob] { #expect(try notes(node, "apples").isEmpty, "\(node.name)") }
        try ada.ok("note.delete", ["note": made["id"] ?? .null, "undo": true])
        bench.advance(2_000)
        for node in [ada, bob] { #expect(try notes(node, "apples") == [made["id"]]) }
        try ada.ok("note.delete", ["note": made["id"] ?? .null, "purge": true])
        bench.advance(2_000)
        for node in [ada, bob] { #expect(try notes(node, "apples").isEmpty, "\(node.name)") }
    }

    @Test func `of a private channel is found by those who are in it alone`() throws {
        try ada.ok("channel.create", ["name": "board", "private": true])
        try ada.ok("channel.add", ["channel": "board", "members": ["Bob"]])
        bench.advance(2_000)
        let made = try ada.makeNote("Money", in: "board", saying: "dividend")
        bench.advance(2_000)
        #expect(try notes(bob, "dividend") == [made["id"]])
        #expect(try cleo.search("dividend").items.isEmpty)
        #expect(try notes(ada, "dividend", ["channels": ["board"]]) == [made["id"]])
        #expect(try notes(ada, "dividend", ["channels": ["general"]]).isEmpty)
    }

    @Test func `is asked for besides messages, alone, or not at all`() throws {
        let made = try ada.makeNote("Plan", saying: "kiwi https://example.org")
        try ada.send("kiwi in a message")
        bench.advance(2_000)
        let kinds = { (more: JSONObject) in
            try bob.search("kiwi", more).items.compactMap { $0["kind"]?.stringValue }.sorted()
        }
        #expect(try kinds([:]) == ["message", "note"])
        #expect(try kinds(["kinds": ["note"]]) == ["note"])
        #expect(try kinds(["kinds": ["message"]]) == ["message"])
        #expect(try kinds(["has": "link"]) == ["note"])
        #expect(try kinds(["from": "Bob"]).isEmpty)
        #expect(try kinds(["order": "best"]) == ["message", "note"])
        #expect(try notes(bob, "kiwi", ["from": "Ada"]) == [made["id"]])
    }

    @Test func `is in the index again after that was lost`() throws {
        let made = try ada.makeNote("Plan", saying: "apples")
        try ada.edit(made, to: "pears")
        ada.kill()
        ada.searchFiles.remove()
        try ada.boot()
        bench.advance(5_000)
        #expect(try notes(ada, "pears") == [made["id"]])
    }

    @Test func `shows the line around what was found, and no more than fits`() {
        let text =
            "one\n" + String(repeating: "x ", count: 100) + "found"
            + String(
                repeating: " y", count: 300)
        let place = 2 + 4 + 200
        let (matches, excerpt) = Queries.shown([place..<place + 5], title: "T", text: text)
        #expect(matches == [.init("text", place - 2..<place + 3)])
        #expect(excerpt.text.unicodeScalars.count == Limits.searchExcerptMax)
        #expect(excerpt.text.contains("found") && excerpt.start == Int64(place - 2 - 50))
        let (both, none) = Queries.shown([0..<1], title: "T", text: "text")
        #expect(both == [.init("title", 0..<1)] && none.text.isEmpty)
    }
}
