public import WorkspaceModel

/// How far the content of one log is valid, given the valid revocations.
///
/// One answer holds for a whole log as long as it cites one grant, until the evaluator changes.
public enum ContentLimit: Hashable, Sendable {
    /// All of it.
    case everything
    /// None of it.
    case nothing
    /// What is an ancestor of, or is, one of the entries of each group. A group holds what one
    /// revocation keeps; it has several entries if the log had forked.
    case cuts([ArraySlice<CutPlace>])

    /// Whether the operation at `sequence` is valid.
    ///
    /// - Parameter isAtOrBefore: whether the operation is the one that the entry names, or its
    ///   ancestor on a branch. Asked only when the positions allow it.
    public func allows(sequence: UInt64, isAtOrBefore: (CutPlace) -> Bool) -> Bool {
        switch self {
        case .everything: true
        case .nothing: false
        case .cuts(let groups):
            groups.allSatisfy { group in
                group.contains { sequence <= $0.sequence && isAtOrBefore($0) }
            }
        }
    }

    /// The last position that can be valid; `nil` when there is no bound or no content is valid.
    public var lastSequence: UInt64? {
        guard case .cuts(let groups) = self else { return nil }
        return groups.compactMap { group in group.map(\.sequence).max() }.min()
    }
}

extension AuthEvaluator {
    /// How far the content that `log` holds under `grant` is valid.
    ///
    /// Content is hit by removes of its author, by revocations of its device, by leaves, and by a
    /// grant that replaces its own and whose role no longer allows it. Other changes of its
    /// author's role take nothing from it (V-5).
    ///
    /// - Parameters:
    ///   - grant: the workspace grant in the operations' headers.
    ///   - leastRole: the weakest role that may write this: member in public documents, guest in
    ///     private ones.
    ///   - isWidened: whether recuts count too. They keep what a member said, not what the member
    ///     did to others (F-21).
    public func contentLimit(
        grant: OperationID, log: LogName, leastRole: Role, isWidened: Bool = true
    ) -> ContentLimit {
        guard let index = indices[grant], records[index].isValid,
            let role = records[index].gives.role, role <= leastRole,
            let exposure = verdicts.contentExposure(index, log.device)
        else { return .nothing }
        var groups: [ArraySlice<CutPlace>] = []
        for revocation in ends(ofContent: exposure, leastRole: leastRole) {
            let kept =
                isWidened ? places(keptBy: revocation, in: log) : cuts(of: revocation, in: log)
            guard !kept.isEmpty else { return .nothing }
            groups.append(kept)
        }
        return groups.isEmpty ? .everything : .cuts(groups)
    }

    /// How far the content of `log` under a grant is valid as far as roles decide it: bounded only
    /// by the grants that have replaced this one with less than `leastRole`. `nil` if the grant
    /// gives less.
    public func roleLimit(
        grant: OperationID, log: LogName, leastRole: Role
    ) -> ContentLimit? {
        guard let index = indices[grant], let role = records[index].gives.role, role <= leastRole
        else {
            return nil
        }
        guard let exposure = verdicts.contentExposure(index, log.device) else { return .everything }
        var groups: [ArraySlice<CutPlace>] = []
        for end in ends(ofContent: exposure, leastRole: leastRole) {
            guard case .grant = records[end].operation.action else { continue }
            let kept = cuts(of: end, in: log)
            guard !kept.isEmpty else { return .nothing }
            groups.append(kept)
        }
        return groups.isEmpty ? .everything : .cuts(groups)
    }

    /// Whether recuts keep any content of a log under a grant.
    public func isWidened(grant: OperationID, log: LogName, leastRole: Role) -> Bool {
        guard !placed.reach.recuts.isEmpty, let index = indices[grant],
            let exposure = verdicts.contentExposure(index, log.device)
        else { return false }
        return ends(ofContent: exposure, leastRole: leastRole).contains { end in
            (placed.reach.recuts[end] ?? []).contains {
                records[$0].isValid && !cuts(of: $0, in: log).isEmpty
            }
        }
    }

    /// The strongest grant under which the device may write content now.
    ///
    /// It can be one that a transfer took from authority operations: a member who handed over the
    /// workspace goes on writing content under it. The transfer itself carries only the content of
    /// the heir, so that a grant tells whose content it is.
    ///
    /// - Parameter member: only grants to this member, as for `bestGrant`.
    public func contentGrant(
        of device: DeviceID, leastRole: Role, as member: MemberID? = nil
    ) -> OperationID? {
        let given = (placed.people.grantsOfDevice[device] ?? []).compactMap {
            grant -> (rank: DeviceRank, exposure: AuthExposure)? in
            guard member == nil || records[grant].gives.subject == member,
                !records[grant].isOwnPart, records[grant].isValid,
                let role = records[grant].gives.role, role <= leastRole,
                let rank = placed.deviceRank(ofGrant: grant, device),
                let exposure = verdicts.contentExposure(grant, device)
            else { return nil }
            return (rank, exposure)
        }
        // A member may have got hundreds of grants, one after the other.
        return given.sorted { $0.rank < $1.rank }
            .first { !isEnded($0.exposure, leastRole: leastRole) }
            .map { records[$0.exposure.grant].operation.id }
    }

    /// The grants whose content a change may affect: those of the member or device at which the
    /// revocation, or the one widened by a `recut`, is aimed, and those of an author who gives up a
    /// role, since weaker revocations hit them from then on. Empty when the operation affects no
    /// content. Ascending.
    public func grants(reachedBy revocation: OperationID) -> [OperationID] {
        grants(reachedByAny: [revocation]).sorted()
    }

    /// The same for several changes together.
    ///
    /// - Cost: two looks for each pair of a change and a grant at which it is aimed. Others than
    ///   its author decide how often an end counts again, so not all of its records are examined.
    public func grants(reachedByAny revocations: [OperationID]) -> Set<OperationID> {
        var reached: Set<OperationID> = []
        for revocation in revocations { note(grantsReachedBy: revocation, in: &reached) }
        return reached
    }

    private func note(grantsReachedBy id: OperationID, in reached: inout Set<OperationID>) {
        guard let own = indices[id] else { return }
        var index = own
        // A recut affects what the revocation affects.
        if case .recut = records[own].operation.action {
            guard let widened = records[own].cited.reference else { return }
            index = widened
        }
        guard records[index].operation.action.isRevocation else { return }
        let reaching = ReachingRecords(of: index, placed)
        for number in given(aimedAtBy: index) where records[number].gives.role != nil {
            let id = records[number].operation.id
            guard !reached.contains(id), let grant = indices[id] else { continue }
            let isGivenUp =
                records[index].givesUpRole && records[number].gives.subject == records[index].author
            guard
                isGivenUp
                    || records[number].gives.devices.contains(where: { device in
                        isReached(device, under: grant, by: reaching)
                    })
            else { continue }
            reached.insert(id)
        }
    }

    /// Whether any of a revocation's records hits content of a device under a grant.
    private func isReached(
        _ device: DeviceID, under grant: Int, by reaching: ReachingRecords
    ) -> Bool {
        guard let exposure = verdicts.contentExposure(grant, device) else { return false }
        let others = standings(ofContent: exposure)
        return reaching.records(under: grant).contains { revocation in
            mayReach(revocation, exposure) || others.contains { mayReach(revocation, $0) }
        }
    }

    /// All grants ever given at which a revocation may be aimed.
    func given(aimedAtBy index: Int) -> [Int] {
        let author = records[index].author
        func all(_ member: MemberID?) -> [Int] { member.map(placed.grants(everTo:)) ?? [] }
        return switch records[index].aim {
        // Content does not depend on an invite.
        case .nothing, .invite: []
        case .member(let member): all(member)
        case .device(let device):
            devicesAlong(index, with: device).flatMap { placed.people.grantsOfDevice[$0] ?? [] }
        case .departure: all(author)
        case .role(let replaced, let drops):
            all(replaced) + (drops && replaced != author ? all(author) : [])
        }
    }

    /// Whether a revocation hits, or takes part in leaving no chain to the device (V-11).
    func mayReach(_ revocation: Int, _ exposure: AuthExposure) -> Bool {
        verdicts.hits(revocation, exposure)
            || records[revocation].grant == exposure.grant
                && records[revocation].again.undoing?.devices.contains(exposure.device) == true
    }

    /// The device that an end revokes, and those that may lose effect with it under other grants.
    private func devicesAlong(_ end: Int, with device: DeviceID) -> Set<DeviceID> {
        (placed.further.undoingOf[end] ?? []).reduce(into: [device]) {
            $0.formUnion(records[$1].again.undoing?.devices ?? [])
        }
    }

    /// The valid revocations that take content from an author, the strongest first. What ends a
    /// grant also ends the content of those that it replaced: the author of a removal after a
    /// demotion may be weaker than the member's earlier role.
    func ends(ofContent exposure: AuthExposure, leastRole: Role) -> [Int] {
        guard isNamed(exposure) else { return [] }
        var ends: Set<Int> = []
        for index in placed.revocations(aimedAt: exposure)
        where records[index].isValid && reachesContent(index, exposure, leastRole: leastRole)
            && verdicts.hits(index, exposure)
        {
            ends.insert(index)
        }
        let others = membershipEnds(aimedAt: exposure).filter { !ends.contains($0) }
        ends.formUnion(endsOfLaterStandings(exposure, of: others))
        let sorted = ends.sorted { records[$0].rank < records[$1].rank }
        guard !placed.further.endsAgain.isEmpty else { return sorted }
        // A final end may hit it under more than one grant.
        var seen: Set<Int> = []
        return sorted.map { placed.original($0) }.filter { seen.insert($0).inserted }
    }

    /// Whether any of these ends exists; the latest is examined first, since it is the likeliest.
    private func isEnded(_ exposure: AuthExposure, leastRole: Role) -> Bool {
        guard isNamed(exposure) else { return false }
        if verdicts.isHit(exposure, where: { reachesContent($0, exposure, leastRole: leastRole) }) {
            return true
        }
        return !endsOfLaterStandings(exposure, of: membershipEnds(aimedAt: exposure)).isEmpty
    }

    /// The valid revocations that end a membership or device and may be aimed at this content.
    private func membershipEnds(aimedAt exposure: AuthExposure) -> [Int] {
        placed.revocations(aimedAt: exposure).filter {
            records[$0].isValid && records[$0].operation.action.endsMembership
        }
    }

    /// Those of the ends that hit what has replaced a grant. They are few, whereas hundreds of
    /// grants may have replaced it.
    private func endsOfLaterStandings(_ exposure: AuthExposure, of ends: [Int]) -> [Int] {
        if ends.isEmpty, placed.further.cutOff.isEmpty { return [] }
        let later = standings(ofContent: exposure).dropFirst()
        let along = later.compactMap { placed.further.cutOff[$0.grant]?[$0.device] }
        return (ends + along).filter { end in
            records[end].isValid && later.contains { verdicts.hits(end, $0) }
        }
    }

    /// The content's exposure under its own grant, and under each valid grant that has replaced it.
    func standings(ofContent exposure: AuthExposure) -> [AuthExposure] {
        var standings = [exposure]
        for index in placed.reach.revocations[.member(exposure.author)] ?? []
        where records[index].isValid {
            guard case .grant(let given) = records[index].operation.action, given.replaces,
                given.member == exposure.author, index != exposure.grant,
                // A weaker grant replaces nothing: for example an admin's grant to the owner.
                records[index].rank < exposure.rank,
                records[index].knows(records[exposure.grant].place),
                let standing = verdicts.deviceStanding(ofGrant: index, for: exposure.device)
            else { continue }
            standings.append(
                AuthExposure(
                    rank: AuthRank(author: standing, lamport: AuthRank.infinity, id: .zero),
                    grant: index, author: exposure.author, device: exposure.device))
        }
        return standings
    }

    /// Whether any revocation is aimed at it at all: most content is never examined further.
    private func isNamed(_ exposure: AuthExposure) -> Bool {
        !placed.further.cutOff.isEmpty
            || exposure.targets.contains { placed.reach.revocations[$0] != nil }
    }

    func reachesContent(
        _ revocation: Int, _ exposure: AuthExposure, leastRole: Role
    ) -> Bool {
        switch records[revocation].operation.action {
        case .grant(let grant):
            grant.replaces && grant.member == exposure.author && grant.role > leastRole
        default:
            true
        }
    }

    /// What a revocation and its valid recuts keep of a log.
    private func places(keptBy revocation: Int, in log: LogName) -> ArraySlice<CutPlace> {
        var places = cuts(of: revocation, in: log)
        for widening in placed.reach.recuts[revocation] ?? [] where records[widening].isValid {
            places += cuts(of: widening, in: log)
        }
        return places
    }

    /// The cuts of one operation for a log.
    private func cuts(of index: Int, in log: LogName) -> ArraySlice<CutPlace> {
        records[index].operation.cuts.places(in: log)
    }
}
