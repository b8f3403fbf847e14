import WorkspaceModel

/// Seats in a private channel that ended with the membership in the workspace.
///
/// Whoever leaves the workspace, or is removed from it, and comes back is not in a private channel
/// again by the seat of before: what was written meanwhile was written without him. A seat holds
/// beside such an end if whoever gave it is known to have heard of that: it, or something in its past,
/// was written under a grant that knows of the end, or names one that does among the answers of a key.
/// That a key answers the end itself proves nothing: who ends the own membership knows the name of that
/// before it is told, and so do accomplices.
///
/// A conversation and an own document belong to the same people for ever; nothing lapses there.
///
/// - Source: PROTOCOL.md, 4.3.
struct PrivateLapses {
    private let ends: [MemberID: Set<OperationID>]
    private let operations: [OperationID: PrivateOperation]
    /// What was found, by seat: many operations are under one, and the way to it may be long.
    private var found: [OperationID: [MemberID: Set<OperationID>]] = [:]

    /// - Parameter ends: the valid operations of the workspace that ended a membership, by member.
    init(_ operations: [OperationID: PrivateOperation], ends: [MemberID: Set<OperationID>]) {
        self.operations = operations
        self.ends = ends
    }

    /// The ends of the member's membership that the operation, which gives the member a seat, does
    /// not know of. The seat holds where there are none.
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

    /// The operation as the document takes it: nobody acts, in a new membership, under a seat that
    /// lapsed with the old one.
    mutating func judged(_ operation: PrivateOperation) -> PrivateOperation {
        guard operation.isAllowed, !operation.knownEnds.isEmpty,
            let author = operation.author, ends[author] != nil, let seat = operation.change?.seat,
            !lapses(ofSeatOf: author, in: seat).isDisjoint(with: operation.knownEnds)
        else { return operation }
        return operation.refused
    }

    /// The members whose seats in an operation lapsed.
    mutating func lapsed(in operation: PrivateOperation) -> [MemberID] {
        var lapsed: [MemberID] = []
        for member in ends.keys.sorted() where operation.seat(of: member) != nil {
            if !lapses(ofSeatOf: member, in: operation.id).isEmpty { lapsed.append(member) }
        }
        return lapsed
    }
}
