/// The owners of a private document, one after the other: who hands it on writes nothing more as its
/// owner, however that is dated.
///
/// A transfer is as strong as what its author wrote before, and so no rank could tell what the author
/// adds to that past later. What does is the transfer's own past: what it does not know was not written,
/// as far as anybody can say, before the document was handed on.
///
/// - Source: PROTOCOL.md, 4.3.
extension AuthVerdicts {
    /// Finds what counts no more since an owner's seat was handed on: whatever else was written under
    /// that seat and is not in the past of the transfer. Decided before any verdict: whether a transfer
    /// on the chain has effect follows from the chain alone.
    mutating func followOwners() {
        handedOn = [:]
        guard placed.rules == .privateDocument, !placed.people.drops.isEmpty,
            let root = records.firstIndex(where: \.isRoot)
        else { return }
        var handing: [Int: Int] = [:]
        let transfers = Dictionary(
            grouping: placed.people.drops.values.joined(), by: { records[$0].grant })
        var seat = root
        // What is written under a seat is deeper than that, so the chain has an end.
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
