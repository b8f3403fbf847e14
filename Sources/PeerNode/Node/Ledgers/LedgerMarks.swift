import WorkspaceModel

/// Intermediate results beside the state of a ledger, so that one more operation can be added
/// without scanning all others.
struct LedgerMarks {
    /// Orders that the issuer has ended, and spends whose coins they gave back, whether those are there or
    /// not.
    var voided: Set<MessageKey> = []
    var refunded: Set<MessageKey> = []
    /// The grant that was taken for each order.
    var granted: [MessageKey: LedgerContent.Grant] = [:]
    /// Offers, orders and spends that something has named before they came.
    var unmet: Set<MessageKey> = []
    /// The spends of each member, in order.
    var spends: [MemberID: [MessageKey]] = [:]
    /// Whose spends do not all count.
    var short: Set<MemberID> = []
    /// For each member the last of the orders, spends and voids that count towards their bound.
    var last: [MemberID: LedgerEntry] = [:]
    /// The last word about an item, and the last grant.
    var lastItem: LedgerEntry?
    var lastGrant: LedgerEntry?
    /// The payments that are looked at: the issuer's before others', each in order.
    var payments: [LedgerEntry] = []
    /// Whether more was granted than can be counted, so that it matters which grant came first.
    var isOverflown = false
}
