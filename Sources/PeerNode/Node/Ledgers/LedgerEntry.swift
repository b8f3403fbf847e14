import WorkspaceModel

/// A valid operation of a ledger: what its author's member says, and its place among the others.
struct LedgerEntry: Comparable {
    let timestamp: HybridTimestamp
    let id: OperationID
    let author: MemberID
    let content: LedgerContent

    /// The key by which others name it.
    var key: MessageKey { MessageKey(timestamp: timestamp, idPrefix: id.messagePrefix) }

    /// By (hlc, id), the order in which everything of a ledger is taken.
    static func < (left: Self, right: Self) -> Bool {
        (left.timestamp.rawValue, left.id) < (right.timestamp.rawValue, right.id)
    }

    /// The share it counts towards; `nil` for an operation that only the issuer may write, by
    /// somebody else: it has no effect.
    func share(inLedgerOf issuer: MemberID) -> LedgerShare? {
        switch content {
        case .payment: .payments(areIssuers: author == issuer)
        case _ where author == issuer: .issuer
        case .order, .spend, .void: .member(author)
        case .opening, .item, .workspacePrice, .grant, .refund: nil
        }
    }
}

/// Operations of a ledger that share a bound.
enum LedgerShare: Hashable {
    /// Operations of the issuer, without a bound: those who do not trust the issuer do not use the
    /// ledger.
    case issuer
    /// Orders, spends and voids of another member (W-83).
    case member(MemberID)
    /// Payments, the issuer's or those of all others (W-96).
    case payments(areIssuers: Bool)

    /// How many of them say something, the first; `nil`: all.
    var most: Int? {
        switch self {
        case .issuer: nil
        case .member: Limits.ledgerEntriesPerMemberMax
        case .payments: Limits.paymentsOfWorkspaceMax
        }
    }
}
