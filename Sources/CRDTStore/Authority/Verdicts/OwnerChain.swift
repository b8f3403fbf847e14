/// The owners of a private document form a chain: a member who hands it on can write nothing more
/// as its owner, however that is dated.
///
/// A transfer is as strong as what its author wrote before, so no rank could tell what the author
/// adds to that past later. The transfer's own past does: what it does not know counts as written
/// after the document was handed on.
///
/// - Source: PROTOCOL.md, 4.3 (D-15, D-16).
extension AuthVerdicts {
    /// Finds what has no effect since an owner's seat was handed on: everything else written under
    /// that seat that is not in the past of the transfer. Decided before any verdict: whether a
    /// transfer on the chain has effect follows from the chain alone.
    mutating func followOwners() {
        handedOn = [:]
        guard placed.rules == .privateDocument, !placed.people.drops.isEmpty,
            let root = records.firstIndex(where: \.isRoot)
        else { return }
        var handing: [Int: Int] = [:]
        let transfers = Dictionary(
            grouping: placed.people.drops.values.joined(), by: { records[$0].grant })
        var seat = root
        // What is written under a seat is deeper than the seat, so the chain is finite.
        while let next = transfers[seat]?.min(by: { placed.isStronger($0, than: $1) }) {
            handing[seat] = next
            seat = next
        }
        for index in records.indices where records[index].fault == nil {
            guard let transfer = records[index].grant.flatMap({ handing[$0] }), transfer != index,
                records[transfer].ownPart != index, !placed.knows(transfer, index)
            else { continue }
            handedOn[index] = transfer
        }
    }
}

extension AuthRecord {
    fileprivate var isRoot: Bool { if case .create = operation.action { true } else { false } }
}
