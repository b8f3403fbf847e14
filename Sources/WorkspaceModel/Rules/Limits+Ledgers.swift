/// Ledgers: who has how many coins, as an issuer says it.
extension Limits {
    // MARK: What others write

    /// Coins of an offer, a grant or a spend, and of a balance: integers that stay exact in programs that
    /// know only doubles.
    public static let ledgerCoinsMax: UInt64 = 9_007_199_254_740_991
    /// How often an item is ordered at once.
    public static let ledgerAmountMax: UInt64 = 1_000
    /// The word for an item, in bytes of UTF-8: people type it.
    public static let ledgerItemBytesMax = 64
    /// A name, a label, a price or a purpose, in bytes of UTF-8: a column of a list.
    public static let ledgerTextBytesMax = 256
    /// The id of a payment at a gateway, in bytes of UTF-8.
    public static let ledgerBillingBytesMax = 128
    /// Orders, spends and voids of one member that count in a ledger, the first by their times: about 11 MiB
    /// of memory while it is open, and 17 MiB where all are spends with the longest purposes.
    public static let ledgerEntriesPerMemberMax = 16_384

    // MARK: Receipts

    /// A receipt, in bytes of UTF-8: those of the large app stores have less.
    public static let receiptBytesMax = 4_096
    /// Receipts of one member that are checked at once.
    public static let receiptBurstPerMember: UInt64 = 20
    /// After how long one more is checked.
    public static let receiptRefillMilliseconds: UInt64 = 180_000
    /// Receipts that are being checked here, or wait for it; more are `busy`.
    public static let receiptChecksMax = 16
    /// Commands that check receipts at one time; each is a process.
    public static let receiptProcessesMax = 4
    /// How long such a command has. A gateway on the other side of the world answers in 2 s.
    public static let receiptCheckMilliseconds: UInt64 = 20_000
    /// What it may answer, in bytes. More is no answer.
    public static let receiptAnswerBytesMax = 4_096
    /// For how long an answer of another device is waited for: a check, and another one before it.
    public static let receiptAnswerMilliseconds: UInt64 = 35_000
    /// Calls here that wait for such an answer.
    public static let receiptsAskedMax = 16

    // MARK: What is looked at and held

    /// Ledgers of one workspace that are looked at for a list or a name, the first by their ids. Others are
    /// named by these.
    public static let ledgersListedMax = 1_024
    /// Words about the payment of a workspace that are looked at in each document, the first of its issuer,
    /// then those of others (W-96): a founder writes one, and nobody else's crowd it out.
    public static let paymentsOfWorkspaceMax = 64
    /// How many more than count of one member's, or of the payments, are in memory until they are sorted
    /// out: that goes through all of a ledger.
    public static let ledgerSurplusMax = 4_096
    /// Ledgers that are in memory at once. Another one takes the place of the one that was used longest
    /// ago.
    public static let ledgersOpenMax = 16
}
