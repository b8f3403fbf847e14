public import WorkspaceModel

/// Queries about ended memberships: who may still act, and what ended the rest.
///
/// A query about one member is linear in the grants that the member ever got, the others in the
/// size of the document.
extension AuthEvaluator {
    /// The strongest role that the member has now; `nil` for a member who is not in.
    public func role(of member: MemberID) -> Role? {
        var best: (rank: GrantRank, role: Role)?
        for index in placed.grants(everTo: member) where records[index].isValid {
            for device in records[index].gives.devices where verdicts.isInForce(index, on: device) {
                guard let rank = verdicts.standing(ofGrant: index, for: device),
                    let role = Role(rawValue: UInt64(max(rank.level, 0))),
                    best.map({ rank < $0.rank }) ?? true
                else { continue }
                best = (rank, role)
            }
        }
        return best?.role
    }

    /// The strongest role that the member had when the membership ended, or has now. A role that
    /// another grant had replaced does not count.
    public func lastRole(of member: MemberID) -> Role? {
        var best: GrantRank?
        for index in placed.grants(everTo: member) where records[index].isValid {
            for device in records[index].gives.devices {
                guard let rank = verdicts.standing(ofGrant: index, for: device),
                    best.map({ rank < $0 }) ?? true,
                    let exposure = verdicts.contentExposure(index, device),
                    verdicts.revocations(hitting: exposure)
                        .allSatisfy({ records[$0].operation.action.endsMembership })
                else { continue }
                best = rank
            }
        }
        return best.flatMap { Role(rawValue: UInt64(max($0.level, 0))) }
    }

    /// Every device that a grant to the member ever listed, in force or not. Ascending.
    public func devices(everOf member: MemberID) -> [DeviceID] {
        var devices: Set<DeviceID> = []
        for index in placed.grants(everTo: member) {
            devices.formUnion(records[index].gives.devices)
        }
        return devices.sorted()
    }

    /// The members whose grants ever listed the device. Ascending.
    public func members(everUsing device: DeviceID) -> [MemberID] {
        Set((placed.people.grantsOfDevice[device] ?? []).compactMap { records[$0].gives.subject })
            .sorted()
    }

    /// The valid removes, leaves and revocations of devices, in order of arrival. The remove of
    /// somebody who was never admitted rejects a request, and ends nothing.
    public var membershipEnds: [OperationID] {
        validEndings { action in
            guard action.endsMembership else { return false }
            guard case .remove(let member) = action else { return true }
            return placed.people.given[member] != nil
        }
    }

    private func validEndings(where fits: (AuthAction) -> Bool) -> [OperationID] {
        placed.reach.endings.compactMap { index in
            guard records[index].hasEffect, fits(records[index].operation.action) else {
                return nil
            }
            return records[index].operation.id
        }
    }

    /// The same for each member who was removed or left, without revocations of devices.
    public var endsByMember: [MemberID: Set<OperationID>] {
        var ends: [MemberID: Set<OperationID>] = [:]
        for id in membershipEnds {
            guard let index = indices[id] else { continue }
            switch records[index].operation.action {
            case .remove(let member): ends[member, default: []].insert(id)
            case .leave:
                guard let author = records[index].author else { continue }
                ends[author, default: []].insert(id)
            default: continue
            }
        }
        return ends
    }

    /// The ends after which the group key has to change: `membershipEnds` without revocations that
    /// guests write about their own devices, which do not hold the key; valid grants that made a
    /// guest of a member who held it; and `revokedInvites`. Each in order of arrival.
    public var keyEnds: [OperationID] {
        let demotions = validEndings { action in
            guard case .grant(let grant) = action else { return false }
            return grant.replaces && grant.role > .member
        }
        let ends = membershipEnds.filter { id in
            guard let index = indices[id], case .removeDevice = records[index].operation.action
            else { return true }
            // A final end has a record under each grant where it counts.
            return placed.everyRecord(of: index).filter { records[$0].isValid }
                .contains { records[$0].actingRole.map { $0 <= .member } ?? true }
        }
        return ends + demotions + revokedInvites
    }

    /// Whether an operation ends something of other members: neither a device of its author nor the
    /// author's membership.
    public func isSaidOfOthers(_ id: OperationID) -> Bool {
        guard let index = indices[id], let author = records[index].author else { return false }
        switch records[index].operation.action {
        case .leave: return false
        case .removeDevice(let device): return !members(everUsing: device).contains(author)
        default: return true
        }
    }

    /// The valid revocations of invites: they void admissions that do not know them, and people
    /// who joined by such an invite hold keys, even if not everybody knows of the admission. In
    /// order of arrival.
    public var revokedInvites: [OperationID] {
        validEndings { if case .revokeInvite = $0 { true } else { false } }
    }

    /// The valid revocations by which the device lost its grants, ascending; empty while it may act
    /// for any member, and if it never could.
    public func revocations(ending device: DeviceID) -> [OperationID] {
        guard inForce(device).isEmpty else { return [] }
        return ends((placed.people.grantsOfDevice[device] ?? []).map { ($0, [device]) })
    }

    /// The valid revocations by which the member lost their grants, ascending; empty for a member
    /// who is in, and for one who never was.
    public func revocations(ending member: MemberID) -> [OperationID] {
        guard role(of: member) == nil else { return [] }
        return ends(
            placed.grants(everTo: member).map { ($0, records[$0].gives.devices) })
    }

    /// The revocations that hit these grants, or what they rest on: a member admitted by somebody
    /// who was removed meanwhile is out as well. The loss of a role before the end is not the end.
    private func ends(_ grants: [(grant: Int, devices: [DeviceID])]) -> [OperationID] {
        var found: Set<Int> = []
        for (grant, devices) in grants where records[grant].fault == nil {
            guard records[grant].isValid else {
                cause(voiding: grant).map { _ = found.insert($0) }
                continue
            }
            for device in devices {
                guard let exposure = verdicts.contentExposure(grant, device) else { continue }
                found.formUnion(verdicts.revocations(hitting: exposure))
            }
        }
        let ending = found.filter { records[$0].operation.action.endsMembership }
        return placed.ids(of: Array(ending.isEmpty ? found : ending)).sorted()
    }

    /// The revocation of an operation, or of what it rests on. The loop ends, since what an
    /// operation rests on is in its past.
    private func cause(voiding index: Int) -> Int? {
        var index = index
        while true {
            if let revocation = verdicts.revocation(voiding: index) { return revocation }
            if let invite = verdicts.lapsedInvite(of: index) {
                return verdicts.revocations(taking: invite).min { placed.isStronger($0, than: $1) }
            }
            guard let support = records[index].supports.first(where: { !records[$0].isValid })
            else { return nil }
            index = support
        }
    }

    /// The operation that takes all content under `grant` from `device`: the strongest valid
    /// revocation that hits it, or that of the grant itself.
    public func revocation(
        reachingContent grant: OperationID, of device: DeviceID, leastRole: Role
    ) -> OperationID? {
        guard let index = indices[grant] else { return nil }
        guard records[index].isValid else {
            if let revocation = verdicts.revocation(voiding: index) {
                return records[revocation].operation.id
            }
            for support in records[index].supports where !records[support].isValid {
                return verdicts.revocation(voiding: support).map { records[$0].operation.id }
            }
            return nil
        }
        guard let exposure = verdicts.contentExposure(index, device) else { return nil }
        return ends(ofContent: exposure, leastRole: leastRole).first
            .map { records[$0].operation.id }
    }

    /// Whether a new admission on the invite would be void: it was revoked, or the member who wrote
    /// it was removed.
    public func isClosed(invite id: OperationID) -> Bool {
        guard let index = indices[id], records[index].isValid, let author = records[index].author,
            let grant = records[index].grant, records[index].operation.action.terms != nil
        else { return true }
        if (placed.reach.revocations[.invite(index)] ?? []).contains(where: { records[$0].isValid })
        {
            return true
        }
        // Nobody can have confirmed an operation that does not exist yet.
        if records[index].isKept { return true }
        let admission = AuthRank(
            author: records[index].rank.author, lamport: AuthRank.infinity, id: .zero)
        return (placed.reach.revocations[.member(author)] ?? []).contains { revocation in
            guard records[revocation].isValid, records[revocation].rank < admission,
                case .remove = records[revocation].operation.action
            else { return false }
            return !records[grant].knows(records[revocation].place)
        }
    }

    /// The operations in the past of `ids`, and these themselves: what a member may see whose
    /// membership they end.
    public func past(upTo ids: [OperationID]) -> Set<OperationID> {
        let ends = ids.compactMap { indices[$0] }
        guard !ends.isEmpty else { return [] }
        var past = Set(ids)
        for record in records where ends.contains(where: { records[$0].knows(record.place) }) {
            past.insert(record.operation.id)
        }
        return past
    }

    /// The first valid leave of a member to arrive.
    public func departure(of member: MemberID) -> OperationID? {
        (placed.reach.revocations[.member(member)] ?? []).first { index in
            records[index].aim == .departure && records[index].isValid
                && records[index].author == member
        }.map { records[$0].operation.id }
    }
}
