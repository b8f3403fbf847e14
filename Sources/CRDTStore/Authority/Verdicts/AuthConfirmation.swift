public import WorkspaceModel

/// Confirmed operations, and those that wait for a confirmation.
struct AuthConfirmations: Sendable {
    /// How many valid confirmations an operation has that are stronger than it.
    var counts: [Int: Int] = [:]
    /// What a member or admin did that others build on, and ends, that nobody has confirmed.
    var missing: Set<Int> = []
    /// By phrase which of its final ends another member's valid confirmation names: that of the strongest
    /// one.
    var chosen: [OwnDevice: ChosenEnd] = [:]
    /// The phrases of which another one is chosen since `missing` was brought up to date.
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

/// Whoever gives up a device, or leaves, may not know of all that was done with it, and others have
/// built on that. It stays where somebody stronger has confirmed it (PROTOCOL.md, 4.0.3, V-6). And the
/// end itself stays the only one: what ends the same once more, as if before it, has no effect.
extension AuthVerdicts {
    /// Counts a confirmation that has become valid, or is so no more. How strong it is never changes,
    /// so a weaker one is never looked at again.
    ///
    /// - Returns: what is confirmed now and was not before, or the other way round.
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

    /// The records of what an operation confirms.
    private func confirmedRecords(by index: Int) -> [Int] {
        let named = records[index].cited.confirmed
        guard !placed.further.endsAgain.isEmpty else { return named }
        return named.flatMap { placed.everyRecord(of: $0) }
    }

    /// Whether a confirmation is strong enough for an operation. Under a grant that gives a phrase
    /// ranked behind an end's, nobody confirms their own end: a thief with the old words would.
    private func mayConfirm(_ confirmation: Int, _ index: Int) -> Bool {
        placed.isStronger(confirmation, than: index)
            && !(records[index].again.isUnlisted
                && records[confirmation].author == records[index].author)
    }

    /// Counts those that were there before an end's record under another grant.
    mutating func countConfirmations(of index: Int) {
        guard let end = records[index].again.original else { return }
        let count = (placed.further.confirms[end] ?? []).count {
            records[$0].isValid && mayConfirm($0, index)
        }
        confirmations.counts[index] = count > 0 ? count : nil
    }

    /// Whether the author of a revocation gives up by it what was his own: as who wrote the operation,
    /// or, of an admission, as the member who opened the invite.
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
    /// a thief with the old words would revoke the replacing phrase with them.
    private func isReplaced(_ index: Int, by revocation: Int) -> Bool {
        guard records[revocation].again.isFinalEnd,
            case .removeDevice = records[index].operation.action
        else { return false }
        return true
    }

    /// Whether a valid operation that is stronger confirms it.
    func isConfirmed(_ index: Int) -> Bool { confirmations.counts[index] != nil }

    /// The invite of an unconfirmed admission, if the invite is only kept by a confirmation itself:
    /// a thief of the device that opened it still has the link.
    func lapsedInvite(of index: Int) -> Int? {
        guard records[index].operation.action.isAdmission,
            let invite = records[index].cited.reference, records[invite].isKept, !isConfirmed(index)
        else { return nil }
        return invite
    }
}

/// What an admin's device has to confirm.
extension AuthVerdicts {
    /// Takes up a new verdict on one operation.
    mutating func updateUnconfirmed(by index: Int) {
        for other in confirmedRecords(by: index) + takeRechosen() + [index] {
            if awaitsConfirmation(other) {
                confirmations.missing.insert(other)
            } else {
                confirmations.missing.remove(other)
            }
        }
    }

    /// The same for all of them.
    mutating func findUnconfirmed() {
        confirmations.missing = Set(records.indices.filter { awaitsConfirmation($0) })
        confirmations.rechosen = []
    }

    /// Of the final ends of a phrase the one that somebody has confirmed waits for stronger ones, also where
    /// it is void until they do; the others wait for nobody (PROTOCOL.md, 4.0.6, F-16).
    private func awaitsConfirmation(_ index: Int) -> Bool {
        guard placed.rules == .workspace, !isConfirmed(index) else { return false }
        if let chosen = phrase(ofFinalEnd: index).flatMap({ confirmations.chosen[$0] }) {
            return chosen.end == placed.original(index)
        }
        return records[index].isValid && wantsConfirmation(index)
    }

    /// Whether its author, or whoever has one of that one's devices, could undo what others rely on: what a
    /// member or admin did on which they build, and an end of the own part, which another one could come
    /// before. What an owner did nobody else could confirm who is weaker than that.
    func wantsConfirmation(_ index: Int) -> Bool {
        let operation = records[index].operation
        return operation.isOwnEnd
            || operation.canBeKept && restsOnOthers(index)
    }

    /// Whether somebody who is no owner can take an operation back: who wrote it, or who opened the
    /// invite by which it lets somebody in.
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
    /// How many operations a confirmation is the only one of, that rest on the word of somebody who is no
    /// owner or end their author's own part.
    public func confirmedAlone(by id: OperationID) -> Int {
        guard let index = indices[id], records[index].isValid else { return 0 }
        return records[index].cited.confirmed.count { named in
            placed.everyRecord(of: named).contains {
                verdicts.confirmations.counts[$0] == 1 && verdicts.wantsConfirmation($0)
                    && placed.isStronger(index, than: $0)
            }
        }
    }

    /// The strongest confirmation by which an operation has effect though its author gave it up; `nil`
    /// where it needs none.
    ///
    /// - Cost: linear in the document.
    public func confirmation(keeping id: OperationID) -> OperationID? {
        guard let kept = indices[id], records[kept].isKept else { return nil }
        return records.indices.filter {
            records[$0].isValid && records[$0].cited.confirmed.contains(kept)
                && placed.isStronger($0, than: kept)
        }.min { placed.isStronger($0, than: $1) }.map { records[$0].operation.id }
    }

    /// What members and admins did on which others build, and ends, that nobody has confirmed, as far as a
    /// device would be stronger by writing now: valid operations, those that are about people first, else
    /// in the order in which they came.
    ///
    /// - Parameter grant: the one that it would cite.
    /// - Cost: linear in what is not confirmed.
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
