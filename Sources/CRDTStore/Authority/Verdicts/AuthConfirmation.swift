public import WorkspaceModel

/// Which operations are confirmed, and which wait for a confirmation.
struct AuthConfirmations: Sendable {
    /// How many valid confirmations that are stronger than it an operation has.
    var counts: [Int: Int] = [:]
    /// Unconfirmed operations by members or admins on which others build, and unconfirmed own ends.
    var missing: Set<Int> = []
    /// For each phrase, which of its final ends is chosen: the one that the strongest valid
    /// confirmation by another member names (F-16).
    var chosen: [OwnDevice: ChosenEnd] = [:]
    /// The phrases whose chosen end has changed since `missing` was brought up to date.
    var rechosen: Set<OwnDevice> = []

    struct ChosenEnd {
        let end: Int
        let confirmation: Int
    }

    /// Forgets an operation that is withdrawn.
    mutating func forget(_ index: Int) {
        counts[index] = nil
        missing.remove(index)
    }
}

/// A member who revokes a device or leaves may not know all that was done with the device, while
/// others have built on it. An operation that somebody stronger has confirmed is kept (PROTOCOL.md,
/// 4.0.3, V-6). A confirmed own end also stays the only one: another that ends the same, dated as
/// if before it, has no effect.
extension AuthVerdicts {
    /// Counts a confirmation that has become valid, or is valid no longer. Its rank never changes,
    /// so a weaker one is never examined again.
    ///
    /// - Returns: what is confirmed now and was not before, or the reverse.
    mutating func countConfirmations(by index: Int) -> [Int] {
        let isValid = records[index].isValid
        chooseEnds(by: index)
        return confirmedRecords(by: index).filter { other in
            guard mayConfirm(index, other) else { return false }
            let before = confirmations.counts[other] ?? 0
            let count = isValid ? before + 1 : before - 1
            confirmations.counts[other] = count > 0 ? count : nil
            return (before > 0) != (count > 0)
        }
    }

    /// The records of the operations that a confirmation names.
    private func confirmedRecords(by index: Int) -> [Int] {
        let named = records[index].cited.confirmed
        guard !placed.further.endsAgain.isEmpty else { return named }
        return named.flatMap { placed.everyRecord(of: $0) }
    }

    /// Whether a confirmation is strong enough for an operation. Under a grant that does not give
    /// the phrase to the member (V-13), a member's own confirmation does not count: a thief with
    /// the old phrase would write it.
    private func mayConfirm(_ confirmation: Int, _ index: Int) -> Bool {
        placed.isStronger(confirmation, than: index)
            && !(records[index].again.isUnlisted
                && records[confirmation].author == records[index].author)
    }

    /// Counts the confirmations that were there before an end got a record under another grant.
    mutating func countConfirmations(of index: Int) {
        guard let end = records[index].again.original else { return }
        let count = (placed.further.confirms[end] ?? []).count {
            records[$0].isValid && mayConfirm($0, index)
        }
        confirmations.counts[index] = count > 0 ? count : nil
    }

    /// Whether the author of a revocation gives up something of their own by it: as the member who
    /// wrote the operation or, for an admission, as the member who opened the invite.
    func givesUp(_ revocation: Int, _ index: Int) -> Bool {
        switch records[revocation].aim {
        case .departure, .device:
            placed.rules == .workspace && records[revocation].author == records[index].author
                && !isReplaced(index, by: revocation)
        case .invite: records[revocation].actingRole == .member
        default: false
        }
    }

    /// Whether a final end takes what its phrase has revoked. That does not count as giving it up:
    /// a thief with the old phrase would revoke its replacement that way.
    private func isReplaced(_ index: Int, by revocation: Int) -> Bool {
        guard records[revocation].again.isFinalEnd,
            case .removeDevice = records[index].operation.action
        else { return false }
        return true
    }

    /// Whether a valid, stronger confirmation names it.
    func isConfirmed(_ index: Int) -> Bool { confirmations.counts[index] != nil }

    /// The invite of an unconfirmed admission, if the invite itself is only kept by a confirmation:
    /// a thief of the device that opened it still has the link.
    func lapsedInvite(of index: Int) -> Int? {
        guard records[index].operation.action.isAdmission,
            let invite = records[index].cited.reference, records[invite].isKept, !isConfirmed(index)
        else { return nil }
        return invite
    }
}

/// What an admin's device has to confirm (F-16).
extension AuthVerdicts {
    /// Applies a new verdict on one operation.
    mutating func updateUnconfirmed(by index: Int) {
        for other in confirmedRecords(by: index) + takeRechosen() + [index] {
            if awaitsConfirmation(other) {
                confirmations.missing.insert(other)
            } else {
                confirmations.missing.remove(other)
            }
        }
    }

    /// The same for all operations.
    mutating func findUnconfirmed() {
        confirmations.missing = Set(records.indices.filter { awaitsConfirmation($0) })
        confirmations.rechosen = []
    }

    /// Of the final ends of a phrase, only the chosen one waits for stronger confirmations, even
    /// while it is void without them (PROTOCOL.md, 4.0.6, F-16).
    private func awaitsConfirmation(_ index: Int) -> Bool {
        guard placed.rules == .workspace, !isConfirmed(index) else { return false }
        if let chosen = phrase(ofFinalEnd: index).flatMap({ confirmations.chosen[$0] }) {
            return chosen.end == placed.original(index)
        }
        return records[index].isValid && wantsConfirmation(index)
    }

    /// Whether its author, or somebody with one of the author's devices, could undo what others
    /// rely on. That is so for what a member or admin did and others build on, and for an own end,
    /// which another own end could precede. What an owner did can only be confirmed by somebody
    /// stronger than that owner.
    func wantsConfirmation(_ index: Int) -> Bool {
        let operation = records[index].operation
        return operation.isOwnEnd
            || operation.canBeKept && restsOnOthers(index)
    }

    /// Whether a member who is not an owner can take an operation back: its author, or the member
    /// who opened the invite of an admission.
    private func restsOnOthers(_ index: Int) -> Bool {
        func isOthers(_ role: Role?) -> Bool { role == .admin || role == .member }
        if isOthers(records[index].actingRole) { return true }
        guard records[index].operation.action.isAdmission,
            let invite = records[index].cited.reference
        else { return false }
        return isOthers(records[invite].actingRole)
    }
}

extension AuthEvaluator {
    /// How many operations have this confirmation as their only one, and either rest on an
    /// operation of somebody who is not an owner or are own ends.
    public func confirmedAlone(by id: OperationID) -> Int {
        guard let index = indices[id], records[index].isValid else { return 0 }
        return records[index].cited.confirmed.count { named in
            placed.everyRecord(of: named).contains {
                verdicts.confirmations.counts[$0] == 1 && verdicts.wantsConfirmation($0)
                    && placed.isStronger(index, than: $0)
            }
        }
    }

    /// The strongest confirmation that keeps an operation in effect although its author gave it up;
    /// `nil` if it needs none.
    ///
    /// - Cost: linear in the document.
    public func confirmation(keeping id: OperationID) -> OperationID? {
        guard let kept = indices[id], records[kept].isKept else { return nil }
        return records.indices.filter {
            records[$0].isValid && records[$0].cited.confirmed.contains(kept)
                && placed.isStronger($0, than: kept)
        }.min { placed.isStronger($0, than: $1) }.map { records[$0].operation.id }
    }

    /// The unconfirmed operations of members and admins on which others build, and own ends, that
    /// are weaker than what a device would write now: valid operations, first those about people,
    /// then in order of arrival.
    ///
    /// - Parameter grant: the grant that the device would cite.
    /// - Cost: linear in the number of unconfirmed operations.
    public func unconfirmed(for device: DeviceID, under grant: OperationID) -> [OperationID] {
        guard let index = placed.grant(grant, of: device),
            let exposure = verdicts.contentExposure(index, device)
        else { return [] }
        let member = records[index].gives.subject
        let open = verdicts.confirmations.missing.filter {
            exposure.rank < records[$0].rank
                && !(records[$0].again.isUnlisted && records[$0].author == member)
        }.sorted()
        let people = open.filter { !records[$0].operation.action.isAboutDocument }
        let documents = open.filter { records[$0].operation.action.isAboutDocument }
        return placed.ids(of: people + documents)
    }
}
