import WorkspaceModel

/// Who may invite, as far as verdicts depend on it (PROTOCOL.md, 4).
extension AuthVerdicts {
    /// The policy that forbids an invite: one in force in the invite's past that does not allow its
    /// author to invite.
    ///
    /// Of the valid policies in the past, the one with the largest (lam, rank, id) is in force.
    /// Only policies stronger than the invite count: a policy binds nobody stronger than its
    /// author, and whatever a verdict depends on is judged before it.
    func policy(forbidding index: Int) -> Int? {
        let record = records[index]
        guard case .invite(let terms) = record.operation.action,
            let role = record.actingRole, role > .owner
        else { return nil }
        var latest: Int?
        for policy in placed.invites.policies where isInForce(policy, for: record) {
            if let known = latest, isLater(known, than: policy) { continue }
            latest = policy
        }
        guard let latest, case .setWorkspace(.some(let right)) = records[latest].operation.action
        else { return nil }
        return Self.allows(right, role, citing: terms.policy) ? nil : latest
    }

    private func isInForce(_ policy: Int, for record: AuthRecord) -> Bool {
        let other = records[policy]
        return other.isValid && other.rank < record.rank && record.knows(other.place)
    }

    private func isLater(_ left: Int, than right: Int) -> Bool {
        let (left, right) = (records[left], records[right])
        if left.lamport != right.lamport { return left.lamport > right.lamport }
        return left.rank > right.rank
    }

    /// Only members cite a policy.
    private static func allows(
        _ right: InviteRight, _ role: Role, citing policy: OperationID?
    ) -> Bool {
        switch right {
        case .owner: false
        case .admins: policy == nil
        case .members: role <= .admin || policy != nil
        }
    }
}
