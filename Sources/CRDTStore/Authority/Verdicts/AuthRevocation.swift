import WorkspaceModel

extension AuthVerdicts {
    /// Whether a revocation voids an operation: it hits it and does not know it.
    func voids(_ revocation: Int, _ index: Int) -> Bool {
        guard let exposure = placed.exposure(of: index) else { return false }
        return hits(revocation, exposure) && !isBeyond(index, revocation)
    }

    /// Whether a revocation never hits an operation (V-7, V-10): it knows that, or is the same one under
    /// another grant.
    func isBeyond(_ index: Int, _ revocation: Int) -> Bool {
        placed.original(revocation) == placed.original(index)
            || placed.knows(revocation, index) && !passesOver(index, by: revocation)
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
        // Nobody is asked about what they do on another's invite otherwise than about all else.
        if target.invite != nil, let place = target.index, let own = rankOfAuthor(place),
            !(records[index].rank < own)
        {
            return false
        }
        // Nobody lets himself in again: a device that was added after a departure is part of it.
        let grant = aim == .departure ? records[target.grant].admission : target.grant
        if let grant, placed.knows(grant, index) { return false }
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
                || records[index].again.original == nil
                    && records[index].actingRole.map { $0 <= .admin } == true
        case .departure:
            return target.author == records[index].author
        case .role(let replaced, let drops):
            if let replaced, target.author == replaced, target.grant != index {
                return placed.knows(index, target.grant)
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
        target.grant == records[index].grant && records[index].again.undoing != nil
            && target.index.flatMap { records[$0].again.behind } == nil
            && placed.further.cutOff[target.grant]?[target.device] == index
    }

    /// How strong an admission is as its author's: the weakest of all that this one writes, where its
    /// invite is not by somebody stronger.
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

/// What revocations make of content, and of whatever a device would write now.
extension AuthVerdicts {
    /// What revocations see of a new operation of `device` under `grant`, weaker than all others.
    ///
    /// It ranks as what is written now: whoever gave up a role can be removed by those above.
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

    /// The same in no order; one that is found in two ways comes twice.
    func forEachRevocation(hitting exposure: AuthExposure, _ body: (Int) -> Void) {
        for index in placed.revocations(aimedAt: exposure)
        where records[index].isValid && hits(index, exposure) {
            body(index)
        }
    }

    /// Whether any valid revocation hits, of those that count. Who is in is asked of all that were
    /// ever put out, and the latest end tells most.
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
