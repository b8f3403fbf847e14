import SyncProtocol
import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

struct `The places for handshakes` {
    private static func random(_ seed: UInt64 = 1) -> SeededRandom { SeededRandom(seed: seed) }

    @Test func `are 8 for each host, whose own connections replace each other (N13)`() throws {
        var budget = HandshakeBudget(now: 0)
        let random = Self.random()
        for link in 0..<8 as Range<UInt64> {
            let dropped = budget.opened(link: link, from: .ipv4(1), now: link, using: random)
            #expect(dropped == nil)
        }
        let other = budget.opened(link: 8, from: .ipv4(2), now: 8, using: random)
        #expect(other == nil)
        for link in 9..<200 as Range<UInt64> {
            let lost = budget.opened(link: link, from: .ipv4(1), now: link, using: random)
            let dropped = try #require(lost)
            #expect(dropped != 8 && dropped < link)
            #expect(budget.halfOpenCount == 9)
        }
    }

    @Test func `take an IPv6 network of 64 bits for one host, and IPv4 inside IPv6 for IPv4`() {
        var budget = HandshakeBudget(now: 0)
        let random = Self.random()
        func open(_ link: UInt64, _ text: String) -> UInt64? {
            let host = PeerAddress(text)?.host ?? .name(text)
            return budget.opened(link: link, from: host, now: 0, using: random)
        }
        for link in 0..<8 as Range<UInt64> {
            #expect(open(link, "[2001:db8:0:7:\(link)::\(link)]:1") == nil)
        }
        #expect(open(8, "[2001:db8:0:7:ffff::1]:1") != nil)
        #expect(open(9, "[2001:db8:0:8::1]:1") == nil)
        #expect(open(10, "[fe80::1%2]:1") == nil)
        for link in 11..<19 as Range<UInt64> { #expect(open(link, "[fe80::1%3]:1") == nil) }
        #expect(open(19, "[fe80::2%3]:1") != nil)
        for link in 20..<28 as Range<UInt64> { #expect(open(link, "[::ffff:102:304]:1") == nil) }
        #expect(open(28, "1.2.3.4:5") != nil)
    }

    @Test func `are bounded, and full ones take nothing from those whose hint is known (N13)`() {
        var budget = HandshakeBudget(now: 0, anonymousMax: 32)
        let random = Self.random()
        for link in 0..<10 as Range<UInt64> {
            _ = budget.opened(link: link, from: .ipv4(UInt32(link)), now: 0, using: random)
            let dropped = budget.proved(link: link, using: random)
            #expect(dropped == nil)
        }
        for link in 10..<5_000 as Range<UInt64> {
            let dropped = budget.opened(
                link: link, from: .ipv4(UInt32(link)), now: link, using: random)
            #expect((dropped == nil) == (link < 42))
            #expect(dropped.map { $0 >= 10 } ?? true)
        }
        #expect(budget.anonymousCount == 32 && budget.halfOpenCount == 42)
        budget.closed(link: 3)
        budget.closed(link: 3)
        #expect(budget.halfOpenCount == 41)
    }

    @Test func `of those whose hint is known are bounded as well`() {
        var budget = HandshakeBudget(now: 0)
        let random = Self.random()
        var dropped: [UInt64] = []
        for link in 0..<1_000 as Range<UInt64> {
            _ = budget.opened(link: link, from: .ipv4(UInt32(link)), now: link, using: random)
            dropped += budget.proved(link: link, using: random).map { [$0] } ?? []
        }
        #expect(budget.halfOpenCount == Limits.knownHandshakesMax && budget.anonymousCount == 0)
        #expect(Set(dropped).count == 1_000 - Limits.knownHandshakesMax)
        // A link that has lost its place proves nothing any more.
        let again = budget.proved(link: dropped.first ?? 0, using: random)
        #expect(again == nil)
        #expect(budget.halfOpenCount == Limits.knownHandshakesMax)
    }

    @Test func `are given for five seconds`() {
        var budget = HandshakeBudget(now: 0)
        let random = Self.random()
        #expect(budget.nextDeadline == nil)
        for link in 0..<6 as Range<UInt64> {
            _ = budget.opened(
                link: link, from: .ipv4(UInt32(link)), now: 100 + link, using: random)
        }
        _ = budget.proved(link: 1, using: random)
        budget.closed(link: 0)
        #expect(budget.nextDeadline.map { $0 <= 5_102 } == true)
        let overdue = [4_000, 5_101, 5_103].map { budget.overdue(now: $0) }
        #expect(overdue == [[], [], [2, 3]])
        #expect(budget.nextDeadline == 5_104)
        let rest = budget.overdue(now: 99_999)
        #expect(rest == [4, 5])
        #expect(budget.nextDeadline == nil && budget.halfOpenCount == 1)
    }

    @Test(arguments: Seeds.explore(3))
    func `are enough for members while 5 000 others a second come (N19)`(seed: UInt64) {
        var flood = Flood(seed: seed, places: Limits.anonymousLinksMax)
        flood.run()
        for (distance, slowest) in flood.slowest {
            #expect(slowest ?? .max <= 5_000, "a member at \(distance) ms")
        }
    }

    /// That the model tells a good rule from a bad one: with as few places as there were once,
    /// nobody comes in from afar.
    @Test func `would not be enough if they were few (N19)`() {
        var flood = Flood(seed: 7, places: 64)
        flood.run()
        #expect(flood.slowest[60] == .some(nil) && flood.slowest[200] == .some(nil))
    }
}

/// 5,000 connections a second from 10,000 addresses that send nothing, and members who connect,
/// sometimes lose their place, and retry as the registry does. In virtual time.
private struct Flood {
    private struct Member {
        let distance: UInt64
        var schedule = RetrySchedule()
        var first: UInt64?
        var next: UInt64
        var link: UInt64?
        var knownAt: UInt64?
        var doneAt: UInt64?
        var took: UInt64?
    }

    private var budget: HandshakeBudget
    private let random: SeededRandom
    private var generator: SeededGenerator
    private var members: [Member] = []
    private var owners: [UInt64: Int] = [:]
    private var lastLink: UInt64 = 0

    init(seed: UInt64, places: Int) {
        budget = HandshakeBudget(now: 0, anonymousMax: places)
        random = SeededRandom(seed: seed)
        generator = SeededGenerator(seed: seed)
        for distance in [20, 60, 200] as [UInt64] {
            for _ in 0..<10 {
                // When the pool has been full for long.
                let start = 2_000 + UInt64(generator.below(1_000))
                members.append(Member(distance: distance, next: start))
            }
        }
    }

    /// How long the slowest member of each distance took, in milliseconds; `nil` for too long.
    var slowest: [UInt64: UInt64?] {
        Dictionary(grouping: members, by: \.distance).mapValues { group in
            group.contains { $0.took == nil } ? nil : group.compactMap(\.took).max()
        }
    }

    mutating func run() {
        for now in 0..<8_500 as Range<UInt64> {
            for _ in 0..<5 {
                let address = UInt32(generator.below(10_000))
                open(from: .ipv4(address), by: nil, now: now)
            }
            for link in budget.overdue(now: now) { lose(link, now: now) }
            for index in members.indices { step(index, now: now) }
        }
    }

    private mutating func open(from host: PeerAddress.Host, by owner: Int?, now: UInt64) {
        lastLink += 1
        owners[lastLink] = owner
        if let owner { members[owner].link = lastLink }
        let dropped = budget.opened(link: lastLink, from: host, now: now, using: random)
        if let dropped { lose(dropped, now: now) }
    }

    private mutating func lose(_ link: UInt64, now: UInt64) {
        guard let owner = owners.removeValue(forKey: link) else { return }
        members[owner].link = nil
        let delay = members[owner].schedule.delayAfterFailure(random: random.number())
        // Half a way until it hears of that.
        members[owner].next = now + members[owner].distance / 2 + delay
    }

    private mutating func step(_ index: Int, now: UInt64) {
        let member = members[index]
        guard member.took == nil else { return }
        guard let link = member.link else {
            guard member.next == now else { return }
            members[index].first = member.first ?? now
            // The connection stands when its third packet is here, and the hint is here at the
            // latest a round trip after it.
            members[index].knownAt = now + member.distance * 5 / 2
            members[index].doneAt = now + member.distance * 7 / 2
            members[index].next = now + member.distance * 3 / 2
            members[index].link = 0
            return
        }
        if link == 0 {
            if member.next == now {
                open(from: .ipv4(1 << 20 + UInt32(index)), by: index, now: now)
            }
        } else if member.knownAt == now {
            if let dropped = budget.proved(link: link, using: random) { lose(dropped, now: now) }
        } else if member.doneAt == now {
            budget.closed(link: link)
            members[index].took = now - (member.first ?? now)
        }
    }
}
