import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

struct `The view of a channel` {
    let store: NodeStore
    var view: ViewStore { store.view }

    init() throws {
        store = try .inMemory()
        try store.begin()
    }

    typealias Row = ViewStore.MessageRow

    static func row(
        _ arrival: Int64, document: Int64 = 1, sort: Int64? = nil, hlc: UInt64? = nil,
        grant: Int64 = 1, thread: MessageKey? = nil
    ) -> Row {
        Row(
            document: document,
            position: .init(sort: sort ?? arrival * 10, arrival: arrival),
            key: MessageKey(
                timestamp: HybridTimestamp(rawValue: hlc ?? UInt64(arrival) << 16),
                idPrefix: UInt64(arrival) &* 0x9e37_79b9_7f4a_7c15),
            grant: grant, thread: thread)
    }

    @Test func `counts what others do not take, up to a bound`() throws {
        let store = try NodeStore.inMemory()
        try store.begin()
        try store.view.fold(Self.row(1), as: .shown)
        for arrival in Int64(2)..<5 { try store.view.fold(Self.row(arrival), as: .refused) }
        #expect(try store.view.refusedCount { [1, 2].contains($0) } == 3)
        #expect(try store.view.refusedCount { $0 == 2 } == 0)
        try store.view.redactions.set(.init(by: 9, due: nil), of: 2, in: 1)
        #expect(try store.view.refusedCount { $0 == 1 } == 2)
        for arrival in 5..<(Limits.refusedCountMax + 9) {
            try store.view.fold(Self.row(arrival), as: .refused)
        }
        #expect(try store.view.refusedCount { $0 == 1 } == Limits.refusedCountMax)
    }

    @Test func `gives back what was folded`() throws {
        let key = MessageKey(timestamp: HybridTimestamp(rawValue: .max), idPrefix: .max)
        let rows = [
            Self.row(1), Self.row(2, hlc: .max, thread: key),
            Row(
                document: 1, position: .init(sort: .max, arrival: 3), key: key, grant: 0,
                thread: nil),
        ]
        for row in rows { try view.fold(row, as: .shown) }
        #expect(
            try view.messages(.init(document: 1), before: nil, limit: 9) == rows)
        #expect(try view.message(key) == rows[2])
        #expect(try view.message(arrival: 2, sort: 20, document: 1) == rows[1])
        #expect(try view.message(arrival: 2, sort: 20, document: 2) == nil)
        #expect(try view.message(arrival: 2, sort: 21, document: 1) == nil)
        #expect(try view.replyCount(to: key, in: [1]) == 1)
        // Who names it from elsewhere replies to nothing there.
        #expect(try view.replyCount(to: key, in: [2]) == 0)
        #expect(try view.replyCount(to: rows[0].key, in: [1]) == 0)
    }

    /// Statements that only read: rows that wait are written before them.
    private var questionCount: Int {
        store.connection.statementCount - store.connection.writeCount
    }

    /// The message of the first row, and how many questions it takes to get it.
    private func first() throws -> (row: Row?, statements: Int) {
        let before = questionCount
        let row = try view.message(arrival: 1, sort: 10, document: 1)
        return (row, questionCount - before)
    }

    @Test func `gives messages of this turn without asking for them, as they are stored`() throws {
        view.keepRecent()
        for visibility in [ViewStore.Visibility.shown, .refused, .hidden, .shown] {
            var row = Self.row(1, thread: Self.row(7).key)
            row.isMention = visibility == .shown
            try view.fold(row, as: visibility)
            let kept = try first()
            #expect(kept.statements == (visibility == .shown ? 0 : 1))
            view.forgetRecent()
            let read = try first()
            #expect(kept.row == read.row && read.statements == 1)
            view.keepRecent()
        }
        try view.fold(Self.row(1), as: .shown)
        #expect(try view.message(arrival: 1, sort: 11, document: 1) == nil)
        #expect(try view.message(arrival: 1, sort: 10, document: 2) == nil)
        // In the next turn it is asked for.
        view.keepRecent()
        #expect(try first().statements == 1)
        // More than a turn usually has.
        let rows = (Int64(1)...200).map { Self.row($0) }
        for row in rows { try view.fold(row, as: .shown) }
        for row in rows {
            let arrival = row.position.arrival
            #expect(try view.message(arrival: arrival, sort: arrival * 10, document: 1) == row)
        }
    }

    @Test func `asks again for a message of this turn that was changed`() throws {
        let row = Self.row(1)
        let changes: [(ViewStore) throws -> Void] = [
            { try $0.setMention(true, of: row) },
            { try $0.setVisibility(.refused, of: [row.position], in: 1) },
            { try $0.setVisibility(.hidden, of: [row.position], in: 1) },
            { try $0.remove([row.position], in: 1) },
            { try $0.remove(at: row.position, in: 1) },
            { try $0.clear(1) },
            { try $0.clear() },
        ]
        for (number, change) in changes.enumerated() {
            view.keepRecent()
            try view.fold(row, as: .shown)
            #expect(try first().statements == 0)
            try change(view)
            let found = try first()
            #expect(found.statements == 1, "change \(number)")
            #expect(found.row != row, "change \(number)")
        }
    }

    @Test func `hides what its grant does not carry`() throws {
        let root = Self.row(1)
        try view.fold(root, as: .shown)
        for arrival in Int64(2)...5 {
            try view.fold(
                Self.row(arrival, grant: arrival % 2, thread: root.key), as: .shown)
        }
        try view.fold(Self.row(6, grant: 7), as: .hidden)
        func shown() throws -> [Int64] {
            try view.messages(.init(document: 1), before: nil, limit: 99)
                .map(\.position.arrival)
        }
        #expect(try shown() == [1, 2, 3, 4, 5])
        let places = [Self.row(2), Self.row(4)].map(\.position)
        try view.setVisibility(.hidden, of: places, in: 2)
        #expect(try shown() == [1, 2, 3, 4, 5])
        try view.setVisibility(.hidden, of: places, in: 1)
        #expect(try shown() == [1, 3, 5])
        #expect(try view.replyCount(to: root.key, in: [1]) == 2)
        #expect(try view.message(Self.row(2).key) == nil)
        #expect(try view.message(arrival: 2, sort: 20, document: 1) == nil)
        // Only what was never shown is new when it comes to be shown.
        let coming = places + [Self.row(6).position]
        #expect(try view.unseen(coming, in: 1) == [Self.row(6).position])
        try view.fold(Self.row(2, thread: root.key), as: .hidden)
        #expect(try view.unseen(coming, in: 1) == [Self.row(6).position])
        try view.setVisibility(.shown, of: coming, in: 1)
        #expect(try view.unseen(coming, in: 1) == [])
        #expect(try shown() == [1, 2, 3, 4, 5, 6])
        try view.remove(places, in: 2)
        #expect(try shown() == [1, 2, 3, 4, 5, 6])
        try view.remove(places, in: 1)
        #expect(try shown() == [1, 3, 5, 6])
        try view.clear()
        #expect(try shown().isEmpty)
    }

    // 3.15.14
    @Test(arguments: Seeds.explore(20))
    func `is the same whichever way it is folded`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let rows = Self.rows(30, with: &random)
        var results: [[[String]]] = []
        for _ in 0..<3 {
            let store = try NodeStore.inMemory()
            try store.begin()
            for row in rows.shuffled(using: &random) {
                try store.view.fold(row, as: row.grant == 0 ? .hidden : .shown)
                // Once more changes nothing.
                if random.oneIn(4) {
                    try store.view.fold(row, as: row.grant == 0 ? .hidden : .shown)
                }
            }
            results.append(try store.rows("SELECT * FROM message ORDER BY did, sort, arr"))
        }
        #expect(results[0] == results[1] && results[1] == results[2], "WSX_SEED=\(seed)")
    }

    static func rows(_ count: Int, with random: inout SeededGenerator) -> [Row] {
        let threads = (0..<3).map { row(Int64($0) + 1_000).key }
        return (0..<count).map { index in
            row(
                Int64(index), document: Int64(random.below(2)),
                sort: Int64(random.below(count / 2)),
                hlc: UInt64(random.below(20)) << 16 | UInt64(random.below(3)),
                grant: Int64(random.below(3)),
                thread: random.oneIn(2) ? threads[random.below(3)] : nil)
        }
    }
}

extension NodeStore {
    /// All columns of all rows as text.
    func rows(_ sql: String) throws -> [[String]] {
        let columns = [
            "annotation": 12, "annotation_past": 5, "message": 10, "following": 9,
            "following_past": 4, "subscription": 4,
        ]
        let table = sql.split(separator: " ").first { columns[String($0)] != nil }
        let count = table.flatMap { columns[String($0)] } ?? 5
        return try connection.statement(sql).rows { (row) throws(StorageError) -> [String] in
            var texts: [String] = []
            for column in 0..<Int32(count) {
                texts.append(
                    row.isNull(column)
                        ? "null" : "\(row.integer(column)) \(row.blob(column))")
            }
            return texts
        }
    }
}

struct `A page of messages` {
    /// The same question asked of a plain array.
    private struct Model {
        var rows: [ViewStore.MessageRow]

        func page(
            _ filter: ViewStore.Filter, before: ViewStore.Position?,
            after: ViewStore.Position?, limit: Int
        ) -> [ViewStore.MessageRow] {
            let found = rows.filter { row in
                row.document == filter.document && row.grant != 0
                    && (filter.thread == nil || row.thread == filter.thread)
                    && (filter.since.map { row.key.timestamp.milliseconds >= $0 } ?? true)
                    && (filter.until.map { row.key.timestamp.milliseconds <= $0 } ?? true)
            }.sorted { $0.position < $1.position }
            if let after { return Array(found.filter { $0.position > after }.prefix(limit)) }
            return found.filter { row in before.map { row.position < $0 } ?? true }.suffix(limit)
        }
    }

    @Test(arguments: Seeds.explore(25))
    func `is what a plain list would give`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let store = try NodeStore.inMemory()
        try store.begin()
        let rows = `The view of a channel`.rows(40, with: &random)
        for row in rows { try store.view.fold(row, as: row.grant == 0 ? .hidden : .shown) }
        let model = Model(rows: rows)
        for _ in 0..<60 {
            var filter = ViewStore.Filter(document: Int64(random.below(2)))
            if random.oneIn(3) { filter.thread = rows[random.below(40)].thread }
            if random.oneIn(3) { filter.since = UInt64(random.below(21)) }
            if random.oneIn(3) { filter.until = UInt64(random.below(21)) }
            let limit = random.below(12)
            let place = ViewStore.Position(
                sort: Int64(random.below(21)), arrival: Int64(random.below(41)))
            let before = random.oneIn(4) ? nil : place
            #expect(
                try store.view.messages(filter, before: before, limit: limit)
                    == model.page(filter, before: before, after: nil, limit: limit),
                "WSX_SEED=\(seed)")
            #expect(
                try store.view.messages(filter, after: place, limit: limit)
                    == model.page(filter, before: nil, after: place, limit: limit),
                "WSX_SEED=\(seed)")
        }
    }

    @Test(arguments: Seeds.explore(10))
    func `follows the one before without a gap`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let store = try NodeStore.inMemory()
        try store.begin()
        for row in `The view of a channel`.rows(50, with: &random) {
            try store.view.fold(row, as: .shown)
        }
        let filter = ViewStore.Filter(document: 0)
        let all = try store.view.messages(filter, before: nil, limit: 99)
        var down: [ViewStore.MessageRow] = []
        var position: ViewStore.Position?
        while true {
            let page = try store.view.messages(
                filter, before: position, limit: 1 + random.below(5))
            guard let first = page.first else { break }
            down = page + down
            position = first.position
        }
        #expect(down == all, "WSX_SEED=\(seed)")
        var up: [ViewStore.MessageRow] = []
        var next = ViewStore.Position(sort: -1, arrival: 0)
        while true {
            let page = try store.view.messages(filter, after: next, limit: 1 + random.below(5))
            guard let last = page.last else { break }
            up += page
            next = last.position
        }
        #expect(up == all, "WSX_SEED=\(seed)")
    }

    // O09
    @Test func `knows the year 10889`() throws {
        let store = try NodeStore.inMemory()
        try store.begin()
        let times: [UInt64] = [0, 1, 1 << 46, 1 << 47 - 2, 1 << 47 - 1, 1 << 47, 1 << 48 - 1]
        for (index, time) in times.enumerated() {
            try store.view.fold(
                `The view of a channel`.row(Int64(index), hlc: time << 16 | 0xffff),
                as: .shown)
        }
        var filter = ViewStore.Filter(document: 1)
        func found() throws -> [Int64] {
            try store.view.messages(filter, before: nil, limit: 99).map(\.position.arrival)
        }
        for (index, time) in times.prefix(5).enumerated() {
            filter.since = time
            filter.until = nil
            #expect(try found() == (Int64(index)...6).map { $0 })
            filter.since = nil
            filter.until = time
            #expect(try found() == (0...Int64(index)).map { $0 })
        }
        filter.until = 0
        filter.since = 1
        #expect(try found().isEmpty)
    }
}
