import WorkspaceModel

/// Which of the placed operations have effect, and why.
///
/// Every operation has a rank, and whatever its validity depends on is stronger: so one pass from
/// the strongest to the weakest decides everything, and a change spreads only downwards.
struct AuthVerdicts: Sendable {
    /// The placed operations.
    var placed: PlacedOperations
    /// What is confirmed, and what waits for a confirmation.
    var confirmations = AuthConfirmations()
    /// In a private document: what has no effect since an owner's seat was handed on, with the
    /// transfer that did it (D-16).
    var handedOn: [Int: Int] = [:]
    /// Valid grants that are no longer in force for a reason from outside this document, which
    /// affects no other verdict in it: see `LapsedSeats`.
    var lapsed: Set<Int> = []
    /// How many other operations were examined for verdicts; the cost of placing them is counted
    /// apart.
    var looks = 0

    init(_ placed: PlacedOperations) { self.placed = placed }

    /// The placed operations in order of arrival: read without a copy.
    var records: SharedArray<AuthRecord> { _read { yield placed.records } }

    /// Places an operation, leaving its verdict open.
    mutating func link(_ operation: AuthOperation) throws(AuthError) -> Int {
        let index = try placed.link(operation)
        for further in records.indices[(index + 1)...] { countConfirmations(of: further) }
        return index
    }

    /// Forgets the confirmations of the operations from `index` on, which are taken back.
    mutating func forget(from index: Int) {
        for index in records.indices[index...] { confirmations.forget(index) }
    }

    /// One pass, strongest first: when an operation is judged, all that its verdict can depend on
    /// is judged.
    mutating func judgeAll() {
        let order = records.indices.filter { records[$0].fault == nil }
            .sorted { records[$0].rank < records[$1].rank }
        followOwners()
        for index in records.indices {
            placed.records[index].take(.none)
            placed.records[index].again.isValidElsewhere = false
        }
        confirmations.counts = [:]
        confirmations.chosen = [:]
        placed.further.followed = [:]
        placed.further.strongest = [:]
        placed.further.firstUndoing = [:]
        placed.further.cutOff = [:]
        for index in order {
            _ = take(judge(index), at: index)
            if records[index].isValid { _ = countConfirmations(by: index) }
        }
        findUnconfirmed()
    }

    /// Judges `first` and then, strongest first, all that depends on a changed verdict.
    mutating func settle(from first: Int) -> AuthChange {
        var queue = RankQueue()
        for index in placed.everyRecord(of: first) {
            queue.insert(index, rank: records[index].rank)
        }
        var changed = ChangedRecords()
        while let index = queue.removeStrongest() {
            looks &+= 1 &+ (placed.exposure(of: index).map { revocationCount($0) } ?? 0)
            if records[index].operation.action.terms != nil {
                looks &+= placed.invites.policies.count
            }
            let ruling = judge(index)
            let before = records[index].ruling
            guard ruling != before else { continue }
            if ruling.isValid != before.isValid, !records[index].isOwnPart {
                let original = placed.original(index)
                changed.note(original, hadEffect: records[original].hasEffect)
            }
            let moved = take(ruling, at: index)
            var others: [Int] = []
            if ruling.isValid != before.isValid {
                others = countConfirmations(by: index) + endsNamed(by: index)
            }
            looks &+= records[index].dependants.count &+ ends(behind: index).count
            if records[index].operation.action.isInvitePolicy { looks &+= placed.invites.all.count }
            others += affected(by: index) + reached(by: index) + cutOff(by: index, moved)
            for other in others { queue.insert(other, rank: records[other].rank) }
            updateUnconfirmed(by: index)
        }
        return changed.change { (records[$0].operation.id, records[$0].hasEffect) }
    }

    /// - Returns: the devices whose cutting end has changed, or that no end cuts off any longer.
    private mutating func take(_ ruling: AuthRuling, at index: Int) -> [DeviceID] {
        let wasValid = records[index].isValid
        placed.records[index].take(ruling)
        guard records[index].isValid != wasValid else { return [] }
        noteFinal(index)
        guard let end = records[index].again.original else { return [] }
        noteStrongest(index, of: end)
        placed.records[end].again.isValidElsewhere = placed.further.strongest[end] != nil
        return findCutOff(from: index)
    }

    /// How many revocations are aimed at it.
    private func revocationCount(_ exposure: AuthExposure) -> Int {
        exposure.targets.reduce(0) { $0 + (placed.reach.revocations[$1]?.count ?? 0) }
    }

    /// The operations whose verdict may change because that of `index` just did, except those that
    /// it hits.
    private func affected(by index: Int) -> [Int] {
        // An end by a phrase that stands behind another one waits until a final end names it
        // (V-12).
        var affected = records[index].dependants.filter {
            records[$0].fault == nil && (records[$0].stands || hasFollowed($0))
        }
        affected += ends(behind: index)
        if records[index].operation.action.isInvitePolicy {
            affected += placed.invites.all.filter { placed.knows($0, index) }
        }
        return affected
    }

    /// The operations that a revocation hits. One that takes effect can only take validity, one
    /// that loses it can only give it back. Of the records of one end only the strongest makes a
    /// difference.
    private mutating func reached(by index: Int) -> [Int] {
        guard isStrongest(index) else { return [] }
        var reached: [Int] = []
        for target in placed.targets(ofRevocation: index) {
            let exposed = placed.exposed(at: target)
            looks &+= exposed.count
            reached += exposed.filter { mayChange($0, by: index) && voids(index, $0) }
        }
        return reached
    }

    /// The operations of some devices under the grant of an end that takes part in cutting them
    /// off.
    private mutating func cutOff(by index: Int, _ devices: [DeviceID]) -> [Int] {
        guard !devices.isEmpty, let grant = records[index].grant else { return [] }
        let under = records[grant].dependants
        let targets = devices.map { AuthTarget.device($0) }
        // If the devices bind very many others, the operations under the grant itself are examined,
        // not those of every device.
        let isFewer = placed.hasExposed(at: targets, moreThan: under.count)
        let all = isFewer ? under : targets.flatMap(placed.exposed)
        let found =
            isFewer ? under.filter { devices.contains(records[$0].operation.device) } : all
        looks &+= all.count
        return found.filter {
            records[$0].grant == grant && mayChange($0, by: index)
                && placed.isStronger(index, than: $0)
        }
    }

    /// Whether the verdict may change now that a revocation takes effect, or loses it. What was
    /// given up stays given up: further revocations of that kind change nothing.
    private func mayChange(_ index: Int, by revocation: Int) -> Bool {
        guard records[revocation].isValid else { return records[index].ruling != .valid }
        return records[index].ruling == .valid
            || records[index].stands && !givesUp(revocation, index)
            || records[index].ruling == .standing && records[revocation].again.isFinalEnd
    }

    /// The verdict on an operation without fault, given the verdicts on all stronger ones.
    private func judge(_ index: Int) -> AuthRuling {
        if records[index].isOpaque || handedOn[index] != nil { return .none }
        guard hasFollowed(index) else { return .none }
        let record = records[index]
        // Whether only its own author's member has ended it, or the grants that it rests on.
        var isGivenUp = false
        var isDisplaced = false
        for support in record.supports where !records[support].isValid {
            guard support == record.grant, records[support].stands else { return .none }
            isGivenUp = true
            isDisplaced = records[support].isDisplaced
        }
        // A thief with the old phrase would add a device, and revoke others with that.
        if isDisplaced, case .removeDevice = record.operation.action { return .none }
        guard lapsedInvite(of: index) == nil else { return .none }
        switch end(of: index) {
        case .byOthers: return .none
        case .givenUp: isGivenUp = true
        case .replaced: (isGivenUp, isDisplaced) = (true, true)
        case nil: break
        }
        guard policy(forbidding: index) == nil else { return .none }
        guard isGivenUp else { return .valid }
        if record.canBeKept, isConfirmed(index) { return .kept }
        guard record.operation.action.isAddition else { return .none }
        return isDisplaced ? .displaced : .standing
    }

    /// By whom an operation was ended.
    private enum End { case givenUp, replaced, byOthers }

    /// Whether valid revocations take effect from an operation without fault: whether any does not
    /// give it up, and if all do, whether it was given up with a replaced phrase.
    private func end(of index: Int) -> End? {
        var end: End?
        for revocation in revocations(taking: index) {
            guard givesUp(revocation, index) else { return .byOthers }
            let isReplaced = end == .replaced || records[revocation].again.isFinalEnd
            end = isReplaced ? .replaced : .givenUp
        }
        return end
    }

    /// The strongest valid revocation that takes effect from an operation without fault.
    func revocation(voiding index: Int) -> Int? {
        if let transfer = handedOn[index] { return transfer }
        let isSpared = records[index].canBeKept && isConfirmed(index)
        return revocations(taking: index).filter { !isSpared || !givesUp($0, index) }
            .min { placed.isStronger($0, than: $1) }
    }

    /// The valid revocations that hit an operation and do not know it.
    func revocations(taking index: Int) -> some Sequence<Int> {
        let exposure = placed.exposure(of: index)
        let strongest = records[index].operation.isOwnEnd ? strongestConfirmation(of: index) : nil
        return (exposure.map(placed.revocations(aimedAt:)) ?? []).lazy.filter {
            guard let exposure, records[$0].isValid else { return false }
            return hits($0, exposure) && !isBeyond(index, $0) && !isAnswered($0, strongest)
        }
    }
}

/// The verdict on an operation, in detail.
enum AuthRuling: Hashable, Sendable {
    /// A displaced operation stands, but no revocation under it has effect.
    case none, displaced, standing, kept, valid

    var isValid: Bool { self == .kept || self == .valid }
}

extension AuthRecord {
    var ruling: AuthRuling {
        if isValid { return isKept ? .kept : .valid }
        guard stands else { return .none }
        return isDisplaced ? .displaced : .standing
    }

    mutating func take(_ ruling: AuthRuling) {
        (isValid, isKept, stands) = (ruling.isValid, ruling == .kept, ruling != .none)
        isDisplaced = ruling == .displaced
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

/// Operations that wait to be judged, each once, the strongest first: a binary heap.
private struct RankQueue {
    private var heap: [(rank: AuthRank, index: Int)] = []
    private var waiting: Set<Int> = []

    mutating func insert(_ index: Int, rank: AuthRank) {
        guard waiting.insert(index).inserted else { return }
        heap.append((rank, index))
        var child = heap.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard rank < heap[parent].rank else { break }
            heap[child] = heap[parent]
            child = parent
        }
        heap[child] = (rank, index)
    }

    mutating func removeStrongest() -> Int? {
        guard let first = heap.first, let last = heap.popLast() else { return nil }
        waiting.remove(first.index)
        guard !heap.isEmpty else { return first.index }
        var parent = 0
        while 2 * parent + 1 < heap.count {
            var child = 2 * parent + 1
            if child + 1 < heap.count, heap[child + 1].rank < heap[child].rank { child += 1 }
            guard heap[child].rank < last.rank else { break }
            heap[parent] = heap[child]
            parent = child
        }
        heap[parent] = last
        return first.index
    }
}
