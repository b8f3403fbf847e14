import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import SyncProtocol

struct `A table of claims` {
    private func log(_ number: Int) -> LogName { LoneSession.tip(number).log }

    private func add(
        _ table: inout ClaimTable, _ number: Int, sequence: UInt64 = 0, own: UInt64? = nil,
        isAuthority: Bool = false
    ) -> Bool {
        table.add(
            LoneSession.tip(number, sequence: sequence), ownSequence: own,
            isAuthority: isAuthority)
    }

    @Test func `counts what is missing by the sequence numbers`() {
        let rows: [(sequence: UInt64, own: UInt64?, behind: UInt64)] = [
            (0, nil, 1), (9, nil, 10), (9, 4, 5), (9, 8, 1), (9, 9, 1), (3, 9, 1),
            (.max, nil, 1 << 40), (.max, .max, 1 << 40), (9, .max, 10), (0, 0, 1),
        ]
        for row in rows {
            var table = ClaimTable()
            #expect(add(&table, 1, sequence: row.sequence, own: row.own) == true)
            #expect(table.behind == row.behind, "\(row)")
            table.remove(log(1))
            #expect(table.behind == 0 && table.activeCount == 0)
        }
    }

    @Test func `hands out the authority document, then what goes on, then what is new`() {
        var table = ClaimTable()
        for number in 1...3 { #expect(add(&table, number) == true) }
        #expect(add(&table, 9, isAuthority: true) == true)
        let first = [table.nextQueued(), table.nextQueued()]
        #expect(first == [log(9), log(1)])
        table.set(.pulling, of: log(1))
        table.set(.queued, of: log(1))
        let rest = (0..<4).map { _ in table.nextQueued() }
        #expect(rest == [log(1), log(2), log(3), nil])
    }

    // Otherwise a branch that was pruned during its pull would count as missing permanently.
    @Test func `forgets what nobody works on once both sides hold the same`() {
        var table = ClaimTable()
        for number in 1...4 { #expect(add(&table, number) == true) }
        table.set(.ignored, of: log(1))
        table.set(.waiting, of: log(2))
        table.set(.pulling, of: log(3))
        table.removeIdle()
        #expect(table.behind == 2 && table.activeCount == 2)
        #expect(table[log(1)] == nil && table[log(2)] == nil)
        #expect(table[log(3)] != nil && table[log(4)] != nil)
    }

    @Test func `hands out nothing that is no longer queued`() {
        var table = ClaimTable()
        for number in 1...4 { #expect(add(&table, number) == true) }
        table.set(.ignored, of: log(1))
        table.set(.pulling, of: log(2))
        table.remove(log(3))
        let next = [table.nextQueued(), table.nextQueued()]
        #expect(next == [log(4), nil])
    }

    @Test func `keeps the newest targets of a log, and hands them out eight at a time`() {
        var table = ClaimTable()
        for sequence in 0..<300 { #expect(add(&table, 1, sequence: UInt64(sequence)) == true) }
        #expect(add(&table, 1, sequence: 299) == true, "said twice is said once")
        #expect(table[log(1)]?.targets.map(\.sequence) == (44..<300).map { UInt64($0) })
        #expect(table.claims.count == 1 && table.activeCount == 1)
        #expect(table.behind == 300, "the farthest counts")
        for round in 0..<32 {
            #expect(table.hasFresh(log(1)))
            let first = UInt64(44 + 8 * round)
            #expect(table.nextTargets(of: log(1)).map(\.sequence) == Array(first..<first + 8))
        }
        #expect(!table.hasFresh(log(1)) && table.nextTargets(of: log(1))[0].sequence == 44)
    }

    @Test func `asks first for what is cited, and not endlessly`() throws {
        var table = ClaimTable()
        for sequence in 0..<20 { #expect(add(&table, 1, sequence: UInt64(sequence)) == true) }
        let point = try #require(table[log(1)]?.targets[7])
        let tip = LogTip(log: log(1), sequence: point.sequence, id: point.id)
        for _ in 0..<3 { _ = table.nextTargets(of: log(1)) }
        for _ in 0..<8 {
            table.set(.ignored, of: log(1))
            table.want(tip, ownSequence: nil)
            #expect(table[log(1)]?.state == .queued && table.hasFresh(log(1)))
            #expect(table.nextTargets(of: log(1)).first?.sequence == 7)
        }
        table.set(.ignored, of: log(1))
        table.want(tip, ownSequence: nil)
        #expect(table[log(1)]?.state == .ignored, "until a comparison names it")
        table.begin(log(1))
        #expect(table[log(1)]?.state == .queued)
        #expect(table[log(1)]?.targets.count == 20)
    }

    @Test func `has room for as many logs as are remembered, and for more of those`() {
        var table = ClaimTable()
        for number in 0..<Limits.rememberedTipsMax where !add(&table, number) {
            Issue.record("no room for \(number)")
        }
        #expect(add(&table, Limits.rememberedTipsMax) == false)
        #expect(add(&table, 0, sequence: 5) == true)
        table.remove(log(7))
        #expect(add(&table, Limits.rememberedTipsMax) == true)
    }

    @Test func `has room of its own for the authority document, also when it was emptied`() {
        var table = ClaimTable(most: 3, mostOfAuthority: 2)
        for _ in 0..<2 {
            let authority = (0..<3).map { add(&table, $0, isAuthority: true) }
            #expect(authority == [true, true, false])
            #expect((5..<9).map { add(&table, $0) } == [true, true, true, false])
            table.removeAll()
        }
        _ = add(&table, 1, isAuthority: true)
        _ = add(&table, 2, isAuthority: true)
        table.remove(log(1))
        #expect(add(&table, 3, isAuthority: true))
        #expect(add(&table, 4, isAuthority: true) == false)
    }

    @Test func `forgets targets that came, and the log with the last of them`() {
        var table = ClaimTable()
        for sequence: UInt64 in [3, 5] { #expect(add(&table, 1, sequence: sequence) == true) }
        #expect((table.settle(log(1)) { $0.sequence == 3 }) == false)
        #expect(table[log(1)]?.targets.map(\.sequence) == [5])
        #expect((table.settle(log(1)) { _ in true }) == true)
        #expect(table[log(1)] == nil && table.behind == 0)
        #expect(
            (table.settle(log(1)) { _ in false }) == true, "nothing is missing of what is unknown")
    }

    @Test func `tells what waits elsewhere once, and only what still does`() {
        var table = ClaimTable()
        for number in 1...4 { #expect(add(&table, number) == true) }
        for number in 1...3 { table.set(.elsewhere, of: log(number)) }
        table.set(.waiting, of: log(4))
        table.remove(log(2))
        table.set(.queued, of: log(3))
        let elsewhere = [table.takeElsewhere(), table.takeElsewhere()]
        #expect(elsewhere == [[log(1)], []])
        let waiting = [table.takeWaiting(), table.takeWaiting()]
        #expect(waiting == [[log(4)], []])
    }

    @Test func `asks for samples until the log is settled`() {
        var table = ClaimTable()
        #expect(add(&table, 1) == true)
        #expect(table[log(1)]?.needsSamples == false)
        table.askForSamples(log(1))
        table.askForSamples(log(2))
        #expect(table[log(1)]?.needsSamples == true)
        #expect(table[log(2)] == nil)
    }

    /// Sums are kept along; they are what `behind` and `caughtUp` are made of.
    @Test(arguments: Seeds.explore(15))
    func `keeps its sums right whatever happens`(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var table = ClaimTable()
        let states: [ClaimTable.State] = [.queued, .pulling, .elsewhere, .waiting, .ignored]
        for _ in 0..<400 {
            let number = random.below(12)
            switch random.below(5) {
            case 0...1:
                _ = add(
                    &table, number, sequence: random.oneIn(9) ? .max : UInt64(random.below(50)),
                    own: random.oneIn(2) ? nil : UInt64(random.below(50)))
            case 2: table.set(states[random.below(5)], of: log(number))
            case 3: if random.oneIn(3) { table.remove(log(number)) }
            default: _ = table.settle(log(number)) { $0.sequence.isMultiple(of: 2) }
            }
            let claims = table.claims.values
            #expect(table.behind == claims.reduce(0) { $0 + $1.behind }, "WSX_SEED=\(seed)")
            let active = claims.count {
                switch $0.state {
                case .queued, .pulling, .elsewhere: true
                case .waiting, .ignored: false
                }
            }
            #expect(table.activeCount == active, "WSX_SEED=\(seed)")
            #expect(claims.allSatisfy { (1...256).contains($0.targets.count) })
            #expect(claims.allSatisfy { (0...$0.targets.count).contains($0.freshCount) })
        }
        table.removeAll()
        #expect(table.behind == 0 && table.activeCount == 0 && table.nextQueued() == nil)
    }

    @Test(arguments: Seeds.explore(5))
    func `queues by place, whatever came first`(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var queue = ClaimQueue()
        var model: Set<UInt64> = []
        for number in 0..<3_000 {
            let place = UInt64(random.below(100_000))
            if random.below(4) < (number < 1_500 ? 3 : 1) {
                guard model.insert(place).inserted else { continue }
                queue.insert(log(Int(place)), at: place)
            } else {
                let expected = model.min()
                let next = queue.popFirst()
                #expect(next?.place == expected, "WSX_SEED=\(seed)")
                #expect(next?.log == expected.map { log(Int($0)) })
                expected.map { _ = model.remove($0) }
            }
        }
        while let next = queue.popFirst() { #expect(model.remove(next.place) != nil) }
        #expect(model.isEmpty, "WSX_SEED=\(seed)")
    }
}

struct `Claims that cite each other` {
    private func log(_ number: Int) -> LogName { LoneSession.tip(number).log }

    /// So many logs, each asked for once, in order.
    private func table(_ count: Int) -> ClaimTable {
        var table = ClaimTable()
        for number in 0..<count {
            _ = table.add(LoneSession.tip(number), ownSequence: nil, isAuthority: false)
        }
        while let log = table.nextQueued() { table.set(.pulling, of: log) }
        return table
    }

    private func wait(
        _ table: inout ClaimTable, _ number: Int, for cited: [Int], isKept: Bool = false
    ) {
        table.note(
            cited.map { LoneSession.tip($0) }, citedBy: log(number), isKept: isKept)
        table.set(.waiting, of: log(number))
    }

    private func takeAll(_ table: inout ClaimTable) -> [LogName] {
        var logs: [LogName] = []
        while let log = table.nextQueued() {
            table.set(.pulling, of: log)
            logs.append(log)
        }
        return logs
    }

    @Test func `are asked for in one go, causes first, once the first of them came`() {
        var table = table(5)
        for number in 0..<4 { wait(&table, number, for: [number + 1]) }
        #expect(table.takeWaiting().isEmpty, "not whenever anything comes")
        #expect(takeAll(&table).isEmpty)
        table.remove(log(4))
        #expect(takeAll(&table) == [3, 2, 1, 0].map { log($0) })
    }

    @Test func `wait for all that they cite`() {
        var table = table(4)
        wait(&table, 0, for: [1, 2, 3])
        table.remove(log(1))
        table.came(LoneSession.tip(2))
        #expect(takeAll(&table).isEmpty && table.isBlocked(log(0)))
        table.remove(log(3))
        #expect(takeAll(&table) == [log(0)])
    }

    @Test func `are not asked for again where they wait in memory, but what cites them is`() {
        var table = table(3)
        wait(&table, 0, for: [1])
        wait(&table, 1, for: [2], isKept: true)
        table.remove(log(2))
        #expect(takeAll(&table) == [log(0)])
        #expect(table[log(1)]?.state == .waiting)
    }

    @Test func `do not wait for what came meanwhile, nor for what nobody has`() {
        var table = table(2)
        table.note([LoneSession.tip(1)], citedBy: log(0), isKept: false)
        table.remove(log(1))
        table.set(.waiting, of: log(0))
        #expect(takeAll(&table) == [log(0)])
        wait(&table, 0, for: [77])
        #expect(table.takeWaiting() == [log(0)], "as soon as anything comes")
    }

    @Test func `begin again when a comparison names them`() {
        var table = table(2)
        wait(&table, 0, for: [1])
        table.set(.ignored, of: log(1))
        table.begin(log(0))
        #expect(takeAll(&table) == [log(0)])
    }
}

struct `A planner of pulls` {
    private func log(_ number: Int) -> LogName { LoneSession.tip(number).log }

    @Test func `gives a log to one source at a time, and tells who wanted it`() {
        var planner = PullPlanner()
        #expect(planner.reserve(log(1), for: 7, at: 0) == true)
        #expect(planner.reserve(log(1), for: 7, at: 0) == true, "it has it already")
        #expect(planner.source(of: log(1)) == 7 && planner.count == 1)
        #expect(planner.reserve(log(1), for: 8, at: 0) == false)
        #expect(planner.release(log(1), by: 8) == false, "not its own")
        #expect(planner.source(of: log(1)) == 7)
        #expect(planner.release(log(1), by: 7) == true, "source 8 wanted it")
        #expect(planner.source(of: log(1)) == nil && planner.count == 0)
    }

    @Test func `tells a wish once, and of its own log alone`() {
        var planner = PullPlanner()
        #expect(planner.reserve(log(1), for: 7, at: 0) && planner.reserve(log(2), for: 7, at: 0))
        #expect(planner.reserve(log(1), for: 8, at: 0) == false)
        #expect(planner.release(log(2), by: 7) == false)
        #expect(planner.release(log(1), by: 7) == true)
        #expect(planner.reserve(log(1), for: 7, at: 0) == true)
        #expect(planner.release(log(1), by: 7) == false, "nobody wanted it since")
        #expect(planner.release(log(3), by: 7) == false, "never taken")
    }

    @Test(arguments: Seeds.explore(10))
    func `never gives one log to two`(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var planner = PullPlanner()
        var holders: [LogName: UInt64] = [:]
        for _ in 0..<500 {
            let log = log(random.below(8))
            let source = UInt64(random.below(3))
            if random.oneIn(2) {
                let isFree = holders[log] == nil || holders[log] == source
                #expect(planner.reserve(log, for: source, at: 0) == isFree, "WSX_SEED=\(seed)")
                if isFree { holders[log] = source }
            } else {
                _ = planner.release(log, by: source)
                if holders[log] == source { holders[log] = nil }
            }
            #expect(planner.source(of: log) == holders[log], "WSX_SEED=\(seed)")
            #expect(planner.count == holders.count)
        }
    }
}

struct `An allowance` {
    @Test func `gives its tokens at once and then one for each time that passed`() {
        var allowance = Allowance(tokens: 3, refillMilliseconds: 100)
        let first = (0..<5).map { _ in allowance.take(at: 1_000) }
        #expect(first == [true, true, true, false, false])
        let later = [1_099, 1_100, 1_100, 1_199, 1_200, 1_200].map { allowance.take(at: $0) }
        #expect(later == [false, true, false, false, true, false])
    }

    @Test func `never saves more than its tokens`() {
        var allowance = Allowance(tokens: 2, refillMilliseconds: 10)
        _ = allowance.take(at: 0)
        let taken = (0..<4).map { _ in allowance.take(at: 1_000_000) }
        #expect(taken == [true, true, false, false])
    }

    @Test func `counts time from its first use, and not backwards`() {
        var allowance = Allowance(tokens: 1, refillMilliseconds: 10)
        #expect(allowance.take(at: 5_000) == true)
        let earlier = [4_000, 5_009].map { allowance.take(at: $0) }
        #expect(earlier == [false, false])
        #expect(allowance.take(at: 5_010) == true)
        var atTheEnd = Allowance(tokens: 1, refillMilliseconds: 10)
        #expect(atTheEnd.take(at: .max) == true)
        #expect(atTheEnd.take(at: .max) == false)
    }

    /// In any stretch of time no more than the tokens and one for each refill.
    @Test(arguments: Seeds.explore(15))
    func `keeps its rate however it is asked`(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let tokens = 1 + random.below(5)
        var allowance = Allowance(tokens: UInt64(tokens), refillMilliseconds: 50)
        var now: UInt64 = 0
        var taken: [UInt64] = []
        for _ in 0..<600 {
            now += UInt64(random.below(random.oneIn(20) ? 2_000 : 40))
            if allowance.take(at: now) { taken.append(now) }
        }
        // One more than fits the time, for a refill that was almost due at its start.
        let isKept = taken.indices.allSatisfy { start in
            (start..<taken.count).allSatisfy { end in
                end - start < tokens + Int((taken[end] - taken[start]) / 50) + 1
            }
        }
        #expect(isKept, "WSX_SEED=\(seed)")
        #expect(taken.count >= Int(now / 2_000), "WSX_SEED=\(seed): it does give some")
    }
}

struct `The delays of a retry schedule` {
    @Test func `reach both ends of their range and no further`() {
        for (failures, step) in [(0, UInt64(1_000)), (3, 8_000), (9, 300_000), (40, 300_000)] {
            func delay(_ random: UInt64) -> UInt64 {
                var schedule = RetrySchedule()
                for _ in 0..<failures { _ = schedule.delayAfterFailure(random: 0) }
                return schedule.delayAfterFailure(random: random)
            }
            #expect(delay(0) == step / 2)
            #expect(delay(step / 2) == step)
            #expect(delay(step / 2 + 1) == step / 2, "and around")
            #expect((step / 2...step).contains(delay(.max)))
        }
    }

    /// A thousand peers that lost the same link must not come back in the same moment.
    @Test(arguments: Seeds.explore(5))
    func `spread evenly over it`(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var counts = [Int](repeating: 0, count: 10)
        for _ in 0..<5_000 {
            var schedule = RetrySchedule()
            let delay = schedule.delayAfterFailure(random: random.next())
            counts[min(9, Int(delay - 500) / 50)] += 1
        }
        // 500 each are expected; seven times the deviation of a fair throw is 150.
        for count in counts { #expect((350...650).contains(count), "\(counts) WSX_SEED=\(seed)") }
    }

    @Test func `depend on the failures and the number alone`() {
        var left = RetrySchedule()
        var right = RetrySchedule()
        for number: UInt64 in 0..<20 {
            #expect(
                left.delayAfterFailure(random: number) == right.delayAfterFailure(random: number))
            #expect(left == right)
        }
        right.succeeded()
        #expect(left != right)
    }
}
