import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import NoteText

struct `The leaf of a scalar` {
    @Test(arguments: Seeds.explore(40))
    func `is the one that was said last of it`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var map = ElementMap()
        var leaves: [Int] = []
        for _ in 0..<300 {
            let leaf = random.below(4)
            if leaves.isEmpty || random.oneIn(3) {
                let count = 1 + random.below(random.oneIn(5) ? 200 : 8)
                map.set(Element(leaves.count), UInt32(count), leaf: leaf)
                leaves += Array(repeating: leaf, count: count)
            } else {
                let first = random.below(leaves.count)
                let count = 1 + random.below(min(leaves.count - first, 80))
                map.set(Element(first), UInt32(count), leaf: leaf)
                for index in first..<first + count { leaves[index] = leaf }
            }
        }
        #expect(leaves.indices.allSatisfy { map.leaf(of: Element($0)) == leaves[$0] })
    }

    @Test(arguments: Seeds.explore(20))
    func `is known in whatever order runs come`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var runs: [(first: Element, count: UInt32, leaf: Int)] = []
        var end: Element = 0
        for _ in 0..<200 {
            let count = UInt32(1 + random.below(40))
            runs.append((end, count, random.below(50)))
            end += count
        }
        var map = ElementMap(reserving: end)
        for run in runs.shuffled(using: &random) { map.set(run.first, run.count, leaf: run.leaf) }
        for run in runs {
            for element in run.first..<run.first + run.count {
                #expect(map.leaf(of: element) == run.leaf)
            }
        }
    }
}

struct `The operations of a note` {
    static func entry(_ key: MessageKey, author: UInt32, sequence: UInt64)
        -> OperationTable.Entry
    {
        OperationTable.Entry(
            key: key, idMiddle: 1, sequence: sequence, author: author, state: .valid)
    }

    static func key(_ time: UInt64, _ id: UInt64 = 0) -> MessageKey {
        MessageKey(timestamp: HybridTimestamp(rawValue: time), idPrefix: id)
    }

    @Test func `are found by key among many, and nothing else is`() {
        var table = OperationTable()
        let author = table.author(NoteWriter(1).author)
        // Keys that differ in one word only, or in few bits.
        let keys = (0..<3_000).map { Self.key(UInt64($0 % 50) << 16, UInt64($0 / 50) << 40) }
        for (index, key) in keys.enumerated() {
            #expect(table.index(of: key) == nil)
            #expect(
                table.add(Self.entry(key, author: author, sequence: UInt64(index))) == index)
        }
        #expect(keys.indices.allSatisfy { table.index(of: keys[$0]) == $0 })
        #expect(table.index(of: Self.key(1)) == nil)
        var reserved = OperationTable()
        reserved.reserve(keys.count)
        _ = reserved.author(NoteWriter(1).author)
        for key in keys { _ = reserved.add(Self.entry(key, author: 0, sequence: 0)) }
        #expect(keys.indices.allSatisfy { reserved.index(of: keys[$0]) == $0 })
    }

    @Test func `number their scalars, in pieces where others come between`() {
        var table = OperationTable()
        let author = table.author(NoteWriter(1).author)
        let one = table.add(Self.entry(Self.key(1), author: author, sequence: 1))
        let other = table.add(Self.entry(Self.key(2), author: author, sequence: 2))
        #expect(table.number(3, of: one, offset: 0) == 2)
        #expect(table.number(2, of: one, offset: 3) == 5)
        #expect(table.pieces.count == 1)
        #expect(table.number(4, of: other, offset: 0) == 7)
        #expect(table.number(1, of: one, offset: 5) == 11)
        #expect(table.ranges(of: one) == [2..<7, 11..<12])
        #expect(table.element(one, 5) == 11)
        #expect(table.element(one, 6) == nil)
        #expect(table.element(other, 3) == 10)
        #expect(table.origin(of: 6) == (one, 4))
        #expect(table.origin(of: 7) == (other, 0))
        #expect(table.origin(of: 11) == (one, 5))
        var ranges: [Range<Element>] = []
        table.append(one, from: 4, count: 2, to: &ranges)
        table.append(one, from: 6, count: 9, to: &ranges)
        table.append(one, from: .max, count: .max, to: &ranges)
        #expect(ranges == [6..<7, 11..<12])
        #expect(table.extent(from: 6, atMost: 9, pieces: 1) == (1, 1))
        #expect(table.extent(from: 6, atMost: 4, pieces: 9) == (4, 2))
    }

    @Test func `take back numbers and drafts, the last first`() {
        var table = OperationTable()
        let author = table.author(NoteWriter(1).author)
        let one = table.add(Self.entry(Self.key(1), author: author, sequence: 1))
        _ = table.number(3, of: one, offset: 0)
        let draft = table.addDraft(Self.entry(Draft.key, author: author, sequence: .max))
        _ = table.number(2, of: draft, offset: 0)
        #expect(table.removeDraft(draft) == false)
        table.unnumber(1, of: draft)
        #expect(table.ranges(of: draft) == [5..<6])
        table.unnumber(1, of: draft)
        #expect(table.ranges(of: draft) == [])
        #expect(table.nextElement == 5)
        #expect(table.ranges(of: one) == [2..<5])
        #expect(table.removeDraft(one) == false)
        #expect(table.removeDraft(draft) == true)
        #expect(table.entries.count == 1)
        // The second piece of an operation, and not its first.
        let other = table.add(Self.entry(Self.key(2), author: author, sequence: 2))
        _ = table.number(1, of: other, offset: 0)
        _ = table.number(1, of: one, offset: 3)
        table.unnumber(1, of: one)
        #expect(table.ranges(of: one) == [2..<5])
        #expect(table.element(one, 3) == nil)
    }

    @Test(arguments: Seeds.explore(20))
    func `know whose each scalar is, among very many`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var table = OperationTable()
        let author = table.author(NoteWriter(1).author)
        var wanted: [(entry: Int, offset: Int)] = []
        var counts: [Int] = []
        for index in 0..<300 {
            counts.append(0)
            _ = table.add(Self.entry(Self.key(UInt64(index)), author: author, sequence: 0))
            // Some write on in an earlier one, as a draft does into which others wrote.
            let entry = random.oneIn(4) ? random.below(index + 1) : index
            let count = 1 + random.below(random.oneIn(20) ? 5_000 : 40)
            _ = table.number(UInt32(count), of: entry, offset: UInt32(counts[entry]))
            for _ in 0..<count {
                wanted.append((entry, counts[entry]))
                counts[entry] += 1
            }
            guard random.oneIn(5) else { continue }
            let back = random.below(count + 1)
            table.unnumber(UInt32(back), of: entry)
            wanted.removeLast(back)
            counts[entry] -= back
        }
        let isRight = wanted.indices.allSatisfy { index in
            table.origin(of: Element(index) + Span.firstWritten) == wanted[index]
        }
        #expect(isRight)
    }

    @Test func `know what is last in a log`() {
        var table = OperationTable()
        let author = table.author(NoteWriter(1).author)
        let one = table.add(Self.entry(Self.key(1), author: author, sequence: 4))
        #expect(!table.isLast(4, of: one))
        #expect(table.isLast(5, of: one))
        _ = table.add(Self.entry(Self.key(2), author: author, sequence: .max))
        #expect(table.isLast(.max, of: one))
        #expect(!table.isLast(.max - 1, of: one))
    }
}
