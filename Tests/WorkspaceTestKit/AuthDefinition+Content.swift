import CRDTStore
public import WorkspaceModel

extension AuthDefinition {
    /// The valid revocations that reach what a device writes under a grant in public documents,
    /// by the words of PROTOCOL.md, 4; `nil` where nothing of it is valid anyway.
    ///
    /// Content ranks behind everything else that its device writes, and as if its author knew of
    /// every role that he gave up.
    public mutating func revocationsOfContent(
        under grant: OperationID, by device: DeviceID
    ) -> [OperationID]? {
        guard isValid(grant), let role = role(grant), role <= 2,
            let place = devices(grant).firstIndex(of: device)
        else { return nil }
        let rank = Rank(
            numbers: [contentRole(role, under: grant), lamports[grant] ?? 0], grant: grant,
            tail: [place, .max], id: OperationID([UInt8](repeating: 0xff, count: 32)))
        return visiting.filter { id in
            guard let revocation = operations[id], isRevocation(revocation),
                wellFormed.contains(id), self.rank(revocation) < rank,
                !past(grant).contains(id), reaches(revocation, grant, device)
            else { return false }
            return isValid(id)
        }
    }

    private mutating func contentRole(_ role: Int, under grant: OperationID) -> Int {
        let own = subject(grant)
        let hasDropped = visiting.contains { id in
            guard let drop = operations[id], case .grant(let given) = drop.action,
                given.dropsOwn, subject(drop.grant) == own, !past(grant).contains(id)
            else { return false }
            return isValid(id)
        }
        return hasDropped && role < 2 ? role + 1 : role
    }

    private func reaches(
        _ revocation: AuthOperation, _ grant: OperationID, _ device: DeviceID
    ) -> Bool {
        switch revocation.action {
        case .remove(let member): member == subject(grant)
        case .removeDevice(let other):
            other == device
                && (subject(grant) == subject(revocation.grant)
                    || (actingRole(revocation) ?? 9) <= 1)
        case .leave: subject(revocation.grant) == subject(grant)
        case .grant(let given):
            given.replaces && given.member == subject(grant) && given.role > .member
                && revocation.id != grant
        default: false
        }
    }
}
