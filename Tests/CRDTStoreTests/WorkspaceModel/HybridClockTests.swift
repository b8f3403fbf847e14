import Testing
import WorkspaceModel
import WorkspaceTestKit

struct `A hybrid timestamp` {
    struct Step: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let wallClock: UInt64
        let next: HybridTimestamp
    }

    static let last = HybridTimestamp(milliseconds: 10, counter: 7)
    static let largest = HybridTimestamp(rawValue: .max)

    static let steps = [
        Step(
            testDescription: "wall clock ahead: follows it",
            wallClock: 11, next: HybridTimestamp(milliseconds: 11, counter: 0)),
        Step(
            testDescription: "same millisecond: counts",
            wallClock: 10, next: HybridTimestamp(milliseconds: 10, counter: 8)),
        Step(
            testDescription: "wall clock behind: counts",
            wallClock: 3, next: HybridTimestamp(milliseconds: 10, counter: 8)),
        Step(
            testDescription: "wall clock beyond 48 bits: the largest time",
            wallClock: .max,
            next: HybridTimestamp(milliseconds: HybridTimestamp.millisecondsMax, counter: 0)),
    ]

    @Test(arguments: steps)
    func `moves to the smallest later value`(_ step: Step) {
        #expect(Self.last.successor(wallClock: step.wallClock) == step.next)
        #expect(Self.last < step.next)
    }

    @Test func `moves to the next millisecond when the counter is full`() {
        let full = HybridTimestamp(milliseconds: 10, counter: .max)
        let next = HybridTimestamp(milliseconds: 11, counter: 0)
        #expect(full.successor(wallClock: 10) == next)
        #expect(full.successor(wallClock: 0) == next)
    }

    @Test func `has its time above its counter`() {
        let moment = HybridTimestamp(milliseconds: 0x1234, counter: 0x5678)
        #expect(moment.rawValue == 0x1234_5678)
        #expect(moment.milliseconds == 0x1234)
        #expect(moment.counter == 0x5678)
        #expect(HybridTimestamp(milliseconds: .max, counter: .max) == Self.largest)
    }

    @Test(arguments: Seeds.explore(50))
    func `never traps and never goes back`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<50 {
            let moment = HybridTimestamp(rawValue: ~random.anyUInt())
            let wall = random.oneIn(4) ? .max : random.anyUInt()
            let next = moment.successor(wallClock: wall)
            #expect(moment == Self.largest ? next == moment : moment < next, "WSX_SEED=\(seed)")
            #expect(next.milliseconds >= min(wall, HybridTimestamp.millisecondsMax))
            #expect(HybridTimestamp(rawValue: next.rawValue) == next)
        }
        #expect(Self.largest.successor(wallClock: 0) == Self.largest)
        #expect(Self.largest.successor(wallClock: .max) == Self.largest)
    }
}

struct `A hybrid clock` {
    static let lead = Limits.clockLeadMillisecondsMax

    @Test func `answers after what it has heard`() {
        var clock = HybridClock()
        let remote = HybridTimestamp(milliseconds: 1_000_200, counter: 3)
        clock.observe(remote, wallMilliseconds: 1_000_000)
        #expect(clock.last == remote)
        #expect(clock.next(wallMilliseconds: 1_000_000) > remote)
        #expect(clock.last == HybridTimestamp(milliseconds: 1_000_200, counter: 4))
        #expect(clock.lead(overWallMilliseconds: 1_000_000) == 200)
        #expect(clock.lead(overWallMilliseconds: .max) == 0)
    }

    static let farAhead: [UInt64] = [.max, 1 << 63, (1_000_000 + 315_360_000_000) << 16]

    @Test(arguments: farAhead)
    func `is not moved at all by a clock of another decade`(remote: UInt64) {
        var clock = HybridClock()
        clock.observe(HybridTimestamp(rawValue: remote), wallMilliseconds: 1_000_000)
        #expect(clock == HybridClock())
        #expect(
            clock.next(wallMilliseconds: 1_000_000)
                == HybridTimestamp(milliseconds: 1_000_000, counter: 0))
    }

    @Test func `takes over a moment up to the limit, and none beyond it`() {
        for (ahead, isTaken) in [(Self.lead, true), (Self.lead + 1, false)] {
            var clock = HybridClock()
            let remote = HybridTimestamp(milliseconds: 5_000 + ahead, counter: 9)
            clock.observe(remote, wallMilliseconds: 5_000)
            #expect(clock.last == (isTaken ? remote : .zero))
        }
    }

    /// Two honest clocks, less than the limit apart, and one that is years ahead, which both hear
    /// of all the time.
    @Test(arguments: Seeds.explore(50))
    func `follows honest peers, and stays near its wall clock whatever others say`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let skew = UInt64(random.below(Int(Self.lead)))
        var clocks = [HybridClock(), HybridClock()]
        var latest = HybridTimestamp.zero
        for step in 0..<200 {
            let place = random.below(2)
            let wall = 1_000_000_000 + UInt64(step) + (place == 0 ? 0 : skew)
            let years = UInt64(random.below(1_000_000_000_000)) + Self.lead + 1
            let liar = HybridTimestamp(milliseconds: wall + years, counter: 3)
            clocks[place].observe(liar, wallMilliseconds: wall)
            // What one writes, the other reads before it answers.
            clocks[place].observe(latest, wallMilliseconds: wall)
            let next = clocks[place].next(wallMilliseconds: wall)
            #expect(next > latest, "WSX_SEED=\(seed)")
            latest = next
            // Nothing but the honest clocks is in it.
            #expect(
                next.milliseconds <= 1_000_000_000 + UInt64(step) + skew, "WSX_SEED=\(seed)")
        }
    }

    @Test func `ignores the past`() {
        var clock = HybridClock(last: HybridTimestamp(milliseconds: 50, counter: 1))
        clock.observe(.zero, wallMilliseconds: 0)
        #expect(clock.last == HybridTimestamp(milliseconds: 50, counter: 1))
    }

    @Test(arguments: Seeds.explore(50))
    func `hands out ever later moments, whatever the wall and the others say`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var clock = HybridClock()
        var latest = clock.last
        for _ in 0..<200 {
            let wall = 1_000_000 + UInt64(random.below(1_000))
            if random.oneIn(2) {
                let remote = HybridTimestamp(rawValue: random.anyUInt())
                clock.observe(remote, wallMilliseconds: wall)
                #expect(clock.last >= latest, "WSX_SEED=\(seed)")
            } else {
                let next = clock.next(wallMilliseconds: wall)
                #expect(next > latest, "WSX_SEED=\(seed)")
                latest = next
            }
            #expect(clock.last.milliseconds <= 1_001_000 + Self.lead, "WSX_SEED=\(seed)")
        }
        clock.observe(HybridTimestamp(rawValue: .max), wallMilliseconds: .max)
        _ = clock.next(wallMilliseconds: .max)
    }
}
