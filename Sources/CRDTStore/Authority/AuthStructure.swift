import WorkspaceModel

/// The rules that an operation and its past decide alone, so that no later arrival changes them.
extension AuthEvaluator {
    /// Why `record`, placed but not yet added, can never be valid.
    func fault(of record: AuthRecord) -> AuthFault? {
        guard record.operation.isWellBound else { return .notBound }
        if case .create = record.operation.action {
            return record.operation.dependencies.isEmpty ? nil : .rootCites
        }
        guard let role = record.actingRole else { return .noGrant }
        if rules == .privateDocument { return privateFault(of: record, role) }
        switch record.operation.action {
        case .addDevices(let devices):
            return bindingFault(record, devices)
        case .create, .removeDevice, .cutPart:
            return nil
        case .leave:
            return role == .owner && !hasOtherOwner(record) ? .lastOwner : nil
        case .invite(let terms):
            return inviteFault(record, role, terms)
        case .request(_, let member, let devices, _):
            return requestFault(record, role, member, devices)
        case .admit(_, let member, let devices, _):
            return admitFault(record, role, member, devices) ?? bindingFault(record, devices)
        case .grant(let grant):
            return grantFault(record, role, grant) ?? foreignDeviceFault(record, grant)
        case .remove(let member):
            guard role <= .admin else { return .roleTooWeak }
            return member == record.author ? .ownSubject : nil
        case .revokeInvite:
            return revokeInviteFault(record, role)
        case .recut:
            return recutFault(record)
        case .createDocument, .setDocument, .deleteDocument:
            return role <= .member ? nil : .roleTooWeak
        case .setWorkspace, .rekey, .feature:
            return role <= .admin ? nil : .roleTooWeak
        case .deleteWorkspace:
            return role == .owner ? nil : .roleTooWeak
        case .unknown:
            return .unknownKind
        }
    }

    /// A workspace is not left without an owner, by whoever holds one of the owner's devices.
    private func hasOtherOwner(_ record: AuthRecord) -> Bool {
        records.contains {
            $0.role == .owner && $0.fault == nil && $0.subject != record.author
                && record.knows($0)
        }
    }

    /// An admin invites to any weaker role; a member invites members where a policy says so.
    private func inviteFault(
        _ record: AuthRecord, _ role: Role, _ terms: InviteTerms
    ) -> AuthFault? {
        if let policy = terms.policy {
            guard let reference = record.reference,
                case .setWorkspace(.members) = records[reference].operation.action
            else { return .noReference }
            if policy != records[reference].operation.id { return .noReference }
            // Only members need one. An admin's invite could rest on the policy of a weaker admin,
            // and then what bears on a verdict would be weaker than what is judged.
            guard role == .member else { return .roleTooWeak }
            return terms.role == .member ? nil : .roleTooStrong
        }
        guard role <= .admin else { return .roleTooWeak }
        return terms.role > role ? nil : .roleTooStrong
    }

    private func requestFault(
        _ record: AuthRecord, _ role: Role, _ member: MemberID, _ devices: [DeviceID]
    ) -> AuthFault? {
        guard let invite = record.reference, let terms = records[invite].operation.action.terms
        else { return .noReference }
        guard role <= .member else { return .roleTooWeak }
        let limit = max(Limits.requestsPerInviteMin, terms.uses)
        let known = countKnown(requests[invite], to: record, atMost: limit)
        return known < limit ? nil : .tooManyRequests
    }

    private func admitFault(
        _ record: AuthRecord, _ role: Role, _ member: MemberID, _ devices: [DeviceID]
    ) -> AuthFault? {
        guard let invite = record.reference, let terms = records[invite].operation.action.terms
        else { return .noReference }
        guard role <= min(terms.role, .member) else { return .roleTooWeak }
        if role > .admin, wasRemoved(member, devices, before: record) { return .returnNeedsAdmin }
        guard countKnown(admissions[invite], to: record, atMost: terms.uses) < terms.uses else {
            return .inviteUsedUp
        }
        guard terms.needsApproval else {
            return isExpired(terms, at: record.operation.timestamp) ? .inviteExpired : nil
        }
        guard role <= .admin else { return .roleTooWeak }
        return requestedFault(record, invite, terms, member, devices)
    }

    /// With approval, the request has to be in time, not the answer.
    private func requestedFault(
        _ record: AuthRecord, _ invite: Int, _ terms: InviteTerms, _ member: MemberID,
        _ devices: [DeviceID]
    ) -> AuthFault? {
        var fault = AuthFault.notRequested
        for index in requests[invite] ?? [] where record.knows(records[index]) {
            guard case .request(_, member, devices, _) = records[index].operation.action else {
                continue
            }
            guard isExpired(terms, at: records[index].operation.timestamp) else { return nil }
            fault = .inviteExpired
        }
        return fault
    }

    private func isExpired(_ terms: InviteTerms, at timestamp: UInt64) -> Bool {
        terms.expires.map { timestamp > $0 } ?? false
    }

    private func wasRemoved(
        _ member: MemberID, _ devices: [DeviceID], before record: AuthRecord
    ) -> Bool {
        for target in [.member(member)] + devices.map(AuthTarget.device) {
            for index in removals[target] ?? [] where record.knows(records[index]) { return true }
        }
        return false
    }

    /// How many of `candidates` are in the past of `record`; counting stops at `limit`, and is
    /// spared when there are fewer.
    private func countKnown(
        _ candidates: [Int]?, to record: AuthRecord, atMost limit: UInt64
    ) -> UInt64 {
        guard let candidates, UInt64(candidates.count) >= limit else { return 0 }
        var count: UInt64 = 0
        for index in candidates where count < limit && record.knows(records[index]) { count += 1 }
        return count
    }

    /// An admin gives weaker roles, an owner also makes owners; nobody serves himself.
    func grantFault(
        _ record: AuthRecord, _ role: Role, _ grant: RoleGrant
    ) -> AuthFault? {
        guard role <= .admin else { return .roleTooWeak }
        guard grant.member != record.author else { return .ownSubject }
        return grant.role > role || (role == .owner && grant.role == .owner) ? nil : .roleTooStrong
    }

    /// A grant serves the member's own devices: those that its past binds to the member.
    private func foreignDeviceFault(_ record: AuthRecord, _ grant: RoleGrant) -> AuthFault? {
        for device in grant.devices where !isBound(device, to: grant.member, before: record) {
            return .foreignDevice
        }
        return nil
    }

    /// No device is bound to two members. Whoever knows of one binding cannot write another.
    private func bindingFault(_ record: AuthRecord, _ devices: [DeviceID]) -> AuthFault? {
        for device in devices {
            for member in (bindings[device] ?? [:]).keys
            where member != record.subject && isBound(device, to: member, before: record) {
                return .deviceTaken
            }
        }
        return nil
    }

    private func isBound(
        _ device: DeviceID, to member: MemberID, before record: AuthRecord
    ) -> Bool {
        (bindings[device]?[member] ?? []).contains { record.knows(records[$0]) }
    }

    private func revokeInviteFault(_ record: AuthRecord, _ role: Role) -> AuthFault? {
        guard let invite = record.reference, records[invite].operation.action.terms != nil,
            records[invite].grant != nil
        else { return .noReference }
        let isOwn = records[invite].author == record.author
        guard role <= .admin || (isOwn && records[invite].operation.action.terms?.policy != nil)
        else { return .roleTooWeak }
        return record.rank.author <= records[invite].rank.author ? nil : .roleTooWeak
    }

    /// Only the author of a revocation or somebody stronger keeps more than it does.
    private func recutFault(_ record: AuthRecord) -> AuthFault? {
        guard let widened = record.reference, records[widened].operation.action.isRevocation
        else { return .noReference }
        let isOwn = records[widened].author == record.author
        return isOwn || record.rank.author <= records[widened].rank.author ? nil : .roleTooWeak
    }
}
