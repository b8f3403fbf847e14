import WorkspaceModel

extension AuthVerdicts {
    /// Whether a revocation voids an operation: it hits the operation and does not know it.
    func voids(_ revocation: Int, _ index: Int) -> Bool {
        guard let exposure = placed.exposure(of: index) else { return false }
        return hits(revocation, exposure) && !isBeyond(index, revocation)
    }

    /// Whether a revocation never hits an operation (V-7, V-10): it knows the operation, or is
    /// another record of the same one.
    func isBeyond(_ index: Int, _ revocation: Int) -> Bool {
        placed.original(revocation) == placed.original(index)
            || placed.knows(revocation, index) && !passesOver(index, by: revocation)
    }

    /// Whether a revocation is stronger than an operation and aimed at it. If it is aimed at the
    /// author, it is compared with the author's own rank (V-9); if at the invite of an admission,
    /// with the weaker of both.
    ///
    /// A grant that knows the revocation is a re-admission and exempt. But a removed member does
    /// not come back through an invite of their own.
    ///
    /// A leave ends the content of its author, and what the author's devices may do now, including
    /// stronger devices and those added later. It reaches only as far as the role in which it acts,
    /// so that a device that holds more stays (V-4).
    ///
    /// What binds a device to one member takes nothing from what binds it to another one. Otherwise
    /// the thief of a device would take it, with all that rests on it, from its person.
    func hits(_ index: Int, _ target: AuthExposure) -> Bool {
        let aim = records[index].aim
        if target.rank.isOwnEnd, answers(index, anEndBeside: target) { return true }
        if aim == .departure, target.index == nil {
            // Content rests on everything and nothing rests on it, so a leave needs no rank here.
            guard let role = records[index].actingRole,
                target.rank.author.grant.level >= Int8(role.rawValue),
                placed.rules != .workspace
                    || !holdsMore(target.device, as: target.author, than: role)
            else { return false }
        } else if !(records[index].rank < target.rank) {
            return false
        }
        switch aim {
        case .nothing: return false
        case .invite(let invite): return target.invite == invite
        case .member(let member) where target.inviter == member:
            if let grant = target.invite.flatMap({ records[$0].grant }), !placed.knows(grant, index)
            {
                return true
            }
        default: break
        }
        // What members do on another's invite can only be taken by somebody who could take all else
        // (V-9).
        if target.invite != nil, let place = target.index, let own = rankOfAuthor(place),
            !(records[index].rank < own)
        {
            return false
        }
        // Nobody lets themselves in again: a device that was added after a leave is covered by it.
        let grant = aim == .departure ? records[target.grant].admission : target.grant
        if let grant, placed.knows(grant, index) { return false }
        return isAimed(index, aim, at: target)
    }

    /// A grant that replaces takes what it knows: nobody is out because two admins changed the role
    /// concurrently. It takes all admissions, or somebody could be let in beside it.
    private func isAimed(_ index: Int, _ aim: AuthRevocationScope, at target: AuthExposure) -> Bool
    {
        switch aim {
        case .member(let member):
            return target.author == member
        case .device(let device):
            guard target.device == device || cutsOff(index, target) else { return false }
            // An end that counts again applies to its author's own devices alone.
            return target.author == records[index].author
                || records[index].again.original == nil
                    && records[index].actingRole.map { $0 <= .admin } == true
        case .departure:
            return target.author == records[index].author
        case .role(let replaced, let drops):
            if let replaced, target.author == replaced, target.grant != index {
                return placed.knows(index, target.grant)
                    || records[target.grant].operation.action.isAdmission
            }
            // From content, and from what a device may do now, it takes one role instead (V-3).
            return drops && target.index != nil && target.author == records[index].author
                && target.grant != records[index].ownPart
        case .nothing, .invite:
            return false
        }
    }

    /// Whether an end that counts again leaves no chain to the device, if the end is valid.
    private func cutsOff(_ index: Int, _ target: AuthExposure) -> Bool {
        target.grant == records[index].grant && records[index].again.undoing != nil
            && target.index.flatMap { records[$0].again.behind } == nil
            && placed.further.cutOff[target.grant]?[target.device] == index
    }

    /// The rank of an admission by its author alone: that of the weakest operation of the author if
    /// the author of its invite is no stronger (V-9).
    private func rankOfAuthor(_ index: Int) -> AuthRank? {
        let device = records[index].operation.device
        guard let grant = records[index].grant, records[grant].place(of: device) != nil,
            let author = placed.deviceRank(ofGrant: grant, device)
        else { return nil }
        let isLast =
            records[index].cited.reference.map { !(records[$0].rank.author < author) } ?? false
        return AuthRank(
            author: author, lamport: isLast ? AuthRank.infinity : records[index].lamport,
            id: records[index].operation.id)
    }
}

/// How revocations apply to content, and to whatever a device would write now.
extension AuthVerdicts {
    /// The exposure of a new operation of `device` under `grant`, weaker than all its others.
    ///
    /// It ranks as what is written now: members who gave up a role can be removed by stronger ones.
    func contentExposure(_ grant: Int, _ device: DeviceID) -> AuthExposure? {
        guard records[grant].place(of: device) != nil,
            let standing = deviceStanding(ofGrant: grant, for: device),
            let author = records[grant].gives.subject
        else { return nil }
        let rankOfContent = AuthRank(author: standing, lamport: AuthRank.infinity, id: .zero)
        return AuthExposure(rank: rankOfContent, grant: grant, author: author, device: device)
    }

    /// The valid revocations that hit, the strongest first.
    func revocations(hitting exposure: AuthExposure) -> [Int] {
        var hitting: [Int] = []
        forEachRevocation(hitting: exposure) { hitting.append($0) }
        guard hitting.count > 1 else { return hitting }
        return Set(hitting).sorted { placed.isStronger($0, than: $1) }
    }

    /// The same in no order; a revocation that is found in two ways comes twice.
    func forEachRevocation(hitting exposure: AuthExposure, _ body: (Int) -> Void) {
        for index in placed.revocations(aimedAt: exposure)
        where records[index].isValid && hits(index, exposure) {
            body(index)
        }
    }

    /// Whether any valid revocation hits that satisfies `counts`. Who is in is asked for all that
    /// were ever removed, so the latest end, the likeliest, is examined first.
    func isHit(
        _ exposure: AuthExposure, where counts: (Int) -> Bool = { _ in true }
    ) -> Bool {
        func doesHit(_ index: Int) -> Bool {
            records[index].isValid && counts(index) && hits(index, exposure)
        }
        guard placed.further.endsAgain.isEmpty else {
            return placed.revocations(aimedAt: exposure).reversed().contains(where: doesHit)
        }
        return exposure.targets.contains { target in
            (placed.reach.revocations[target] ?? []).reversed().contains(where: doesHit)
        }
    }

    /// Whether nothing takes a valid grant from a device.
    func isInForce(_ grant: Int, on device: DeviceID) -> Bool {
        guard !lapsed.contains(grant), !isReplaced(grant, for: device),
            let exposure = contentExposure(grant, device)
        else { return false }
        return !isHit(exposure)
    }
}
