import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import CRDTStore

/// Random documents of four replicas and forgers. A failure names the seed; `WSX_SEED` repeats it.
struct `Authority is one function of the set of operations` {
    /// A document that was written, and the dice as they lie then.
    private struct Written: Sendable {
        let history: AuthHistory
        var generator: SeededGenerator
        var everything: Set<OperationID> { Set(history.operations.map(\.id)) }
    }

    private static let written = MadeOnce<Written> { seed in
        let fuzzer = writer(seed)
        return Written(history: fuzzer.history, generator: fuzzer.generator)
    }

    private func document(_ seed: UInt64) -> Written { Self.written[seed] }

    /// The same document with its authors, who may go on.
    private static func writer(_ seed: UInt64) -> AuthFuzzer {
        var fuzzer = AuthFuzzer(seed: seed, replacesPhrases: seed.isMultiple(of: 3))
        fuzzer.run(steps: 50)
        return fuzzer
    }

    @Test(arguments: Seeds.explore(60))
    func `one pass equals the recursive definition`(seed: UInt64) throws {
        var fuzzer = document(seed)
        let evaluator = try AuthEvaluator.evaluateFromScratch(fuzzer.history.operations)
        let definition = AuthDefinition(fuzzer.history, visitingWith: &fuzzer.generator)
        #expect(Set(evaluator.validOperations) == definition.validOperations())
        #expect(!definition.foundCycle)
        for operation in fuzzer.history.operations {
            let refusal = definition.refusals[operation.id]
            #expect(
                evaluator.contains(operation.id) == (refusal == nil),
                "\(String(describing: refusal))")
        }
    }

    @Test(arguments: Seeds.explore(40))
    func `content is reached as the definition says`(seed: UInt64) throws {
        var fuzzer = document(seed)
        let evaluator = try AuthEvaluator.evaluateFromScratch(fuzzer.history.operations)
        let definition = AuthDefinition(fuzzer.history, visitingWith: &fuzzer.generator)
        for operation in fuzzer.history.operations {
            for device in fuzzer.history.devices(of: operation) {
                let log = LogName(document: DocumentID.zero, device: device, incarnation: 1)
                let limit = evaluator.contentLimit(
                    grant: operation.id, log: log, leastRole: .member)
                guard evaluator.contains(operation.id) else { continue }
                let reached = definition.revocationsOfContent(under: operation.id, by: device)
                #expect((limit == .everything) == (reached == []))
                #expect((limit == .nothing) == (reached != []), "nothing here has cuts")
            }
        }
    }

    @Test(arguments: Seeds.explore(60))
    func `every causal order of delivery ends in the same verdicts`(seed: UInt64) throws {
        var fuzzer = document(seed)
        let full = try AuthEvaluator.evaluateFromScratch(fuzzer.history.operations)
        for _ in 0..<3 {
            var evaluator = AuthEvaluator()
            var valid: Set<OperationID> = []
            for operation in fuzzer.history.shuffledCausally(with: &fuzzer.generator) {
                let count = evaluator.count
                guard let change = try? evaluator.add(operation) else {
                    #expect(!full.contains(operation.id) && evaluator.count == count)
                    continue
                }
                #expect(valid.isDisjoint(with: change.becameValid))
                #expect(valid.isSuperset(of: change.becameInvalid))
                valid.subtract(change.becameInvalid)
                valid.formUnion(change.becameValid)
            }
            #expect(valid == Set(full.validOperations))
            #expect(Set(evaluator.validOperations) == valid)
            #expect(evaluator.heads == full.heads)
            #expect(evaluator.members == full.members)
            for id in fuzzer.everything {
                #expect(evaluator.verdict(on: id) == full.verdict(on: id))
            }
        }
    }

    @Test(arguments: Seeds.explore(60))
    func `who is in, and as what, is as the definition says (V-2, V-3, V-4)`(seed: UInt64) throws {
        let fuzzer = Self.writer(seed)
        let evaluator = try AuthEvaluator.evaluateFromScratch(fuzzer.history.operations)
        let valid = fuzzer.definition.validOperations(among: fuzzer.everything)
        let devices = Set(fuzzer.history.operations.flatMap { fuzzer.history.devices(of: $0) })
        for device in devices.sorted() {
            let standing = fuzzer.definition.standing(of: device, among: valid)
            #expect(evaluator.bestGrant(of: device) == standing?.grant)
            guard let standing else { continue }
            let member = evaluator.subject(ofGrant: standing.grant, device: device)
            #expect(member == standing.member)
            let rank = evaluator.standing(ofGrant: standing.grant, device: device)
            #expect(rank?.level == Int8(standing.role.rawValue))
        }
    }

    @Test(arguments: Seeds.explore(60))
    func `what is to be cited is what counts and nothing that counts knows`(seed: UInt64) throws {
        var fuzzer = document(seed)
        var evaluator = AuthEvaluator()
        try evaluator.feed(fuzzer.history.shuffledCausally(with: &fuzzer.generator))
        let valid = Set(evaluator.validOperations)
        let known = valid.reduce(into: Set<OperationID>()) { known, id in
            known.formUnion((fuzzer.history.pasts[id] ?? []).subtracting([id]))
        }
        let expected = valid.subtracting(known).sorted()
        #expect(evaluator.tipsOfBranches { $0.hasEffect } == expected)
        #expect(evaluator.tipsOfAll { $0.hasEffect } == expected)
        #expect(evaluator.tipsOfBranches { _ in true } == evaluator.tipsOfAll { _ in true })
    }

    /// S-2: a void operation can be taken back, as if it had never arrived.
    @Test(arguments: Seeds.explore(60))
    func `nodes that drop what is void agree with those that keep it`(seed: UInt64) throws {
        var fuzzer = document(seed)
        let full = try AuthEvaluator.evaluateFromScratch(fuzzer.history.operations)
        var judge = EvaluatorJudge()
        for _ in 0..<3 {
            for operation in fuzzer.history.operations.shuffled(using: &fuzzer.generator) {
                let closure = fuzzer.history.closure(of: [operation.id])
                var taken: [OperationID] = []
                for other in fuzzer.history.operations
                where closure.contains(other.id) && !judge.contains(other.id) {
                    guard judge.take(other) else { break }
                    taken.append(other.id)
                }
                while let last = taken.last, !judge.isValid(last), judge.withdraw(last) {
                    taken.removeLast()
                }
            }
        }
        #expect(judge.valid == Set(full.validOperations))
        #expect(judge.evaluator.members == full.members)
        #expect(judge.evaluator.heads == full.heads)
    }

    @Test(arguments: Seeds.explore(20))
    func `at every moment the verdicts are those of one pass`(seed: UInt64) throws {
        var fuzzer = document(seed)
        var evaluator = AuthEvaluator()
        var added: [AuthOperation] = []
        for operation in fuzzer.history.shuffledCausally(with: &fuzzer.generator) {
            guard (try? evaluator.add(operation)) != nil else { continue }
            added.append(operation)
            let full = try AuthEvaluator.evaluateFromScratch(added)
            #expect(evaluator.validOperations == full.validOperations)
        }
    }

    @Test(arguments: Seeds.explore(30))
    func `ancestry equals reachability, over forks too`(seed: UInt64) throws {
        var fuzzer = document(seed)
        var evaluator = AuthEvaluator()
        try evaluator.feed(fuzzer.history.shuffledCausally(with: &fuzzer.generator))
        for (descendant, past) in fuzzer.history.pasts where evaluator.contains(descendant) {
            for other in fuzzer.everything {
                #expect(evaluator.isAncestor(other, of: descendant) == past.contains(other))
            }
        }
    }

    @Test(arguments: Seeds.explore(60))
    func `a plain member changes nothing but what is his`(seed: UInt64) throws {
        var fuzzer = Self.writer(seed)
        var evaluator = try AuthEvaluator.evaluateFromScratch(fuzzer.history.operations)
        guard
            let member = plainMembers(fuzzer.history, evaluator)
                .randomElement(using: &fuzzer.generator)
        else { return }
        let before = Set(evaluator.validOperations)
        var people: Set<MemberID> = [member]
        fuzzer.sharesDevices = false
        for _ in 0..<20 {
            let past = fuzzer.anyPast()
            let own = fuzzer.history.operations.filter { operation in
                past.contains(operation.id)
                    && evaluator.subject(ofGrant: operation.id) == member
            }
            let grant = own.randomElement(using: &fuzzer.generator)
            guard let next = fuzzer.forge(knowing: past, under: grant) else { continue }
            // An operation with a fault is refused.
            _ = try? evaluator.add(next)
        }
        let after = Set(evaluator.validOperations)
        let his = belongings(of: &people, fuzzer.history, evaluator)
        #expect(before.symmetricDifference(after).subtracting(his).isEmpty)
    }

    @Test func `the fuzzer reaches the interesting cases`() throws {
        var counts = (valid: 0, revoked: 0, unsupported: 0, refused: 0, outbid: 0, plain: 0)
        var forks = 0
        for seed in UInt64(0)..<60 {
            let fuzzer = document(seed)
            let operations = fuzzer.history.operations
            let evaluator = try AuthEvaluator.evaluateFromScratch(operations)
            for operation in operations {
                switch evaluator.verdict(on: operation.id) {
                case .valid: counts.valid += 1
                case .revoked(let other):
                    counts.revoked += 1
                    if evaluator.role(ofGrant: other) != nil { counts.outbid += 1 }
                case .unsupported: counts.unsupported += 1
                default: counts.refused += 1
                }
            }
            if !plainMembers(fuzzer.history, evaluator).isEmpty { counts.plain += 1 }
            let previous = operations.compactMap(\.previous)
            if Set(previous).count < previous.count { forks += 1 }
        }
        #expect(counts.valid > 500 && counts.revoked > 100 && counts.unsupported > 15, "\(counts)")
        #expect(counts.refused > 200 && counts.outbid > 5, "\(counts)")
        #expect(counts.plain > 30 && forks > 20, "\(counts), \(forks)")
    }
}

/// Members who never had more than the role of a member.
private func plainMembers(_ history: AuthHistory, _ evaluator: AuthEvaluator) -> [MemberID] {
    var strongest: [MemberID: Role] = [:]
    for operation in history.operations {
        guard let member = evaluator.subject(ofGrant: operation.id),
            let role = evaluator.role(ofGrant: operation.id)
        else { continue }
        strongest[member] = min(role, strongest[member] ?? .guest)
    }
    return strongest.filter { $0.value >= .member }.keys.sorted()
}

/// Operations of `people` and of those they admitted, with what rests on them or competes with them
/// for a device: withdrawing an admission of a device frees it for others who bound it.
private func belongings(
    of people: inout Set<MemberID>, _ history: AuthHistory, _ evaluator: AuthEvaluator
) -> Set<OperationID> {
    var belongings: Set<OperationID> = []
    var devices: Set<DeviceID> = []
    var size = -1
    while size != belongings.count + people.count {
        size = belongings.count + people.count
        for operation in history.operations {
            guard let grant = operation.grant, let author = evaluator.subject(ofGrant: grant) else {
                continue
            }
            let bound = boundDevices(operation.action)
            var rests = people.contains(author) || belongings.contains(grant)
            if case .admit(let invite, _, _, _) = operation.action {
                rests = rests || belongings.contains(invite)
            }
            guard rests || !devices.isDisjoint(with: bound) else { continue }
            belongings.insert(operation.id)
            guard rests else { continue }
            devices.formUnion(bound)
            if case .admit(_, let member, _, _) = operation.action { people.insert(member) }
        }
    }
    return belongings
}

/// The devices that an operation binds to a member.
private func boundDevices(_ action: AuthAction) -> [DeviceID] {
    switch action {
    case .create(_, let devices), .admit(_, _, let devices, _), .addDevices(let devices): devices
    default: []
    }
}
