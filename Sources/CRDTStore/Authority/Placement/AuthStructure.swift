import WorkspaceModel

/// The rules that depend on an operation and its past alone, so that no later arrival changes their
/// result (PROTOCOL.md, 4.0.2). An operation that breaks one is refused, and so is what cites it.
extension PlacedOperations {
    /// Why `record`, placed but not yet added, can never be valid.
    ///
    /// - Parameter known: the results about its members' devices, which several rules need.
    func fault(of record: AuthRecord, _ known: inout KnownRolls) -> AuthFault? {
        if record.isOpaque { return nil }
        guard record.operation.isWellBound else { return .notBound }
        if case .create(_, let devices) = record.operation.action {
            return createFault(record, devices)
        }
        guard let role = record.actingRole else { return .noGrant }
        if rules == .privateDocument { return privateFault(of: record, role) }
        switch record.operation.action {
        case .addDevices(let devices):
            return addDevicesFault(record, devices, &known)
        case .removeDevice(let device):
            return removeDeviceFault(record, role, device)
        case .invite(let terms):
            return inviteFault(record, role, terms)
        case .request(_, let member, let devices, let end):
            return requestFault(record, role)
                ?? (end == nil
                    ? newcomerFault(record, member, devices)
                    : returnFault(record, member, devices, &known))
        case .admit(_, let member, let devices, _):
            return admitFault(record, role, member, devices)
                ?? newcomerFault(record, member, devices) ?? keyFault(record)
        case .grant(let grant):
            return grantFault(record, role, grant)
                ?? listingFault(grant.devices, of: grant.member, &known)
                ?? transferFault(record, role, grant, &known)
        case .recut:
            return recutFault(record, role)
        case .revokeInvite:
            return revokeInviteFault(record, role)
        case .remove(let member):
            guard role <= .admin else { return .roleTooWeak }
            return member == record.author ? .ownSubject : nil
        default:
            return roleFault(record, role)
        }
    }

    /// The faults that follow from the role alone.
    private func roleFault(_ record: AuthRecord, _ role: Role) -> AuthFault? {
        switch record.operation.action {
        case .createDocument, .setDocument, .deleteDocument:
            role <= .member ? nil : .roleTooWeak
        case .setWorkspace, .rekey:
            role <= .admin ? nil : .roleTooWeak
        // This version cannot judge what follows an unknown feature, so only an owner may write a
        // feature.
        case .deleteWorkspace, .feature:
            role == .owner ? nil : .roleTooWeak
        case .leave:
            role == .owner ? .ownerLeaves : nil
        case .cutPart:
            nil
        case .confirm:
            confirmFault(record, role)
        default:
            .unknownKind
        }
    }

    /// the root is written by a device that it binds, and never by the phrase.
    private func createFault(_ record: AuthRecord, _ devices: [DeviceID]) -> AuthFault? {
        guard record.operation.dependencies.isEmpty else { return .rootCites }
        guard rules == .workspace else { return nil }
        return devices.last == record.operation.device ? nil : .rootCites
    }

    /// an admin invites to any weaker role; a member invites members if a policy
    /// allows that.
    private func inviteFault(
        _ record: AuthRecord, _ role: Role, _ terms: InviteTerms
    ) -> AuthFault? {
        guard terms.policy != nil else {
            guard role <= .admin else { return .roleTooWeak }
            return terms.role > role ? nil : .roleTooStrong
        }
        guard let reference = record.cited.reference,
            case .setWorkspace(.members) = records[reference].operation.action
        else { return .noReference }
        // Only members need one. An admin's invite could rest on the policy of a weaker admin, and
        // then a verdict would depend on something weaker than what is judged.
        guard role == .member else { return .roleTooWeak }
        return terms.role == .member ? nil : .roleTooStrong
    }

    /// an admin gives weaker roles, an owner also makes owners; nobody gives themselves a
    /// role.
    func grantFault(
        _ record: AuthRecord, _ role: Role, _ grant: RoleGrant
    ) -> AuthFault? {
        guard role <= .admin else { return .roleTooWeak }
        guard grant.member != record.author else { return .ownSubject }
        return grant.role > role || (role == .owner && grant.role == .owner) ? nil : .roleTooStrong
    }

    /// an owner hands the workspace to a member who was let in, and keeps devices.
    private func transferFault(
        _ record: AuthRecord, _ role: Role, _ grant: RoleGrant, _ known: inout KnownRolls
    ) -> AuthFault? {
        guard let kept = grant.drops else { return nil }
        guard role == .owner, grant.role == .owner else { return .badTransfer }
        let isLetIn = grants(everTo: grant.member).contains {
            records[$0].gives.role.map { $0 <= .member } == true && record.knows(records[$0].place)
        }
        guard isLetIn, !kept.isEmpty, !grant.devices.isEmpty, let author = record.author else {
            return .badTransfer
        }
        return listingFault(kept, of: author, &known)
    }

    /// a device can be revoked only after it was bound; an admin may revoke anybody's.
    private func removeDeviceFault(
        _ record: AuthRecord, _ role: Role, _ device: DeviceID
    ) -> AuthFault? {
        if let author = record.author, isBound(device, to: author, before: record) { return nil }
        guard isBound(device, before: record) else { return .foreignDevice }
        return role <= .admin ? nil : .roleTooWeak
    }

    ///
    private func revokeInviteFault(_ record: AuthRecord, _ role: Role) -> AuthFault? {
        guard let invite = record.cited.reference, records[invite].operation.action.terms != nil,
            records[invite].grant != nil
        else { return .noReference }
        let isOwn = records[invite].author == record.author
        guard role <= .admin || (isOwn && records[invite].operation.action.terms?.policy != nil)
        else { return .roleTooWeak }
        return record.rank.author <= records[invite].rank.author ? nil : .roleTooWeak
    }

    /// an author who widens a revocation's cuts could have invented what they keep. Nobody
    /// may do that for their own leave: later content would count like earlier content.
    private func recutFault(_ record: AuthRecord, _ role: Role) -> AuthFault? {
        guard let widened = record.cited.reference, records[widened].operation.action.isRevocation
        else { return .noReference }
        let isOwn = records[widened].author == record.author
        let isNotWeaker = record.rank.author <= records[widened].rank.author
        let mayWiden =
            switch records[widened].operation.action {
            case .leave: !isOwn && role <= .admin
            case .removeDevice where isOwn: isNotWeaker
            default: role <= .admin && (isOwn || isNotWeaker)
            }
        return mayWiden ? nil : .roleTooWeak
    }

    /// an admin confirms operations in the past that are for others or own ends.
    func confirmFault(_ record: AuthRecord, _ role: Role) -> AuthFault? {
        guard role <= .admin else { return .roleTooWeak }
        guard case .confirm(let operations) = record.operation.action, !operations.isEmpty,
            operations.count <= Limits.confirmedMax,
            record.cited.confirmed.count == operations.count
        else { return .badConfirmation }
        return nil
    }
}
