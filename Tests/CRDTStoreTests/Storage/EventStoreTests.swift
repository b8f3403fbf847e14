import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

struct `Events` {
    let store: NodeStore
    var events: EventStore { store.events }

    init() throws {
        store = try .inMemory()
        try store.begin()
    }

    private func fill(_ times: [UInt64]) throws {
        for time in times { try events.append(type: 1, at: time, workspace: 1) }
    }

    @Test func `are read back as they were told`() throws {
        let first = try events.append(
            type: 3, at: 1_000, workspace: 4, document: 5, arrival: 6, extra: [1, 2],
            isBackfill: true)
        let second = try events.append(type: 9, at: 2_000, workspace: nil)
        #expect([first, second] == [1, 2])
        try store.commit()
        for store in [store, try store.reopened()] {
            let found = try store.events.events(after: 0, limit: 9)
            #expect(found.map(\.sequence) == [1, 2])
            #expect(found.map(\.at) == [1_000, 2_000])
            #expect(found.map(\.type) == [3, 9])
            #expect(found.map(\.workspace) == [4, nil])
            #expect(found.map(\.document) == [5, nil])
            #expect(found.map(\.arrival) == [6, nil])
            #expect(found.map(\.extra) == [[1, 2], nil])
            #expect(found.map(\.isBackfill) == [true, false])
            #expect(store.events.newest == 2)
        }
    }

    /// Statements that only read: rows that wait are written before them.
    private var questionCount: Int {
        store.connection.statementCount - store.connection.writeCount
    }

    /// Events behind a place, and how many questions it takes to get them.
    private func read(
        after sequence: Int64, limit: Int = 99
    ) throws -> (events: [EventStore.StoredEvent], statements: Int) {
        let before = questionCount
        let found = try events.events(after: sequence, limit: limit)
        return (found, questionCount - before)
    }

    @Test func `of a turn are given as the table has them, without asking it`() throws {
        try fill([7, 7])
        events.keepRecent()
        #expect(try read(after: 0).statements == 1)
        try events.append(
            type: 3, at: .max, workspace: 4, document: 5, arrival: 6, extra: [1, 2],
            isBackfill: true)
        try events.append(type: 9, at: 2_000, workspace: nil)
        let kept = try read(after: 2)
        #expect(kept.events.map(\.sequence) == [3, 4] && kept.statements == 0)
        #expect(try read(after: 3).events == Array(kept.events.dropFirst()))
        #expect(try read(after: 2, limit: 1).events == Array(kept.events.prefix(1)))
        #expect(try read(after: 4).events.isEmpty && read(after: 9).events.isEmpty)
        // Before them, the table knows more.
        let all = try read(after: 1)
        #expect(all.events.map(\.sequence) == [2, 3, 4] && all.statements == 1)
        #expect(Array(all.events.suffix(2)) == kept.events)
        events.forgetRecent()
        let again = try read(after: 2)
        #expect(again.events == kept.events && again.statements == 1)
    }

    @Test func `of a turn are asked for where they are many, or some were removed`() throws {
        func isAtHand(_ change: () throws -> Void) throws -> Bool {
            events.keepRecent()
            let last = events.newest
            try fill([7, 8])
            #expect(try read(after: last).statements == 0)
            try change()
            let kept = try read(after: last)
            events.forgetRecent()
            #expect(try read(after: last).events == kept.events)
            return kept.statements == 0
        }
        #expect(try isAtHand { try fill([9]) })
        #expect(try !isAtHand { try fill([UInt64](repeating: 9, count: 99)) })
        #expect(try !isAtHand { try events.append(type: 1, at: 1, workspace: 1, extra: []) })
        #expect(try !isAtHand { try events.trim(olderThan: 8, keeping: 1) })
        #expect(try !isAtHand { try events.forgetAll() })
        #expect(try !isAtHand { try store.registry.forgetWorkspace(1) })
        #expect(try !isAtHand { try store.registry.removeWorkspace(1) })
        #expect(try isAtHand {})
    }

    @Test func `come in pages`() throws {
        try fill([UInt64](repeating: 7, count: 25))
        var seen: [Int64] = []
        while true {
            let page = try events.events(after: seen.last ?? 0, limit: 4)
            if page.isEmpty { break }
            #expect(page.count <= 4)
            seen += page.map(\.sequence)
        }
        #expect(seen == (1...25).map { $0 })
        #expect(try events.events(after: 99, limit: 4).isEmpty)
    }

    // I3 for events: the number of one that was trimmed is not given again.
    @Test func `never share a number`() throws {
        var store = store
        var numbers: [Int64] = []
        for round in 0..<5 {
            try store.begin()
            numbers.append(try store.events.append(type: 1, at: 1, workspace: 1))
            numbers.append(try store.events.append(type: 1, at: 1, workspace: 1))
            if round % 2 == 0 { try store.events.trim(olderThan: 99, keeping: 0) }
            try store.commit()
            store = try store.reopened()
        }
        #expect(numbers == (1...10).map { $0 })
        #expect(store.events.newest == 10)
        #expect(try store.events.oldest() == 11)
    }

    @Test func `of a turn that was undone never were`() throws {
        try fill([1, 2])
        try store.commit()
        try store.begin()
        try fill([3, 4])
        store.connection.rollback()
        let again = try NodeStore(store.connection)
        #expect(again.events.newest == 2)
        try again.begin()
        #expect(try again.events.append(type: 1, at: 3, workspace: 1) == 3)
    }

    @Test func `go by age and by number`() throws {
        try fill([10, 20, 30, 40, 50])
        try events.trim(olderThan: 20, keeping: 100)
        #expect(try events.events(after: 0, limit: 9).map(\.sequence) == [2, 3, 4, 5])
        try events.trim(olderThan: 0, keeping: 2)
        #expect(try events.events(after: 0, limit: 9).map(\.sequence) == [4, 5])
        #expect(try events.oldest() == 4)
        try events.trim(olderThan: .max, keeping: 2)
        #expect(try events.events(after: 0, limit: 9).isEmpty)
        #expect(try events.oldest() == 6)
        #expect(events.newest == 5)
    }

    @Test func `are found by time`() throws {
        #expect(try events.last(before: 5) == 0)
        try fill([10, 20, 20, 30])
        for (time, expected) in [(0, 0), (10, 0), (11, 1), (20, 1), (21, 3), (31, 4), (.max, 4)]
            as [(UInt64, Int64)]
        {
            #expect(try events.last(before: time) == expected, "before \(time)")
        }
        try events.trim(olderThan: 15, keeping: 99)
        #expect(try events.last(before: 12) == 1)
        #expect(try events.last(before: 21) == 3)
        try events.trim(olderThan: 99, keeping: 99)
        #expect(try events.last(before: 12) == 4)
    }

    @Test func `have readers that remember their place`() throws {
        #expect(try events.reader("bot") == nil)
        try events.setReader("bot", to: 7, at: 100)
        try events.setReader("bot", to: 9, at: 200)
        try events.setReader("B\u{f8}t", to: 1, at: 300)
        for index in 0..<5 { try events.setReader("r\(index)", to: Int64(index), at: 1) }
        try store.commit()
        for store in [store, try store.reopened()] {
            let bot = try #require(try store.events.reader("bot"))
            #expect(bot.name == "bot" && bot.sequence == 9 && bot.at == 200)
            #expect(try store.events.reader("BOT") == nil)
            var names: [String] = []
            while true {
                let page = try store.events.readers(after: names.last ?? "", limit: 2)
                if page.isEmpty { break }
                names += page.map(\.name)
            }
            #expect(names == ["B\u{f8}t", "bot", "r0", "r1", "r2", "r3", "r4"])
        }
    }
}
