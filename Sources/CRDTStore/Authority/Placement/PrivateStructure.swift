import WorkspaceModel

/// The kind of document that is judged.
enum AuthRules: Hashable, Sendable {
    /// The authority document: devices act, and are bound to members by possession signatures.
    case workspace
    /// A private document: members act. The workspace decides to which member an operation belongs,
    /// so each member is represented by one device that needs no binding.
    case privateDocument
}

/// The rules of private documents that depend on an operation and its past alone.
extension PlacedOperations {
    /// Why `record`, which acts as `role` and is not a root, can never be valid.
    ///
    /// - Source: PROTOCOL.md, 4.3.
    func privateFault(of record: AuthRecord, _ role: Role) -> AuthFault? {
        switch record.operation.action {
        case .grant(let grant):
            return grantFault(record, role, grant) ?? seatFault(record, grant)
        case .remove(let member):
            guard role <= .admin else { return .roleTooWeak }
            return member == record.author ? .ownSubject : repetitionFault(record, of: member)
        case .leave:
            // Somebody who can let people in has to remain: an owner hands the document on first.
            guard role != .owner else { return .ownSubject }
            return record.author.flatMap { repetitionFault(record, of: $0) }
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

    /// There is one owner: an owner makes another only by giving up the role. And only a member who
    /// was admitted has a role that can change.
    private func seatFault(_ record: AuthRecord, _ grant: RoleGrant) -> AuthFault? {
        guard (grant.role == .owner) == (grant.drops != nil) else { return .roleTooStrong }
        let given = seats(of: grant.member, before: record, by: record.author)
        guard given < Limits.privateSeatsByOneMax else { return .repeated }
        guard grant.replaces || grant.drops != nil else {
            return additionFault(record, of: grant.member)
        }
        let isSeated = grant.devices.allSatisfy { device in
            (people.grantsOfDevice[device] ?? []).contains { record.knows(records[$0].place) }
        }
        return isSeated ? nil : .foreignDevice
    }

    /// Whether this author has let `member` in more often than that member can have gone in between
    /// (D-9). One addition may name very many people.
    private func additionFault(_ record: AuthRecord, of member: MemberID) -> AuthFault? {
        let given = seats(of: member, before: record, by: record.author, additionsOnly: true)
        guard given >= Limits.privateAdditionsByOneMax else { return nil }
        let ends = (reach.revocations[.member(member)] ?? []).count { end in
            records[end].operation.action.endsMembership && record.knows(records[end].place)
        }
        let outside = workspaceEnds[member] ?? 0
        return given < Limits.privateAdditionsByOneMax + ends + outside ? nil : .repeated
    }

    /// Whether `member` was removed by this author, or left, as often as they came in (D-10). Every
    /// seat is judged with every end, so both are bounded.
    private func repetitionFault(_ record: AuthRecord, of member: MemberID) -> AuthFault? {
        guard let author = record.author else { return nil }
        let isLeave = record.operation.action.isDeparture
        let ends = (reach.revocations[.member(member)] ?? []).count { end in
            let aim = records[end].aim
            return records[end].author == author && record.knows(records[end].place)
                && (isLeave ? aim == .departure : aim == .member(member))
        }
        // The remover may have been removed in between, and the remove have had no effect.
        let seats =
            seats(of: member, before: record)
            + (isLeave ? 0 : seats(of: author, before: record))
        return ends < seats ? nil : .repeated
    }

    /// How many seats of a member are in the past of `record`, by all authors or by one.
    private func seats(
        of member: MemberID, before record: AuthRecord, by author: MemberID? = nil,
        additionsOnly: Bool = false
    ) -> Int {
        (people.grantsOfDevice[member.asDevice] ?? []).count { seat in
            (author == nil || records[seat].author == author)
                && (!additionsOnly || records[seat].operation.action.letsIn)
                && record.knows(records[seat].place)
        }
    }
}

extension AuthAction {
    /// Whether it gives an additional seat: neither a change of role nor what remains of a role
    /// that was handed on.
    fileprivate var letsIn: Bool {
        switch self {
        case .create: true
        case .grant(let grant): !grant.replaces && grant.drops == nil
        default: false
        }
    }
}

extension MemberID {
    /// The one device that represents the member in a private document.
    var asDevice: DeviceID {
        let (first, second) = words
        return DeviceID(words: (first, second, 0, 0))
    }
}
