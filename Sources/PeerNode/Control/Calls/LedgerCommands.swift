public import WorkspaceModel

/// The commands for ledgers.
public protocol LedgerCommands {
    /// Creates a ledger that the caller issues.
    func open(_ name: String, _ scope: CallScope) throws(NodeError) -> Made<LedgerObject>
    /// The ledgers of a workspace.
    func ledgers(_ page: PageRequest, _ scope: CallScope) throws(NodeError) -> Page<LedgerObject>
    /// The balance of a member; without a name, the caller's.
    func balance(of member: MemberReference?, in ledger: String?, _ scope: CallScope)
        throws(NodeError) -> BalanceObject
    /// Spends coins of the caller's.
    func spend(_ coins: Int64, for purpose: String, in ledger: String?, _ scope: CallScope)
        throws(NodeError) -> Made<SpendObject>
    /// The spends of the caller, or of everybody, the latest first: without a ledger, in all of
    /// them.
    func spends(all: Bool, in ledger: String?, _ page: PageRequest, _ scope: CallScope)
        throws(NodeError) -> Page<SpendObject>
    /// Gives the coins of a spend back.
    func refund(_ spend: String, _ scope: CallScope) throws(NodeError) -> SpendObject
    /// The offers; without a ledger, in all of them.
    func items(in ledger: String?, _ page: PageRequest, _ scope: CallScope)
        throws(NodeError) -> Page<LedgerItemObject>
    /// Offers coins, under a word that may be offered already.
    func offer(_ draft: OfferDraft, in ledger: String?, _ scope: CallScope) throws(NodeError)
        -> LedgerItemObject
    /// Withdraws an offer. Answers with the offer as it was.
    func withdraw(_ item: String, in ledger: String?, _ scope: CallScope) throws(NodeError)
        -> LedgerItemObject
    /// Orders something.
    func buy(_ item: String, amount: Int64, in ledger: String?, _ scope: CallScope)
        throws(NodeError) -> Made<OrderObject>
    /// The caller's orders, and everybody's in the caller's own ledger, the latest first.
    func orders(_ filter: OrderFilter, _ page: PageRequest, _ scope: CallScope)
        throws(NodeError) -> Page<OrderObject>
    /// Checks a receipt, here or at the issuer. Answers with the order, later.
    func validate(_ order: String, receipt: String, _ scope: CallScope) throws(NodeError)
        -> CommandOutcome
    /// Grants the coins of an order by hand.
    func grant(_ order: String, billing: String?, _ scope: CallScope) throws(NodeError)
        -> OrderObject
    /// Voids an order.
    func void(_ order: String, _ scope: CallScope) throws(NodeError) -> OrderObject
    /// The price of a workspace; with `coins`, a number or `none`, sets it.
    func price(_ coins: String?, in ledger: String?, _ scope: CallScope) throws(NodeError)
        -> StoreSettingObject
    /// The command of this node that checks receipts; with a command, sets it. Empty for none.
    func verifyCommand(_ command: String?, _ scope: CallScope) throws(NodeError)
        -> StoreSettingObject
}

/// An offer of coins for money.
public struct OfferDraft: Sendable {
    /// The word for it, 1 to `Limits.ledgerItemBytesMax` bytes.
    public let item: String
    /// What it is called, 1 to `Limits.ledgerTextBytesMax` bytes.
    public let label: String
    /// How many coins it gives, from 1 on.
    public let coins: Int64
    /// What it costs, in words, 1 to `Limits.ledgerTextBytesMax` bytes.
    public let price: String
}

/// Which orders are requested.
public struct OrderFilter: Sendable {
    /// The ledger; `nil` for all of them.
    public let ledger: String?
    /// `open`, `paid`, `granted` or `void`; `nil` for all.
    public let state: String?
}
