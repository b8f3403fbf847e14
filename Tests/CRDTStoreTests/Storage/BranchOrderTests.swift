import CRDTStore
import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

struct `The branches of a log, in their order` {
    private let document = DocumentID([UInt8](repeating: 0xd0, count: 32))

    private func stored(_ branches: [LogBranch]) -> OperationStore.BranchEnds {
        Dictionary(uniqueKeysWithValues: branches.map { ($0.number, $0.tipSequence) })
    }

    @Test(arguments: Seeds.explore(12))
    func `have it from their operations, not from their arrival`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let history = RandomHistory(count: 60, with: &random)
        let logs = Set(history.operations.map(\.log)).sorted()
        var seen: [[[OperationID]]] = []
        for _ in 0..<3 {
            let store = try NodeStore.inMemory()
            try StoredLog.put(history.shuffledCausally(with: &random), in: store)
            seen.append(
                try logs.map { log in
                    let branches = try store.operations.branches(of: log)
                    return try store.operations.leaves(of: branches, ends: stored(branches))
                        .compactMap { store.operations.branch($0)?.tip.id }
                })
            try store.commit()
        }
        #expect(seen[0] == seen[1] && seen[1] == seen[2], "WSX_SEED=\(seed)")
        // What nothing goes on from, and nothing else.
        let previous = Set(history.operations.compactMap(\.operation.header.previous))
        let tips = Set(history.operations.map(\.operation.id)).subtracting(previous)
        #expect(Set(seen[0].joined()) == tips, "WSX_SEED=\(seed)")
    }

    @Test func `are the same without those behind the first ones`() throws {
        let store = try NodeStore.inMemory()
        var trunk = WrittenLog(by: TestDevice(1), in: document)
        trunk.writeMany(3)
        try StoredLog.put(trunk, in: store)
        for number in UInt8(0)..<6 {
            var fork = trunk.fork(after: 2)
            for step in UInt8(0)..<3 { fork.write([number, step]) }
            try StoredLog.put(fork, 2..<5, in: store)
        }
        let operations = store.operations
        let before = try operations.branches(of: trunk.name)
        let leaves = try operations.leaves(of: before, ends: stored(before))
        #expect(leaves.count == 7)
        let ends = try operations.ends(ofFirst: 2, of: before, ends: stored(before))
        for branch in before { try operations.cut(branch.number, behind: ends[branch.number]) }
        let after = try operations.branches(of: trunk.name)
        let left = try operations.leaves(of: after, ends: stored(after))
        #expect(left == Array(leaves.prefix(2)))
        let rows = try store.connection.statement("SELECT count(*) FROM operation").integer()
        #expect(operations.count == rows)
        for (index, leaf) in leaves.enumerated() {
            guard let tip = operations.branch(leaf) else { continue }
            #expect(index < 2 || tip.tipSequence == 1)
        }
        try store.commit()
        let again = try store.reopened()
        #expect(try again.operations.branches(of: trunk.name) == after)
        #expect(again.operations.count == operations.count)
    }

    @Test func `know where a newcomer would stand`() throws {
        let store = try NodeStore.inMemory()
        var logs: [WrittenLog] = []
        for number in UInt8(0)..<4 {
            var log = WrittenLog(by: TestDevice(1), in: document)
            log.write([number])
            logs.append(log)
        }
        logs.sort { $0.operations[0].id < $1.operations[0].id }
        for log in [logs[3], logs[0], logs[2]] { try StoredLog.put(log, in: store) }
        let branches = try store.operations.branches(of: logs[0].name)
        for (log, count) in [(logs[1], 1), (logs[2], 1), (logs[3], 2)] {
            #expect(
                try store.operations.leafCount(
                    before: log.operations[0].id, at: 0, behind: branches[0].number, of: branches,
                    ends: stored(branches)) == count)
        }
        try store.commit()
    }
}

struct `Spans of one grant` {
    private let document = DocumentID([UInt8](repeating: 0xd0, count: 32))

    @Test func `say how far a branch is valid, and stay so`() throws {
        let store = try NodeStore.inMemory()
        var log = WrittenLog(by: TestDevice(1), in: document)
        for grant in [1, 1, 1, 2, 2, 1] as [UInt8] {
            log.write([grant], under: OperationID([UInt8](repeating: grant, count: 32)))
        }
        let (branch, _) = try StoredLog.put(log, in: store)
        let operations = store.operations
        #expect(operations.spans(of: branch).map(\.first) == [0, 3, 5])
        #expect((0..<3).map { operations.places(ofSpan: $0, in: branch) } == [0...2, 3...4, 5...5])
        #expect(operations.lastValid(of: branch) == nil)
        try operations.setValid(through: .max, ofSpan: 0, in: branch)
        #expect(operations.lastValid(of: branch) == 2)
        try operations.setValid(through: 3, ofSpan: 1, in: branch)
        try operations.setValid(through: 1, ofSpan: 2, in: branch)
        try store.commit()
        for operations in [operations, try store.reopened().operations] {
            #expect(operations.lastValid(of: branch) == 3)
            #expect(
                (0..<6).map { operations.isValid($0, in: branch) }
                    == [true, true, true, true, false, false])
        }
        try store.begin()
        try operations.cut(branch, behind: 2)
        #expect(operations.spans(of: branch).map(\.first) == [0])
        try store.commit()
        #expect(try store.reopened().operations.spans(of: branch) == operations.spans(of: branch))
    }
}
