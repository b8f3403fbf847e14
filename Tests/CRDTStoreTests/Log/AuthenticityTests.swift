import CRDTStore
import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

/// The rule "Authentic" of PROTOCOL.md 2, literally: an operation has a signature that verifies, or
/// a later one does, in the same segment and within 256 KiB and 2,048 dependencies.
private struct AuthenticityDefinition {
    let isGood: [Bool]
    let payloads: [Int]
    let isAuthority: [Bool]
    let dependencies: [Int]

    func covers(_ index: Int) -> Bool {
        if isAuthority[index] { return isGood[index] }
        var (byteCount, dependencyCount) = (0, 0)
        for later in index..<isGood.count {
            guard later / 1_024 == index / 1_024, byteCount <= 256 * 1_024,
                dependencyCount <= 2_048
            else { return false }
            if isGood[later] { return true }
            // Nobody gets past an authority operation that does not verify.
            if isAuthority[later] { return false }
            byteCount += payloads[later]
            dependencyCount += dependencies[later]
        }
        return false
    }

    /// How many operations from the start are authentic.
    var authenticCount: Int { isGood.indices.first { !covers($0) } ?? isGood.count }
}

struct `Authenticity` {
    static let document = DocumentID([UInt8](repeating: 0xd0, count: 32))

    // 3.15.2: checking every operation and checking runs, cut anywhere, agree.
    @Test(arguments: Seeds.explore(60))
    func `is the same however a history is cut into runs`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var log = WrittenLog(by: TestDevice(random.next() % 4), in: Self.document)
        var definition = History()
        let count = 2 + random.below(24)
        for _ in 0..<count {
            let isAuthority = random.oneIn(10)
            let size = random.oneIn(3) ? 60_000 + random.below(200_000) : random.below(50)
            let payload =
                isAuthority
                ? AuthorityPayload.feature(1).encoded : [UInt8](repeating: 3, count: size)
            log.write(payload, kind: isAuthority ? .authority : .content)
            definition.add(!random.oneIn(3), payload.count, isAuthority)
        }
        let garbage = definition.isGood.indices.filter { !definition.isGood[$0] }
        let run = log.run.withGarbage(at: garbage)
        let expected = definition.authenticCount
        for _ in 0..<4 {
            let accepted = accept(run, cutBy: &random)
            #expect(accepted <= expected, "WSX_SEED=\(seed)")
        }
        // A run that ends where the definition ends is accepted whole, and so is any run that
        // ends on a signature that verifies: this is what senders send.
        for last in 0..<expected where definition.isGood[last] {
            let part = OperationRun(
                log: run.log, firstSequence: 0, previous: nil, entries: Array(run.entries[...last]))
            #expect(refusal(of: part) == nil, "WSX_SEED=\(seed), \(last) of \(count)")
        }
        #expect(bySingleSteps(run, definition.isGood) == expected, "WSX_SEED=\(seed)")
    }

    private struct History {
        var isGood: [Bool] = []
        var payloads: [Int] = []
        var isAuthority: [Bool] = []

        mutating func add(_ good: Bool, _ payload: Int, _ authority: Bool) {
            isGood.append(good)
            payloads.append(payload)
            isAuthority.append(authority)
        }

        var authenticCount: Int {
            AuthenticityDefinition(
                isGood: isGood, payloads: payloads, isAuthority: isAuthority,
                dependencies: [Int](repeating: 0, count: isGood.count)
            ).authenticCount
        }
    }

    /// Takes the run in pieces of random lengths, a refused piece again with more behind it, and
    /// gives back how many operations were accepted.
    private func accept(_ run: OperationRun, cutBy random: inout SeededGenerator) -> Int {
        var start = 0
        var link: ChainLink?
        var end = 0
        while end < run.entries.count {
            end = min(end + 1 + random.below(6), run.entries.count)
            let part = OperationRun(
                log: run.log, firstSequence: UInt64(start), previous: link?.id,
                entries: Array(run.entries[start..<end]))
            guard let checked = try? OperationChecks.check(part, after: link) else { continue }
            start = end
            link = checked.last?.link
        }
        return start
    }

    /// Takes the run in the smallest pieces that end on a good signature.
    private func bySingleSteps(_ run: OperationRun, _ isGood: [Bool]) -> Int {
        var start = 0
        var link: ChainLink?
        for end in isGood.indices where isGood[end] {
            let part = OperationRun(
                log: run.log, firstSequence: UInt64(start), previous: link?.id,
                entries: Array(run.entries[start...end]))
            guard let checked = try? OperationChecks.check(part, after: link) else { break }
            start = end + 1
            link = checked.last?.link
        }
        return start
    }

    @Test func `reaches back 256 KiB and not a byte further`() throws {
        for (excess, expected) in [(0, nil), (1, Rejection.badSignature)] {
            var log = WrittenLog(by: TestDevice(1), in: Self.document)
            log.write([UInt8](repeating: 0, count: 128 * 1_024))
            log.write([UInt8](repeating: 0, count: 128 * 1_024 + excess))
            log.write([UInt8](repeating: 0, count: 200 * 1_024))
            #expect(refusal(of: log.run.withGarbage(at: [0, 1])) == expected)
            let checked = try OperationChecks.check(log.run, after: nil)
            #expect(checked.map(\.isSignatureVerified) == [excess == 1, false, true])
        }
    }

    /// A run too large to relay in one message would stay with its first receiver.
    @Test func `reaches back 2,048 dependencies and not one further`() throws {
        var cited = WrittenLog(by: TestDevice(2), in: Self.document)
        cited.writeMany(Limits.dependenciesMax)
        let all = (0..<Limits.dependenciesMax).map(cited.reference).sorted { $0.id < $1.id }
        for (excess, expected) in [(0, nil), (1, Rejection.badSignature)] {
            var log = WrittenLog(by: TestDevice(1), in: Self.document)
            log.write([0], citing: Array(all.prefix(excess)))
            for _ in 0..<128 { log.write([1], citing: all) }
            log.write([2], citing: all)
            #expect(refusal(of: log.run.withGarbage(at: 0..<129)) == expected)
            let checked = try OperationChecks.check(log.run, after: nil)
            #expect(checked[0].isSignatureVerified == (excess == 1))
            #expect(checked[1...].count(where: \.isSignatureVerified) == 1)
        }
    }

    /// What one signature vouches for goes through one message, whatever is in it.
    @Test func `of a run takes less than a message`() {
        let entries = Int(Limits.segmentLength) * (Signature.byteCount + 104 + 10 + 48)
        let dependencies = (Limits.runDependenciesMax + Limits.dependenciesMax) * 84
        let payloads = Limits.runPayloadBytesMax + Limits.payloadBytesMax
        #expect(entries + dependencies + payloads + 1_024 <= Limits.operationsMessageBytesMax)
    }

    @Test func `ends with a segment`() throws {
        var log = WrittenLog(by: TestDevice(1), in: Self.document)
        log.writeMany(1_030)
        let run = log.run
        let checked = try OperationChecks.check(run, after: nil)
        #expect(
            checked.indices.filter { checked[$0].isSignatureVerified } == [1_023, 1_029])
        #expect(refusal(of: run.withGarbage(at: [1_023])) == .badSignature)
        #expect(refusal(of: run.withGarbage(at: [1_022])) == nil)
        #expect(refusal(of: run.withGarbage(at: 0..<1_023)) == nil)
        #expect(refusal(of: run.withGarbage(at: 1_024..<1_029)) == nil)
        #expect(refusal(of: log.run(1_020..<1_024), after: log.link(before: 1_020)) == nil)
        let tail = OperationRun(
            log: run.log, firstSequence: 1_020, previous: log.link(before: 1_020)?.id,
            entries: Array(run.entries[1_020..<1_030]))
        #expect(
            refusal(of: tail.withGarbage(at: [3]), after: log.link(before: 1_020))
                == .badSignature)
    }

    @Test func `costs few checks where an author signs garbage`() throws {
        var log = WrittenLog(by: TestDevice(1), in: Self.document)
        log.writeMany(300)
        let run = log.run.withGarbage(at: (0..<300).filter { $0 % 2 == 0 })
        let checked = try OperationChecks.check(run, after: nil)
        #expect(checked.filter(\.isSignatureVerified).count == 1)
        #expect(refusal(of: log.run.withGarbage(at: [299])) == .badSignature)
    }

    /// What this process has just signed is not verified again; all other rules hold for it too.
    @Test func `is taken as made where it was made`() throws {
        var log = WrittenLog(by: TestDevice(1), in: Self.document)
        log.writeMany(3)
        let checked = try OperationChecks.check(log.run, after: nil, signedHere: true)
        #expect(checked.map(\.isSignatureVerified) == [true, true, true])
        let garbage = log.run.withGarbage(at: 0..<3)
        #expect(throws: Never.self) {
            try OperationChecks.check(garbage, after: nil, signedHere: true)
        }
        #expect(throws: Rejection.badSignature) { try OperationChecks.check(garbage, after: nil) }
        var unordered = log.run
        unordered.entries.swapAt(0, 1)
        #expect(throws: Rejection.outOfOrder) {
            try OperationChecks.check(unordered, after: nil, signedHere: true)
        }
        #expect(throws: Rejection.malformed(Malformed(.inconsistent, at: 0))) {
            try OperationChecks.check(
                log.run(1..<2), after: nil, signedHere: true)
        }
    }

    // 3.15.2
    @Test func `does not change an operation's name`() throws {
        var log = WrittenLog(by: TestDevice(1), in: Self.document)
        log.writeMany(5)
        let honest = try OperationChecks.check(log.run, after: nil)
        let other = try OperationChecks.check(log.run.withGarbage(at: [1, 3]), after: nil)
        #expect(honest.map(\.id) == other.map(\.id))
        #expect(honest[1].signature != other[1].signature)
    }
}
