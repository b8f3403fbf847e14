public import WorkspaceModel

/// How far what one member wrote in one log under one key is valid in a private document.
///
/// Whether it is valid in the workspace is a separate question.
public struct PrivateContentLimit: Hashable, Sendable {
    /// What each seat of the member allows. It is enough that one of them allows an operation.
    public let alternatives: [ContentLimit]

    /// Whatever any of the alternatives allows.
    public init(_ alternatives: [ContentLimit]) {
        let some = alternatives.filter { $0 != .nothing }
        self.alternatives = some.contains(.everything) ? Self.unlimited : some
    }

    /// The value of nearly all runs of content, which share it.
    private static let unlimited: [ContentLimit] = [.everything]

    /// Nothing is valid.
    public static var nothing: Self { Self([]) }
    /// Everything is valid.
    public static var everything: Self { Self([.everything]) }

    /// Whether the operation at `sequence` is valid.
    ///
    /// - Parameter isAtOrBefore: whether the operation is the one that the entry names, or its
    ///   ancestor on a branch. Asked only when the positions allow it.
    public func allows(sequence: UInt64, isAtOrBefore: (CutPlace) -> Bool) -> Bool {
        alternatives.contains { $0.allows(sequence: sequence, isAtOrBefore: isAtOrBefore) }
    }
}

extension PrivateAuthority {
    /// How far the content of `log`, written by `member` and sealed under `key`, is valid.
    ///
    /// A seat allows what the removes and leaves that hit it keep (D-27). A seat given after such
    /// an end allows only what is sealed under a key whose introduction knows of the end (D-28).
    /// The key proves that the author had heard of the return, and does not go on where the cut
    /// was. It remains a proof when the introduction loses its effect, except for content of the
    /// introduction's own author. A member who was never removed has nothing to prove.
    ///
    /// - Parameter leastRole: only seats of this role or a stronger one count, and only while no
    ///   valid operation has replaced them by a weaker one.
    public func contentLimit(
        of member: MemberID, in log: LogName, under key: KeyID, leastRole: Role = .guest
    ) -> PrivateContentLimit {
        contentLimit(by: seatRights(of: member), in: log, under: key, leastRole: leastRole)
    }

    /// The same, for callers that ask about many logs and keys of one member.
    ///
    /// - Parameter kept: what an operation that ends a seat keeps of the log, if the caller has
    ///   cached that; see `cuts(of:in:)`.
    public func contentLimit(
        by seats: PrivateSeatRights, in log: LogName, under key: KeyID, leastRole: Role = .guest,
        kept: ((Int) -> ArraySlice<CutPlace>)? = nil
    ) -> PrivateContentLimit {
        let introducing = (introductionsByKey[key] ?? []).map { introductions[$0] }.filter {
            $0.isValid || operations[$0.operation].author != seats.member
        }
        let alternatives = seats.seats.compactMap { seat -> ContentLimit? in
            guard
                seat.proof.isEmpty
                    || introducing.contains(where: { isPastOrSelf(seat.proof, of: $0.operation) }),
                leastRole == .guest || gives(seat.record, to: seats.member, atLeast: leastRole)
            else { return nil }
            return limit(by: seat.ends) { kept?($0) ?? cuts(of: $0, in: log) }
        }
        return PrivateContentLimit(alternatives)
    }

    /// What the seats of a member allow, independent of log and key.
    ///
    /// - Cost: linear in the member's seats times the removes aimed at the member. One answer holds
    ///   until another `PrivateAuthority` is made.
    public func seatRights(of member: MemberID) -> PrivateSeatRights {
        let taking = revocationsTaking(from: member)
        let seats = ends(ofSeatsOf: member).sorted { $0.key < $1.key }.map { seat, ends in
            PrivateSeatRights.Seat(
                record: seat,
                ends: ends.sorted { evaluator.placed.isStronger($0, than: $1) },
                proof: latestOnEachBranch(taking.filter { evaluator.placed.knows(seat, $0) }))
        }
        return PrivateSeatRights(member: member, seats: seats)
    }

    /// Whether a seat gives a role, and nothing valid has replaced it by a weaker one.
    func gives(_ seat: Int, to member: MemberID, atLeast role: Role) -> Bool {
        guard let given = evaluator.records[seat].gives.role, given <= role,
            let exposure = evaluator.verdicts.contentExposure(seat, member.asDevice)
        else { return false }
        return !evaluator.verdicts.isHit(exposure) {
            !evaluator.records[$0].operation.action.endsMembership
                && evaluator.reachesContent($0, exposure, leastRole: role)
        }
    }

    /// What a remove or leave keeps of a log.
    ///
    /// - Parameter end: the engine's record of it, as `contentLimit` names it.
    public func cuts(of end: Int, in log: LogName) -> ArraySlice<CutPlace> {
        guard evaluator.records.indices.contains(end),
            let index = PrivatePlacement.operation(named: evaluator.records[end].operation.id),
            operations.indices.contains(index)
        else { return [] }
        return operations[index].cuts.places(in: log)
    }

    /// What removes and leaves together keep of a log.
    private func limit(
        by ends: [Int], _ cuts: (Int) -> ArraySlice<CutPlace>
    ) -> ContentLimit {
        var groups: [ArraySlice<CutPlace>] = []
        for end in ends {
            let kept = cuts(end)
            guard !kept.isEmpty else { return .nothing }
            groups.append(kept)
        }
        return groups.isEmpty ? .everything : .cuts(groups)
    }

    /// The valid removes and leaves that took something from the member, even if it was given back.
    private func revocationsTaking(from member: MemberID) -> [Int] {
        let exposures = (evaluator.placed.people.grantsOfDevice[member.asDevice] ?? []).compactMap {
            evaluator.verdicts.contentExposure($0, member.asDevice)
        }
        return (evaluator.placed.reach.revocations[.member(member)] ?? []).filter { index in
            evaluator.records[index].isValid
                && evaluator.records[index].operation.action.endsMembership
                && exposures.contains { evaluator.verdicts.hits(index, $0) }
        }
    }
}

/// The content that each valid seat of one member allows in a private document.
public struct PrivateSeatRights: Sendable {
    struct Seat: Sendable {
        let record: Int
        /// The valid removes and leaves that end it, the strongest first.
        let ends: [Int]
        /// What the key under which content is sealed has to know: the latest removes and leaves,
        /// on each branch, that the seat knows.
        let proof: [Int]
    }

    let member: MemberID
    let seats: [Seat]
}
