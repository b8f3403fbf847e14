import WorkspaceModel

/// Seats in a private channel that ended with the membership in the workspace.
///
/// A member who leaves the workspace, or is removed from it, and comes back is not in a private
/// channel again by an earlier seat: what was written meanwhile was written without them. A seat
/// holds beside such an end only if it is known to know of the end (D-18, D-19). That is so if the
/// operation that gives it, or one in its past, was written under a grant that knows of the end, or
/// names such a grant among the answers of a key. That a key answers the end itself proves nothing:
/// members who end their own membership, and their accomplices, know its id before it is published.
///
/// Conversations and own documents belong to the same people permanently; nothing lapses there
/// (D-22).
///
/// - Source: PROTOCOL.md, 4.3.
struct LapsedSeats {
    private let ends: [MemberID: Set<OperationID>]
    private let operations: [OperationID: PrivateOperation]
    /// The results by seat: many operations are under one seat, and the way to it may be long.
    private var found: [OperationID: [MemberID: Set<OperationID>]] = [:]

    /// - Parameter ends: the valid operations of the workspace that ended a membership, by member.
    init(_ operations: [OperationID: PrivateOperation], ends: [MemberID: Set<OperationID>]) {
        self.operations = operations
        self.ends = ends
    }

    /// The ends of the member's membership that an operation, which gives the member a seat, does
    /// not know. The seat holds if there are none.
    mutating func lapses(
        ofSeatOf member: MemberID, in operation: OperationID
    ) -> Set<OperationID> {
        guard let wanted = ends[member], !wanted.isEmpty else { return [] }
        if let known = found[operation]?[member] { return known }
        let lapses = ends(wanted, unknownTo: operation)
        found[operation, default: [:]][member] = lapses
        return lapses
    }

    private func ends(
        _ wanted: Set<OperationID>, unknownTo operation: OperationID
    ) -> Set<OperationID> {
        var missing = wanted
        var seen: Set<OperationID> = [operation]
        var open = [operation]
        while !missing.isEmpty, let id = open.popLast() {
            guard let found = operations[id] else { continue }
            missing.subtract(found.knownEnds)
            let cited = found.dependencies + (found.previous.map { [$0] } ?? [])
            open += cited.filter { seen.insert($0).inserted }
        }
        return missing
    }

    /// The operation as the document judges it: in a new membership nobody acts under a seat that
    /// lapsed with the old one (D-21).
    mutating func judged(_ operation: PrivateOperation) -> PrivateOperation {
        guard operation.isAllowed, !operation.knownEnds.isEmpty,
            let author = operation.author, ends[author] != nil, let seat = operation.change?.seat,
            !lapses(ofSeatOf: author, in: seat).isDisjoint(with: operation.knownEnds)
        else { return operation }
        return operation.refused
    }

    /// The members whose seats from an operation have lapsed.
    mutating func lapsed(in operation: PrivateOperation) -> [MemberID] {
        var lapsed: [MemberID] = []
        for member in ends.keys.sorted() where operation.seat(of: member) != nil {
            if !lapses(ofSeatOf: member, in: operation.id).isEmpty { lapsed.append(member) }
        }
        return lapsed
    }
}
