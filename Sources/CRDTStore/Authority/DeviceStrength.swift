public import WorkspaceModel

/// The order of a member's devices by strength: it decides what a device may cost others, and which
/// device speaks for another (PROTOCOL.md, 4.0.4: S-5).
extension AuthEvaluator {
    /// Whether a device of a member is in, and the other one is weaker or out.
    public func isStronger(_ device: DeviceID, than other: DeviceID, of member: MemberID) -> Bool {
        guard let own = strongestNow(device, of: member) else { return false }
        return strongestNow(other, of: member).map { own < $0 } ?? true
    }

    /// How many of the linked devices with which a member is in are stronger than a given one, up
    /// to `most`; `most` for a device that is not in. Whatever a device links is weaker than all
    /// that is stronger than the device, so no place depends on weaker devices.
    ///
    /// - Cost: linear in the devices that the member ever linked, if few are stronger.
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

    /// A member's everyday devices from which a transfer by `device` takes nothing: a member who
    /// wants to hand over must use one of these. Ascending.
    public func devices(strongerThan device: DeviceID, of member: MemberID) -> [DeviceID] {
        guard let own = strongestNow(device, of: member) else { return [] }
        return placed.people.grantsOfDevice.keys.filter { other in
            !verdicts.isRecovery(other, of: member)
                && strongestNow(other, of: member).map { $0 < own } == true
        }.sorted()
    }

    /// Whether a device is the recovery phrase of any member.
    public func isRecovery(_ device: DeviceID) -> Bool {
        placed.people.bindings[device]?.keys.contains { verdicts.isRecovery(device, of: $0) }
            ?? false
    }

    /// Whether a change of verdicts may admit or remove a member, or change a role. Callers may
    /// cache memberships until then.
    public func changesStanding(_ change: AuthChange) -> Bool {
        change.all.contains { id in
            guard let index = indices[id] else { return true }
            return switch records[index].operation.action {
            // If the member never had a grant, there is nothing to take.
            case .remove(let member): placed.people.given[member] != nil
            case .removeDevice(let device): placed.people.grantsOfDevice[device] != nil
            default: records[index].operation.action.bearsOnStanding
            }
        }
    }

    /// Whether any operation admits a member, valid or not. Once true, this stays true.
    public func isAdmitted(_ member: MemberID) -> Bool { placed.people.admitted[member] != nil }

    /// If no admission of a member has effect, the first one by (depth, id) in the past of
    /// something valid: no other admission can let the member in any more.
    public func ineffectiveAdmission(of member: MemberID) -> OperationID? {
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

    /// The only member to whom operations in the past of valid ones bind a device, valid or not;
    /// `nil` if there are several.
    public func citedMember(of device: DeviceID) -> MemberID? {
        guard let all = placed.people.bindings[device] else { return nil }
        let heads = heads.compactMap { indices[$0] }
        let members = all.filter { _, bindings in
            bindings.contains { binding in heads.contains { placed.knows($0, binding) } }
        }.keys
        return members.count == 1 ? members.first : nil
    }

    /// Whether a valid grant ever gave a member a role: the workspace has let the member in,
    /// whatever happened since.
    public func hasLetIn(_ member: MemberID) -> Bool {
        guard let entries = placed.people.admitted[member] else { return false }
        // A grant of a role needs an admission in its past, and may stay valid longer than that.
        return entries.contains { records[$0].isValid }
            || placed.grants(everTo: member).contains { records[$0].isValid }
    }

    /// The rank of what a device would write now, by its strongest grant to a member; `nil` for a
    /// device that is not in.
    func strongestNow(_ device: DeviceID, of member: MemberID) -> AuthRank? {
        inForce(device).first { records[$0].gives.subject == member }
            .flatMap { verdicts.contentExposure($0, device)?.rank }
    }
}

extension AuthAction {
    /// Whether it may give or take a role or membership. Actions not listed here do, to be safe.
    fileprivate var bearsOnStanding: Bool {
        switch self {
        case .invite, .request, .revokeInvite, .cutPart, .createDocument, .setDocument,
            .deleteDocument, .setWorkspace, .rekey, .confirm:
            false
        default: true
        }
    }
}
