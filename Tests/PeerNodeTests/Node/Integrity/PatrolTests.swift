import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import CRDTStore
@testable import PeerNode

/// Idle checks of the store: bit rot is found even in data that nobody reads.
struct `A round through the store` {
    private let bench = CoreBench()
    private static let day = Limits.patrolRoundMilliseconds
    /// In which the first round of a small store is made.
    private static let first = 3 * Limits.patrolStartMilliseconds

    private func damage(_ node: BenchNode, _ sql: String) throws {
        let connection = try #require(node.connection)
        try connection.begin()
        try connection.execute(sql)
        try connection.commit()
    }

    private func findings(_ node: BenchNode) throws -> Set<StorePatrol.Finding> {
        try #require(node.host?.core).integrity.patrol.findings
    }

    private func round(_ node: BenchNode) throws -> (begun: UInt64, isUnderWay: Bool) {
        let patrol = try #require(node.host?.core).integrity.patrol
        return (patrol.begun, patrol.round != nil)
    }

    @Test func `finds nothing in a store that is whole, and is made once a day`() throws {
        let (mina, joon) = try bench.laterLife()
        bench.advance(Self.first)
        for node in [mina, joon] {
            let first = try round(node)
            #expect(first.begun > 0)
            #expect(!first.isUnderWay)
            #expect(try findings(node).isEmpty)
        }
        let first = try round(mina).begun
        bench.skip(Self.day - 2 * Self.first)
        #expect(try round(mina).begun == first)
        bench.advance(2 * Self.first)
        #expect(try round(mina).begun >= first + Self.day)
        #expect(try findings(mina).isEmpty)
        #expect(try mina.events(types: ["node.warning"]).isEmpty)
    }

    struct Damage: Sendable, CustomTestStringConvertible {
        let sql: String
        var testDescription: String { sql }
    }

    /// One row each, of the kinds that a flipped bit or a lost page makes.
    static let damages = [
        "DELETE FROM message WHERE arr = (SELECT max(arr) FROM message)",
        "UPDATE message SET key_id = key_id + 1 WHERE arr = (SELECT max(arr) FROM message)",
        "UPDATE message SET key_hlc = key_hlc + 1 WHERE arr = (SELECT max(arr) FROM message)",
        "UPDATE message SET hidden = 1 WHERE arr = (SELECT max(arr) FROM message)",
        "UPDATE message SET gid = gid + 1 WHERE arr = (SELECT max(arr) FROM message)",
        "UPDATE message SET mention = 1 - mention WHERE arr = (SELECT max(arr) FROM message)",
        "UPDATE message SET did = did + 64 WHERE arr = (SELECT max(arr) FROM message)",
        """
        INSERT INTO message SELECT did, sort + 1, arr, key_hlc, key_id, gid, NULL, NULL, 0, 0
            FROM message LIMIT 1
        """,
        "DELETE FROM redacted WHERE arr = (SELECT min(arr) FROM redacted)",
        "UPDATE redacted SET arr = (SELECT max(arr) FROM message)",
        "DELETE FROM redaction WHERE by = (SELECT min(by) FROM redaction)",
        "UPDATE redaction SET target = zeroblob(32)",
        "UPDATE annotation SET id = zeroblob(32) WHERE arr = (SELECT max(arr) FROM annotation)",
        "UPDATE annotation SET hlc = hlc + 1 WHERE arr = (SELECT max(arr) FROM annotation)",
        "UPDATE following SET joined = 1 - joined",
        "UPDATE following SET arr = arr + 1",
        "UPDATE subscription SET joined = 1 - joined",
        "UPDATE self_register SET hlc = hlc + 1",
        "UPDATE setting SET hlc = hlc + 1",
        "UPDATE log SET tip_hlc = tip_hlc + 1 WHERE lid = (SELECT max(lid) FROM log)",
    ].map(Damage.init)

    @Test(arguments: damages)
    func `finds a damaged row, tells of it, and is content once it is mended`(
        _ damage: Damage
    ) throws {
        let (mina, _) = try bench.laterLife()
        try self.damage(mina, damage.sql)
        try mina.restart()
        bench.advance(Self.first)
        #expect(try !findings(mina).isEmpty)
        let told = try mina.events(types: ["node.warning"]).map { $0["data"]?["kind"] }
        #expect(told == ["store.rot"])
        let found = try mina.ok("node.doctor").items.first { $0["id"] == "rot" }
        #expect(found?["state"] == "fail")
        #expect(found?["hint"] == "wsx-node check --repair")
        let kinds = try mina.ok("node.status")["warnings"]?.arrayValue?.map { $0["kind"] }
        #expect(kinds?.contains("store.rot") == true)

        try mina.ok("node.check", ["repair": true])
        try mina.restart()
        bench.advance(Self.first)
        let again = try round(mina)
        #expect(again.begun > 0 && !again.isUnderWay)
        #expect(try findings(mina).isEmpty)
        #expect(try mina.ok("node.check")["ok"] == true)
    }

    @Test func `remembers so many damaged rows, and tells of them once`() {
        var patrol = Patrol(startedAt: 0)
        let found = (0..<Int64(Limits.patrolFindingsMax + 7)).map {
            StorePatrol.Finding(table: "message", arrival: $0)
        }
        let areFirst = [patrol.note([]), patrol.note(found), patrol.note(found)]
        #expect(areFirst == [false, true, false])
        #expect(patrol.findings.count == Limits.patrolFindingsMax)
    }

    @Test func `gets a damaged operation back from a peer, without being asked`() throws {
        let (mina, joon) = try bench.laterLife()
        let shown = try ShownLife(mina)
        let newest = try #require(mina.connection).statement(
            "SELECT max(arr) FROM message WHERE did = (SELECT did FROM message LIMIT 1)"
        ).integer()
        let arrival = try #require(newest)
        try damage(mina, "UPDATE operation SET payload = zeroblob(96) WHERE arr = \(arrival)")
        try mina.restart()
        bench.advance(2 * Self.first)
        #expect(try ShownLife(mina) == shown)
        #expect(try mina.digest() == joon.digest())
        #expect(try mina.ok("node.check")["ok"] == true)
    }

    @Test func `looks at no more in a turn than it may, and misses nothing`() throws {
        let (mina, _) = try bench.laterLife()
        let store = try #require(mina.host?.core.turn.store)
        let all = try store.connection.statement("SELECT arr FROM operation ORDER BY arr")
            .rows { $0.integer(0) }
        for start in [0, 1, all[all.count / 2], all.last ?? 0, 1 << 40] {
            var round = StorePatrol(from: start)
            var seen: [Int64] = []
            var turns = 0
            while !round.isDone, turns < 10_000 {
                turns += 1
                let part = try round.operations(in: store, limit: 7)
                #expect(part.count <= 7)
                seen += part
                #expect(try round.findings(in: store, limit: 7).isEmpty)
            }
            #expect(seen.sorted() == all, "from \(start)")
        }
    }

    /// What a round looks at, by table.
    private static let columns: [(table: String, columns: [String])] = [
        (
            "message",
            [
                "did", "sort", "arr", "key_hlc", "key_id", "gid", "thread_hlc", "thread_id",
                "hidden", "mention",
            ]
        ),
        (
            "annotation",
            [
                "did", "key_hlc", "key_id", "kind", "member", "tag", "id", "hlc", "arr", "flags",
                "hidden",
            ]
        ),
        ("following", ["did", "hlc", "id", "arr"]),
        ("subscription", ["did", "member", "joined", "arr"]),
        ("redaction", ["did", "target", "by", "gid"]),
        ("redacted", ["arr", "did", "by"]),
        ("self_register", ["id", "hlc"]),
        ("setting", ["id", "hlc"]),
    ]

    @Test(arguments: Seeds.explore(16))
    func `finds what a check finds in these`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let (mina, joon) = try bench.laterLife()
        bench.cut(mina, joon)
        let (table, columns) = Self.columns[random.below(Self.columns.count)]
        let column = columns[random.below(columns.count)]
        let key = try #require(PatrolledTable.all.first { $0.name == table }).key
            .map(\.column).joined(separator: ", ")
        let count =
            try #require(mina.connection).statement("SELECT count(*) FROM \(table)")
            .integer() ?? 0
        // A bit of a number, or the first byte of what is none.
        let bit = 1 << random.below(30)
        try damage(
            mina,
            """
            UPDATE OR IGNORE \(table) SET \(column) = CASE typeof(\(column))
                WHEN 'integer' THEN (\(column) | \(bit)) - (\(column) & \(bit))
                WHEN 'blob' THEN CAST(x'07' || substr(\(column), 2) AS BLOB) ELSE \(column) END
                WHERE (\(key)) = (SELECT \(key) FROM \(table) ORDER BY \(key)
                    LIMIT 1 OFFSET \(random.below(Int(count))))
            """)
        let isWrong = try mina.ok("node.check")["ok"] == false
        // The first round has not begun: that is made ten minutes after a start.
        #expect(try round(mina).begun == 0)
        bench.advance(Self.first)
        let isFound = try !findings(mina).isEmpty || mina.rebuildCount > 0
        #expect(isFound == isWrong, "\(table).\(column) bit \(bit)")
    }
}
