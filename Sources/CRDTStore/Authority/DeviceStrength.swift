public import WorkspaceModel

/// Which of a member's devices are stronger: what one of them may cost others, and which of them
/// speaks for another, hangs on that (PROTOCOL.md, 4.0.4: S-5).
extension AuthEvaluator {
    /// Whether a device of a member is in, and stronger than another one, or that is out.
    public func isStronger(_ device: DeviceID, than other: DeviceID, of member: MemberID) -> Bool {
        guard let own = strongestNow(device, of: member) else { return false }
        return strongestNow(other, of: member).map { own < $0 } ?? true
    }

    /// How many of the linked devices that a member is in with are stronger than one of them, up to
    /// `most`; `most` for a device that is not in. Nothing that a device links comes before what is
    /// stronger than it, so nobody's place hangs on the weaker ones.
    ///
    /// - Cost: linear in the devices that the member ever linked, where few are stronger.
    public func placeAmongLinked(_ device: DeviceID, of member: MemberID, most: Int) -> Int {
        guard let own = strongestNow(device, of: member) else { return most }
        var stronger: Set<DeviceID> = []
        for grant in placed.people.additions[member] ?? [] where records[grant].isValid {
            for other in records[grant].gives.devices where !stronger.contains(other) {
                guard let rank = strongestNow(other, of: member), rank < own else { continue }
                stronger.insert(other)
                if stronger.count >= most { return most }
            }
        }
        return stronger.count
    }

    /// A member's everyday devices that a transfer by `device` takes nothing from: a member who
    /// wants to hand over must do it on one of these. Ascending.
    public func devices(strongerThan device: DeviceID, of member: MemberID) -> [DeviceID] {
        guard let own = strongestNow(device, of: member) else { return [] }
        return placed.people.grantsOfDevice.keys.filter { other in
            !verdicts.isRecovery(other, of: member)
                && strongestNow(other, of: member).map { $0 < own } == true
        }.sorted()
    }

    /// Whether a device is anybody's recovery phrase.
    public func isRecovery(_ device: DeviceID) -> Bool {
        placed.people.bindings[device]?.keys.contains { verdicts.isRecovery(device, of: $0) }
            ?? false
    }

    /// Whether a change of verdicts may admit or remove somebody, or change a role. Callers may
    /// cache memberships until then.
    public func changesStanding(_ change: AuthChange) -> Bool {
        change.all.contains { id in
            guard let index = indices[id] else { return true }
            return switch records[index].operation.action {
            // Of nobody who was ever given anything: there is nothing to take.
            case .remove(let member): placed.people.given[member] != nil
            case .removeDevice(let device): placed.people.grantsOfDevice[device] != nil
            default: records[index].operation.action.bearsOnStanding
            }
        }
    }

    /// Whether anything admits a member, valid or not. What did once always does.
    public func isAdmitted(_ member: MemberID) -> Bool { placed.people.admitted[member] != nil }

    /// Where nothing that admits a member has effect, the first of it by (depth, id) on which something
    /// valid is built: no other admission lets that one in any more.
    public func vainAdmission(of member: MemberID) -> OperationID? {
        guard let all = placed.people.admitted[member],
            !all.contains(where: { records[$0].isValid })
        else {
            return nil
        }
        let heads = heads.compactMap { indices[$0] }
        return all.filter { admission in heads.contains { placed.knows($0, admission) } }.min {
            (records[$0].lamport, records[$0].operation.id)
                < (records[$1].lamport, records[$1].operation.id)
        }.map { records[$0].operation.id }
    }

    /// The one member to whom something binds a device, valid or not, that something valid is built on;
    /// `nil` where there are several.
    public func citedMember(of device: DeviceID) -> MemberID? {
        guard let all = placed.people.bindings[device] else { return nil }
        let heads = heads.compactMap { indices[$0] }
        let members = all.filter { _, bindings in
            bindings.contains { binding in heads.contains { placed.knows($0, binding) } }
        }.keys
        return members.count == 1 ? members.first : nil
    }

    /// Whether a valid grant ever gave a member anything: the workspace has let that one in, whatever
    /// came after that.
    public func hasLetIn(_ member: MemberID) -> Bool {
        guard let entries = placed.people.admitted[member] else { return false }
        // A role needs an admission in its past, and may outlive that.
        return entries.contains { records[$0].isValid }
            || placed.grants(everTo: member).contains { records[$0].isValid }
    }

    /// How strong what a device would write now is, by its strongest grant to a member; `nil` for a
    /// device that is not in.
    func strongestNow(_ device: DeviceID, of member: MemberID) -> AuthRank? {
        inForce(device).first { records[$0].gives.subject == member }
            .flatMap { verdicts.contentExposure($0, device)?.rank }
    }
}

extension AuthAction {
    /// Whether it gives somebody something or takes it. What is not listed here does, to be safe.
    fileprivate var bearsOnStanding: Bool {
        switch self {
        case .invite, .request, .revokeInvite, .cutPart, .createDocument, .setDocument,
            .deleteDocument, .setWorkspace, .rekey, .confirm:
            false
        default: true
        }
    }
}
