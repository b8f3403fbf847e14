import CRDTStore
import WorkspaceModel

/// What ended stays ended: G5, G12, G15.
extension AttackGoals {
    private var devices: Set<DeviceID> {
        Set(history.operations.flatMap { history.devices(of: $0) })
    }

    private var counted: [AttackEnd] { record.ends.filter { judge.isValid($0.operation) } }

    private func knows(_ operation: AuthOperation, _ end: AttackEnd) -> Bool {
        history.pasts[operation.id]?.contains(end.operation) ?? false
    }

    /// As in G15, what attackers who are an admin confirm is not it, also where it knows the end (V-6).
    func g5BackWithoutAPerson() -> String? {
        for end in counted {
            for id in judge.valid {
                guard let operation = history[id], knows(operation, end),
                    isOf(operation, end), !isLetInAfter(operation, end),
                    !isStronger(operation, end), !isConfirmedByAttackers(operation)
                else { continue }
                return "\(label(id)) is valid after \(label(end.operation)) of \(end.person)"
            }
            if let how = isIn(end) ?? comesThrough(end) { return how }
        }
        return closedDoor()
    }

    /// Whether somebody who is out is in all the same.
    private func isIn(_ end: AttackEnd) -> String? {
        if case .demoted = end.kind { return nil }
        let member = record.people[end.person]?.member
        for device in devices.sorted() {
            if case .revoked = end.kind, !end.devices.contains(device) { continue }
            let standings = judge.standings(of: device).filter { $0.member == member }
            // Who holds more by another grant stays with all of them (V-4).
            if standings.contains(where: { wasPromoted($0.grant, device, end) }) { continue }
            for standing in standings where !isBack(standing.grant, device, member, end) {
                return "\(end.person) is in after \(label(end.operation))"
            }
        }
        return nil
    }

    /// What `KnownGapTests` tells: by a friend's admission in an older past somebody is stronger than
    /// a leave, is not in, and signs on.
    private func isStronger(_ operation: AuthOperation, _ end: AttackEnd) -> Bool {
        if wasPromoted(operation.grant, operation.device, end) { return true }
        guard case .left = end.kind, let grant = letIn(operation.grant, by: operation.device),
            case .admit = grant.action
        else { return false }
        return history.pasts[end.operation]?.contains(grant.id) != true
    }

    /// Whether attackers who are an owner made somebody more than who ended that one. What an owner
    /// revokes, a younger device of an owner gives nobody back.
    private func wasPromoted(_ id: OperationID?, _ device: DeviceID, _ end: AttackEnd) -> Bool {
        guard record.hasOwner, case .grant? = letIn(id, by: device)?.action else { return false }
        guard case .revoked = end.kind else { return true }
        return history[end.operation].flatMap { author($0) } != record.people["owner"]?.member
    }

    /// Who is removed lets nobody in by the invites made before.
    private func comesThrough(_ end: AttackEnd) -> String? {
        guard case .removed = end.kind else { return nil }
        for id in judge.valid {
            guard let operation = history[id], case .admit(let invite, _, _, _) = operation.action,
                let door = history[invite], author(door) == record.people[end.person]?.member,
                written(id)?.isHonest == false, !knowsAdmission(end, id),
                door.grant.flatMap({ history[$0] }).map({ knows($0, end) }) != true
            else { continue }
            return "\(label(id)) comes in by the invite of \(end.person)"
        }
        return nil
    }

    private func knowsAdmission(_ end: AttackEnd, _ id: OperationID) -> Bool {
        history.pasts[end.operation]?.contains(id) ?? false
    }

    /// An invite that the owner has ended lets nobody in any more.
    private func closedDoor() -> String? {
        guard !record.hasOwner else { return nil }
        for written in record.written where written.isHonest && written.author == "owner" {
            guard case .revokeInvite(let invite) = written.operation.action,
                judge.isValid(written.operation.id)
            else { continue }
            let before = history.pasts[written.operation.id] ?? []
            for id in judge.valid.subtracting(before) {
                guard case .admit(invite, _, _, _)? = history[id]?.action else { continue }
                return "\(label(id)) comes in by the closed \(label(invite))"
            }
        }
        return nil
    }

    private func isOf(_ operation: AuthOperation, _ end: AttackEnd) -> Bool {
        switch end.kind {
        case .revoked: isRevoked(operation, end)
        case .removed, .left: author(operation) == record.people[end.person]?.member
        case .demoted, .leftByYounger: false
        }
    }

    /// Whether an end has revoked the operation's device as its author's. What a stolen device
    /// signs for another person is that person's affair, like any key they made. A device that the
    /// owner has revoked is nobody's.
    private func isRevoked(_ operation: AuthOperation, _ end: AttackEnd) -> Bool {
        guard end.devices.contains(operation.device) else { return false }
        return end.person == "owner"
            || author(operation) == record.people[end.person]?.member
    }

    private func isLetInAfter(_ operation: AuthOperation, _ end: AttackEnd) -> Bool {
        isBack(operation.grant, operation.device, author(operation), end)
    }

    /// Whether a person decided, knowing of the end: a grant of somebody else's, or where nobody had
    /// been let in, an admission by an admin. A device that was revoked never comes back.
    private func isBack(
        _ id: OperationID?, _ device: DeviceID, _ member: MemberID?, _ end: AttackEnd
    ) -> Bool {
        if case .revoked = end.kind { return false }
        guard let grant = letIn(id, by: device), knows(grant, end) else { return false }
        switch grant.action {
        case .grant: return author(grant) != member
        case .admit: return (acting(grant) ?? .guest) <= .admin
        default: return false
        }
    }

    private func acting(_ operation: AuthOperation) -> Role? {
        operation.grant.flatMap { all.role(ofGrant: $0, device: operation.device) }
    }

    func g12AuthorityAboveRole() -> String? {
        for end in counted {
            guard case .demoted(let role) = end.kind, let person = record.people[end.person] else {
                continue
            }
            let before = history.pasts[end.operation] ?? []
            for id in judge.valid where !before.contains(id) && id != end.operation {
                guard let operation = history[id], author(operation) == person.member,
                    !endsOwnDevice(operation, of: person),
                    let acting = operation.grant.flatMap({
                        all.role(ofGrant: $0, device: operation.device)
                    }), acting < role,
                    !isGivenByAnother(
                        operation.grant, operation.device, person.member, before, end)
                else { continue }
                return "\(label(id)) by \(person.name) as \(acting) after \(label(end.operation))"
            }
            for device in devices.sorted() {
                for standing in judge.standings(of: device)
                where standing.member == person.member && standing.role < role
                    && !isGivenByAnother(standing.grant, device, person.member, before, end)
                {
                    return "\(person.name) is \(standing.role) after \(label(end.operation))"
                }
            }
        }
        return nil
    }

    /// What ends another own device counts under whichever role its author has (V-10).
    private func endsOwnDevice(_ operation: AuthOperation, of person: AttackPerson) -> Bool {
        guard case .removeDevice(let device) = operation.action else { return false }
        return device != operation.device && person.devices.contains(device)
    }

    /// Whether the role comes from a grant that the demoting member did not know, or
    /// that knew the demotion.
    private func isGivenByAnother(
        _ id: OperationID?, _ device: DeviceID, _ member: MemberID, _ before: Set<OperationID>,
        _ end: AttackEnd
    ) -> Bool {
        guard let grant = letIn(id, by: device), case .grant = grant.action,
            grant.id != end.operation
        else { return false }
        return !before.contains(grant.id) && author(grant) != member
    }

    /// A weaker device outlives nobody's word. Whom attackers made an owner, not knowing of that word, is
    /// no weaker one, as in G5; what an owner ended stays so. Nor is it what attackers who are an admin
    /// confirm: they could have done that without it (V-6).
    func g15StolenDeviceLives() -> String? {
        for end in counted {
            guard case .revoked = end.kind else { continue }
            let before = history.pasts[end.operation] ?? []
            for id in judge.valid where !before.contains(id) {
                guard let operation = history[id], isRevoked(operation, end),
                    !wasPromoted(operation.grant, operation.device, end),
                    !isConfirmedByAttackers(operation)
                else { continue }
                return "\(label(id)) by the stolen device is valid beside \(label(end.operation))"
            }
        }
        return nil
    }

    /// Whether it acts as member, and an attacker who is an admin confirms it. An admin could write
    /// whatever a confirm may name.
    private func isConfirmedByAttackers(_ operation: AuthOperation) -> Bool {
        guard record.hasAdmin, acting(operation) == .member else { return false }
        return judge.valid.contains { id in
            guard case .confirm(let named)? = history[id]?.action, named.contains(operation.id)
            else {
                return false
            }
            return written(id)?.isHonest == false
        }
    }
}
