import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

struct `The table of blobs` {
    private static func root(_ byte: UInt8) -> [UInt8] { [UInt8](repeating: byte, count: 32) }

    private static func store() throws -> NodeStore {
        let store = try NodeStore.inMemory()
        try store.begin()
        return store
    }

    @Test func `has one row for each root and size, found by how the root begins`() throws {
        let blobs = try Self.store().blobs
        #expect(!blobs.isInUse)
        let first = try blobs.enter(root: Self.root(1), size: 10, map: [0x80], at: 5)
        #expect(first.isNew && blobs.isInUse)
        let again = try blobs.enter(root: Self.root(1), size: 10, map: [0x80], at: 6)
        #expect(again.number == first.number && !again.isNew)
        let other = try blobs.enter(root: Self.root(1), size: 11, map: [0x80], at: 5)
        #expect(other.isNew && other.number != first.number)
        _ = try blobs.enter(root: Self.root(2), size: 10, map: [0x80], at: 5)
        for length in [1, 16, 32] {
            let prefix = [UInt8](repeating: 1, count: length)
            #expect(try blobs.rows(startingWith: prefix).map(\.size) == [10, 11])
        }
        #expect(try blobs.rows(startingWith: Self.root(255)).isEmpty)
        #expect(try blobs.rows().count == 3)
    }

    @Test func `counts what is held, and forgets it with the row`() throws {
        let store = try Self.store()
        let blobs = store.blobs
        let one = try blobs.enter(root: Self.root(1), size: 10, map: [0x80], at: 5).number
        let two = try blobs.enter(root: Self.root(2), size: 10, map: [0x80], at: 5).number
        try blobs.setHeld([0x82, 0, 1], byteCount: 26, of: one, at: 7)
        try blobs.setHeld([0x82, 0, 1], byteCount: 40, of: two, at: 8)
        try blobs.setHeld([0x80], byteCount: 0, of: two, at: 9)
        #expect(blobs.byteCount == 26)
        #expect(try blobs.row(one)?.usedAt == 7)
        try blobs.setHolder(Self.root(9), [0x82, 0, 1], of: one, at: 3)
        try blobs.remove(one)
        #expect(blobs.byteCount == 0)
        #expect(try blobs.row(one) == nil)
        #expect(try blobs.holders(of: one).isEmpty)
        try store.commit()
    }

    @Test func `knows which messages name a blob, and which none does`() throws {
        let blobs = try Self.store().blobs
        let named = try blobs.enter(root: Self.root(1), size: 10, map: [0x80], at: 5).number
        let kept = try blobs.enter(root: Self.root(2), size: 10, map: [0x80], at: 5).number
        let loose = try blobs.enter(root: Self.root(3), size: 10, map: [0x80], at: 5).number
        try blobs.set(.kept, true, of: kept)
        for arrival in [Int64(8), 3, 5] {
            try blobs.refer(.init(arrival: arrival, item: 0, blob: named, document: 4))
        }
        // Folding a message twice changes nothing.
        try blobs.refer(.init(arrival: 8, item: 0, blob: named, document: 4))
        #expect(try blobs.references(to: named, limit: 2).map(\.arrival) == [3, 5])
        #expect(
            try blobs.references(ofDocument: 4, before: 8, limit: 9).map(\.arrival) == [5, 3])
        #expect(try blobs.references(ofDocument: 5, before: .max, limit: 9).isEmpty)
        #expect(try blobs.unreferenced().map(\.number) == [loose])
        #expect(try blobs.isReferenced(named))
    }

    @Test func `lists what is wanted from a number on`() throws {
        let blobs = try Self.store().blobs
        var numbers: [Int64] = []
        for byte in UInt8(1)...5 {
            numbers.append(
                try blobs.enter(root: Self.root(byte), size: 10, map: [0x80], at: 5).number)
            try blobs.set(.wanted, byte != 3, of: numbers[numbers.count - 1])
        }
        #expect(
            try blobs.wanted(from: numbers[1], limit: 2).map(\.number) == [numbers[1], numbers[3]])
        try blobs.set(.wanted, false, of: numbers[1])
        #expect(try blobs.wanted(from: 0, limit: 9).count == 3)
    }

    @Test func `loses what a message named with its payload, and with what a channel shows`() throws
    {
        let store = try Self.store()
        let blob = try store.blobs.enter(root: Self.root(1), size: 10, map: [0x80], at: 5).number
        for arrival in [Int64(3), 5] {
            try store.blobs.refer(.init(arrival: arrival, item: 1, blob: blob, document: 4))
        }
        try store.view.remove([.init(sort: 1, arrival: 3)], in: 4)
        #expect(try store.blobs.references(to: blob, limit: 9).map(\.arrival) == [5])
        try store.view.clear(4)
        #expect(try !store.blobs.isReferenced(blob))
    }
}
