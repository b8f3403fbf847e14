import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import CRDTStore

struct `What was not read` {
    private typealias Row = ViewStore.MessageRow

    private static func row(
        _ arrival: Int64, hlc: UInt64, sort: UInt64? = nil, document: Int64 = 1, grant: Int64 = 1
    ) -> Row {
        Row(
            document: document,
            position: .init(sort: Int64(sort ?? hlc), arrival: arrival),
            key: MessageKey(
                timestamp: HybridTimestamp(rawValue: hlc), idPrefix: UInt64(arrival)),
            grant: grant, thread: nil)
    }

    private static func key(_ hlc: UInt64, _ prefix: UInt64 = 0) -> MessageKey {
        MessageKey(timestamp: HybridTimestamp(rawValue: hlc), idPrefix: prefix)
    }

    @Test func `is counted by author, without what is hidden`() throws {
        let store = try NodeStore.inMemory()
        try store.begin()
        let view = store.view
        for number in 1...6 as ClosedRange<Int64> {
            try view.fold(
                Self.row(number, hlc: UInt64(number) * 10, grant: number % 2), as: .shown)
        }
        try view.fold(Self.row(7, hlc: 70), as: .hidden)
        try view.fold(Self.row(8, hlc: 80), as: .refused)
        try view.fold(Self.row(9, hlc: 45, document: 2, grant: 5), as: .shown)
        var filter = ViewStore.Filter(document: 1)
        var found = try view.unread(filter, after: Self.key(30, 3))
        #expect(found.counts == [0: 2, 1: 1])
        #expect(found.last == Self.key(60, 6))
        filter.others = [2]
        found = try view.unread(filter, after: Self.key(30, 3))
        #expect(found.counts == [0: 2, 1: 1, 5: 1])
        #expect(try view.unread(filter, after: Self.key(60, 6)).counts.isEmpty)
        // Of one moment the first 8 bytes of the id decide.
        #expect(try view.unread(filter, after: Self.key(60, 5)).counts == [0: 1])
    }

    @Test func `ends with a message from the future as with any other`() throws {
        let store = try NodeStore.inMemory()
        try store.begin()
        let late = Self.row(1, hlc: .max - 5, sort: 50)
        try store.view.fold(late, as: .shown)
        let filter = ViewStore.Filter(document: 1)
        let found = try store.view.unread(filter, after: Self.key(10))
        #expect(found.counts == [1: 1])
        #expect(found.last == Self.key(50, 1))
        #expect(ViewStore.readKey(of: late) == Self.key(50, 1))
        #expect(try store.view.unread(filter, after: Self.key(50, 1)).counts.isEmpty)
        // What comes later is unread again.
        try store.view.fold(Self.row(2, hlc: 60), as: .shown)
        #expect(try store.view.unread(filter, after: Self.key(50, 1)).counts == [1: 1])
    }

    private static func document(of arrival: Int64) -> Int64 { 1 + arrival % 2 }

    /// A count that is kept is the one that would be made anew, whatever happens to the messages.
    @Test(arguments: Seeds.explore(12))
    func `is the same when it was counted before`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        func below(_ end: Int) -> Int64 { Int64(random.below(end)) }
        let store = try NodeStore.inMemory()
        try store.begin()
        let view = store.view
        var rows: [Row] = []
        var filter = ViewStore.Filter(document: 1)
        filter.others = [2]
        for step in 1...300 as ClosedRange<Int64> {
            switch below(12) {
            case 0..<6:
                // Now and then one that was there already, or that comes before others.
                let again = rows.isEmpty || below(5) > 0 ? step : below(Int(step))
                var row = Self.row(
                    again, hlc: UInt64(below(60)), sort: UInt64(below(60)),
                    document: Self.document(of: again), grant: below(3))
                row.isMention = below(3) == 0
                try view.fold(row, as: [.shown, .shown, .hidden, .refused][Int(below(4))])
                rows.append(row)
            case 6:
                guard let row = rows.randomElement(using: &random) else { break }
                try view.setVisibility(
                    [.shown, .hidden][Int(below(2))], of: [row.position], in: row.document)
            case 7:
                guard let row = rows.randomElement(using: &random) else { break }
                try view.setMention(below(2) == 0, of: row)
            case 8:
                guard let row = rows.randomElement(using: &random) else { break }
                try view.remove([row.position], in: row.document)
            case 9:
                let deletion: ViewStore.Deletion? = below(3) == 0 ? nil : .init(by: 1, due: nil)
                // Also of a message that comes later.
                let arrival = below(Int(step) + 3)
                try view.redactions.set(deletion, of: arrival, in: Self.document(of: arrival))
            case 10 where below(8) == 0: try view.clear(1 + below(2))
            default: break
            }
            let place = Self.key(UInt64(below(4)) * 10, UInt64(below(3)))
            let fresh = try ViewStore(store.connection)
            let (kept, counted) = (
                try view.unread(filter, after: place), try fresh.unread(filter, after: place)
            )
            #expect(kept == counted, "step \(step) of seed \(seed)")
            if kept != counted { return }
        }
    }

    @Test func `counts a new message without looking at the others`() throws {
        let store = try NodeStore.inMemory()
        try store.begin()
        for number in 1...50 as ClosedRange<Int64> {
            try store.view.fold(Self.row(number, hlc: UInt64(number)), as: .shown)
        }
        let filter = ViewStore.Filter(document: 1)
        #expect(try store.view.unread(filter, after: Self.key(10)).counts == [1: 41])
        // Behind the back of the view: a count of all rows would find none of them.
        try store.connection.execute("UPDATE message SET hidden = 1")
        try store.view.fold(Self.row(51, hlc: 51), as: .shown)
        #expect(try store.view.unread(filter, after: Self.key(10)).counts == [1: 42])
        #expect(try store.view.unread(filter, after: Self.key(11)).counts == [1: 1])
    }
}

extension ViewStore.Unread {
    /// How many there are of each grant.
    var counts: [Int64: Int64] { tallies.mapValues(\.count) }
}
