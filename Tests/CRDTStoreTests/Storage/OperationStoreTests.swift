import CRDTStore
import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

struct `Stored operations` {
    let store: NodeStore
    let document = DocumentID([UInt8](repeating: 0xd0, count: 32))

    init() throws { store = try .inMemory() }

    private func log(_ count: Int, by device: UInt64 = 1) -> WrittenLog {
        var log = WrittenLog(by: TestDevice(device), in: document)
        log.writeMany(count)
        return log
    }

    @Test func `are read back as they came`() throws {
        var log = WrittenLog(foundedBy: TestDevice(1))
        log.write(AuthorityPayload.feature(1).encoded, kind: .authority)
        log.write([7, 7], citing: [log.reference(1)])
        let random = SeededRandom(seed: 1)
        log.seal(
            .message(.init(text: "x")), under: SymmetricKey(using: random),
            keyID: KeyID([UInt8](repeating: 4, count: 16)), using: random)
        let (branch, appended) = try StoredLog.put(log, in: store)
        #expect(appended.map(\.arrival) == [1, 2, 3, 4])
        for store in [store, try committed(store).reopened()] {
            let run = try store.operations.run(
                of: branch, from: 0, through: 3, byteCountMax: .max)
            #expect(run == log.run)
            for (place, operation) in log.operations.enumerated() {
                let found = try #require(
                    try store.operations.find(log.reference(place), in: log.document))
                #expect(found.link.id == operation.id)
                #expect(found.sequence == UInt64(place))
                let read = try #require(try store.operations.operation(found.arrival))
                #expect(read.place == found && read.log == log.name)
                #expect(read.entry == log.run.entries[place])
                #expect(store.operations.grant(read.grantNumber) == operation.header.grant)
                #expect(
                    store.operations.number(ofGrant: operation.header.grant) == read.grantNumber)
                #expect(try store.operations.previous(of: found) == operation.header.previous)
            }
            #expect(store.operations.number(ofGrant: .zero) == 0)
            #expect(store.operations.count == 4)
            #expect(try store.operations.operation(5) == nil)
        }
    }

    @Test func `are read in order of arrival, also beside one that cannot be read`() throws {
        let (_, appended) = try StoredLog.put(log(5), in: store)
        let arrivals = appended.map(\.arrival)
        let operations = store.operations
        for numbers in [1...9, 2...4, 7...9, 3...3] as [ClosedRange<Int64>] {
            let before = operations.readCount
            let found = try operations.operations(arrived: numbers)
            #expect(found.map(\.place.arrival) == arrivals.filter(numbers.contains))
            #expect(operations.readCount - before == found.count)
            for one in found {
                let alone = try #require(try operations.operation(one.place.arrival))
                #expect(one.place == alone.place && one.entry == alone.entry)
                #expect(one.document == alone.document && one.log == alone.log)
                #expect(one.seen == alone.seen && one.grantNumber == alone.grantNumber)
                #expect(one.isSignatureVerified == alone.isSignatureVerified)
            }
        }
        try store.connection.statement("UPDATE operation SET sig = x'00' WHERE arr = ?")
            .run(.integer(3))
        #expect(try operations.operations(arrived: 1...5).map(\.place.arrival) == [1, 2, 4, 5])
    }

    private func committed(_ store: NodeStore) throws -> NodeStore {
        try store.commit()
        return store
    }

    @Test func `are found by their whole name only`() throws {
        let log = log(3)
        try StoredLog.put(log, in: store)
        let good = log.reference(1)
        let wrong = [
            OperationReference(
                device: good.device, incarnation: 1, sequence: 1, id: log.operations[2].id),
            OperationReference(device: good.device, incarnation: 2, sequence: 1, id: good.id),
            OperationReference(device: good.device, incarnation: 1, sequence: 2, id: good.id),
            OperationReference(device: .zero, incarnation: 1, sequence: 1, id: good.id),
            OperationReference(device: good.device, incarnation: 1, sequence: .max, id: good.id),
        ]
        #expect(try store.operations.find(good, in: document) != nil)
        for reference in wrong {
            #expect(try store.operations.find(reference, in: document) == nil)
        }
        #expect(try store.operations.find(good, in: .zero) == nil)
    }

    // I3
    @Test func `have numbers that rise and are never given twice`() throws {
        let log = log(12)
        var store = store
        var last: Int64 = 0
        for place in 0..<12 {
            let (_, appended) = try StoredLog.put(log, place..<place + 1, in: store)
            #expect(appended[0].arrival == last + 1)
            last = appended[0].arrival
            try store.commit()
            if place % 3 == 0 { store = try store.reopened() }
        }
        try store.begin()
        try store.connection.execute("DELETE FROM operation WHERE arr = 12")
        try store.connection.commit()
        let after = try store.reopened()
        #expect(after.operations.arrival == 12)
        let (_, appended) = try StoredLog.put(self.log(1, by: 2), in: after)
        #expect(appended[0].arrival == 13)
    }

    @Test func `of a turn that was undone never were`() throws {
        let log = log(6)
        try StoredLog.put(log, 0..<2, in: store)
        try store.commit()
        let before = try StoreContents(store)
        try StoredLog.put(log, 2..<6, in: store)
        try StoredLog.put(self.log(3, by: 2), in: store)
        store.connection.rollback()
        let again = try NodeStore(store.connection)
        #expect(try StoreContents(again) == before)
        let (_, appended) = try StoredLog.put(log, 2..<3, in: again)
        #expect(appended[0].arrival == 3)
    }

    @Test func `are shown after what they cite and not ahead of the clock`() throws {
        var log = WrittenLog(by: TestDevice(1), in: document)
        let now: UInt64 = 1_000_000
        log.write([1], at: (now - 10) << 16)
        log.write([1], at: (now + 1) << 16 | 7)
        log.write([1], at: (now + 300_000) << 16)
        log.write([1], at: (now + 300_001) << 16)
        log.write([1], at: .max)
        let (branch, appended) = try StoredLog.put(log, in: store, seen: now)
        let latest = Int64(now + 300_000) << 16
        #expect(
            appended.map(\.sort) == [
                Int64(now - 10) << 16, Int64(now + 1) << 16 | 7, latest, latest + 1,
                latest + 1 << 34,
            ])
        #expect(store.operations.branch(branch)?.tipSort == latest + 1 << 34)
        let floor = latest + 1 << 35
        let (_, other) = try StoredLog.put(
            self.log(2, by: 2), in: store, seen: now, floor: floor)
        #expect(other.map(\.sort) == [floor + 1, floor + 2])
    }

    /// What a machine takes in whose clock is behind lies ahead of it, all of it.
    @Test(arguments: [3, 50, 24 * 190])
    func `stand in their order where our clock is behind by hours`(_ hours: UInt64) throws {
        let now: UInt64 = 1 << 40
        let there = now + hours * 3_600_000
        var logs = [
            WrittenLog(by: TestDevice(1), in: document),
            WrittenLog(by: TestDevice(2), in: document),
        ]
        // Three by one, one by the other, and so on.
        for number in UInt64(0)..<40 {
            logs[number % 4 == 3 ? 1 : 0].write([UInt8(number)], at: (there + number) << 16)
        }
        var shown: [(sort: Int64, time: UInt64)] = []
        for log in logs {
            let (_, appended) = try StoredLog.put(log, in: store, seen: now)
            let times = log.operations.map(\.header.timestamp.rawValue)
            shown += zip(appended, times).map { ($0.sort, $1) }
        }
        let order = shown.sorted { $0.sort < $1.sort }.map(\.time)
        #expect(order == order.sorted())
        #expect(Set(shown.map(\.sort)).count == 40)
        #expect(shown.allSatisfy { $0.sort >> 16 < Int64(now) + 10 * 60_000 })
    }

    @Test func `of a kept tip are announced`() throws {
        let log = log(3)
        let (branch, _) = try StoredLog.put(log, in: store)
        #expect(store.operations.branch(branch)?.announcement == nil)
        let row = try #require(try store.operations.document(document)?.number)
        #expect(store.operations.branches(changedAfter: 0, workspace: row).isEmpty)
        let kept = LogBranch.KeptTip(sequence: 1, id: log.operations[1].id)
        store.operations.setKept(kept, of: branch)
        for isReopened in [false, true] {
            let store = isReopened ? try committed(store).reopened() : store
            let found = try #require(store.operations.branch(branch))
            #expect(found.kept == kept && found.changedArrival == 4)
            #expect(found.announcement?.sequence == 1)
            #expect(
                found.announcement?.id == Identifier16(prefixOf: log.operations[1].id))
            #expect(
                store.operations.branches(changedAfter: 3, workspace: row).map(\.number)
                    == [branch])
            #expect(store.operations.branches(changedAfter: 4, workspace: row).isEmpty)
            #expect(store.operations.branches(changedAfter: 3, workspace: 99).isEmpty)
        }
        store.operations.setKept(nil, of: branch)
        #expect(store.operations.branch(branch)?.announcement == nil)
    }

    @Test func `that did not move are not announced again`() throws {
        let log = log(2)
        let (branch, _) = try StoredLog.put(log, 0..<1, in: store)
        let kept = LogBranch.KeptTip(sequence: 0, id: log.operations[0].id)
        store.operations.setKept(kept, of: branch)
        try StoredLog.put(log, 1..<2, in: store)
        store.operations.setKept(kept, of: branch)
        #expect(store.operations.branch(branch)?.changedArrival == 2)
        #expect(store.operations.arrival == 3)
        store.operations.setKept(nil, of: 99)
        store.operations.setKept(kept, of: 99)
        #expect(store.operations.branch(99) == nil)
        try store.commit()
    }

    @Test func `belong to a document that is known better with time`() throws {
        try store.begin()
        let workspace = try store.operations.enter(.zero, workspace: nil, kind: .authority)
        let number = try store.operations.enter(document, workspace: workspace, kind: .unknown)
        #expect(number != workspace)
        #expect(
            try store.operations.enter(document, workspace: workspace, kind: .channel) == number)
        try store.operations.enter(document, workspace: workspace, kind: .unknown)
        for store in [store, try committed(store).reopened()] {
            let row = store.operations.document(document, in: workspace)
            #expect(row?.kind == .channel && row?.workspace == workspace && row?.number == number)
            #expect(store.operations.document(numbered: number) == row)
            #expect(store.operations.documents(ofWorkspace: workspace) == [.zero, document])
        }
    }

    // A name taken in one workspace is free in every other, a workspace's own name too.
    @Test func `belong to the workspace in which they came`() throws {
        try store.begin()
        let workspace = try store.operations.enter(.zero, workspace: nil, kind: .authority)
        let number = try store.operations.enter(document, workspace: workspace, kind: .unknown)
        let other = try store.operations.enter(document, workspace: 77, kind: .channel)
        let own = try store.operations.enter(document, workspace: nil, kind: .authority)
        #expect(Set([workspace, number, other, own]).count == 4)
        for (place, log) in [(workspace, log(3)), (77, log(5)), (own, log(2))] {
            let checked = try OperationChecks.check(log.run, after: nil)
            _ = try store.operations.append(
                checked, in: log.name, of: place, at: .newLog, seen: 1,
                citing: checked.map { _ in [] })
        }
        for store in [store, try committed(store).reopened()] {
            let operations = store.operations
            #expect(try operations.enter(document, workspace: nil, kind: .authority) == own)
            for (place, count) in [(workspace, 3), (77, 5), (own, 2)] as [(Int64, UInt64)] {
                let branches = operations.branches(of: log(1).name, in: place)
                #expect(branches.map(\.tipSequence) == [count - 1])
                #expect(operations.branches(in: document, of: place) == branches)
                let last = log(5).reference(4)
                #expect(
                    try (operations.find(last, in: document, of: place) != nil) == (count == 5))
            }
        }
        try store.begin()
        try store.operations.remove(workspace: 77)
        #expect(store.operations.document(document, in: 77) == nil)
        #expect(store.operations.document(document, in: workspace)?.number == number)
        #expect(store.operations.count == 5)
        try store.commit()
    }

    @Test func `go with the workspace that nobody came to belong to`() throws {
        let other = DocumentID([UInt8](repeating: 9, count: 32))
        var kept = WrittenLog(by: TestDevice(3), in: other)
        kept.writeMany(4)
        try StoredLog.put(kept, in: store)
        var log = log(6)
        let (branch, _) = try StoredLog.put(log, in: store)
        log = log.fork(after: 2)
        log.write([8, 8])
        try StoredLog.put(log, 2..<3, in: store)
        store.peers.noteHeld(by: .zero, branch: branch, through: 5)
        try store.commit()
        try store.begin()
        let gone = try #require(try store.operations.document(document)?.number)
        let stays = try #require(try store.operations.document(other)?.number)
        #expect(try store.operations.count(inWorkspace: gone) == 7)
        try store.operations.remove(workspace: gone)
        for store in [store, try committed(store).reopened()] {
            #expect(try store.operations.document(document) == nil)
            #expect(try store.operations.branches(in: document).isEmpty)
            #expect(store.operations.count == 4)
            #expect(try store.operations.count(inWorkspace: stays) == 4)
            #expect(try store.operations.count(inWorkspace: gone) == 0)
            #expect(store.operations.arrival == 11)
        }
        // Who held the old log does not hold the one that gets its number.
        let again = try store.reopened()
        let (next, _) = try StoredLog.put(self.log(1, by: 5), in: again)
        #expect(
            again.peers.holders(of: next, through: 0, arrival: 12, workspace: gone).isEmpty)
    }
}
