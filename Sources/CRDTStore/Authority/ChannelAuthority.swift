public import WorkspaceModel

/// Who may do what with one channel: judged after the evaluation, from valid operations alone,
/// so that it is as much a function of their set as the verdicts are.
///
/// Settings that change owner or roles form a chain that begins with the creation. Each cites the
/// link it replaces; of several that replace one link the strongest counts. Every other operation
/// cites the link under which it was written and counts as long as that was the last one, for all
/// that the next link knew. So somebody who was replaced can write nothing more that counts,
/// however far back it is dated.
///
/// - Source: PROTOCOL.md, "Channels".
extension AuthEvaluator {
    /// What the claims about a channel come to; `nil` when nobody could make the channel.
    ///
    /// - Parameters:
    ///   - claims: in any order; those of other channels and unknown operations must not be among
    ///     them, invalid ones may.
    ///   - isDefault: whether it is the channel everybody is in, which is neither archived nor
    ///     deleted.
    /// - Cost: n log n in the number of claims.
    public func ruling(
        on channel: DocumentID, claims: [ChannelClaim], isDefault: Bool
    ) -> ChannelRuling? {
        let id = OperationID(sameBytesAs: channel)
        guard let creation = indices[id], records[creation].isValid,
            case .createDocument = records[creation].operation.action,
            let creator = records[creation].author
        else { return nil }
        let placed = claims.compactMap { place($0, creation: creation) }
        var ruling = ChannelRuling(creation: id, owner: creator)
        let chain = follow(placed, from: creation, in: &ruling)
        var counting = placed.filter { counts($0, along: chain) }
        counting.sort { isEarlier($0.index, $1.index) }
        for claim in counting {
            guard let change = claim.change else {
                if !isDefault, ruling.deletion == nil { ruling.deletion = claim.id }
                continue
            }
            ruling.counting.append(claim.id)
            if !isDefault, let archived = change.archived { ruling.isArchived = archived }
            if let history = change.history { ruling.history = history }
        }
        return ruling
    }

    /// The channel everybody is in: of those that were validly made the one with the smallest
    /// (lam, id), whatever became of it since.
    public func defaultChannel(among creations: some Sequence<OperationID>) -> DocumentID? {
        let made = creations.compactMap { id in
            indices[id].flatMap { records[$0].isValid ? (records[$0].lamport, id) : nil }
        }
        return made.min { $0 < $1 }.map { DocumentID(sameBytesAs: $0.1) }
    }

    /// A valid claim whose link is in its past.
    private struct PlacedClaim {
        let id: OperationID
        let index: Int
        let link: Int
        let change: ChannelChange?
        let author: MemberID
        let role: Role
    }

    /// One link, and who may do what under it.
    private struct OwnerLink {
        let index: Int
        let owner: MemberID
        let admins: Set<MemberID>
    }

    private struct Chain {
        var links: [OwnerLink] = []
        var places: [Int: Int] = [:]

        mutating func append(_ link: OwnerLink) {
            places[link.index] = links.count
            links.append(link)
        }
    }

    private func place(_ claim: ChannelClaim, creation: Int) -> PlacedClaim? {
        guard let index = indices[claim.id], records[index].isValid,
            let link = claim.link.map({ indices[$0] }) ?? creation,
            records[index].knows(records[link].place),
            records[index].knows(records[creation].place),
            let author = records[index].author,
            let role = records[index].actingRole
        else { return nil }
        return PlacedClaim(
            id: claim.id, index: index, link: link, change: claim.change, author: author, role: role
        )
    }

    /// Walks the chain from the creation to its last link.
    private func follow(
        _ claims: [PlacedClaim], from creation: Int, in ruling: inout ChannelRuling
    ) -> Chain {
        var successors: [Int: [PlacedClaim]] = [:]
        for claim in claims where claim.change?.isLink == true {
            successors[claim.link, default: []].append(claim)
        }
        var chain = Chain()
        chain.append(OwnerLink(index: creation, owner: ruling.owner, admins: []))
        var current = creation
        // A link has the one before it in its past, so this ends.
        while let next = strongest(successors[current] ?? [], under: ruling.owner) {
            current = next.index
            if let owner = next.change?.owner { ruling.owner = owner }
            if let admins = next.change?.admins { ruling.admins = Set(admins).sorted() }
            ruling.chain.append(next.id)
            chain.append(
                OwnerLink(index: current, owner: ruling.owner, admins: Set(ruling.admins)))
        }
        return chain
    }

    /// The strongest of those that the owner or an admin of the workspace wrote.
    private func strongest(_ claims: [PlacedClaim], under owner: MemberID) -> PlacedClaim? {
        claims.filter { $0.role <= .admin || $0.author == owner }
            .min { records[$0.index].rank < records[$1.index].rank }
    }

    /// Whether a claim has effect: a link when it is on the chain, anything else while the link
    /// it cites was the last.
    private func counts(_ claim: PlacedClaim, along chain: Chain) -> Bool {
        if claim.change?.isLink == true { return chain.places[claim.index] != nil }
        if claim.role <= .admin { return true }
        guard let place = chain.places[claim.link] else { return false }
        let link = chain.links[place]
        let right = claim.change?.right ?? .manage
        guard claim.author == link.owner || (right == .edit && link.admins.contains(claim.author))
        else { return false }
        guard place + 1 < chain.links.count else { return true }
        return records[chain.links[place + 1].index].knows(records[claim.index].place)
    }

    /// The order in which settings overwrite each other: (lam, rank of the grant, id).
    private func isEarlier(_ left: Int, _ right: Int) -> Bool {
        let (first, second) = (records[left], records[right])
        if first.lamport != second.lamport { return first.lamport < second.lamport }
        let (one, other) = (first.rank.author.grant, second.rank.author.grant)
        return one != other ? one < other : first.operation.id < second.operation.id
    }
}
