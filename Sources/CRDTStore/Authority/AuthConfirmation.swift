public import WorkspaceModel

/// Whoever gives up a device, or leaves, may not know of all that was done with it, and others have
/// built on that. It stays where somebody stronger has confirmed it (PROTOCOL.md, 4.0.3, V-6).
extension AuthEvaluator {
    /// an admin confirms what is in the past, and is something on which others build.
    func confirmFault(_ record: AuthRecord, _ role: Role) -> AuthFault? {
        guard role <= .admin else { return .roleTooWeak }
        guard case .confirm(let operations) = record.operation.action, !operations.isEmpty,
            operations.count <= Limits.confirmedMax, record.confirmed.count == operations.count
        else { return .badConfirmation }
        return nil
    }

    /// Those of some operations that somebody who knows them may confirm, each once.
    func confirmable(_ operations: [OperationID], before record: AuthRecord) -> [Int] {
        let found = operations.prefix(Limits.confirmedMax).compactMap { indices[$0] }.filter {
            record.knows(records[$0].place) && records[$0].operation.action.canBeConfirmed
        }
        return Array(Set(found)).sorted()
    }

    /// Enters a confirmation, or what may get one.
    mutating func registerConfirmation(_ index: Int) {
        for other in records[index].confirmed { confirmations[other, default: []].append(index) }
    }

    /// Takes back what was placed last.
    mutating func unregisterConfirmation(_ index: Int) {
        for other in records[index].confirmed {
            confirmations[other]?.removeAll { $0 == index }
            if confirmations[other]?.isEmpty == true { confirmations[other] = nil }
        }
        unconfirmed.remove(index)
    }

    /// Whether a revocation leaves the operation alone: its author gives up by it what was his own,
    /// as who wrote the operation or as who opened the invite, and somebody stronger has confirmed
    /// the operation.
    func spares(_ revocation: Int, _ index: Int) -> Bool {
        switch records[revocation].aim {
        case .departure, .device: break
        default: return false
        }
        guard isConfirmed(index), let exposure = exposure(of: index) else { return false }
        return records[revocation].author == exposure.author
            || !isAimedUnknown(revocation, at: exposure)
    }

    private func isConfirmed(_ index: Int) -> Bool {
        (confirmations[index] ?? []).contains {
            records[$0].isValid && isStronger($0, than: index)
        }
    }

    /// Whether whoever opened an invite gave up by this what it was made with, and did not know it.
    func endsInvite(_ revocation: Int, _ invite: Int) -> Bool {
        guard rules == .workspace, let exposure = exposure(of: invite),
            records[revocation].author == exposure.author
        else { return false }
        return hits(revocation, exposure) && !knows(revocation, invite)
    }
}

/// What an admin's device has to confirm.
extension AuthEvaluator {
    /// What members did that others build on, and that nobody has confirmed, as far as a device would
    /// be stronger by writing now: valid operations in the order in which they came.
    ///
    /// - Parameter grant: the one that it would cite.
    /// - Cost: linear in what is not confirmed.
    public func unconfirmed(for device: DeviceID, under grant: OperationID) -> [OperationID] {
        guard let index = self.grant(grant, of: device),
            let exposure = contentExposure(index, device)
        else { return [] }
        return unconfirmed.filter { exposure.rank < records[$0].rank }.sorted()
            .map { records[$0].operation.id }
    }

    /// Takes up a new verdict on one operation.
    mutating func updateUnconfirmed(by index: Int) {
        for other in records[index].confirmed + [index] where awaitsConfirmation(other) {
            unconfirmed.insert(other)
        }
        for other in records[index].confirmed + [index] where !awaitsConfirmation(other) {
            unconfirmed.remove(other)
        }
    }

    /// The same for all of them.
    mutating func findUnconfirmed() {
        unconfirmed = Set(records.indices.filter { awaitsConfirmation($0) })
    }

    private func awaitsConfirmation(_ index: Int) -> Bool {
        rules == .workspace && records[index].isValid && records[index].actingRole == .member
            && records[index].operation.action.canBeConfirmed && !isConfirmed(index)
    }
}

extension AuthAction {
    /// Whether it is one on which others build: it lets in, or makes something for all.
    var canBeConfirmed: Bool {
        switch self {
        case .invite, .admit, .createDocument, .setDocument: true
        default: false
        }
    }
}
