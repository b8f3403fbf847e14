/// Ledgers: coin balances, as an issuer states them.
extension Limits {
    // MARK: What others write

    /// Coins of an offer, a grant or a spend, and of a balance: integers that doubles represent
    /// exactly.
    public static let ledgerCoinsMax: UInt64 = 9_007_199_254_740_991
    /// The amount of one order.
    public static let ledgerAmountMax: UInt64 = 1_000
    /// The name of an item, in bytes of UTF-8: people type it.
    public static let ledgerItemBytesMax = 64
    /// A name, a label, a price or a purpose, in bytes of UTF-8: a column of a list.
    public static let ledgerTextBytesMax = 256
    /// The id of a payment at a gateway, in bytes of UTF-8.
    public static let ledgerBillingBytesMax = 128
    /// Orders, spends and voids of one member that count in a ledger, the earliest by time: about
    /// 11 MiB of memory while it is open, and 17 MiB where all are spends with the longest
    /// purposes.
    public static let ledgerEntriesPerMemberMax = 16_384

    // MARK: Receipts

    /// A receipt, in bytes of UTF-8: those of the large app stores have less.
    public static let receiptBytesMax = 4_096
    /// Receipts of one member that are checked at once.
    public static let receiptBurstPerMember: UInt64 = 20
    /// After how long the budget grows by one check.
    public static let receiptRefillMilliseconds: UInt64 = 180_000
    /// Receipts that are checked here or wait for it; more are refused as `busy`.
    public static let receiptChecksMax = 16
    /// Commands that check receipts at one time; each is a process.
    public static let receiptProcessesMax = 4
    /// How long such a command may run. A gateway on the other side of the world answers in 2 s.
    public static let receiptCheckMilliseconds: UInt64 = 20_000
    /// The length of its answer, in bytes. A longer one is ignored.
    public static let receiptAnswerBytesMax = 4_096
    /// How long another device's answer is awaited: a check, and another one before it.
    public static let receiptAnswerMilliseconds: UInt64 = 35_000
    /// Calls here that wait for such an answer.
    public static let receiptsAskedMax = 16

    // MARK: Reads and memory

    /// Ledgers of one workspace considered for a list or a name, the first by id. Others are
    /// reachable by id.
    public static let ledgersListedMax = 1_024
    /// Payment statements for a workspace that are considered in each document: first its issuer's,
    /// then others' (W-96). A founder writes one, and nobody else's crowd it out.
    public static let paymentsOfWorkspaceMax = 64
    /// How many entries beyond the counted ones are kept in memory, per member or of payments,
    /// until they are pruned: pruning scans the whole ledger.
    public static let ledgerSurplusMax = 4_096
    /// Ledgers in memory at once. Another one replaces the least recently used.
    public static let ledgersOpenMax = 16
}
