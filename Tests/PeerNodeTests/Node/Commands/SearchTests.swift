import CRDTStore
import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

extension BenchNode {
    /// What a search finds, as a whole answer.
    func search(_ query: String, _ more: JSONObject = [:]) throws -> JSONValue {
        var parameters = more
        parameters.append("query", .string(query))
        return try ok("search", .object(parameters))
    }

    /// The texts of the messages that a search finds.
    func texts(of query: String, _ more: JSONObject = [:]) throws -> [String] {
        try search(query, more).items.compactMap { $0["message"]?["text"]?.stringValue }
    }
}

struct `Searching` {
    let bench = CoreBench()

    private func talk(_ texts: String...) throws -> BenchNode {
        let mina = try bench.node("Mina")
        for text in texts {
            try mina.send(text)
            bench.wall += 1_000
        }
        return mina
    }

    @Test func `finds messages by what their files are called`() throws {
        let mina = try talk("the plan is ready")
        mina.blobs.places.files["/home/Budget 2027.pdf"] = [UInt8](repeating: 7, count: 20_000)
        mina.blobs.places.files["/home/notes.txt"] = Array("small".utf8)
        let ids = try ["/home/Budget 2027.pdf", "/home/notes.txt"].map { path in
            try mina.ok("blob.add", ["path": .string(path)])["id"] ?? .null
        }
        let sent = try mina.ok(
            "message.send",
            ["channel": "general", "text": "as said", "attachments": .array(ids)])
        let found = try mina.search("budget")
        #expect(found.items.map { $0["message"]?["id"] } == [sent["id"]])
        #expect(
            found.items.first?["matches"]
                == [["field": "attachments", "start": 0, "length": 6]])
        // Words of the text and of a name are found together.
        let both = try mina.search("said notes")
        #expect(
            both.items.first?["matches"]?.arrayValue?.compactMap { $0["field"]?.stringValue }
                == ["text", "attachments"])
        #expect(try mina.texts(of: "plan", ["has": "file"]) == [])
        #expect(try mina.texts(of: "2027", ["has": "file"]) == ["as said"])
        try mina.ok("message.edit", ["message": sent["id"] ?? .null, "text": "as written"])
        #expect(try mina.texts(of: "budget written") == ["as written"])
        try mina.ok("message.delete", ["message": sent["id"] ?? .null])
        #expect(try mina.texts(of: "budget") == [])
    }

    @Test func `finds others by the email that they show, and never yourself`() throws {
        let mina = try bench.node("Mina Park")
        let joon = try bench.guest("Joon Kim", of: mina)
        try joon.ok("profile.set", ["email": "joon@example.org"])
        bench.advance(5_000)
        func people(_ query: String, _ node: BenchNode) throws -> [String] {
            try node.search(query).items.compactMap { $0["member"]?["name"]?.stringValue }
        }
        #expect(try people("joon@ex", mina) == ["Joon Kim"])
        #expect(try people("Park", joon) == ["Mina Park"])
        #expect(try people("Park", mina) == [] && people("joon@example.org", joon) == [])
        try joon.ok("profile.set", ["hide": ["email"]])
        bench.advance(5_000)
        #expect(try people("joon@example.org", mina) == [])
    }

    @Test func `finds messages, the newest first, with what matches`() throws {
        let mina = try talk("the plan", "no", "다음 회의록", "PLANS and plan")
        let found = try mina.search("plan")
        #expect(
            found.items.compactMap { $0["message"]?["text"] } == ["PLANS and plan", "the plan"])
        #expect(found["complete"] == true)
        #expect(found["next"] == .null)
        let hit = try #require(found.items.first)
        #expect(hit.fieldNames == ["kind", "id", "channel", "at", "matches", "message"])
        #expect(hit["kind"] == "message")
        #expect(hit["id"] == hit["message"]?["id"])
        #expect(hit["channel"] == hit["message"]?["channel"])
        #expect(hit["at"] == hit["message"]?["at"])
        #expect(
            hit["matches"] == [
                ["field": "text", "start": 0, "length": 4],
                ["field": "text", "start": 10, "length": 4],
            ])
        #expect(try mina.texts(of: "회의") == ["다음 회의록"])
        #expect(try mina.texts(of: "zebra") == [])
    }

    @Test func `reads the operation of each result once`() throws {
        let mina = try talk("plan one", "no", "plan two", "plan three")
        let operations = try #require(mina.host?.core).turn.store.operations
        func reads(_ query: String) throws -> Int {
            let before = operations.readCount
            _ = try mina.search(query, ["kinds": ["message"]])
            return operations.readCount - before
        }
        // The first one also has the index take what was said.
        _ = try reads("plan")
        #expect(try reads("plan") - reads("zebra") == 3)
    }

    @Test func `finds the best first, if that is asked for`() throws {
        let mina = try talk(
            "a plan", "plan, plan and plan", "the plan is in a text that goes on and on and on",
            "no", "a plan")
        let found = try mina.search("plan", ["order": "best", "kinds": ["message"]])
        #expect(
            found.items.compactMap { $0["message"]?["text"] } == [
                "plan, plan and plan", "a plan", "a plan",
                "the plan is in a text that goes on and on and on",
            ])
        #expect(found["next"] == .null)
        let times = found.items.compactMap { $0["at"]?.integerValue }
        #expect(times[1] > times[2], "of two that are as good the newer one")
        #expect(try mina.texts(of: "plan", ["order": "best", "limit": 1]).count == 1)
        var pages: [JSONValue] = []
        var next: JSONValue = .null
        repeat {
            var given: JSONObject = ["order": "best", "kinds": ["message"], "limit": 1]
            if next != .null { given["cursor"] = next }
            let page = try mina.search("plan", given)
            pages += page.items.compactMap { $0["id"] }
            next = page["next"] ?? .null
        } while next != .null && pages.count < 10
        #expect(pages == found.items.compactMap { $0["id"] })
        #expect(
            try mina.refused("search", ["query": "plan", "cursor": "b1"]).reason == "bad_cursor")
        let cursor = try mina.search("plan", ["limit": 1])["next"] ?? .null
        let error = try mina.refused(
            "search", ["query": "plan", "order": "best", "cursor": cursor])
        #expect(error.kind == .badRequest && error.reason == "bad_cursor")
    }

    @Test func `finds the best of the newest that a long history has`() throws {
        let mina = try bench.node("Mina")
        try mina.send("old plan plan plan plan")
        try mina.send("plan and plan")
        for number in 1..<Limits.searchRankedMax { try mina.send("plan \(number)") }
        let found = try mina.texts(of: "plan", ["order": "best", "kinds": ["message"]])
        #expect(found.count == 20)
        #expect(!found.contains("old plan plan plan plan"))
        #expect(found.first == "plan and plan", "the oldest of those that are ranked")
    }

    @Test func `finds channels and people by their names`() throws {
        let mina = try talk("general things")
        try mina.ok(
            "channel.create", ["name": "release-plan", "topic": "what general wants"])
        let found = try mina.search("gen")
        #expect(found.texts("kind") == ["channel", "channel", "message"])
        #expect(found.items.first?["channel"]?["name"] == "general")
        #expect(
            found.items[1]["matches"] == [["field": "topic", "start": 5, "length": 3]])
        _ = try bench.guest("Joon", of: mina)
        bench.advance(1_000)
        let people = try mina.search("JOO")
        #expect(people.texts("kind") == ["member"])
        #expect(people.items.first?["member"]?["name"] == "Joon")
        #expect(people.items.first?["channel"] == .null)
        #expect(try mina.search("gen", ["kinds": ["message"]]).texts("kind") == ["message"])
        #expect(try mina.search("gen", ["kinds": ["channel"], "limit": 1]).items.count == 1)
        // Nobody looks for themselves.
        #expect(try mina.ok("user.find", ["text": "mi"]).items.isEmpty)
    }

    @Test func `is narrowed down`() throws {
        let mina = try talk("plan one", "plan two https://example.org")
        try mina.ok("channel.create", ["name": "ops"])
        try mina.send("plan three", to: "ops")
        let joon = try bench.bareNode("Joon")
        try joon.join(try mina.link())
        try joon.send("plan four")
        #expect(
            try mina.texts(of: "plan")
                == ["plan four", "plan three", "plan two https://example.org", "plan one"])
        #expect(try mina.texts(of: "plan", ["channels": ["ops"]]) == ["plan three"])
        #expect(try mina.texts(of: "plan", ["from": "@Joon"]) == ["plan four"])
        #expect(
            try mina.texts(of: "plan", ["channels": ["general", "ops"], "from": "Mina"]).count == 3)
        #expect(try mina.texts(of: "plan", ["has": "link"]).count == 1)
        let at = try #require(
            try mina.search("two").items.first?["at"]?.integerValue)
        #expect(try mina.texts(of: "plan", ["after": .integer(at + 1)]).count == 2)
        #expect(try mina.texts(of: "plan", ["before": .integer(at)]).count == 2)
        #expect(
            try mina.texts(of: "plan", ["after": .integer(at), "before": .integer(at)]).count == 1)
        #expect(try mina.texts(of: "plan", ["after": 9, "before": 8]).isEmpty)
        #expect(try mina.refused("search", ["query": "x", "from": "@Nobody"]).kind == .unknownUser)
        #expect(try mina.refused("search", ["query": "x", "channels": ["none"]]).kind == .notFound)
    }

    @Test(arguments: ["", "!?", "\"\""])
    func `for nothing is refused`(_ query: String) throws {
        let error = try bench.node("Mina").refused("search", ["query": .string(query)])
        #expect(error.kind == .badRequest)
        #expect(error.fields.map(\.name) == ["query"])
    }

    @Test func `for a picture, or on from nowhere, is refused`() throws {
        let mina = try bench.node("Mina")
        #expect(try mina.refused("search", ["query": "x", "has": "picture"]).kind == .badRequest)
        #expect(try mina.refused("search", ["query": "x", "cursor": "p_x"]).kind == .badRequest)
    }

    @Test(arguments: [1, 2, 3, 7, 100] as [Int64])
    func `goes on page by page`(_ limit: Int64) throws {
        let mina = try bench.node("Mina")
        try mina.ok("channel.create", ["name": "note-box"])
        try mina.ok("channel.create", ["name": "note-shelf"])
        for number in 0..<9 {
            try mina.send("note \(number)")
            if number.isMultiple(of: 3) { bench.wall += 5 }
        }
        var (found, cursor) = ([String](), JSONValue.null)
        repeat {
            let page = try mina.search("note", ["limit": .integer(limit), "cursor": cursor])
            #expect(page.items.count <= limit)
            found += page.items.compactMap {
                $0["channel"]?["name"]?.stringValue ?? $0["message"]?["text"]?.stringValue
            }
            cursor = page["next"] ?? .null
        } while !cursor.isNull && found.count < 100
        #expect(
            found == ["note-box", "note-shelf"] + (0..<9).reversed().map { "note \($0)" })
    }

    // MARK: What nobody may see

    @Test func `does not find what is hidden, whatever the index says`() throws {
        let mina = try talk("xylograph")
        let hit = try #require(try mina.search("xylograph").items.first)
        let core = try #require(mina.host?.core)
        let view = core.turn.store.view
        let key = try #require(PublicID.messageKey(try hit.text("id")))
        let row = try #require(try view.message(key))
        for (visibility, count) in [
            (.hidden, 0), (.refused, 1), (.shown, 1),
        ] as [(ViewStore.Visibility, Int)] {
            core.beginTurn(at: mina.time)
            try core.turn.write()
            try view.setVisibility(visibility, of: [row.position], in: row.document)
            try core.turn.store.commit()
            #expect(try mina.texts(of: "xylograph").count == count)
        }
    }

    @Test func `finds private things for those alone who are in`() throws {
        let mina = try bench.node("Mina")
        let joon = try bench.bareNode("Joon")
        try joon.join(try mina.link())
        let cleo = try bench.bareNode("Cleo")
        try cleo.join(try mina.link())
        try mina.send("xylograph for two", to: "@Joon")
        bench.advance(5_000)
        #expect(try mina.texts(of: "xylograph") == ["xylograph for two"])
        #expect(try mina.texts(of: "xylograph", ["channels": ["@Joon"]]).count == 1)
        #expect(try mina.texts(of: "xylograph", ["channels": ["general"]]).isEmpty)
        #expect(try joon.texts(of: "xylograph", ["from": "Mina"]) == ["xylograph for two"])
        #expect(try cleo.texts(of: "xylograph").isEmpty)
        #expect(!cleo.searchFiles.holds("xylograph"))
        #expect(joon.searchFiles.holds("xylograph"))
    }

    @Test func `does not find what a deleted channel held, and forgets it with it`() throws {
        let mina = try bench.node("Mina")
        try mina.ok("channel.create", ["name": "ops"])
        try mina.send("xylographcanary", to: "ops")
        #expect(try mina.texts(of: "xylographcanary").count == 1)
        try mina.ok("channel.delete", ["channel": "ops"])
        #expect(try mina.texts(of: "xylographcanary").isEmpty)
        bench.wall += Limits.deletedChannelMilliseconds + 1_000
        bench.advance(60_000)
        #expect(try mina.texts(of: "xylographcanary").isEmpty)
        #expect(!mina.searchFiles.holds("xylographcanary"))
    }

    @Test func `stays in its workspace`() throws {
        let mina = try talk("plan for one")
        try mina.ok("workspace.create", ["name": "two"])
        try mina.send("plan for two")
        #expect(try mina.texts(of: "plan") == ["plan for two"])
        #expect(try mina.texts(of: "plan", ["workspace": "acme"]) == ["plan for one"])
    }

    // MARK: An index that is behind, ahead, or lost

    @Test func `goes on after a start, with an index that was ahead, behind or gone`() throws {
        let mina = try talk("plan one")
        #expect(try mina.texts(of: "plan") == ["plan one"])
        let image = try mina.image
        let behind = mina.searchFiles.bytes
        try mina.send("plan two")
        try mina.restart()
        #expect(try mina.texts(of: "plan") == ["plan two", "plan one"])
        mina.kill()
        try mina.searchFiles.replace(with: behind)
        try mina.boot()
        #expect(try mina.texts(of: "plan") == ["plan two", "plan one"])
        mina.kill()
        mina.searchFiles.remove()
        try mina.boot()
        #expect(try mina.texts(of: "plan") == ["plan two", "plan one"])
        mina.kill()
        try mina.replaceStore(image)
        try mina.boot()
        #expect(try mina.texts(of: "plan") == ["plan one"])
    }

    @Test func `is rebuilt after a failure, at the next query`() throws {
        let mina = try talk("plan one")
        #expect(try mina.texts(of: "plan") == ["plan one"])
        mina.kill()
        mina.searchFiles.failures = 2
        mina.searchFiles.remove()
        try mina.boot()
        #expect(mina.log.contains { $0.hasPrefix("search.failed") })
        // A search meanwhile builds the index, and finds what is there by then.
        _ = try mina.search("plan")
        #expect(try mina.texts(of: "plan") == ["plan one"])
    }

    @Test func `finds everything after a bulk, and says so while it does not`() throws {
        let mina = try bench.node("Mina")
        for number in 0..<700 { try mina.send("plan \(number)") }
        #expect(try mina.texts(of: "plan", ["limit": 100]).count == 100)
        mina.kill()
        mina.searchFiles.remove()
        try mina.boot()
        let found = try mina.search("\"plan 699\"")
        #expect(found["complete"] == true || found.items.isEmpty)
        #expect(try mina.search("\"plan 0\"").items.count == 1)
        #expect(try mina.search("\"plan 699\"")["complete"] == true)
    }

    /// What was handed to the index before its turn is in the file, though the file says that it
    /// has not come so far.
    @Test func `forgets what a file from before the start knew ahead of its turn`() throws {
        let mina = try talk("plan one")
        for number in 0..<700 { try mina.send("plan \(number)") }
        try mina.send("xylographcanary")
        #expect(try mina.texts(of: "xylographcanary").count == 1)
        let hit = try #require(try mina.search("xylographcanary").items.first)
        mina.kill()
        // As a catch-up leaves it that was cut short.
        let file = try mina.searchFiles.open()
        try file.execute("UPDATE meta SET value = 5 WHERE name = 'through'")
        try mina.searchFiles.replace(with: file.serialized())
        try mina.boot()
        #expect(mina.searchFiles.holds("xylographcanary"))
        try mina.ok("message.delete", ["message": .string(try hit.text("id"))])
        bench.advance(60_000)
        #expect(!mina.searchFiles.holds("xylographcanary"))
        #expect(try mina.search("plan", ["limit": 1])["complete"] == true)
    }

    @Test func `settles what is more than one slice`() throws {
        let mina = try talk()
        for number in 0..<600 { try mina.send("plan \(number)") }
        let core = try #require(mina.host?.core)
        #expect(try mina.texts(of: "plan", ["limit": 100]).count == 100)
        let hit = try #require(try mina.search("\"plan 3\"").items.first)
        let key = try #require(PublicID.messageKey(try hit.text("id")))
        let row = try #require(try core.turn.store.view.message(key))
        core.beginTurn(at: mina.time)
        try core.turn.write()
        for _ in 0..<600 { core.queries.reindex(row) }
        #expect(core.queries.search.unsettled.again.count == 600)
        let effects = core.turn.takeEffects() + (try core.endTurn())
        try core.turn.store.commit()
        #expect(core.queries.search.again.count == 600 - Int(Limits.searchedPerTurnMax))
        mina.carryOut(effects)
        bench.settle()
        #expect(core.queries.search.again.isEmpty)
        #expect(core.queries.search.unsettled.isEmpty)
    }

    @Test func `waits for the end of a first sync, unless somebody asks`() throws {
        let mina = try bench.node("Mina")
        for number in 0..<300 { try mina.send("plan \(number)") }
        func newcomer(_ name: String) throws -> (BenchNode, NodeCore) {
            let node = try bench.bareNode(name)
            try node.join(try mina.link())
            let core = try #require(node.host?.core)
            #expect(core.turn.store.operations.arrival > 300)
            #expect(core.queries.search.through < Limits.searchBulkMin)
            return (node, core)
        }
        let (joon, asked) = try newcomer("Joon")
        #expect(try joon.texts(of: "plan", ["limit": 100]).count == 100)
        #expect(asked.queries.search.through > 300)
        let (_, quiet) = try newcomer("Tess")
        bench.advance(Limits.searchQuietMilliseconds)
        #expect(quiet.queries.search.through == quiet.turn.store.operations.arrival)
    }

    @Test func `looks again at what is told to have changed`() throws {
        let mina = try talk("plan one", "xylographcanary")
        #expect(try mina.texts(of: "xylographcanary").count == 1)
        #expect(mina.searchFiles.holds("xylographcanary"))
        let hit = try #require(try mina.search("xylographcanary").items.first)
        let id = try hit.text("id")
        let core = try #require(mina.host?.core)
        let key = try #require(PublicID.messageKey(id))
        let row = try #require(try core.turn.store.view.message(key))
        // As if the operation had been emptied.
        core.beginTurn(at: mina.time)
        try core.turn.write()
        core.queries.reindex(row)
        try core.turn.store.connection.statement("DELETE FROM operation WHERE arr = ?")
            .run(.integer(row.position.arrival))
        let effects = core.turn.takeEffects() + (try core.endTurn())
        try core.turn.store.commit()
        mina.carryOut(effects)
        #expect(!mina.searchFiles.holds("xylographcanary"))
        #expect(try mina.texts(of: "plan") == ["plan one"])
    }

    // MARK: Passphrase and lock

    @Test func `leaves no word on the disk of a home with a passphrase`() throws {
        let mina = try talk("xylographcanary")
        #expect(try mina.texts(of: "xylographcanary").count == 1)
        #expect(mina.searchFiles.holds("xylographcanary"))
        try mina.ok("identity.passphrase.change", ["new": .string(goodPassphrase)])
        #expect(mina.searchFiles.bytes.isEmpty)
        #expect(try mina.texts(of: "xylographcanary").count == 1)
        try mina.send("xylographcanary two")
        #expect(try mina.texts(of: "xylographcanary").count == 2)
        #expect(mina.searchFiles.bytes.isEmpty)
        try mina.restart()
        #expect(try mina.refused("search", ["query": "xylographcanary"]).kind == .locked)
        try mina.ok("session.unlock", ["passphrase": .string(goodPassphrase)])
        #expect(try mina.texts(of: "xylographcanary").count == 2)
        #expect(mina.searchFiles.bytes.isEmpty)
        try mina.ok(
            "identity.passphrase.change", ["current": .string(goodPassphrase), "remove": true])
        #expect(try mina.texts(of: "xylographcanary").count == 2)
        #expect(mina.searchFiles.holds("xylographcanary"))
    }

    @Test func `is locked with everything else`() throws {
        let mina = try bench.sealedNode("Mina")
        try mina.send("plan one")
        #expect(try mina.texts(of: "plan") == ["plan one"])
        try mina.ok("session.logout", ["force": true])
        #expect(try mina.refused("search", ["query": "plan"]).kind == .locked)
        try mina.ok("session.unlock", ["passphrase": .string(goodPassphrase)])
        #expect(try mina.texts(of: "plan") == ["plan one"])
    }

    @Test func `removes at its start what a home with a passphrase should not have`() throws {
        let mina = try bench.sealedNode("Mina")
        mina.kill()
        let other = try Connection()
        try other.execute("CREATE TABLE part_0(x)")
        try mina.searchFiles.replace(with: other.serialized())
        try mina.boot()
        #expect(mina.searchFiles.bytes.isEmpty)
    }
}
