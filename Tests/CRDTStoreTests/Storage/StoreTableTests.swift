import Testing
import WorkspaceModel

@testable import CRDTStore

/// Tables that are fully cached in memory: reading returns the last write.
struct `A table in memory` {
    let connection: Connection

    init() throws {
        connection = try NodeStore(Connection()).connection
        try connection.begin()
    }

    private static func id(_ byte: UInt8) -> DocumentID {
        DocumentID([UInt8](repeating: byte, count: 32))
    }

    @Test func `of documents finds each in its own workspace`() throws {
        var table = try DocumentTable(connection)
        let root = try table.enter(Self.id(1), workspace: nil, kind: .authority)
        let other = try table.enter(Self.id(2), workspace: nil, kind: .authority)
        let channel = try table.enter(Self.id(3), workspace: root, kind: .unknown)
        let claimed = try table.enter(Self.id(3), workspace: other, kind: .unknown)
        #expect(channel != claimed)
        #expect(table.row(Self.id(3), in: root)?.number == channel)
        #expect(table.row(Self.id(3), in: other)?.number == claimed)
        #expect(table.row(Self.id(4), in: root) == nil)
        // What is known better is said; what is known less well is not.
        #expect(try table.enter(Self.id(3), workspace: root, kind: .channel) == channel)
        #expect(try table.enter(Self.id(3), workspace: root, kind: .unknown) == channel)
        #expect(try table.enter(Self.id(1), workspace: nil, kind: .authority) == root)
        for found in [table, try DocumentTable(connection)] {
            #expect(found[channel]?.kind == .channel && found[claimed]?.kind == .unknown)
            #expect(found.ofAuthority.map(\.number) == [root, other])
            #expect(found.rows(of: root).map(\.number) == [root, channel])
        }
        let row = try #require(table[channel])
        try table.remove(row)
        #expect(table.row(Self.id(3), in: root) == nil && table[channel] == nil)
        #expect(table.row(Self.id(3), in: other)?.number == claimed)
        #expect(try DocumentTable(connection)[channel] == nil)
    }

    @Test func `of damage is written when it is flushed`() throws {
        var table = try DamageTable(connection)
        #expect(table.isEmpty)
        let noted = [(5, 1), (2, 1), (7, 3), (5, 1)].map { table.note($0.0, of: $0.1) }
        #expect(noted == [true, true, true, false])
        #expect(try DamageTable(connection).isEmpty)
        try table.flush()
        for found in [table, try DamageTable(connection)] {
            #expect(found.count == 3 && found.branches == [1, 3])
            #expect(found.places(in: 1) == [2, 5] && found.places(in: 2) == [])
            #expect(found.contains(5, in: 1) && !found.contains(5, in: 3))
            #expect(found.first(in: 1, through: 1) == nil)
            #expect(found.first(in: 1, through: 4) == 2 && found.first(in: 3, through: 9) == 7)
        }
        table.forget(7, of: 3)
        table.forget(in: 1, behind: 2)
        table.forget(in: 9, behind: nil)
        try table.flush()
        #expect(try DamageTable(connection).places(in: 1) == [2])
        #expect(try DamageTable(connection).branches == [1])
        table.forget(in: 1, behind: nil)
        try table.flush()
        #expect(try DamageTable(connection).isEmpty)
    }

    @Test func `of spans begins one where the grant changes`() throws {
        var table = try GrantSpanTable(connection)
        for (sequence, grant) in [(0, 1), (1, 1), (4, 2), (6, 1), (7, 1)] as [(UInt64, Int64)] {
            try table.note(grant: grant, at: sequence, of: 1)
        }
        try table.note(grant: 1, at: 0, of: 2)
        try table.setValid(through: 5, ofSpan: 1, in: 1)
        for found in [table, try GrantSpanTable(connection)] {
            #expect(found[1].map(\.first) == [0, 4, 6] && found[1].map(\.grant) == [1, 2, 1])
            #expect(found[1].map(\.validThrough) == [nil, 5, nil])
            #expect(found.span(at: 5, of: 1)?.grant == 2 && found.span(at: 0, of: 3) == nil)
            #expect(found.overlapping(5...6, of: 1).map(\.first) == [4, 6])
            #expect(found.overlapping(0...3, of: 1).map(\.first) == [0])
        }
        // The same spans keep what is known of them.
        try table.replace(table[1], of: 1)
        #expect(table[1].map(\.validThrough) == [nil, 5, nil])
        try table.cut(1, behind: 4)
        #expect(try GrantSpanTable(connection)[1].map(\.first) == [0, 4])
        try table.replace([.init(first: 0, grant: 9, validThrough: nil)], of: 1)
        #expect(try GrantSpanTable(connection)[1].map(\.grant) == [9])
        try table.remove(1)
        #expect(try GrantSpanTable(connection)[1].isEmpty && table[2].count == 1)
    }
}
