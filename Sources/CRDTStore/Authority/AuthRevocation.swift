import WorkspaceModel

/// What a revocation is aimed at. Operations are found by the same names, so that either side
/// finds the other without a search.
enum AuthTarget: Hashable {
    /// Operations under grants of a member, and admissions on the member's invites.
    case member(MemberID)
    /// Operations of a device.
    case device(DeviceID)
    /// Admissions on an invite.
    case invite(Int)
    /// Operations that make a device somebody's.
    case binding(DeviceID)
}

/// The side of an operation that revocations look at. Content has one too: it is weaker than
/// every authority operation of its device, and in no revocation's past.
struct AuthExposure {
    let rank: AuthRank
    let grant: Int
    let author: MemberID
    let device: DeviceID
    /// The operation itself; `nil` for content, and for whatever a device would write now.
    var index: Int?
    /// For an admission: its invite, and who opened it.
    var invite: Int?
    var inviter: MemberID?
    /// The devices it makes its subject's, and who that is.
    var bound: [DeviceID] = []
    var subject: MemberID?

    var targets: [AuthTarget] {
        var targets: [AuthTarget] = [.member(author), .device(device)]
        if let invite { targets.append(.invite(invite)) }
        if let inviter, inviter != author { targets.append(.member(inviter)) }
        return targets + bound.map(AuthTarget.binding)
    }
}

extension AuthEvaluator {
    /// What reaches the operation; `nil` for the root, which nothing reaches.
    func exposure(of index: Int) -> AuthExposure? {
        let record = records[index]
        guard let grant = record.grant, let author = record.author else { return nil }
        var exposure = AuthExposure(
            rank: record.rank, grant: grant, author: author, device: record.operation.device,
            index: index)
        exposure.bound = record.operation.action.boundDevices ?? []
        exposure.subject = record.subject
        switch record.operation.action {
        case .admit:
            exposure.invite = record.reference
            exposure.inviter = record.reference.flatMap { records[$0].author }
        default:
            break
        }
        return exposure
    }

    /// What a revocation is aimed at; nothing for any other operation.
    func targets(ofRevocation index: Int) -> [AuthTarget] {
        let record = records[index]
        switch record.operation.action {
        case .remove(let member):
            return [.member(member)]
        case .removeDevice(let device):
            return [.device(device)]
        case .revokeInvite:
            return record.reference.map { [.invite($0)] } ?? []
        case .leave:
            return record.author.map { [.member($0)] } ?? []
        case .grant(let grant):
            let replaced: [AuthTarget] = grant.replaces ? [.member(grant.member)] : []
            let dropped = grant.drops == nil ? nil : record.author.map(AuthTarget.member)
            return replaced + [dropped].compactMap { $0 }
        case .create, .admit, .addDevices:
            return (record.operation.action.boundDevices ?? []).map(AuthTarget.binding)
        default:
            return []
        }
    }

    /// Whether a revocation takes the effect from an operation: it hits and has not seen it.
    func voids(_ revocation: Int, _ index: Int) -> Bool {
        guard let exposure = exposure(of: index) else { return false }
        return hits(revocation, exposure) && !records[revocation].knows(records[index])
    }

    /// Whether a revocation is stronger than an operation and about it.
    ///
    /// A grant that was given knowing the revocation is a re-admission and exempt; but somebody
    /// removed does not come back through an invite that was his own.
    ///
    /// A departure ends the content of its author, and all that is asked about the author's
    /// devices, stronger ones and those that were added later included: as far as the role in
    /// which it acts, so that a device that holds more stays (V-4).
    ///
    /// Of two operations that bind one device to different members the stronger counts, like a
    /// revocation of the other. They are concurrent: knowing one, the other is faulty.
    func hits(_ index: Int, _ target: AuthExposure) -> Bool {
        let revocation = records[index]
        let isDeparture = revocation.operation.action.isDeparture
        if isDeparture, target.index == nil {
            // Content rests on everything and bears on nothing, so here it needs no rank.
            guard let role = revocation.actingRole,
                target.rank.author.grant.level >= Int8(role.rawValue)
            else { return false }
        } else if !(revocation.rank < target.rank) {
            return false
        }
        if let devices = revocation.operation.action.boundDevices {
            return revocation.subject != target.subject
                && target.bound.contains { devices.contains($0) }
        }
        if case .revokeInvite = revocation.operation.action {
            return target.invite != nil && target.invite == revocation.reference
        }
        if case .remove(let member) = revocation.operation.action, target.inviter == member,
            let grant = target.invite.flatMap({ records[$0].grant }),
            !records[grant].knows(revocation)
        {
            return true
        }
        // Nobody lets himself in again: a device that was added after a departure is part of it.
        let grant = isDeparture ? records[target.grant].admission : target.grant
        if let grant, records[grant].knows(revocation) { return false }
        return isAimed(revocation, index: index, at: target)
    }

    /// A grant replaces what it knows: nobody is out because two changed the role without knowing
    /// of each other. Of admissions it replaces all, or somebody could be let in beside it.
    private func isAimed(
        _ revocation: AuthRecord, index: Int, at target: AuthExposure
    ) -> Bool {
        switch revocation.operation.action {
        case .remove(let member):
            return target.author == member
        case .removeDevice(let device):
            guard target.device == device else { return false }
            return target.author == revocation.author
                || revocation.actingRole.map { $0 <= .admin } == true
        case .leave:
            return target.author == revocation.author
        case .grant(let grant):
            if grant.replaces, target.author == grant.member, target.grant != index {
                return revocation.knows(records[target.grant])
                    || records[target.grant].operation.action.isAdmission
            }
            // Of content, and of what is asked now, it takes one role instead (V-3).
            return grant.drops != nil && target.index != nil
                && target.author == revocation.author && target.grant != revocation.ownPart
        default:
            return false
        }
    }
}
