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
    /// What ends the part of a member's device, by that device itself.
    case ownEnd(MemberID)
}

/// What a revocation takes the effect from. It is a plain value: every question about anybody looks
/// at it, and copies nothing else of the operation.
enum AuthAim: Hashable, Sendable {
    /// It is no revocation.
    case nothing
    case member(MemberID)
    case device(DeviceID)
    /// The record of an invite.
    case invite(Int)
    /// Its own author.
    case departure
    /// A grant: what the member had before, what its author had, or both.
    case role(replaced: MemberID?, drops: Bool)
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

    var targets: [AuthTarget] {
        var targets: [AuthTarget] = [.member(author), .device(device)]
        if let invite { targets.append(.invite(invite)) }
        if let inviter, inviter != author { targets.append(.member(inviter)) }
        if rank.isOwnEnd { targets.append(.ownEnd(author)) }
        return targets
    }
}

extension AuthEvaluator {
    /// What reaches the operation; `nil` for the root, which nothing reaches.
    func exposure(of index: Int) -> AuthExposure? {
        guard let grant = records[index].grant, let author = records[index].author else {
            return nil
        }
        var exposure = AuthExposure(
            rank: records[index].rank, grant: grant, author: author,
            device: records[index].operation.device, index: index)
        if records[index].operation.action.isAdmission {
            exposure.invite = records[index].reference
            exposure.inviter = exposure.invite.flatMap { records[$0].author }
        }
        return exposure
    }

    /// What an operation is aimed at, once what it cites is known.
    func aim(of record: AuthRecord) -> AuthAim {
        switch record.operation.action {
        case .remove(let member): .member(member)
        case .removeDevice(let device): .device(device)
        case .revokeInvite: record.reference.map { .invite($0) } ?? .nothing
        case .leave: .departure
        case .grant(let grant) where grant.replaces || grant.drops != nil:
            .role(replaced: grant.replaces ? grant.member : nil, drops: grant.drops != nil)
        default: .nothing
        }
    }

    /// Where those are found that a revocation may take the effect from; nothing for anything else.
    func targets(ofRevocation index: Int) -> [AuthTarget] {
        records[index].answeredEnds.isEmpty
            ? aimedTargets(of: index) : aimedTargets(of: index) + answeredTargets(of: index)
    }

    private func aimedTargets(of index: Int) -> [AuthTarget] {
        switch records[index].aim {
        case .nothing: return []
        case .member(let member): return [.member(member)]
        case .device(let device):
            guard let along = records[index].undoing?.devices else { return [.device(device)] }
            return [.device(device)] + along.filter { $0 != device }.map(AuthTarget.device)
        case .invite(let invite): return [.invite(invite)]
        case .departure: return records[index].author.map { [.member($0)] } ?? []
        case .role(let replaced, let drops):
            let own = drops ? records[index].author.map(AuthTarget.member) : nil
            return [replaced.map(AuthTarget.member), own].compactMap { $0 }
        }
    }

    /// Whether a revocation takes the effect from an operation: it hits and has not seen it.
    func voids(_ revocation: Int, _ index: Int) -> Bool {
        guard let exposure = exposure(of: index) else { return false }
        return hits(revocation, exposure) && !isBeyond(index, revocation)
    }

    /// Whether a revocation never hits an operation (V-7, V-10): it knows that, or is the same one under
    /// another grant.
    func isBeyond(_ index: Int, _ revocation: Int) -> Bool {
        knows(revocation, index) || original(revocation) == original(index)
    }

    /// Whether a revocation is stronger than an operation and about it. What is about its author is
    /// compared with that one, what is about the invite of an admission with the weaker of both.
    ///
    /// A grant that was given knowing the revocation is a re-admission and exempt; but somebody
    /// removed does not come back through an invite that was his own.
    ///
    /// A departure ends the content of its author, and all that is asked about the author's
    /// devices, stronger ones and those that were added later included: as far as the role in
    /// which it acts, so that a device that holds more stays (V-4).
    ///
    /// What binds a device to somebody takes nothing from what binds it to somebody else: whoever
    /// has stolen a device would take it, and all that rests on it, from its person.
    func hits(_ index: Int, _ target: AuthExposure) -> Bool {
        let aim = records[index].aim
        if target.rank.isOwnEnd, answers(index, anEndBeside: target) { return true }
        if aim == .departure, target.index == nil {
            // Content rests on everything and bears on nothing, so here it needs no rank.
            guard let role = records[index].actingRole,
                target.rank.author.grant.level >= Int8(role.rawValue),
                rules != .workspace || !holdsMore(target.device, as: target.author, than: role)
            else { return false }
        } else if !(records[index].rank < target.rank) {
            return false
        }
        switch aim {
        case .nothing: return false
        case .invite(let invite): return target.invite == invite
        case .member(let member) where target.inviter == member:
            if let grant = target.invite.flatMap({ records[$0].grant }), !knows(grant, index) {
                return true
            }
        default: break
        }
        // Nobody is asked about what they do on another's invite otherwise than about all else.
        if target.invite != nil, let place = target.index, let own = rankOfAuthor(place),
            !(records[index].rank < own)
        {
            return false
        }
        // Nobody lets himself in again: a device that was added after a departure is part of it.
        let grant = aim == .departure ? records[target.grant].admission : target.grant
        if let grant, knows(grant, index) { return false }
        return isAimed(index, aim, at: target)
    }

    /// A grant replaces what it knows: nobody is out because two changed the role without knowing
    /// of each other. Of admissions it replaces all, or somebody could be let in beside it.
    private func isAimed(_ index: Int, _ aim: AuthAim, at target: AuthExposure) -> Bool {
        switch aim {
        case .member(let member):
            return target.author == member
        case .device(let device):
            guard target.device == device || cutsOff(index, target) else { return false }
            // What counts again is about its author's own devices alone.
            return target.author == records[index].author
                || records[index].original == nil
                    && records[index].actingRole.map { $0 <= .admin } == true
        case .departure:
            return target.author == records[index].author
        case .role(let replaced, let drops):
            if let replaced, target.author == replaced, target.grant != index {
                return knows(index, target.grant)
                    || records[target.grant].operation.action.isAdmission
            }
            // Of content, and of what is asked now, it takes one role instead (V-3).
            return drops && target.index != nil && target.author == records[index].author
                && target.grant != records[index].ownPart
        case .nothing, .invite:
            return false
        }
    }

    /// Whether an end that counts again leaves nothing that leads to the device, where it is valid.
    private func cutsOff(_ index: Int, _ target: AuthExposure) -> Bool {
        target.grant == records[index].grant
            && records[index].undoing?.cutOff.contains(target.device) == true
    }

    /// How strong an admission is as its author's: the weakest of all that this one writes, where its
    /// invite is not by somebody stronger.
    private func rankOfAuthor(_ index: Int) -> AuthRank? {
        let device = records[index].operation.device
        guard let grant = records[index].grant, records[grant].place(of: device) != nil,
            let author = deviceRank(ofGrant: grant, device)
        else { return nil }
        let isLast = records[index].reference.map { !(records[$0].rank.author < author) } ?? false
        return AuthRank(
            author: author, lamport: isLast ? AuthRank.infinity : records[index].lamport,
            id: records[index].operation.id)
    }

    /// Whether one record is stronger than the other.
    func isStronger(_ index: Int, than other: Int) -> Bool {
        records[index].rank < records[other].rank
    }

    /// Whether the record at `other` is in the past of that at `index`.
    func knows(_ index: Int, _ other: Int) -> Bool {
        records[index].knows(records[other].place)
    }
}
