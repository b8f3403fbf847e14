import Foundation
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import CRDTStore
@testable import PeerNode

/// The query plan of each statement. It follows from the schema alone, so an empty store gives the
/// same plan as one with a million rows.
struct `The statements of the program` {
    /// What grows with history, or with what others write.
    private static let growing: Set = [
        "absent", "agreed", "annotation", "annotation_past", "blob", "blob_holder",
        "blob_reference", "citation", "document", "epoch_key",
        "event", "following", "grant_name", "grant_span", "held", "late", "log", "message",
        "note_edit", "note_snapshot",
        "operation", "read_frontier", "redacted", "redaction", "self_register", "subscription",
        "unheard",
    ]

    /// Indexes that hold few rows, because most do not fulfil their condition.
    private static let partial: Set = [
        "absent_missing", "message_refused", "blob_wanted", "operation_citing", "redacted_due",
        "unheard_due",
    ]

    /// Statements that go through much of a table all the same: a part of each, and why that is as
    /// it should be.
    private static let accepted: [(part: String, because: String)] = [
        // Once when the store is opened.
        ("SELECT lid, first, gid, valid FROM grant_span", "start"),
        ("SELECT gid, id FROM grant_name", "start"),
        ("SELECT did, id, workspace, kind FROM document", "start"),
        ("SELECT lid, did, device, inc, parent, fork", "start"),
        ("UPDATE annotation AS t SET covered", "a store of an earlier version"),
        ("INSERT OR REPLACE INTO meta SELECT 'settings.owed.'", "a store of an earlier version"),
        ("SELECT device, lid, seq FROM held", "start"),
        ("SELECT device, workspace, root, arr FROM agreed", "start"),
        ("SELECT DISTINCT did FROM redaction ORDER BY did", "start"),
        ("SELECT DISTINCT did FROM late", "start"),
        ("SELECT kind, id, secret FROM epoch_key WHERE workspace", "start"),
        ("SELECT subject, log, count FROM read_frontier", "start"),
        ("SELECT kind, subject, hlc, id, arr, key_hlc, key_id FROM self_register", "start"),
        ("SELECT ifnull(sum(bytes), 0) FROM blob", "start"),
        ("SELECT 1 FROM blob LIMIT 1", "start, the first row"),
        ("DELETE FROM blob_reference WHERE arr = ?", "one message"),
        (
            "SELECT arr, item, bid, did FROM blob_reference",
            "the files of one message are put in order"
        ),
        // A whole document, because all of it is meant.
        ("SELECT arr FROM operation WHERE lid IN (SELECT lid FROM log", "a document is read"),
        ("SELECT DISTINCT lid, gid, kid FROM operation", "a document is opened anew"),
        ("SELECT arr, kid FROM operation WHERE kind IN", "a document is opened anew"),
        ("SELECT arr FROM operation WHERE kind = ?", "redactions are looked for at the start"),
        ("DELETE FROM operation WHERE lid = ?", "a branch goes"),
        ("DELETE FROM grant_span WHERE lid = ?", "a branch goes"),
        ("SELECT seq, gid FROM operation WHERE lid = ?", "spans of one branch are made anew"),
        ("SELECT id FROM operation WHERE lid = ?", "a log becomes crowded, once"),
        ("DELETE FROM agreed WHERE workspace = ?", "a workspace goes; a row a peer"),
        ("DELETE FROM event WHERE workspace = ?", "a workspace goes"),
        ("DELETE FROM epoch_key WHERE kind > 2", "a workspace goes"),
        ("DELETE FROM epoch_key WHERE workspace", "a workspace goes"),
        ("UPDATE epoch_key SET secret = NULL WHERE workspace", "a workspace is left"),
        ("DELETE FROM late WHERE did = ?", "all of it was read"),
        ("SELECT count(*) FROM message WHERE did = ?", "somebody asks how many there are"),
        // A bound stands in the statement, or in what calls it.
        ("SELECT lid, seq, branch, found FROM evidence", "LIMIT; what is found of forks"),
        ("SELECT m.sort, m.arr, m.key_hlc", "the newest, by LIMIT"),
        ("SELECT sort FROM late WHERE did = ? ORDER BY sort LIMIT 1", "the first row"),
        ("SELECT message.sort, key_hlc, key_id, gid, mention FROM late", "LIMIT; what came late"),
        ("SELECT name FROM reader WHERE", "1,024 at most, and a new name"),
        ("SELECT seq FROM event WHERE at <", "from the newest end"),
        ("SELECT seq FROM event WHERE at >=", "from the oldest end, what goes"),
        ("SELECT min(by), gid FROM redaction", "what names one operation"),
        ("SELECT DISTINCT +gid FROM redaction", "what names one operation"),
        ("SELECT DISTINCT gid FROM redaction WHERE did = ?", "a right ends; an index alone"),
        ("SELECT member FROM subscription WHERE did = ?", "who follows is meant"),
        ("SELECT arr, names FROM unheard", "words about people whom nothing admits"),
        ("SELECT hidden FROM annotation WHERE arr = ?", "one operation"),
        ("FROM note_edit WHERE arr = ?", "one operation"),
        ("SELECT o.hlc, o.id FROM redacted r", "what a note waits for may be deleted"),
        ("SELECT did, member, joined, id FROM following WHERE arr", "one operation"),
        ("SELECT arr FROM operation WHERE lid = ? AND kid = ?", "a key came that one log lacked"),
    ]

    /// What is done with a damaged store, or with one of an earlier version, goes through all of it.
    private static let wholeStore = [
        "SalvagedRows.swift", "StoreSalvage.swift", "ViewStore+Told.swift", "StoreComparison.swift",
        "StoreBounds.swift",
        "StoreSchema.swift", "StoreInspection.swift", "SearchIndex.swift",
        "OperationCitations.swift", "Counters.swift",
        "Statement.swift",
    ]

    private struct Statement: CustomTestStringConvertible {
        let place: String
        let sql: String
        var testDescription: String { place }
    }

    /// The statements that stand in the sources as they are, without a part that is made.
    private static func statements() throws -> [Statement] {
        let pattern = try NSRegularExpression(
            pattern: #"\"\"\"\n(.*?)\n *\"\"\"|\"([^\"\\\n]*)\""#,
            options: .dotMatchesLineSeparators)
        var found: [Statement] = []
        for file in try SourceTree.swiftFiles(under: "Sources/CRDTStore")
        where !wholeStore.contains(where: file.path.hasSuffix) {
            let text = file.lines.joined(separator: "\n") as NSString
            let all = NSRange(location: 0, length: text.length)
            for match in pattern.matches(in: text as String, range: all) {
                let group = match.range(at: 1).location == NSNotFound ? 2 : 1
                let sql = text.substring(with: match.range(at: group))
                    .split(whereSeparator: \.isWhitespace).joined(separator: " ")
                let first = sql.split(separator: " ").first ?? ""
                guard ["SELECT", "INSERT", "UPDATE", "DELETE"].contains(first),
                    sql.contains(" "), !sql.contains("\\(")
                else { continue }
                found.append(Statement(place: file.path, sql: sql))
            }
        }
        return found
    }

    /// What of a plan goes through much of a growing table.
    private func faults(of sql: String, in store: NodeStore) throws -> [String] {
        let plan = try store.connection.statement("EXPLAIN QUERY PLAN " + sql)
        var steps: [String] = []
        let values = [SQLValue](repeating: .integer(1), count: Int(plan.parameterCount))
        try plan.scan(values) { (row) throws(StorageError) in
            steps.append(try row.text(3))
            return .next
        }
        return steps.filter { step in
            let words = step.split(separator: " ").map(String.init)
            guard words.count > 1 else { return false }
            if step.hasPrefix("USE TEMP B-TREE") { return true }
            if Self.partial.contains(where: step.hasSuffix) { return false }
            // What an alias stands for is a growing table too.
            let isGrowing = Self.growing.contains(words[1]) || words[1].count <= 2
            if words[0] == "SCAN" { return isGrowing && words[1] != "CONSTANT" }
            let isWide = ["(did=?)", "(lid=?)", "(workspace=?)", "(arr=?)"].contains {
                step.hasSuffix($0)
            }
            return words[0] == "SEARCH" && isGrowing && isWide
                && !step.contains("INTEGER PRIMARY KEY")
        }
    }

    @Test func `go through no table that grows`() throws {
        let store = try NodeStore(try Connection())
        try store.begin()
        let statements = try Self.statements()
        #expect(statements.count > 150)
        var used: Set<String> = []
        for statement in statements {
            let faults = try faults(of: statement.sql, in: store)
            guard !faults.isEmpty else { continue }
            let exception = Self.accepted.first { statement.sql.contains($0.part) }
            if let exception { used.insert(exception.part) }
            #expect(exception != nil, "\(statement.place): \(statement.sql)\n\(faults)")
        }
        // An exception that nothing needs any more hides what comes.
        for exception in Self.accepted {
            #expect(used.contains(exception.part), "\(exception.part)")
        }
    }

    /// Those with parts that are made, as they are after a life in which much was done.
    @Test func `go through no table that grows, as they are made`() throws {
        let bench = CoreBench()
        let (mina, _) = try bench.life()
        let connection = try #require(mina.connection)
        let store = try NodeStore(try Connection())
        try store.begin()
        let made = connection.keptStatements.filter { sql in
            ["SELECT", "INSERT", "UPDATE", "DELETE"].contains { sql.hasPrefix($0) }
        }
        #expect(made.count > 80)
        // What is made of several parts.
        let accepted =
            Self.accepted.map(\.part) + [
                "DELETE FROM read_frontier", "DELETE FROM self_register",  // A workspace goes.
                "SELECT EXISTS(SELECT 1 FROM log WHERE tip_seq",  // Once, at the start.
                "EXISTS(SELECT 1 FROM log WHERE arrivals",  // Once, at the start.
                "INTO counter VALUES('arrival', ?), ('event', ?)",  // Three rows.
                "FROM annotation WHERE arr = ?",  // One operation.
                "ORDER BY arr DESC LIMIT 4095",  // What one register says.
                "LIMIT ?) t LEFT JOIN operation o",  // A slice of a round through the store.
            ]
        for sql in made.sorted() {
            let plain = sql.split(whereSeparator: \.isWhitespace).joined(separator: " ")
            guard !accepted.contains(where: plain.contains) else { continue }
            #expect(try faults(of: sql, in: store).isEmpty, "\(plain)")
        }
    }
}
