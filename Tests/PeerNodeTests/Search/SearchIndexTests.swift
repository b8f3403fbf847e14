import CRDTStore
import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

struct `The search index` {
    let files = MemorySearchFiles()
    let store = StoreID([UInt8](repeating: 7, count: 16))

    private func open(arrival: Int64 = .max) throws -> SearchIndex {
        try SearchIndex(files.open(), place: .file(store), arrival: arrival)
    }

    private func row(_ arrival: Int64, _ text: String, time: Int64? = nil) -> SearchRow {
        SearchRow(
            position: .init(time: time ?? arrival, arrival: arrival), text: text, document: 1,
            grant: 2, workspace: 3)
    }

    private func write(_ texts: [String], to index: SearchIndex) throws {
        var batch = SearchBatch(through: Int64(texts.count))
        batch.rows = texts.enumerated().map { row(Int64($0 + 1), $1) }
        try index.take(batch)
    }

    private func arrivals(
        _ index: SearchIndex, _ query: String, tags: [[String]] = [], limit: Int = 100
    ) throws -> [Int64] {
        let expression = try #require(SearchQuery(query)).expression(tags: tags)
        return try index.find(.init(expression: expression, limit: limit)).positions
            .map(\.arrival)
    }

    @Test(
        arguments: [
            ("회의", [2, 1]), ("会议", [4, 3]), ("会議", [5]), ("議事録", [5]), ("42", [7]), ("議", [5]),
            ("dep", [8]), ("ploy", []), ("\"build 43\"", [8]),
        ] as [(String, [Int64])])
    func `knows the words of three scripts without blanks`(
        _ query: String, _ expected: [Int64]
    ) throws {
        let index = try open()
        try write(`What is looked for`.texts, to: index)
        #expect(try arrivals(index, query) == expected)
    }

    @Test func `gives the newest first, page by page, over many tables`() throws {
        let index = try open()
        var batch = SearchBatch(through: 400_000)
        // Arrivals in many tables, times that go back and forth, and some of them equal.
        for number in 0..<200 as Range<Int64> {
            batch.rows.append(
                row(number * 2_000 + 1, "word \(number)", time: number * 7_919 % 100))
        }
        try index.take(batch)
        let expected = batch.rows.map(\.position).sorted(by: >)
        var found: [SearchPosition] = []
        while true {
            let page = try index.find(
                .init(expression: "text : \"word\"", before: found.last, limit: 17))
            found += page.positions
            if page.isEnd { break }
        }
        #expect(found == expected)
        let some = try index.find(
            .init(expression: "text : \"word\"", since: 20, until: 40, limit: 1_000))
        #expect(some.positions == expected.filter { (20...40).contains($0.time) })
        #expect(some.isEnd)
    }

    @Test func `narrows down by channel, author and link`() throws {
        let index = try open()
        var batch = SearchBatch(through: 4)
        for (arrival, document, text) in [
            (1, 1, "plan a"), (2, 2, "plan b https://example.org"), (3, 1, "plan c d2"),
        ] as [(Int64, Int64, String)] {
            batch.rows.append(
                SearchRow(
                    position: .init(time: arrival, arrival: arrival), text: text,
                    document: document, grant: arrival, workspace: 1))
        }
        try index.take(batch)
        #expect(try arrivals(index, "plan", tags: [["d1"]]) == [3, 1])
        #expect(try arrivals(index, "plan", tags: [["d1", "d2"]]) == [3, 2, 1])
        #expect(try arrivals(index, "plan", tags: [["link"]]) == [2])
        #expect(try arrivals(index, "plan", tags: [["g3"], ["d1"]]) == [3])
        #expect(try arrivals(index, "d2") == [3])
    }

    @Test func `is the same as a scan of all texts`() throws {
        for seed in Seeds.explore(10) {
            var random = SeededGenerator(seed: seed)
            files.remove()
            let index = try open()
            let texts = (0..<120).map { _ in Self.text(&random, upTo: 12) }
            try write(texts, to: index)
            for _ in 0..<60 {
                let text = Self.text(&random, upTo: 4)
                guard let query = SearchQuery(text) else { continue }
                let scan = texts.indices.reversed().filter {
                    query.matches(in: SearchText(texts[$0])) != nil
                }.map { Int64($0 + 1) }
                let found = try arrivals(index, text, limit: 1_000).filter { arrival in
                    query.matches(in: SearchText(texts[Int(arrival - 1)])) != nil
                }
                #expect(found == scan, "seed \(seed), query \(text.debugDescription)")
            }
        }
    }

    /// Letters of several scripts, and every sign that has a meaning somewhere.
    private static func text(_ random: inout SeededGenerator, upTo count: Int) -> String {
        let letters: [Unicode.Scalar] = Array(
            "abAB12회의록会议議カナｶﾞéß _-\"*():^+,.{}';\\/\u{0}\u{301}\u{3099}👍".unicodeScalars)
        var text = String.UnicodeScalarView()
        for _ in 0...random.below(count) {
            text.append(letters[random.below(letters.count)])
        }
        return String(text)
    }

    @Test func `takes nothing that is typed for more than words`() throws {
        let index = try open()
        try write(["and or not near text pairs tags", "x"], to: index)
        for text in [
            "AND", "OR NOT", "NEAR(text, 2)", "text:and", "{text pairs} : and", "tags : \"d1\"",
            "and*", "^and", "\"and\" + \"or\"", "or) OR (x", "'; DROP TABLE part_0; --", "-and",
            "\"unterminated", "and\u{0}or",
        ] {
            guard SearchQuery(text) != nil else { continue }
            _ = try arrivals(index, text)
        }
        #expect(try arrivals(index, "near pairs") == [1])
        #expect(try arrivals(index, "x OR and") == [])
    }

    @Test func `frees tables of what they keep from a large write, before it is asked`() throws {
        let index = try open()
        try write((1...600).map { "word\($0) and a few others beside it" }, to: index)
        #expect(index.reloadCount == 0)
        #expect(try arrivals(index, "word60") == [600, 60])
        #expect(try arrivals(index, "word6", limit: 1_000).count == 12)
        #expect(index.reloadCount == 1)
        // What is written and deleted afterwards goes the same way as before.
        var batch = SearchBatch(through: 602)
        batch.rows = [row(601, "word60 xylographcanary"), row(602, "word602")]
        try index.take(batch)
        #expect(try arrivals(index, "word60") == [602, 601, 600, 60])
        #expect(index.reloadCount == 1)
        batch = SearchBatch(through: 602)
        batch.forgotten = [.init(time: 601, arrival: 601)]
        try index.take(batch)
        #expect(try arrivals(index, "word60") == [602, 600, 60])
        #expect(!files.holds("xylographcanary"))
    }

    // MARK: Across openings

    @Test func `goes on where it was`() throws {
        try write(["alpha"], to: open())
        let again = try open()
        #expect(again.through == 1)
        #expect(try arrivals(again, "alpha") == [1])
        var batch = SearchBatch(through: 2)
        batch.rows = [row(2, "alpha two")]
        try again.take(batch)
        #expect(try arrivals(again, "alpha") == [2, 1])
    }

    @Test func `does not say that it has what it has not written`() throws {
        let index = try open()
        try write(["alpha"], to: index)
        var batch = SearchBatch(through: 2, isUrgent: false)
        batch.rows = [row(2, "beta")]
        try index.take(batch)
        #expect(index.through == 2)
        #expect(try open().through == 1)
    }

    @Test func `answers with what it was given last`() throws {
        let index = try open()
        var batch = SearchBatch(through: 1, isUrgent: false)
        batch.rows = [row(1, "beta")]
        try index.take(batch)
        #expect(try arrivals(index, "beta") == [1])
        batch.rows = [row(1, "gamma")]
        try index.take(batch)
        #expect(try arrivals(index, "beta") == [])
        #expect(try arrivals(index, "gamma") == [1])
    }

    @Test func `holds the last words of each message, in whatever order they came`() throws {
        for seed in Seeds.explore(10) {
            var random = SeededGenerator(seed: seed)
            files.remove()
            var index = try open()
            var words: [Int64: String] = [:]
            for _ in 0..<30 {
                var batch = SearchBatch(through: 200, isUrgent: random.below(3) > 0)
                for _ in 0...random.below(10) {
                    let arrival = Int64(1 + random.below(200))
                    let word = "word\(random.below(5))"
                    // The order of time is not that of arrival.
                    var one = row(arrival, word, time: arrival * 7_919 % 100)
                    one.isAgain = words.updateValue(word, forKey: arrival) != nil
                    batch.rows.append(one)
                }
                try index.take(batch)
                if batch.isUrgent, random.below(5) == 0 { index = try open() }
            }
            for word in Set(words.values) {
                let expected = words.filter { $0.value == word }.keys.sorted()
                #expect(try arrivals(index, word, limit: 1_000).sorted() == expected, "\(seed)")
            }
        }
    }

    @Test func `deletes no words of messages that it did not know, when all are taken again`()
        throws
    {
        let index = try open()
        var batch = SearchBatch(through: 3)
        batch.rows = (1...3).map { row($0, "alpha") }
        for place in batch.rows.indices { batch.rows[place].isAgain = true }
        try index.take(batch)
        #expect(try arrivals(index, "alpha") == [3, 2, 1])
        let marks = "SELECT sum(stale) FROM part"
        #expect(try files.open().statement(marks).integer() == 0)
        let again = try open()
        batch.rows = [batch.rows[1]]
        try again.take(batch)
        #expect(try arrivals(again, "alpha") == [3, 2, 1])
        #expect(try files.open().statement(marks).integer() == 1)
    }

    @Test func `of another store, or of what is not there, is not taken`() throws {
        try write(["alpha"], to: open())
        #expect(throws: StorageError.self) {
            try SearchIndex(
                files.open(), place: .file(StoreID([UInt8](repeating: 8, count: 16))), arrival: 1)
        }
        #expect(throws: StorageError.self) { try open(arrival: 0) }
        #expect(try open(arrival: 1).through == 1)
    }

    // MARK: Forgetting

    @Test func `leaves nothing of what it forgets`() throws {
        let index = try open()
        var texts = (0..<300).map { "common word\($0)" }
        texts[150] = "common xylographcanary 비밀열쇠"
        try write(texts, to: index)
        #expect(files.holds("xylographcanary"))
        #expect(files.holds("비밀"))
        var batch = SearchBatch(through: 300)
        batch.forgotten = [.init(time: 151, arrival: 151), .init(time: 9_999, arrival: 70_000)]
        try index.take(batch)
        #expect(!files.holds("xylographcanary"))
        #expect(!files.holds("비밀"))
        #expect(try arrivals(index, "common", limit: 1_000).count == 299)
    }

    @Test(arguments: [false, true])
    func `forgets what an edit replaced, when something is forgotten`(
        afterReopening: Bool
    ) throws {
        var index = try open()
        try write((0..<300).map { "common \($0)" } + ["xylographcanary"], to: index)
        var again = row(301, "harmless")
        again.isAgain = true
        var batch = SearchBatch(through: 301)
        batch.rows = [again]
        try index.take(batch)
        #expect(files.holds("xylograph"))
        if afterReopening { index = try open() }
        batch = SearchBatch(through: 301)
        // The edit: no table of the index has its place.
        batch.forgotten = [.init(time: 400, arrival: 70_000)]
        try index.take(batch)
        #expect(!files.holds("xylograph"))
        #expect(try arrivals(index, "harmless") == [301])
    }

    @Test func `forgets a whole document`() throws {
        let index = try open()
        var batch = SearchBatch(through: 2)
        batch.rows = [row(1, "xylographcanary")]
        batch.rows.append(
            SearchRow(
                position: .init(time: 2, arrival: 2), text: "stays", document: 11, grant: 1,
                workspace: 1))
        try index.take(batch)
        batch = SearchBatch(through: 2)
        batch.forgottenDocuments = [1]
        try index.take(batch)
        #expect(!files.holds("xylographcanary"))
        #expect(try arrivals(index, "stays") == [2])
    }

    @Test func `in memory keeps the newest`() throws {
        let index = try SearchIndex(Connection(), place: .memory, arrival: 0)
        for start in stride(from: 0 as Int64, to: 60_000, by: 1_000) {
            var batch = SearchBatch(through: start + 1_000)
            batch.rows = [row(start + 1, "word")]
            try index.take(batch)
        }
        let found = try arrivals(index, "word")
        #expect(found.first == 59_001)
        #expect(found.last ?? 0 > 60_000 - 9 * 4_096)
        #expect(found.count < 34)
    }
}

extension MemorySearchFiles {
    /// Whether these letters are anywhere in the file.
    func holds(_ text: String) -> Bool {
        let (bytes, wanted) = (bytes, Array(text.utf8))
        guard bytes.count >= wanted.count, let first = wanted.first else { return false }
        return bytes.indices.contains { place in
            bytes[place] == first && bytes[place...].starts(with: wanted)
        }
    }
}

struct `The search worker` {
    let files = MemorySearchFiles()
    private let store = StoreID([UInt8](repeating: 7, count: 16))

    private func run(_ work: SearchJob.Work, on worker: SearchWorker) -> SearchOutcome.Result {
        worker.run(SearchJob(generation: 1, work: work)).result
    }

    @Test func `rebuilds what is broken, silently`() throws {
        let other = try Connection()
        try other.execute("CREATE TABLE somebody(x); INSERT INTO somebody VALUES(1)")
        try other.setSchemaVersion(9)
        try files.replace(with: other.serialized())
        let worker = SearchWorker(files)
        guard case .opened(let through) = run(.open(.file(store), arrival: 5), on: worker) else {
            Issue.record("not opened")
            return
        }
        #expect(through == 0)
        #expect(files.removeCount == 1)
    }

    @Test func `says so when there can be no index`() {
        files.failures = 2
        let worker = SearchWorker(files)
        guard case .failed = run(.open(.file(store), arrival: 5), on: worker),
            case .failed = run(.write(SearchBatch(through: 1)), on: worker)
        else {
            Issue.record("no failure")
            return
        }
        guard case .opened = run(.open(.file(store), arrival: 5), on: worker) else {
            Issue.record("not opened later")
            return
        }
    }

    @Test func `has no file for a home with a passphrase`() {
        let worker = SearchWorker(files)
        _ = run(.open(.file(store), arrival: 0), on: worker)
        #expect(!files.bytes.isEmpty)
        _ = run(.open(.memory, arrival: 0), on: worker)
        #expect(files.bytes.isEmpty)
        _ = run(.open(.file(store), arrival: 0), on: worker)
        _ = run(.close, on: worker)
        #expect(files.bytes.isEmpty)
    }
}
