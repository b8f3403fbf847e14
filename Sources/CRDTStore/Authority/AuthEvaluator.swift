import WorkspaceModel

/// Decides who may do what: the authority document of one workspace, judged.
///
/// The verdicts are a pure function of the set of operations added. Operations arrive in any
/// causal order; each is judged on arrival, and a revocation judges anew only what it reaches
/// and what rests on that.
///
///     var evaluator = AuthEvaluator()
///     try evaluator.add(create)
///     let change = try evaluator.add(removal)
///     change.becameInvalid  // what the removal took the effect from
///
/// How it works: every operation has a rank, and whatever bears on its validity is stronger than
/// itself. Its grant, invite and policy are, by the way ranks are made; a revocation reaches only
/// what is weaker. So one pass from the strongest to the weakest decides everything, and a change
/// spreads only downwards.
///
/// - Cost: an addition is linear in the number of its citations and of the revocations that name
///   its author; memory is that of `CausalPast`.
/// - Source: PROTOCOL.md, 4, whose reference evaluator this one equals.
public struct AuthEvaluator: Sendable {
    /// In the order of arrival, which is a causal one.
    var records = SharedArray<AuthRecord>()
    var indices: [OperationID: Int] = [:]
    /// The last operation of each branch.
    var branchTips: [Int] = []

    /// Which document it is: what a role may do, and whether devices have to be bound.
    let rules: AuthRules

    // Which operations bear on which. None that is faulty, or opaque, is in any of them.

    /// Revocations by what they reach.
    var revocations: [AuthTarget: [Int]] = [:]
    /// Operations by what reaches them.
    var exposed: [AuthTarget: [Int]] = [:]
    /// Whatever gives somebody something, by whom; what nobody can judge yet is among it.
    var given: [MemberID: [Int]] = [:]
    /// Grants by the devices that may use them.
    var grantsOfDevice: [DeviceID: [Int]] = [:]
    /// In a private document: how often memberships in the workspace have ended.
    var workspaceEnds: [MemberID: Int] = [:]
    /// In a private document: what counts no more since its owner's seat was handed on, by which transfer.
    var handedOn: [Int: Int] = [:]
    /// Operations that bind a device to a member, by both.
    var bindings: [DeviceID: [MemberID: [Int]]] = [:]
    /// The root and the admissions, by who came in.
    var admitted: [MemberID: [Int]] = [:]
    /// Additions of devices, by whose.
    var additions: [MemberID: [Int]] = [:]
    /// Admissions by invite.
    var admissions: [Int: [Int]] = [:]
    /// Requests by invite.
    var requests: [Int: [Int]] = [:]
    /// Grants by which their author gave up a role, by author.
    var drops: [MemberID: [Int]] = [:]
    /// Operations that say who may invite.
    var invitePolicies: [Int] = []
    /// Invites, which those bear on that are in their past.
    var invites: [Int] = []
    /// Operations that make an epoch key, by the key.
    var introductions: [KeyID: [Int]] = [:]
    /// Features that this version does not know.
    var unknownFeatures: [Int] = []
    /// Valid grants that are in force no more for a reason from outside this document, which
    /// judges nothing in it otherwise: see `PrivateLapses`.
    var lapsed: Set<Int> = []
    /// Whatever may end a membership, or what somebody holds by one, in the order of arrival.
    var endings: [Int] = []
    /// Removals by member and by device.
    var removals: [AuthTarget: [Int]] = [:]
    /// Widenings by the revocation they widen.
    var recuts: [Int: [Int]] = [:]
    /// What may end a device under several grants, by who wrote it, and the further records of each.
    var endsByDevice: [DeviceID: [Int]] = [:]
    var endsAgain: [Int: [Int]] = [:]
    /// Of a revocation the latest ones of the same device by the same one that it knows.
    var earlierEnds: [Int: [Int]] = [:]
    /// The further records that undo additions, by their grant, the strongest first.
    var undoing: [Int: [Int]] = [:]
    /// How many valid confirmations an operation has that are stronger than it.
    var confirmationCounts: [Int: Int] = [:]
    /// What a member or admin did that others build on, and ends, that nobody has confirmed.
    var unconfirmed: Set<Int> = []

    /// How many others were looked at to judge what was added: what it has cost.
    public internal(set) var looks = 0

    /// A document without operations.
    public init() { rules = .workspace }

    /// A document without operations, under other rules than a workspace's.
    init(rules: AuthRules) { self.rules = rules }

    /// How many operations were added.
    public var count: Int { indices.count }

    /// Adds one operation and judges whatever it bears on.
    ///
    /// An operation that was added before changes nothing.
    ///
    /// - Throws: `AuthError` when it has a fault, or cannot be placed; then nothing is changed.
    @discardableResult
    public mutating func add(_ operation: AuthOperation) throws(AuthError) -> AuthChange {
        guard indices[operation.id] == nil else { return AuthChange() }
        let index = try link(operation)
        var change = settle(from: index)
        change.furtherGrants = records.indices[index...].count { records[$0].original != nil }
        return change
    }

    /// The document made of `operations`, in causal order, judged in one pass.
    ///
    /// For starting up and for checking: the result equals that of adding one after the other.
    /// What has a fault is left out, and what cites that.
    ///
    /// - Throws: `AuthError` for a second root.
    public static func evaluateFromScratch(
        _ operations: some Sequence<AuthOperation>
    ) throws(AuthError) -> AuthEvaluator {
        var evaluator = AuthEvaluator()
        for operation in operations where evaluator.indices[operation.id] == nil {
            do {
                _ = try evaluator.link(operation)
            } catch .secondRoot {
                throw .secondRoot
            } catch {
                continue
            }
        }
        evaluator.judgeAll()
        return evaluator
    }

    /// One pass, strongest first: when an operation is judged, all that can bear on it has been.
    mutating func judgeAll() {
        let order = records.indices.filter { records[$0].fault == nil }
            .sorted { records[$0].rank < records[$1].rank }
        followOwners()
        for index in records.indices {
            records[index].take(.none)
            records[index].isValidElsewhere = false
        }
        confirmationCounts = [:]
        for index in order {
            take(judge(index), at: index)
            if records[index].isValid { _ = countConfirmations(by: index) }
        }
        findUnconfirmed()
    }

    /// Judges `first` and then, strongest first, whatever a changed verdict bears on.
    private mutating func settle(from first: Int) -> AuthChange {
        var queue = RankQueue()
        for index in everyRecord(of: first) { queue.insert(index, rank: records[index].rank) }
        var changed = ChangedRecords()
        while let index = queue.removeStrongest() {
            looks &+= 1 &+ (exposure(of: index).map { revocationCount($0) } ?? 0)
            if records[index].operation.action.terms != nil { looks &+= invitePolicies.count }
            let ruling = judge(index)
            let before = records[index].ruling
            guard ruling != before else { continue }
            if ruling.isValid != before.isValid, !records[index].isOwnPart {
                let original = original(index)
                changed.note(original, hadEffect: records[original].hasEffect)
            }
            take(ruling, at: index)
            var others: [Int] = []
            if ruling.isValid != before.isValid {
                others = countConfirmations(by: index)
            }
            looks &+= records[index].dependants.count
            if records[index].operation.action.isInvitePolicy { looks &+= invites.count }
            for target in targets(ofRevocation: index) { looks &+= exposed[target]?.count ?? 0 }
            others += affected(by: index)
            for other in others { queue.insert(other, rank: records[other].rank) }
            updateUnconfirmed(by: index)
        }
        return changed.change { (records[$0].operation.id, records[$0].hasEffect) }
    }

    private mutating func take(_ ruling: AuthRuling, at index: Int) {
        records[index].take(ruling)
        guard let end = records[index].original else { return }
        records[end].isValidElsewhere = (endsAgain[end] ?? []).contains { records[$0].isValid }
        findCutOff(from: index)
    }

    /// How many revocations are aimed at it.
    private func revocationCount(_ exposure: AuthExposure) -> Int {
        exposure.targets.reduce(0) { $0 + (revocations[$1]?.count ?? 0) }
    }

    /// The operations whose verdict may change because that of `index` just did.
    ///
    /// A revocation that took effect can only take validity, one that lost it only give it back.
    private func affected(by index: Int) -> [Int] {
        var affected = records[index].dependants.filter { records[$0].fault == nil }
        if records[index].operation.action.isInvitePolicy {
            affected += invites.filter { knows($0, index) }
        }
        for target in targets(ofRevocation: index) {
            for other in exposed[target] ?? []
            where mayChange(other, by: index)
                && (voids(index, other) || mayCutOff(index, other))
            {
                affected.append(other)
            }
        }
        return affected
    }

    /// Whether an end may have part in what leaves no chain to the device of an operation.
    private func mayCutOff(_ index: Int, _ other: Int) -> Bool {
        records[index].undoing != nil && records[other].grant == records[index].grant
            && isStronger(index, than: other)
    }

    /// Whether the verdict may be another one now that a revocation takes effect, or loses it. What was
    /// given up once is given up: any number of such words more changes nothing.
    private func mayChange(_ index: Int, by revocation: Int) -> Bool {
        guard records[revocation].isValid else { return records[index].ruling != .valid }
        return records[index].ruling == .valid
            || records[index].stands && !givesUp(revocation, index)
    }

    /// What becomes of an operation without fault, given the verdicts on all that are stronger.
    private func judge(_ index: Int) -> AuthRuling {
        let record = records[index]
        if record.isOpaque || handedOn[index] != nil { return .none }
        // Whether nothing but its own author's member has ended it, or what its grant leads back to.
        var isGivenUp = false
        for support in record.supports where !records[support].isValid {
            guard support == record.grant, records[support].stands else { return .none }
            isGivenUp = true
        }
        guard lapsedInvite(of: index) == nil else { return .none }
        switch end(of: index) {
        case .byOthers: return .none
        case .givenUp: isGivenUp = true
        case nil: break
        }
        guard policy(forbidding: index) == nil else { return .none }
        guard isGivenUp else { return .valid }
        if record.canBeKept, isConfirmed(index) { return .kept }
        return record.operation.action.isAddition ? .standing : .none
    }

    /// Who has ended an operation.
    private enum End { case givenUp, byOthers }

    /// Whether valid revocations take the effect from an operation without fault, and whether others
    /// than such as give it up do.
    private func end(of index: Int) -> End? {
        var end: End?
        for revocation in revocations(taking: index) {
            guard givesUp(revocation, index) else { return .byOthers }
            end = .givenUp
        }
        return end
    }

    /// The strongest valid revocation that takes the effect from an operation without fault.
    func revocation(voiding index: Int) -> Int? {
        if let transfer = handedOn[index] { return transfer }
        let isSpared = records[index].canBeKept && isConfirmed(index)
        return revocations(taking: index).filter { !isSpared || !givesUp($0, index) }
            .min { isStronger($0, than: $1) }
    }

    /// The valid revocations that hit an operation and do not know it.
    func revocations(taking index: Int) -> some Sequence<Int> {
        let exposure = exposure(of: index)
        return (exposure?.targets ?? []).lazy.flatMap { revocations[$0] ?? [] }.filter {
            guard let exposure, records[$0].isValid else { return false }
            return hits($0, exposure) && !isBeyond(index, $0)
        }
    }
}

/// Operations of which a record has changed its verdict, and whether they had effect before.
private struct ChangedRecords {
    private var before: [Int: Bool] = [:]

    mutating func note(_ index: Int, hadEffect: Bool) {
        if before[index] == nil { before[index] = hadEffect }
    }

    func change(_ now: (Int) -> (id: OperationID, hasEffect: Bool)) -> AuthChange {
        var change = AuthChange()
        for (index, hadEffect) in before {
            let (id, hasEffect) = now(index)
            if hasEffect == hadEffect {
                change.moved.append(id)
            } else if hasEffect {
                change.becameValid.append(id)
            } else {
                change.becameInvalid.append(id)
            }
        }
        change.becameValid.sort()
        change.becameInvalid.sort()
        change.moved.sort()
        return change
    }
}

/// Operations that wait to be judged, the strongest in front: a binary heap.
private struct RankQueue {
    private var heap: [(rank: AuthRank, index: Int)] = []

    mutating func insert(_ index: Int, rank: AuthRank) {
        heap.append((rank, index))
        var child = heap.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard heap[child].rank < heap[parent].rank else { return }
            heap.swapAt(child, parent)
            child = parent
        }
    }

    mutating func removeStrongest() -> Int? {
        guard let first = heap.first, let last = heap.popLast() else { return nil }
        guard !heap.isEmpty else { return first.index }
        heap[0] = last
        var parent = 0
        while true {
            var strongest = parent
            for child in [2 * parent + 1, 2 * parent + 2]
            where child < heap.count && heap[child].rank < heap[strongest].rank {
                strongest = child
            }
            guard strongest != parent else { return first.index }
            heap.swapAt(parent, strongest)
            parent = strongest
        }
    }
}

extension AuthAction {
    /// Whether it says who may invite.
    var isInvitePolicy: Bool { if case .setWorkspace(.some) = self { true } else { false } }
}
