import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// The winning values of a member's profile: a function of the set of operations.
struct `What members say of themselves` {
    private typealias Word = ProfileRegisters.Assertion

    private static let place = ProfileRegisters.Place(
        member: MemberID([UInt8](repeating: 7, count: 16)), subject: .field(.phone))

    private static func id(_ number: Int) -> OperationID {
        OperationID([UInt8](repeating: UInt8(number), count: 32))
    }

    private static func word(
        _ number: Int, at time: UInt64, citing cited: [Int] = [], isValid: Bool = true
    ) -> Word {
        Word(
            id: id(number), timestamp: HybridTimestamp(rawValue: time), arrival: Int64(number),
            cited: cited.map(id), hasValue: true, isValid: isValid)
    }

    private static func current(of words: [Word]) -> Int? {
        var registers = ProfileRegisters()
        for word in words { registers.take(word, at: place) }
        return registers.current(place).map { Int($0.arrival) }
    }

    @Test func `is the value that the last write set, whatever its clock said`() {
        let first = Self.word(1, at: 9_000_000)
        let second = Self.word(2, at: 5, citing: [1])
        #expect(Self.current(of: [first, second]) == 2)
        #expect(Self.current(of: [second, first]) == 2)
        // Two who did not know of each other: the clock, then the id.
        #expect(Self.current(of: [first, Self.word(3, at: 5)]) == 1)
        #expect(Self.current(of: [Self.word(4, at: 5), Self.word(3, at: 5)]) == 4)
        // What is overwritten stays so when what overwrote it is overwritten.
        let third = Self.word(3, at: 1, citing: [2])
        #expect(Self.current(of: [third, first, second]) == 3)
    }

    @Test func `comes back when the verdict on what overwrote it turns`() {
        var registers = ProfileRegisters()
        registers.take(Self.word(1, at: 1), at: Self.place)
        registers.take(Self.word(2, at: 2, citing: [1]), at: Self.place)
        #expect(registers.current(Self.place)?.id == Self.id(2))
        registers.take(Self.word(2, at: 2, citing: [1], isValid: false), at: Self.place)
        #expect(registers.current(Self.place)?.id == Self.id(1))
        registers.take(Self.word(2, at: 2, citing: [1]), at: Self.place)
        #expect(registers.current(Self.place)?.id == Self.id(2))
        let isGone = registers.remove(Self.id(2), at: Self.place)
        #expect(isGone)
        #expect(registers.current(Self.place)?.id == Self.id(1))
        #expect(registers.values(Self.place).count == 1)
        let isGoneTwice = registers.remove(Self.id(2), at: Self.place)
        #expect(!isGoneTwice)
        // What is cited by way of something void is not overwritten: so a new word cites more.
        registers.take(Self.word(5, at: 1, citing: [1], isValid: false), at: Self.place)
        registers.take(Self.word(6, at: 0, citing: [5]), at: Self.place)
        #expect(registers.current(Self.place)?.id == Self.id(1))
        registers.take(Self.word(7, at: 0, citing: [1, 6]), at: Self.place)
        #expect(registers.whatToCite(Self.place).map(\.arrival) == [7, 1, 6, 5])
    }

    /// The rule itself: cited by no valid one, and the largest (hlc, id) of those.
    private static func definition(_ words: [Word]) -> OperationID? {
        let covered = Set(words.filter(\.isValid).flatMap(\.cited))
        return words.filter { $0.isValid && !covered.contains($0.id) }
            .max { ($0.timestamp.rawValue, $0.id) < ($1.timestamp.rawValue, $1.id) }?.id
    }

    @Test(arguments: Seeds.explore(40))
    func `is the same in every order and after every change of verdicts`(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let count = 1 + random.below(12)
        let words = (0..<count).map { number in
            let cited = (0..<number).filter { _ in random.oneIn(3) }
            return Self.word(
                number, at: UInt64(random.below(5)), citing: cited, isValid: !random.oneIn(4))
        }
        let expected = Self.definition(words)
        for _ in 0..<8 {
            var registers = ProfileRegisters()
            for word in words.shuffled(using: &random) {
                if random.oneIn(3) {
                    // Another verdict first.
                    registers.take(
                        Word(
                            id: word.id, timestamp: word.timestamp, arrival: word.arrival,
                            cited: word.cited, hasValue: true, isValid: !word.isValid),
                        at: Self.place)
                }
                registers.take(word, at: Self.place)
                registers.take(word, at: Self.place)
            }
            #expect(registers.current(Self.place)?.id == expected, "seed \(seed)")
            #expect(registers.heads(Self.place).first?.id == expected, "seed \(seed)")
            // What is redacted is as if it had never come.
            let gone = random.below(count)
            registers.remove(words[gone].id, at: Self.place)
            let left = words.filter { $0.id != words[gone].id }
            #expect(
                registers.current(Self.place)?.id == Self.definition(left), "seed \(seed)")
        }
    }

    /// Nobody is kept from writing any number of words that do not cite one another.
    @Test func `costs what each write cites, however many are concurrent`() {
        var registers = ProfileRegisters()
        let count = 3_000
        func word(_ number: Int, citing cited: [Int] = []) -> Word {
            Word(
                id: Self.wideID(number),
                timestamp: HybridTimestamp(rawValue: UInt64(max(number, 0))),
                arrival: Int64(number), cited: cited.map(Self.wideID), hasValue: true,
                isValid: true)
        }
        for number in 0..<count {
            registers.take(word(number), at: Self.place)
            #expect(registers.current(Self.place)?.arrival == Int64(number))
        }
        // The best is redacted each time, and then overwritten each time.
        for number in (2_000..<count).reversed() {
            registers.remove(Self.wideID(number), at: Self.place)
            #expect(registers.current(Self.place)?.arrival == Int64(number - 1))
        }
        for number in (1_000..<2_000).reversed() {
            registers.take(word(-number, citing: [number]), at: Self.place)
        }
        #expect(registers.heads(Self.place).count == 2_000)
        #expect(registers.visitCount(Self.place) < 50 * count)
    }

    private static func wideID(_ number: Int) -> OperationID {
        let bytes = withUnsafeBytes(of: number.bigEndian, Array.init)
        return OperationID(bytes + bytes + bytes + bytes)
    }
}
