public import CRDTStore
public import WorkspaceModel

/// The rules of channels as specified: whether an operation counts follows
/// recursively from what it cites.
///
/// Slow, and written without looking at `ChannelAuthority`.
public struct ChannelDefinition {
    private let authority: AuthDefinition
    private let valid: Set<OperationID>
    private let claims: [OperationID: ChannelClaim]
    private let creation: OperationID

    /// The claims about the channel that `creation` made, under the rules of the whole document.
    public init(
        _ authority: AuthDefinition, creation: OperationID, claims: [ChannelClaim]
    ) {
        self.authority = authority
        valid = authority.validOperations()
        self.creation = creation
        self.claims = Dictionary(uniqueKeysWithValues: claims.map { ($0.id, $0) })
    }

    /// Whether the channel is there at all.
    public var isMade: Bool { valid.contains(creation) }

    /// Who owns the channel after the last link.
    public var owner: MemberID? { lastLink.flatMap { owner(after: $0) } }

    /// The admins of the channel after the last link.
    public var admins: Set<MemberID> { lastLink.map { admins(after: $0) } ?? [] }

    /// The link after which none comes.
    public var lastLink: OperationID? {
        links.first { link in !links.contains { $0 != creation && cited(by: $0) == link } }
    }

    /// Creation and all claims that are on the chain.
    public var links: Set<OperationID> { Set(([creation] + claims.keys).filter { isLink($0) }) }

    /// Every claim that has effect, deletions too.
    public var counting: Set<OperationID> { Set(claims.keys.filter { counts($0) }) }

    /// Of the claims that count and for which `says` gives an answer, that of the last one in
    /// (lam, rank, id).
    public func word<Value>(_ says: (ChannelClaim) -> Value?) -> Value? {
        let ordered = counting.sorted { isBefore($0, $1) }
        return ordered.compactMap { claims[$0].flatMap(says) }.last
    }

    private func isBefore(_ left: OperationID, _ right: OperationID) -> Bool {
        let (one, other) = (authority.fact(left)?.lam ?? 0, authority.fact(right)?.lam ?? 0)
        if one != other { return one < other }
        let (first, second) = (grantRank(of: left), grantRank(of: right))
        return first != second ? first < second : left < right
    }

    private func grantRank(of id: OperationID) -> AuthDefinition.Rank {
        guard let author = authority.fact(id)?.author else {
            return AuthDefinition.Rank(own: 0, id: .zero)
        }
        var rank = authority.rank(of: author)
        rank.place = 0
        (rank.taken, rank.taking) = (0, .zero)
        return rank
    }

    // MARK: The chain

    private func cited(by id: OperationID) -> OperationID { claims[id]?.link ?? creation }

    private func namesOwners(_ id: OperationID) -> Bool {
        claims[id]?.change.map { $0.owner != nil || $0.admins != nil } ?? false
    }

    private func isLink(_ id: OperationID) -> Bool {
        if id == creation { return valid.contains(id) }
        guard mayBeLink(id), isLink(cited(by: id)) else { return false }
        return !claims.keys.contains { rival in
            rival != id && mayBeLink(rival) && cited(by: rival) == cited(by: id)
                && rank(rival) < rank(id)
        }
    }

    /// Valid, about owner or roles, and written by who might under the link it cites.
    private func mayBeLink(_ id: OperationID) -> Bool {
        namesOwners(id) && isPlaced(id)
            && (isWorkspaceAdmin(id) || owner(after: cited(by: id)) == author(of: id))
    }

    private func isPlaced(_ id: OperationID) -> Bool {
        valid.contains(id) && authority.knows(id, creation)
            && (authority.knows(id, cited(by: id)))
    }

    private func rank(_ id: OperationID) -> AuthDefinition.Rank {
        authority.fact(id)?.rank ?? AuthDefinition.Rank(role: .max, own: 0, id: id)
    }

    private func author(of id: OperationID) -> MemberID? {
        authority.fact(id)?.author?.member
    }

    private func isWorkspaceAdmin(_ id: OperationID) -> Bool {
        (authority.fact(id)?.author?.role ?? 9) <= 1
    }

    private func owner(after link: OperationID) -> MemberID? {
        if link == creation { return author(of: creation) }
        guard claims[link] != nil else { return nil }
        return claims[link]?.change?.owner ?? owner(after: cited(by: link))
    }

    private func admins(after link: OperationID) -> Set<MemberID> {
        guard let claim = claims[link] else { return [] }
        return claim.change?.admins.map { Set($0) } ?? admins(after: cited(by: link))
    }

    // MARK: Everything else

    private func counts(_ id: OperationID) -> Bool {
        if namesOwners(id) { return isLink(id) }
        guard isPlaced(id) else { return false }
        if isWorkspaceAdmin(id) { return true }
        let link = cited(by: id)
        guard isLink(link), mayWrite(id, under: link) else { return false }
        let next = claims.keys.first { isLink($0) && cited(by: $0) == link }
        return next.map { authority.knows($0, id) } ?? true
    }

    private func mayWrite(_ id: OperationID, under link: OperationID) -> Bool {
        guard let author = author(of: id) else { return false }
        if owner(after: link) == author { return true }
        guard let change = claims[id]?.change, change.archived == nil, change.history == nil
        else { return false }
        return admins(after: link).contains(author)
    }
}
