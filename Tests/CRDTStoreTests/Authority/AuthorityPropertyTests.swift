import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

/// Random documents of four replicas and forgers. A failure names the seed; `WSX_SEED` repeats it.
@Suite struct `Authority is one function of the set of operations` {
    private func document(_ seed: UInt64) -> AuthFuzzer {
        var fuzzer = AuthFuzzer(seed: seed)
        fuzzer.run(steps: 50)
        return fuzzer
    }

    @Test(arguments: Seeds.explore(150))
    func `one pass equals the recursive definition`(seed: UInt64) throws {
        var fuzzer = document(seed)
        let evaluator = try AuthEvaluator.evaluateFromScratch(fuzzer.history.operations)
        let definition = AuthDefinition(fuzzer.history, visitingWith: &fuzzer.generator)
        #expect(Set(evaluator.validOperations) == definition.validOperations())
        #expect(!definition.foundCycle)
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
                let reached = definition.revocationsOfContent(under: operation.id, by: device)
                #expect((limit == .everything) == (reached == []))
                #expect((limit == .nothing) == (reached != []), "nothing here has cuts")
            }
        }
    }

    @Test(arguments: Seeds.explore(150))
    func `every causal order of delivery ends in the same verdicts`(seed: UInt64) throws {
        var fuzzer = document(seed)
        let full = try AuthEvaluator.evaluateFromScratch(fuzzer.history.operations)
        for _ in 0..<3 {
            var evaluator = AuthEvaluator()
            var valid: Set<OperationID> = []
            for operation in fuzzer.history.shuffledCausally(with: &fuzzer.generator) {
                let change = try evaluator.add(operation)
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

    @Test(arguments: Seeds.explore(20))
    func `at every moment the verdicts are those of one pass`(seed: UInt64) throws {
        var fuzzer = document(seed)
        var evaluator = AuthEvaluator()
        var added: [AuthOperation] = []
        for operation in fuzzer.history.shuffledCausally(with: &fuzzer.generator) {
            try evaluator.add(operation)
            added.append(operation)
            let full = try AuthEvaluator.evaluateFromScratch(added)
            #expect(evaluator.validOperations == full.validOperations)
        }
    }

    @Test(arguments: Seeds.explore(30))
    func `ancestry equals reachability, over forks too`(seed: UInt64) throws {
        var fuzzer = document(seed)
        var evaluator = AuthEvaluator()
        for operation in fuzzer.history.shuffledCausally(with: &fuzzer.generator) {
            try evaluator.add(operation)
        }
        for (descendant, past) in fuzzer.history.pasts {
            for other in fuzzer.everything {
                #expect(evaluator.isAncestor(other, of: descendant) == past.contains(other))
            }
        }
    }

    @Test(arguments: Seeds.explore(150))
    func `whoever was removed changes nothing any more`(seed: UInt64) throws {
        var fuzzer = document(seed)
        var evaluator = try AuthEvaluator.evaluateFromScratch(fuzzer.history.operations)
        let before = Set(evaluator.validOperations)
        let revocations = evaluator.validOperations.filter { isAimedAtPeople($0, evaluator) }
        guard let revocation = revocations.randomElement(using: &fuzzer.generator) else { return }
        let lost = lostGrants(by: revocation, evaluator, fuzzer)
        guard !lost.isEmpty else { return }
        var forged: [AuthOperation] = []
        fuzzer.sharesDevices = false
        for _ in 0..<20 {
            guard let next = forgeAsRemoved(revocation, lost, forged, &fuzzer) else { continue }
            forged.append(next)
            #expect(try evaluator.add(next).isEmpty)
        }
        #expect(Set(evaluator.validOperations) == before)
    }

    @Test(arguments: Seeds.explore(150))
    func `a plain member changes nothing but what is his`(seed: UInt64) throws {
        var fuzzer = document(seed)
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
            try evaluator.add(next)
        }
        let after = Set(evaluator.validOperations)
        let his = belongings(of: &people, fuzzer.history, evaluator)
        #expect(before.symmetricDifference(after).subtracting(his).isEmpty)
    }

    @Test func `the fuzzer reaches the interesting cases`() throws {
        var counts = (valid: 0, revoked: 0, unsupported: 0, faulty: 0, removals: 0, plain: 0)
        var forks = 0
        var devices = (foreign: 0, taken: 0, outbid: 0)
        for seed in UInt64(0)..<60 {
            let fuzzer = document(seed)
            let operations = fuzzer.history.operations
            let evaluator = try AuthEvaluator.evaluateFromScratch(operations)
            for operation in operations {
                switch evaluator.verdict(on: operation.id) {
                case .valid: counts.valid += 1
                case .revoked(let other):
                    counts.revoked += 1
                    if evaluator.role(ofGrant: other) != nil { devices.outbid += 1 }
                case .unsupported: counts.unsupported += 1
                case .faulty(let fault):
                    counts.faulty += 1
                    if fault == .foreignDevice { devices.foreign += 1 }
                    if fault == .deviceTaken { devices.taken += 1 }
                case nil, .opaque: counts.faulty += 1
                }
            }
            let removals = evaluator.validOperations.filter { isAimedAtPeople($0, evaluator) }
            if removals.contains(where: { !lostGrants(by: $0, evaluator, fuzzer).isEmpty }) {
                counts.removals += 1
            }
            if !plainMembers(fuzzer.history, evaluator).isEmpty { counts.plain += 1 }
            let previous = operations.compactMap(\.previous)
            if Set(previous).count < previous.count { forks += 1 }
        }
        #expect(counts.valid > 500 && counts.revoked > 100 && counts.unsupported > 100)
        #expect(counts.faulty > 300)
        #expect(devices.foreign > 10 && devices.taken > 10 && devices.outbid > 10, "\(devices)")
        #expect(counts.removals > 30 && counts.plain > 30 && forks > 30)
    }
}

private func isAimedAtPeople(_ id: OperationID, _ evaluator: AuthEvaluator) -> Bool {
    switch evaluator.operation(id)?.action {
    case .remove, .removeDevice, .leave: true
    // A transfer does not reach other transfers of the same owner, so it ends nobody's authority.
    case .grant(let grant): grant.replaces && grant.drops == nil
    default: false
    }
}

/// What can no longer be used because of a revocation: grants, each with a device.
///
/// Not the grant and device that wrote it: whoever ends his own authority can still write
/// something that is causally earlier, and stronger for it, until somebody else removes him.
/// Nor grants of somebody who gave up a role: what does not know of that still has the old rank,
/// and only somebody above that ends it.
private func lostGrants(
    by revocation: OperationID, _ evaluator: AuthEvaluator, _ fuzzer: AuthFuzzer
) -> [(grant: AuthOperation, device: DeviceID)] {
    fuzzer.history.operations.flatMap { grant in
        fuzzer.history.devices(of: grant).compactMap { device in
            let author = fuzzer.history[revocation]
            guard author?.grant != grant.id || author?.device != device else { return nil }
            guard
                evaluator.standing(ofGrant: grant.id, device: device)
                    == evaluator.rank(ofGrant: grant.id)
            else { return nil }
            guard isReached(grant.id, device, by: author, evaluator) else { return nil }
            return evaluator.revocations(hittingGrant: grant.id, device: device)
                .contains(revocation) ? (grant, device) : nil
        }
    }
}

/// Whether authority operations of a device are weaker than a departure, which ends everything
/// else of its author's stronger devices too.
private func isReached(
    _ grant: OperationID, _ device: DeviceID, by revocation: AuthOperation?,
    _ evaluator: AuthEvaluator
) -> Bool {
    guard let revocation, case .leave = revocation.action, let cited = revocation.grant else {
        return true
    }
    guard cited != grant else {
        let devices = evaluator.devices(ofGrant: grant)
        guard let own = devices.firstIndex(of: revocation.device),
            let other = devices.firstIndex(of: device)
        else { return false }
        return own < other
    }
    guard let own = evaluator.rank(ofGrant: cited), let other = evaluator.rank(ofGrant: grant)
    else { return false }
    return own < other
}

/// An operation of somebody removed, of somebody he let in after, or of an accomplice who admits
/// on an invite that the removed person left open.
private func forgeAsRemoved(
    _ revocation: OperationID, _ lost: [(grant: AuthOperation, device: DeviceID)],
    _ forged: [AuthOperation], _ fuzzer: inout AuthFuzzer
) -> AuthOperation? {
    let past = fuzzer.anyPast()
    let history = fuzzer.history
    if case .remove = history[revocation]?.action, fuzzer.generator.oneIn(3) {
        let invites = history.operations.filter { operation in
            guard case .invite = operation.action, past.contains(operation.id) else { return false }
            return lost.contains { operation.grant == $0.grant.id && operation.device == $0.device }
        }
        guard let invite = invites.randomElement(using: &fuzzer.generator) else { return nil }
        let member = fuzzer.newMember()
        let devices = [fuzzer.newDevice(of: member)]
        let accomplice = fuzzer.anyGrant(in: past)
        return fuzzer.forge(
            knowing: past, under: accomplice,
            .admit(invite: invite.id, member: member, devices: devices, request: nil))
    }
    let new = forged.flatMap { grant in history.devices(of: grant).map { (grant, $0) } }
    let usable = (lost + new).filter { past.contains($0.grant.id) }
    guard let (grant, device) = usable.randomElement(using: &fuzzer.generator) else { return nil }
    return fuzzer.forge(knowing: past, under: grant, by: device)
}

/// Those who never got more than the role of a member.
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

/// What `people` and whoever they let in wrote, and what rests on that, or competes with it for a
/// device: who takes back an own admission of a device frees the device for whoever else bound it.
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

/// The devices that an operation makes somebody's.
private func boundDevices(_ action: AuthAction) -> [DeviceID] {
    switch action {
    case .create(_, let devices), .admit(_, _, let devices, _), .addDevices(let devices): devices
    default: []
    }
}
