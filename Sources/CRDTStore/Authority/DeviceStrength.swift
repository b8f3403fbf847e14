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
        for grant in additions[member] ?? [] where records[grant].isValid {
            for other in records[grant].devices where !stronger.contains(other) {
                guard let rank = strongestNow(other, of: member), rank < own else { continue }
                stronger.insert(other)
                if stronger.count >= most { return most }
            }
        }
        return stronger.count
    }

    /// Whether a change of verdicts may put somebody in or out, or change a role. Whoever asks who is
    /// in keeps the answer until then.
    public func changesStanding(_ change: AuthChange) -> Bool {
        change.all.contains { id in
            guard let index = indices[id] else { return true }
            return switch records[index].operation.action {
            // Of nobody who was ever given anything: there is nothing to take.
            case .remove(let member): given[member] != nil
            case .removeDevice(let device): grantsOfDevice[device] != nil
            default: records[index].operation.action.bearsOnStanding
            }
        }
    }

    /// Whether anything admits a member, valid or not. What did once always does.
    public func isAdmitted(_ member: MemberID) -> Bool { admitted[member] != nil }

    /// Where nothing that admits a member has effect, the first of it by (depth, id) on which something
    /// valid is built: no other admission lets that one in any more.
    public func vainAdmission(of member: MemberID) -> OperationID? {
        guard let all = admitted[member], !all.contains(where: { records[$0].isValid }) else {
            return nil
        }
        let heads = heads.compactMap { indices[$0] }
        return all.filter { admission in heads.contains { knows($0, admission) } }.min {
            (records[$0].lamport, records[$0].operation.id)
                < (records[$1].lamport, records[$1].operation.id)
        }.map { records[$0].operation.id }
    }

    /// The one member to whom something binds a device, valid or not, that something valid is built on;
    /// `nil` where there are several.
    public func citedMember(of device: DeviceID) -> MemberID? {
        guard let all = bindings[device] else { return nil }
        let heads = heads.compactMap { indices[$0] }
        let members = all.filter { _, bindings in
            bindings.contains { binding in heads.contains { knows($0, binding) } }
        }.keys
        return members.count == 1 ? members.first : nil
    }

    /// Whether a valid grant ever gave a member anything: the workspace has let that one in, whatever
    /// came after that.
    public func hasLetIn(_ member: MemberID) -> Bool {
        guard let entries = admitted[member] else { return false }
        // A role needs an admission in its past, and may outlive that.
        return entries.contains { records[$0].isValid }
            || grants(everTo: member).contains { records[$0].isValid }
    }

    /// How strong what a device would write now is, by its strongest grant to a member; `nil` for a
    /// device that is not in.
    func strongestNow(_ device: DeviceID, of member: MemberID) -> AuthRank? {
        inForce(device).first { records[$0].subject == member }
            .flatMap { contentExposure($0, device)?.rank }
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
