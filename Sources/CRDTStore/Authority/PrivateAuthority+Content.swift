public import WorkspaceModel

/// How far what one member wrote in one log under one key is valid in a private document.
///
/// That the workspace lets it stand is asked besides.
public struct PrivateContentLimit: Hashable, Sendable {
    /// What each seat of the member allows. One is enough.
    public let alternatives: [ContentLimit]

    /// All that any of the alternatives allows.
    public init(_ alternatives: [ContentLimit]) {
        let some = alternatives.filter { $0 != .nothing }
        self.alternatives = some.contains(.everything) ? [.everything] : some
    }

    /// Nothing is valid.
    public static var nothing: Self { Self([]) }
    /// Everything is valid.
    public static var everything: Self { Self([.everything]) }

    /// Whether the operation at `sequence` is valid.
    ///
    /// - Parameter isAtOrBefore: whether the operation is, or is an ancestor on its branch of,
    ///   the one that the entry names. Asked only when the positions allow it.
    public func allows(sequence: UInt64, isAtOrBefore: (CutEntry) -> Bool) -> Bool {
        alternatives.contains { $0.allows(sequence: sequence, isAtOrBefore: isAtOrBefore) }
    }
}

extension PrivateAuthority {
    /// How far the content of `log`, written by `member` and sealed under `key`, is valid.
    ///
    /// A seat allows what the removals and departures that hit it leave. A seat given after one
    /// allows only what is sealed under a key whose introduction knows of it: the key is the proof
    /// that the author had heard of the return, and is not going on where the cut was.
    ///
    /// - Cost: linear in the member's seats times the removals aimed at the member. One answer
    ///   serves a log as long as author and key stay.
    /// - Parameter leastRole: only seats of this role or a stronger one, and as long as no valid
    ///   operation has replaced them by a weaker one.
    public func contentLimit(
        of member: MemberID, in log: LogName, under key: KeyID, leastRole: Role = .guest
    ) -> PrivateContentLimit {
        let introducing = (introductionsByKey[key] ?? []).map { introductions[$0].operation }
        guard !introducing.isEmpty else { return .nothing }
        let taking = revocationsTaking(from: member)
        var alternatives: [ContentLimit] = []
        for (seat, ends) in ends(ofSeatsOf: member).sorted(by: { $0.key < $1.key }) {
            let survived = taking.filter {
                evaluator.records[seat].knows(evaluator.records[$0])
            }
            let proof = latestOnEachBranch(survived)
            guard introducing.contains(where: { isPastOrSelf(proof, of: $0) }),
                leastRole == .guest || gives(seat, to: member, atLeast: leastRole)
            else { continue }
            alternatives.append(limit(by: ends, log))
        }
        return PrivateContentLimit(alternatives)
    }

    /// Whether a seat gives a role, and nothing valid has replaced it by a weaker one.
    private func gives(_ seat: Int, to member: MemberID, atLeast role: Role) -> Bool {
        guard let given = evaluator.records[seat].role, given <= role,
            let exposure = evaluator.contentExposure(seat, member.asDevice)
        else { return false }
        return !evaluator.revocations(hitting: exposure).contains {
            !evaluator.records[$0].operation.action.endsMembership
                && evaluator.reachesContent($0, exposure, leastRole: role)
        }
    }

    /// Whether one content operation is valid here; see `contentLimit`.
    public func isContentValid(
        of member: MemberID, in log: LogName, under key: KeyID, sequence: UInt64,
        isAtOrBefore: (CutEntry) -> Bool
    ) -> Bool {
        contentLimit(of: member, in: log, under: key)
            .allows(sequence: sequence, isAtOrBefore: isAtOrBefore)
    }

    /// What removals and departures leave of a log.
    private func limit(by ends: Set<Int>, _ log: LogName) -> ContentLimit {
        var groups: [[CutEntry]] = []
        let inOrder = ends.sorted { evaluator.records[$0].rank < evaluator.records[$1].rank }
        for end in inOrder {
            let kept = evaluator.cutEntries(of: end, log: log)
            guard !kept.isEmpty else { return .nothing }
            groups.append(kept)
        }
        return groups.isEmpty ? .everything : .cuts(groups)
    }

    /// The valid removals and departures that took something from the member, whatever was given
    /// back.
    private func revocationsTaking(from member: MemberID) -> [Int] {
        let exposures = (evaluator.grantsOfDevice[member.asDevice] ?? []).compactMap {
            evaluator.contentExposure($0, member.asDevice)
        }
        return (evaluator.revocations[.member(member)] ?? []).filter { index in
            let record = evaluator.records[index]
            return record.isValid && record.operation.action.endsMembership
                && exposures.contains { evaluator.hits(index, $0) }
        }
    }
}
