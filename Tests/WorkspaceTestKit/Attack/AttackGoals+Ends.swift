import CRDTStore
import WorkspaceModel

/// What ended stays ended: G5, G12, G15.
extension AttackGoals {
    private var counted: [AttackEnd] { record.ends.filter { judge.isValid($0.operation) } }

    private func knows(_ operation: AuthOperation, _ end: AttackEnd) -> Bool {
        history.pasts[operation.id]?.contains(end.operation) ?? false
    }

    func g5BackWithoutAPerson() -> String? {
        for end in counted {
            for id in judge.valid {
                guard let operation = history[id], knows(operation, end),
                    isOf(operation, end), !isLetInAfter(operation, end)
                else { continue }
                return "\(label(id)) is valid after \(label(end.operation)) of \(end.person)"
            }
        }
        return nil
    }

    private func isOf(_ operation: AuthOperation, _ end: AttackEnd) -> Bool {
        switch end.kind {
        case .revoked: end.devices.contains(operation.device)
        case .removed, .left: author(operation) == record.people[end.person]?.member
        case .demoted: false
        }
    }

    /// Whether a person decided, knowing of the end: a grant of somebody else's. A device that was
    /// revoked never comes back.
    private func isLetInAfter(_ operation: AuthOperation, _ end: AttackEnd) -> Bool {
        if case .revoked = end.kind { return false }
        guard let grant = letIn(operation.grant, by: operation.device), knows(grant, end),
            case .grant = grant.action
        else { return false }
        return author(grant) != author(operation)
    }

    func g12AuthorityAboveRole() -> String? {
        for end in counted {
            guard case .demoted(let role) = end.kind, let person = record.people[end.person] else {
                continue
            }
            let before = history.pasts[end.operation] ?? []
            for id in judge.valid where !before.contains(id) {
                guard let operation = history[id], author(operation) == person.member,
                    let acting = operation.grant.flatMap({
                        all.role(ofGrant: $0, device: operation.device)
                    }), acting < role, !isGivenByAnother(operation, before, end)
                else { continue }
                return "\(label(id)) by \(person.name) as \(acting) after \(label(end.operation))"
            }
        }
        return nil
    }

    /// Whether the role comes from a grant that whoever demoted did not know, or that knew that.
    private func isGivenByAnother(
        _ operation: AuthOperation, _ before: Set<OperationID>, _ end: AttackEnd
    ) -> Bool {
        guard let grant = letIn(operation.grant, by: operation.device),
            case .grant = grant.action, grant.id != end.operation
        else { return false }
        return !before.contains(grant.id) && author(grant) != author(operation)
    }

    func g15StolenDeviceLives() -> String? {
        for end in counted {
            guard case .revoked = end.kind else { continue }
            let before = history.pasts[end.operation] ?? []
            for id in judge.valid where !before.contains(id) {
                guard let operation = history[id], end.devices.contains(operation.device) else {
                    continue
                }
                return "\(label(id)) by the stolen device is valid beside \(label(end.operation))"
            }
            if end.devices.contains(where: { judge.standing(of: $0) != nil }) {
                return "the stolen device is in"
            }
        }
        return nil
    }
}
