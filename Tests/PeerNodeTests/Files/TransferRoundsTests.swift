import BlobStore
import Testing
import WorkspaceModel

@testable import PeerNode

struct `Which transfers a turn looks at` {
    private var rounds = TransferRounds()
    private let links = [LinkID(1), LinkID(2)]

    private static func root(_ number: UInt8) throws -> BlobRoot {
        try #require(BlobRoot(untrusted: [number] + [UInt8](repeating: 3, count: 31)))
    }

    private static func roots(_ numbers: ClosedRange<UInt8>) throws -> [BlobRoot] {
        try numbers.map { try root($0) }
    }

    // MARK: Asking

    @Test mutating func `are those that have begun, once`() throws {
        let all = try Self.roots(1...4)
        for root in all { rounds.begin(root, tellDue: 0) }
        let first = rounds.takeQuestions(of: all.reversed(), over: links, at: 10_000)
        #expect(first.roots == all && first.isAnew)
        rounds.begin(all[2], tellDue: 0)
        rounds.begin(all[1], tellDue: 0)
        rounds.end(all[2])
        let next = rounds.takeQuestions(of: all, over: links, at: 10_001)
        #expect(next.roots == [all[1]] && next.fresh == [all[1]] && !next.isAnew)
        #expect(rounds.takeQuestions(of: all, over: links, at: 10_002).roots == [])
    }

    @Test mutating func `are all where links have come or gone`() throws {
        let all = try Self.roots(1...3)
        _ = rounds.takeQuestions(of: all, over: links, at: 10_000)
        let more = rounds.takeQuestions(of: all, over: links + [LinkID(3)], at: 10_001)
        #expect(more.roots == all && !more.isAnew && more.fresh == [])
        let fewer = rounds.takeQuestions(of: all, over: links, at: 10_002)
        #expect(fewer.roots == all && !fewer.isAnew)
        #expect(rounds.takeQuestions(of: all, over: links, at: 10_003).roots == [])
    }

    @Test mutating func `are all again and again, since others may read them now`() throws {
        let all = try Self.roots(1...3)
        let wait = Limits.blobReadersMilliseconds
        _ = rounds.takeQuestions(of: all, over: links, at: 10_000)
        #expect(rounds.takeQuestions(of: all, over: links, at: 9_999 + wait).roots == [])
        let again = rounds.takeQuestions(of: all, over: links, at: 10_000 + wait)
        #expect(again.roots == all && again.isAnew)
    }

    // MARK: Telling

    @Test mutating func `are reported when the first report is due, and not before`() throws {
        let (one, two) = (try Self.root(1), try Self.root(2))
        rounds.didTell(next: 2_000, firstWord: nil, at: 1_000)
        #expect(rounds.firstWordDue == nil && !rounds.mayTell(at: 1_999))
        rounds.begin(one, tellDue: 1_700)
        rounds.begin(two, tellDue: 1_800)
        #expect(rounds.firstWordDue == 1_700)
        #expect(!rounds.mayTell(at: 1_699) && rounds.mayTell(at: 1_700))
        rounds.didTell(next: 2_000, firstWord: 1_900, at: 1_700)
        #expect(rounds.firstWordDue == 1_900 && !rounds.mayTell(at: 1_899))
    }

    @Test mutating func `are reported at once if there is much to come`() throws {
        rounds.didTell(next: nil, firstWord: nil, at: 1_000)
        rounds.begin(try Self.root(1), tellDue: 1_001)
        #expect(rounds.mayTell(at: 1_001))
    }

    @Test mutating func `are not looked at in each turn, however many there are`() {
        rounds.didTell(next: 1_001, firstWord: 1_002, at: 1_000)
        #expect(!rounds.mayTell(at: 1_099) && rounds.mayTell(at: 1_100))
        #expect(rounds.firstWordDue == 1_100, "nobody wakes for what is not done yet")
    }
}
