import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

struct `A rebuilt store` {
    private let bench = CoreBench()

    /// The differences between what a node holds and what is built from its operations.
    private func differences(_ node: BenchNode) throws -> [StoreComparison.Difference] {
        let before = try Connection(image: node.image)
        node.kill()
        try node.rebuildStore()
        try node.boot()
        let after = try Connection(image: node.image)
        return try StoreComparison.compare(before, with: after).differences
    }

    @Test func `holds what it held`() throws {
        let (mina, joon) = try bench.laterLife()
        for node in [mina, joon] {
            let shown = try node.log()
            let events = try node.eventTypes()
            let found = try differences(node)
            #expect(found == [], "\(found)")
            #expect(try node.log() == shown)
            // Others come back to it, and nothing has happened twice.
            #expect(try node.eventTypes().starts(with: events))
            #expect(try node.rowCount("damaged") == 0)
        }
        try mina.send("after")
        bench.advance(60_000)
        #expect(try mina.digest() == joon.digest())
        #expect(try joon.eventTypes().allSatisfy { $0 != "fork.found" && $0 != "store.restored" })
    }

    @Test func `reports what was never reported, and nothing twice`() throws {
        let (mina, joon) = try bench.laterLife()
        func toldAnew() throws -> [String] {
            let before = try joon.cursor()
            joon.kill()
            try joon.rebuildStore()
            try joon.boot()
            return try joon.events(since: before, types: ["message.created"])
                .compactMap { $0["data"]?["id"]?.stringValue }
        }
        let before = try joon.cursor()
        for text in ["one", "two", "three"] { try mina.send(text) }
        bench.advance(5_000)
        let ids = try joon.events(since: before, types: ["message.created"])
            .compactMap { $0["data"]?["id"]?.stringValue }
        #expect(ids.count == 3)

        #expect(try toldAnew() == [])
        let newest = "(SELECT max(seq) FROM event WHERE type = 20)"
        try joon.damage("DELETE FROM event WHERE seq = \(newest)")
        #expect(try toldAnew() == ids.suffix(1))
        #expect(try toldAnew() == [])
        // Who is told of deleted messages, and of those that are older than all events?
        try joon.damage("DELETE FROM event WHERE seq = \(newest)")
        try mina.ok("message.delete", ["message": .string(ids[2])])
        bench.advance(5_000)
        #expect(try toldAnew() == [])
        try joon.damage("DELETE FROM event WHERE seq < (SELECT max(seq) FROM event)")
        #expect(try toldAnew() == [])
    }

    @Test func `knows what of the hidden was shown before`() throws {
        let (_, joon) = try bench.laterLife()
        let shown = "SELECT arr FROM event WHERE type = 20 ORDER BY seq DESC LIMIT 1"
        let store = try #require(joon.host?.core.turn.store)
        try store.begin()
        try joon.damage("UPDATE message SET hidden = 1")
        try joon.damage("DELETE FROM event WHERE arr <> (\(shown))")
        try store.view.noteShown(byEvents: 20)
        #expect(try joon.rowCount("message WHERE hidden = 3 AND arr = (\(shown))") == 1)
        #expect(try joon.rowCount("message WHERE hidden = 3") == 1)
        #expect(try joon.rowCount("message WHERE hidden = 1") > 0)
    }

    @Test func `is not built twice in ten minutes, for that would mend nothing`() throws {
        let mina = try bench.node("Mina")
        func fail() -> NodeError.Kind? {
            mina.plant(.commitBefore(0), .corrupt)
            guard
                case .failure(let error) = mina.call(
                    "message.send", ["channel": "general", "text": "x"])
            else { return nil }
            return error.kind
        }
        #expect(fail() == .busy)
        #expect(mina.rebuildCount == 1)
        let warnings = try mina.ok("node.status")["warnings"]?.arrayValue ?? []
        #expect(warnings.contains { $0["kind"] == "store.rebuilt" })
        #expect(fail() == .storeFailed)
        #expect(mina.rebuildCount == 1)
        bench.advance(10 * 60 * 1_000)
        #expect(fail() == .busy)
        #expect(mina.rebuildCount == 2)
        #expect(try mina.ok("node.check")["problem_count"] == 0)
        #expect(try mina.ok("node.status")["warnings"]?.arrayValue?.isEmpty == true)
    }

    // MARK: Lost rows

    private func arrivals(_ node: BenchNode, of text: String) throws -> Int64 {
        let found = try node.ok("message.history", ["channel": "plans", "limit": 100]).items
            .first { $0["text"] == .string(text) }
        let id = try #require(found).text("id")
        let key = try #require(PublicID.messageKey(id))
        return try #require(try node.host?.core.turn.store.view.message(key)).position.arrival
    }

    private func plans(_ node: BenchNode) throws -> [String] {
        try node.ok("message.history", ["channel": "plans", "limit": 100]).texts("text")
    }

    @Test(arguments: [["m7"], ["m7", "m8", "m12"], ["m0"], ["m19"], ["m18", "m19"]])
    func `gets a lost operation back into its place`(_ texts: [String]) throws {
        let (mina, joon) = try bench.laterLife()
        for node in [mina, joon] {
            let before = try plans(node)
            let events = try node.eventTypes()
            bench.cut(mina, joon)
            let lost = try texts.map { try String(arrivals(node, of: $0)) }
            try node.damage("DELETE FROM operation WHERE arr IN (\(lost.joined(separator: ",")))")
            let found = try node.ok("node.check")
            #expect(found["ok"] == false)
            #expect(
                found["problems"]?.arrayValue?.contains {
                    $0["text"]?.stringValue?.hasSuffix("missing") == true
                } == true)
            try node.ok("node.check", ["repair": true])
            // What follows one of them cannot be opened without its id.
            let rest = try plans(node)
            #expect(rest.count <= before.count - texts.count, "\(rest)")
            #expect(rest.count >= before.count - 2 * texts.count, "\(rest)")
            bench.heal(mina, joon)
            bench.advance(1_500_000)
            #expect(try plans(node) == before)
            #expect(try node.eventTypes().starts(with: events))
            #expect(try node.rowCount("damaged") == 0)
            #expect(try node.ok("node.check")["problem_count"] == 0)
            #expect(try mina.digest() == joon.digest())
            #expect(try !node.eventTypes().contains("fork.found"))
        }
        try mina.send("after", to: "plans")
        bench.advance(60_000)
        #expect(try plans(joon) == plans(mina))
        #expect(try !joon.eventTypes().contains("fork.found"))
    }

    @Test(arguments: [
        "DELETE FROM redacted", "DELETE FROM redaction", "DELETE FROM grant_span",
        "UPDATE log SET kept_seq = NULL, kept_id = NULL", "DELETE FROM annotation_past",
        "UPDATE log SET tip_seq = tip_seq + 3", "UPDATE log SET tip_seq = 0, tip_sort = 0",
        "UPDATE annotation SET flags = 0", "DELETE FROM subscription",
    ])
    func `is what a check compares with, table by table`(_ sql: String) throws {
        let (mina, joon) = try bench.laterLife()
        let before = (try mina.log(), try plans(mina))
        try mina.damage(sql)
        #expect(try mina.ok("node.check")["ok"] == false)
        try mina.ok("node.check", ["repair": true])
        bench.advance(1_500_000)
        #expect(try mina.ok("node.check")["problem_count"] == 0)
        #expect(try mina.log() == before.0)
        #expect(try plans(mina) == before.1)
        try mina.send("after")
        bench.advance(60_000)
        #expect(try mina.digest() == joon.digest())
        #expect(try !joon.eventTypes().contains("fork.found"))
    }
}
