import WorkspaceModel

/// Whose document is judged.
enum AuthRules: Hashable, Sendable {
    /// The authority document: devices act, and are bound to members by possession signatures.
    case workspace
    /// A private document: members act. That an operation is its member's is what the workspace
    /// says, so each member stands here as one device that nothing has to bind.
    case privateDocument
}

/// The rules of private documents that an operation and its past decide alone.
extension AuthEvaluator {
    /// Why `record`, which acts as `role` and is no root, can never be valid.
    ///
    /// - Source: PROTOCOL.md, 4.3.
    func privateFault(of record: AuthRecord, _ role: Role) -> AuthFault? {
        switch record.operation.action {
        case .grant(let grant):
            return grantFault(record, role, grant) ?? seatFault(record, grant)
        case .remove(let member):
            guard role <= .admin else { return .roleTooWeak }
            return member == record.author ? .ownSubject : nil
        case .leave:
            // Somebody has to be left who can let people in: an owner hands the document on first.
            return role == .owner ? .ownSubject : nil
        case .setDocument:
            return role <= .admin ? nil : .roleTooWeak
        case .deleteDocument:
            return role == .owner ? nil : .roleTooWeak
        case .rekey:
            return nil
        default:
            return .unknownKind
        }
    }

    /// There is one owner: only by dropping the own role is another one made. And only who was
    /// let in has a role that can change.
    private func seatFault(_ record: AuthRecord, _ grant: RoleGrant) -> AuthFault? {
        guard (grant.role == .owner) == (grant.drops != nil) else { return .roleTooStrong }
        guard grant.replaces || grant.drops != nil else { return nil }
        let isSeated = grant.devices.allSatisfy { device in
            (grantsOfDevice[device] ?? []).contains { record.knows(records[$0]) }
        }
        return isSeated ? nil : .foreignDevice
    }
}
