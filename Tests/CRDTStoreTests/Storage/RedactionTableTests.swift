import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

/// Redactions in the view.
struct `The table of redactions` {
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
        for row in rows { try view.redactions.note(row, of: Self.id(1), in: 4) }
        try view.redactions.note(.init(by: 5, grant: 2, isUndo: false), of: Self.id(2), in: 4)
        #expect(try view.redactions.namings(of: Self.id(1), in: 4) == [rows[0], rows[2]])
        #expect(try view.redactions.grantsOfUndos(of: Self.id(1), in: 4) == [1])
        #expect(try view.redactions.grantsOfUndos(of: Self.id(2), in: 4).isEmpty)
        #expect(try view.redactions.undos(of: Self.id(1), in: 4, citing: 1) == [7])
        #expect(try view.redactions.undos(of: Self.id(1), in: 4, citing: 2).isEmpty)
        try view.redactions.note(.init(by: 3, grant: 7, isUndo: false), of: Self.id(1), in: 4)
        try view.redactions.note(.init(by: 8, grant: 2, isUndo: false), of: Self.id(1), in: 4)
        #expect(
            try view.redactions.firstNamings(of: Self.id(1), in: 4) == [
                rows[2], rows[0], .init(by: 3, grant: 7, isUndo: false),
            ])
        #expect(try view.redactions.firstNamings(of: Self.id(3), in: 4).isEmpty)
        #expect(
            try view.redactions.isNamed(Self.id(2), in: 4)
                && !view.redactions.isNamed(Self.id(3), in: 4))
        #expect(try view.redactions.grantsOfRedactions(in: 4) == [1, 2, 7])
        #expect(try view.redactions.redactions(in: 4, citing: 1, after: 0, limit: 9) == [7, 9])
        #expect(try view.redactions.redactions(in: 4, citing: 1, after: 7, limit: 9) == [9])
        #expect(try view.redactions.redactions(in: 4, citing: 2, after: 0, limit: 9) == [5, 8])
        #expect(try view.redactions.redactions(in: 5, citing: 2, after: 0, limit: 9).isEmpty)
    }
}
