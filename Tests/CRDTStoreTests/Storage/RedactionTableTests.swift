import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

/// What the view keeps of redactions.
@Suite struct `The table of redactions` {
    private static func id(_ byte: UInt8) -> OperationID {
        OperationID([UInt8](repeating: byte, count: 32))
    }

    @Test func `tells who erases and who takes back, and under which grants`() throws {
        let store = try NodeStore.inMemory()
        try store.begin()
        let view = store.view
        let rows: [ViewStore.Naming] = [
            .init(by: 5, grant: 2, isUndo: false), .init(by: 7, grant: 1, isUndo: true),
            .init(by: 9, grant: 1, isUndo: false),
        ]
        for row in rows { try view.note(row, of: Self.id(1), in: 4) }
        try view.note(.init(by: 5, grant: 2, isUndo: false), of: Self.id(2), in: 4)
        #expect(try view.namings(of: Self.id(1), in: 4) == [rows[0], rows[2]])
        #expect(try view.grantsOfUndos(of: Self.id(1), in: 4) == [1])
        #expect(try view.grantsOfUndos(of: Self.id(2), in: 4).isEmpty)
        #expect(try view.undos(of: Self.id(1), in: 4, citing: 1) == [7])
        #expect(try view.undos(of: Self.id(1), in: 4, citing: 2).isEmpty)
        try view.note(.init(by: 3, grant: 7, isUndo: false), of: Self.id(1), in: 4)
        try view.note(.init(by: 8, grant: 2, isUndo: false), of: Self.id(1), in: 4)
        #expect(
            try view.firstNamings(of: Self.id(1), in: 4) == [
                rows[2], rows[0], .init(by: 3, grant: 7, isUndo: false),
            ])
        #expect(try view.firstNamings(of: Self.id(3), in: 4).isEmpty)
        #expect(try view.isNamed(Self.id(2), in: 4) && !view.isNamed(Self.id(3), in: 4))
        #expect(try view.grantsOfRedactions(in: 4) == [1, 2, 7])
        #expect(try view.redactions(in: 4, citing: 1, after: 0, limit: 9) == [7, 9])
        #expect(try view.redactions(in: 4, citing: 1, after: 7, limit: 9) == [9])
        #expect(try view.redactions(in: 4, citing: 2, after: 0, limit: 9) == [5, 8])
        #expect(try view.redactions(in: 5, citing: 2, after: 0, limit: 9).isEmpty)
    }

    @Test func `of a store of schema 4 is filled from the operations`() throws {
        let connection = try Connection()
        _ = try NodeStore(connection)
        try connection.begin()
        try connection.execute("DROP TABLE redaction")
        try connection.execute("DROP INDEX annotation_pin")
        try connection.dropWhatSchema7Added()
        try connection.execute(
            """
            CREATE TABLE redaction(did INTEGER NOT NULL, target BLOB NOT NULL, by INTEGER NOT NULL,
                PRIMARY KEY(did, target, by)) WITHOUT ROWID
            """)
        try connection.execute("CREATE INDEX redaction_by ON redaction(by)")
        let target = [UInt8](repeating: 1, count: 32)
        for (arrival, payload) in [(5, "a10180"), (6, "a10284"), (7, "a20180")] {
            try connection.execute(
                """
                INSERT INTO operation VALUES(\(arrival), 1, \(arrival), 5, 0, 0, 0, \(arrival + 10),
                    NULL, x'00', NULL, x'00', 1, x'\(payload)')
                """)
        }
        for arrival in 5...8 {
            try connection.statement("INSERT INTO redaction VALUES(4, ?, ?)")
                .run(.blob(target), .integer(Int64(arrival)))
        }
        try connection.setSchemaVersion(4)
        try connection.commit()
        let view = try NodeStore(connection).view
        #expect(
            try view.namings(of: Self.id(1), in: 4) == [
                .init(by: 5, grant: 15, isUndo: false), .init(by: 7, grant: 17, isUndo: false),
            ])
        #expect(try view.grantsOfUndos(of: Self.id(1), in: 4) == [16])
        #expect(try view.undos(of: Self.id(1), in: 4, citing: 16) == [6])
        #expect(try connection.schemaVersion() == Int64(Schema.version))
    }
}
