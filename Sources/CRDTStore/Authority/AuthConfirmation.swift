public import WorkspaceModel

/// Whoever gives up a device, or leaves, may not know of all that was done with it, and others have
/// built on that. It stays where somebody stronger has confirmed it (PROTOCOL.md, 4.0.3, V-6). And the
/// end itself stays the only one: what ends the same once more, as if before it, has no effect.
extension AuthEvaluator {
    /// an admin confirms what is in the past, and is something on which others build, or an end.
    func confirmFault(_ record: AuthRecord, _ role: Role) -> AuthFault? {
        guard role <= .admin else { return .roleTooWeak }
        guard case .confirm(let operations) = record.operation.action, !operations.isEmpty,
            operations.count <= Limits.confirmedMax, record.confirmed.count == operations.count
        else { return .badConfirmation }
        return nil
    }

    /// How many operations a confirmation is the only one of, that rest on the word of somebody who is no
    /// owner or end their author's own part.
    public func confirmedAlone(by id: OperationID) -> Int {
        guard let index = indices[id], records[index].isValid else { return 0 }
        return records[index].confirmed.count { named in
            everyRecord(of: named).contains {
                confirmationCounts[$0] == 1 && wantsConfirmation($0) && isStronger(index, than: $0)
            }
        }
    }

    /// Those of some operations that somebody who knows them may confirm, each once.
    func confirmable(_ operations: [OperationID], before record: AuthRecord) -> [Int] {
        let found = operations.prefix(Limits.confirmedMax).compactMap { indices[$0] }.filter {
            record.knows(records[$0].place) && records[$0].operation.canBeConfirmed
        }
        return Array(Set(found)).sorted()
    }

    /// Counts a confirmation that has become valid, or is so no more. How strong it is never changes,
    /// so a weaker one is never looked at again.
    ///
    /// - Returns: what is confirmed now and was not before, or the other way round.
    mutating func countConfirmations(by index: Int) -> [Int] {
        let isValid = records[index].isValid
        return confirmedRecords(by: index).filter { other in
            guard isStronger(index, than: other) else { return false }
            let before = confirmationCounts[other] ?? 0
            let count = isValid ? before + 1 : before - 1
            confirmationCounts[other] = count > 0 ? count : nil
            return (before > 0) != (count > 0)
        }
    }

    /// The records of what an operation confirms.
    private func confirmedRecords(by index: Int) -> [Int] {
        let named = records[index].confirmed
        guard !endsAgain.isEmpty else { return named }
        return named.flatMap { records[$0].operation.isOwnEnd ? everyRecord(of: $0) : [$0] }
    }

    /// Counts those that were there before a final end's record under another grant.
    mutating func countConfirmations(of index: Int) {
        guard let end = records[index].original, let author = records[index].author,
            records[index].operation.isOwnEnd
        else { return }
        let count = (revocations[.ownEnd(author)] ?? []).count {
            records[$0].isValid && records[$0].confirmed.contains(end)
                && isStronger($0, than: index)
        }
        confirmationCounts[index] = count > 0 ? count : nil
    }

    /// Whether the author of a revocation gives up by it what was his own: as who wrote the operation,
    /// or, of an admission, as the member who opened the invite.
    func givesUp(_ revocation: Int, _ index: Int) -> Bool {
        switch records[revocation].aim {
        case .departure, .device:
            rules == .workspace && records[revocation].author == records[index].author
        case .invite: records[revocation].actingRole == .member
        default: false
        }
    }

    /// Whether it revokes another recovery phrase of its author's member. That stays by no confirmation
    /// (V-6): the old words may be somebody else's, who revokes with them what has taken their place.
    func endsOwnPhrase(_ record: AuthRecord) -> Bool {
        guard case .removeDevice(let device) = record.operation.action,
            device != record.operation.device, let author = record.author
        else { return false }
        return isRecovery(device, of: author, before: record)
    }

    /// Whether a valid operation that is stronger confirms it.
    func isConfirmed(_ index: Int) -> Bool { confirmationCounts[index] != nil }

    /// The strongest confirmation by which an operation has effect though its author gave it up; `nil`
    /// where it needs none.
    ///
    /// - Cost: linear in the document.
    public func confirmation(keeping id: OperationID) -> OperationID? {
        guard let kept = indices[id], records[kept].isKept else { return nil }
        return records.indices.filter {
            records[$0].isValid && records[$0].confirmed.contains(kept)
                && isStronger($0, than: kept)
        }.min { isStronger($0, than: $1) }.map { records[$0].operation.id }
    }

    /// The invite of an admission that is not confirmed, where that is only kept itself: whoever has
    /// stolen the device that opened it goes on having the link.
    func lapsedInvite(of index: Int) -> Int? {
        guard records[index].operation.action.isAdmission,
            let invite = records[index].reference, records[invite].isKept, !isConfirmed(index)
        else { return nil }
        return invite
    }
}

/// What becomes of an operation.
enum AuthRuling: Hashable, Sendable {
    case none, standing, kept, valid

    var isValid: Bool { self == .kept || self == .valid }
}

extension AuthRecord {
    var ruling: AuthRuling {
        isValid ? (isKept ? .kept : .valid) : (stands ? .standing : .none)
    }

    mutating func take(_ ruling: AuthRuling) {
        (isValid, isKept, stands) = (ruling.isValid, ruling == .kept, ruling != .none)
    }
}

/// What an admin's device has to confirm.
extension AuthEvaluator {
    /// What members and admins did on which others build, and ends, that nobody has confirmed, as far as a
    /// device would be stronger by writing now: valid operations, those that are about people first, else
    /// in the order in which they came.
    ///
    /// - Parameter grant: the one that it would cite.
    /// - Cost: linear in what is not confirmed.
    public func unconfirmed(for device: DeviceID, under grant: OperationID) -> [OperationID] {
        guard let index = self.grant(grant, of: device),
            let exposure = contentExposure(index, device)
        else { return [] }
        let open = unconfirmed.filter { exposure.rank < records[$0].rank }.sorted()
        let people = open.filter { !records[$0].operation.action.isAboutDocument }
        let documents = open.filter { records[$0].operation.action.isAboutDocument }
        return ids(of: people + documents)
    }

    /// Takes up a new verdict on one operation.
    mutating func updateUnconfirmed(by index: Int) {
        for other in confirmedRecords(by: index) + [index] {
            if awaitsConfirmation(other) {
                unconfirmed.insert(other)
            } else {
                unconfirmed.remove(other)
            }
        }
    }

    /// The same for all of them.
    mutating func findUnconfirmed() {
        unconfirmed = Set(records.indices.filter { awaitsConfirmation($0) })
    }

    private func awaitsConfirmation(_ index: Int) -> Bool {
        rules == .workspace && records[index].isValid && !isConfirmed(index)
            && wantsConfirmation(index)
    }

    /// Whether its author, or whoever has one of that one's devices, could undo what others rely on: what a
    /// member or admin did on which they build, and an end of the own part, which another one could come
    /// before. What an owner did nobody else could confirm who is weaker than that.
    private func wantsConfirmation(_ index: Int) -> Bool {
        let operation = records[index].operation
        return operation.isOwnEnd
            || operation.canBeKept && records[index].original == nil && restsOnOthers(index)
    }

    /// Whether somebody who is no owner can take an operation back: who wrote it, or who opened the
    /// invite by which it lets somebody in.
    private func restsOnOthers(_ index: Int) -> Bool {
        func isOthers(_ role: Role?) -> Bool { role == .admin || role == .member }
        if isOthers(records[index].actingRole) { return true }
        guard records[index].operation.action.isAdmission, let invite = records[index].reference
        else { return false }
        return isOthers(records[invite].actingRole)
    }
}

extension AuthAction {
    /// Whether it gives its author another device.
    var isAddition: Bool { if case .addDevices = self { true } else { false } }

    /// Whether it makes or changes a document, so that it may wait for what lets people in.
    fileprivate var isAboutDocument: Bool {
        switch self {
        case .createDocument, .setDocument, .deleteDocument: true
        default: false
        }
    }

    /// Whether it is one on which others build: it lets in or puts out, gives or takes, or makes something
    /// for all.
    fileprivate var isForOthers: Bool {
        switch self {
        case .invite, .admit, .revokeInvite, .remove, .removeDevice, .recut, .createDocument,
            .setDocument, .deleteDocument, .setWorkspace, .rekey, .confirm:
            true
        case .grant(let grant): grant.drops == nil
        default: false
        }
    }
}

extension AuthOperation {
    /// Whether it stays, where it is confirmed, when its author gives up the device that wrote it.
    var canBeKept: Bool { action.isForOthers && !isOwnEnd }

    /// Whether a confirmation may name it: what others build on, and what its author ended.
    fileprivate var canBeConfirmed: Bool { canBeKept || isOwnEnd }
}
