import CRDTStore
public import WorkspaceModel

extension AuthDefinition {
    /// The valid revocations that reach what a device writes under a grant in public documents,
    /// by the words of PROTOCOL.md, 4; `nil` where nothing of it is valid anyway.
    ///
    /// Content ranks behind everything else that its device writes, and as if its author knew of
    /// every role that he gave up. What ends a grant ends the content of those that it replaced.
    public mutating func revocationsOfContent(
        under grant: OperationID, by device: DeviceID
    ) -> [OperationID]? {
        guard isValid(grant), let role = role(grant), role <= 2, devices(grant).contains(device)
        else { return nil }
        var reached = Set(hitting(grant, device))
        for id in visiting {
            guard case .grant(let given)? = operations[id]?.action, given.replaces,
                given.member == subject(grant), past(id).contains(grant), isValid(id)
            else { continue }
            reached.formUnion(hitting(id, device).filter { endsMembership($0) })
        }
        return reached.sorted()
    }

    private mutating func hitting(_ grant: OperationID, _ device: DeviceID) -> [OperationID] {
        let place = devices(grant).firstIndex(of: device) ?? .max
        let role = contentRole(self.role(grant) ?? 3, under: grant)
        let rank = Rank(
            numbers: [role, lamports[grant] ?? 0], grant: grant, tail: [place, .max],
            id: OperationID([UInt8](repeating: 0xff, count: 32)))
        return visiting.filter { id in
            guard let revocation = operations[id], isRevocation(revocation),
                wellFormed.contains(id), reaches(revocation, grant, device)
            else { return false }
            if case .leave = revocation.action {
                return !past(letIn(grant)).contains(id) && isValid(id)
            }
            return self.rank(revocation) < rank && !past(grant).contains(id) && isValid(id)
        }
    }

    /// The grant by which somebody else let its subject in.
    private func letIn(_ grant: OperationID) -> OperationID {
        var grant = grant
        while case .addDevices? = operations[grant]?.action, let cited = operations[grant]?.grant {
            grant = cited
        }
        return grant
    }

    private func endsMembership(_ id: OperationID) -> Bool {
        switch operations[id]?.action {
        case .remove?, .removeDevice?, .leave?: true
        default: false
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
                && past(revocation.id).contains(grant)
        default: false
        }
    }
}
