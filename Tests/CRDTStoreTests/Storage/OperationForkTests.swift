import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

@testable import CRDTStore

// O04
struct `A forked log` {
    let store: NodeStore
    let document = DocumentID([UInt8](repeating: 0xd0, count: 32))

    init() throws { store = try .inMemory() }

    /// Four branches: the trunk 0…9, a fork at 4, a fork of that at 6, and one from the start.
    private func forked() -> [WrittenLog] {
        var trunk = WrittenLog(by: TestDevice(1), in: document)
        trunk.writeMany(10)
        var second = trunk.fork(after: 4)
        var third: WrittenLog
        for number in UInt8(0)..<5 { second.write([2, number]) }
        third = second.fork(after: 6)
        for number in UInt8(0)..<4 { third.write([3, number]) }
        var fourth = trunk.fork(after: 0)
        for number in UInt8(0)..<2 { fourth.write([4, number]) }
        return [trunk, second, third, fourth]
    }

    private func stored() throws -> [(log: WrittenLog, branch: Int64)] {
        let logs = forked()
        return try logs.enumerated().map { index, log in
            let start = [0, 4, 6, 0][index]
            let (branch, _) = try StoredLog.put(log, start..<log.operations.count, in: store)
            return (log, branch)
        }
    }

    @Test func `has every branch from its first place on`() throws {
        let branches = try stored()
        let found = try store.operations.branches(of: branches[0].log.name)
        #expect(found.map(\.number) == branches.map(\.branch))
        #expect(found.map(\.forkSequence) == [0, 4, 6, 0])
        #expect(
            found.map(\.parent) == [
                nil, branches[0].branch, branches[1].branch, branches[0].branch,
            ])
        #expect(found.map(\.tipSequence) == [9, 8, 9, 1])
        try store.commit()
        let again = try store.reopened()
        #expect(try again.operations.branches(of: branches[0].log.name) == found)
        #expect(try again.operations.branches(in: document) == found)
    }

    /// More branches than are looked at one by one: thirty from the middle of the trunk, and one from
    /// the middle of each.
    @Test func `with many branches finds each operation where it is`() throws {
        var trunk = WrittenLog(by: TestDevice(1), in: document)
        trunk.writeMany(5)
        try StoredLog.put(trunk, in: store)
        var logs: [(log: WrittenLog, range: Range<Int>)] = [(trunk, 0..<5)]
        for number in UInt8(0)..<30 {
            var fork = trunk.fork(after: 2)
            for step in UInt8(0)..<3 { fork.write([100 + number, step]) }
            var second = fork.fork(after: 3)
            second.write([100 + number, 9])
            logs += [(fork, 2..<5), (second, 3..<4)]
        }
        var branches: [Int64] = []
        for (log, range) in logs.dropFirst() {
            branches.append(try StoredLog.put(log, range, in: store).branch)
        }
        func expectFound(in store: NodeStore, but gone: Set<Int64> = []) throws {
            for (index, item) in logs.enumerated() {
                for sequence in item.range {
                    let found = try store.operations.find(
                        item.log.reference(sequence), in: document)
                    let branch = index == 0 ? 1 : branches[index - 1]
                    #expect(found?.branch == (gone.contains(branch) ? nil : branch))
                    #expect(found.map(\.sequence) ?? UInt64(sequence) == UInt64(sequence))
                }
            }
        }
        try expectFound(in: store)
        // Every other fork goes, with what leaves it, and the first of them comes again.
        let gone = stride(from: 0, to: 20, by: 4).flatMap { [branches[$0], branches[$0 + 1]] }
        for branch in gone.sorted().reversed() {
            try store.operations.cut(branch, behind: nil)
        }
        try expectFound(in: store, but: Set(gone))
        branches[0] = try StoredLog.put(logs[1].log, logs[1].range, in: store).branch
        try expectFound(in: store, but: Set(gone.dropFirst()))
        try store.commit()
        try expectFound(in: try store.reopened(), but: Set(gone.dropFirst()))
        // Few enough to be looked at one by one.
        try store.begin()
        for branch in branches.dropFirst(20).sorted().reversed() {
            try store.operations.cut(branch, behind: nil)
        }
        try expectFound(in: store, but: Set(gone.dropFirst() + branches.dropFirst(20)))
        #expect(try store.operations.branches(of: trunk.name).count <= ForkedLogIndex.branchesMax)
    }

    @Test func `gives each place to the branch that holds it`() throws {
        for (log, branch) in try stored() {
            for sequence in log.operations.indices {
                let place = try #require(
                    try store.operations.place(in: branch, at: UInt64(sequence)))
                #expect(place.link.id == log.operations[sequence].id)
                let found = try store.operations.find(log.reference(sequence), in: document)
                #expect(found == place)
                #expect(
                    try store.operations.previous(of: place)
                        == log.operations[sequence].header.previous)
            }
            let end = UInt64(log.operations.count)
            #expect(try store.operations.place(in: branch, at: end) == nil)
            #expect(try store.operations.place(in: branch, at: .max) == nil)
        }
        #expect(try store.operations.place(in: 99, at: 0) == nil)
    }

    @Test func `gives runs across its forks`() throws {
        for (log, branch) in try stored() {
            let count = log.operations.count
            for first in 0..<count {
                try expect(log, from: first, on: branch)
            }
            #expect(
                try store.operations.run(
                    of: branch, from: UInt64(count), through: .max, byteCountMax: .max) == nil)
        }
    }

    /// A receiver who has what comes before `first` takes the runs one after another, and then has all.
    private func expect(_ log: WrittenLog, from first: Int, on branch: Int64) throws {
        let (runs, isWhole) = try store.operations.runs(
            of: branch, from: UInt64(first), through: UInt64(log.operations.count - 1),
            byteCountMax: .max)
        #expect(isWhole)
        var links: [OperationID: ChainLink] = [:]
        log.link(before: first).map { links[$0.id] = $0 }
        for run in runs {
            let previous = run.previous.flatMap { links[$0] }
            for operation in try OperationChecks.check(run, after: previous) {
                links[operation.id] = operation.link
            }
        }
        #expect(log.operations[first...].allSatisfy { links[$0.id] != nil })
    }

    @Test func `has a branch below the place where its parent began`() throws {
        let branches = try stored()
        var fifth = branches[0].log.fork(after: 2)
        for number in UInt8(0)..<3 { fifth.write([5, number]) }
        let (branch, _) = try StoredLog.put(
            fifth, 2..<5, in: store, at: .fork(of: branches[2].branch, at: 2))
        for first in 0..<5 { try expect(fifth, from: first, on: branch) }
    }

    @Test func `goes on behind every branch`() throws {
        let branches = try stored()
        for (log, branch) in branches {
            var longer = log
            let end = log.operations.count
            longer.write([9])
            let (found, _) = try StoredLog.put(longer, end..<end + 1, in: store)
            #expect(found == branch)
            #expect(store.operations.branch(branch)?.tip.id == longer.operations[end].id)
        }
    }

    @Test func `orders a branch after the place that it leaves`() throws {
        var trunk = WrittenLog(by: TestDevice(1), in: document)
        trunk.writeMany(3)
        try StoredLog.put(trunk, in: store, seen: 1 << 40, floor: 1 << 50)
        var fork = trunk.fork(after: 2)
        fork.write([8])
        let (_, appended) = try StoredLog.put(fork, 2..<3, in: store)
        let before = try store.operations.find(trunk.reference(1), in: document)
        #expect(appended[0].sort == before.map { $0.sort + 1 })
    }

    // 3.15.3: every order of arrival gives the same branches.
    @Test(arguments: Seeds.explore(12))
    func `is the same set in every order of arrival`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let history = RandomHistory(count: 60, with: &random)
        var roots: Set<SetDigest> = []
        for _ in 0..<3 {
            let store = try NodeStore.inMemory()
            try StoredLog.put(history.shuffledCausally(with: &random), in: store)
            try store.commit()
            let again = try store.reopened()
            #expect(try StoreContents(again) == StoreContents(store), "WSX_SEED=\(seed)")
            var digest = WorkspaceDigest()
            for document in Set(history.operations.map(\.log.document)).sorted() {
                digest.update(document, tips: try again.operations.branches(in: document))
            }
            roots.insert(digest.root())
            for log in history.branches where !log.operations.isEmpty {
                let tip = log.reference(log.operations.count - 1)
                let place = try #require(try again.operations.find(tip, in: log.document))
                let run = try again.operations.run(
                    of: place.branch, from: 0, through: tip.sequence, byteCountMax: .max)
                #expect(run == log.run, "WSX_SEED=\(seed)")
            }
        }
        #expect(roots.count == 1, "WSX_SEED=\(seed)")
    }
}

struct `A stored run` {
    let store: NodeStore
    let document = DocumentID([UInt8](repeating: 0xd0, count: 32))

    init() throws { store = try .inMemory() }

    private func log(_ count: Int, payload: Int = 10) -> WrittenLog {
        var log = WrittenLog(by: TestDevice(1), in: document)
        for _ in 0..<count { log.write([UInt8](repeating: 5, count: payload)) }
        return log
    }

    @Test func `ends on a signature that was verified`() throws {
        let log = log(10)
        let (branch, _) = try StoredLog.put(log, 0..<4, in: store)
        try StoredLog.put(log, 4..<10, in: store)
        for (last, end) in [(0, 4), (3, 4), (4, 10), (9, 10), (100, 10)] as [(UInt64, Int)] {
            let run = try store.operations.run(
                of: branch, from: 0, through: last, byteCountMax: .max)
            #expect(run == log.run(0..<end), "through \(last)")
        }
        let middle = try store.operations.run(of: branch, from: 2, through: 2, byteCountMax: .max)
        #expect(middle == log.run(2..<4))
        #expect(try store.operations.run(of: branch, from: 3, through: 2, byteCountMax: 9) == nil)
        #expect(try store.operations.run(of: 99, from: 0, through: 2, byteCountMax: 9) == nil)
    }

    // What comes before a fork may be vouched for behind it alone, on the branch that is left.
    @Test func `is served from the branch that vouches for it up to a fork`() throws {
        let log = log(10)
        let (first, _) = try StoredLog.put(log, in: store)
        var fork = self.log(5)
        for _ in 0..<4 { fork.write([UInt8](repeating: 6, count: 10)) }
        let (second, _) = try StoredLog.put(fork, 5..<9, in: store)
        #expect(second != first)
        let operations = store.operations
        for place in [0, 3] as [UInt64] {
            let all = try operations.runs(of: second, from: place, through: 8, byteCountMax: .max)
            #expect(all.runs == [log.run(Int(place)..<10), fork.run(5..<9)] && all.isWhole)
            let few = try operations.runs(of: second, from: place, through: 8, byteCountMax: 1)
            #expect(few.runs == [log.run(Int(place)..<10)] && !few.isWhole)
        }
        let rest = try operations.runs(of: second, from: 5, through: 8, byteCountMax: 1)
        #expect(rest.runs == [fork.run(5..<9)] && rest.isWhole)
        // Where the last place before the fork is vouched for, one run is enough.
        try StoredLog.verify(at: 4, of: first, in: store)
        let one = try operations.runs(of: second, from: 0, through: 8, byteCountMax: .max)
        #expect(one.runs == [fork.run(0..<9)] && one.isWhole)
    }

    // An entry of 200 bytes counts 378, and every third one may end a run.
    @Test(arguments: [
        (0, 8), (1, 8), (900, 8), (2_267, 8), (2_268, 4), (3_402, 3), (4_536, 2), (1_000_000, 1),
    ])
    func `honours its bytes as far as signatures allow`(
        _ byteCountMax: Int, _ expected: Int
    ) throws {
        let log = log(24, payload: 200)
        var branch: Int64 = 0
        for start in stride(from: 0, to: 24, by: 3) {
            branch = try StoredLog.put(log, start..<start + 3, in: store).branch
        }
        var next: UInt64 = 0
        var runs = 0
        while let run = try store.operations.run(
            of: branch, from: next, through: .max, byteCountMax: byteCountMax)
        {
            #expect(run.entries.count % 3 == 0)
            let byteCount = run.entries.reduce(0) { $0 + $1.encodedBytesMax }
            #expect(byteCount <= byteCountMax || run.entries.count == 3)
            #expect(refusal(of: run, after: log.link(before: Int(next))) == nil)
            #expect(run == log.run(Int(next)..<Int(next) + run.entries.count))
            next += UInt64(run.entries.count)
            runs += 1
        }
        #expect(next == 24)
        #expect(runs == expected)
    }

    // I2
    @Test func `is covered in each segment by itself`() throws {
        let log = log(1_100, payload: 2)
        let (branch, _) = try StoredLog.put(log, in: store)
        let run = try store.operations.run(of: branch, from: 0, through: 5, byteCountMax: .max)
        #expect(run?.entries.count == 1_024)
        let rest = try store.operations.run(
            of: branch, from: 1_024, through: 1_024, byteCountMax: .max)
        #expect(rest?.entries.count == 76)
    }
}
