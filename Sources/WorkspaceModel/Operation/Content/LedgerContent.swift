/// An entry of a ledger (PROTOCOL.md, 3.2 and 3.10).
///
/// Whether it counts is decided elsewhere: only the issuer offers, grants and refunds.
public enum LedgerContent: Hashable, Sendable {
    /// Coins for sale.
    public struct Offer: Hashable, Sendable {
        /// Its label, 1 to `Limits.ledgerTextBytesMax` bytes without NUL.
        public let label: String
        /// How many coins one of it gives, 1 to `Limits.ledgerCoinsMax`.
        public let coins: UInt64
        /// Its price in money, as text, 1 to `Limits.ledgerTextBytesMax` bytes without NUL.
        public let price: String

        /// - Precondition: all within the bounds above.
        public init(label: String, coins: UInt64, price: String) {
            self.label = label
            self.coins = coins
            self.price = price
        }
    }

    /// The coins that the issuer grants for a paid order.
    public struct Grant: Hashable, Sendable {
        /// The order.
        public let order: MessageKey
        /// The payment's id, 1 to `Limits.ledgerBillingBytesMax` bytes without NUL.
        public let billing: String
        /// How many coins, 1 to `Limits.ledgerCoinsMax`.
        public let coins: UInt64
        /// When it was paid, milliseconds since 1970.
        public let paidAt: UInt64

        /// - Precondition: all within the bounds above.
        public init(order: MessageKey, billing: String, coins: UInt64, paidAt: UInt64) {
            self.order = order
            self.billing = billing
            self.coins = coins
            self.paidAt = paidAt
        }
    }

    /// Coins that the author spends.
    public struct Spend: Hashable, Sendable {
        /// How many, 1 to `Limits.ledgerCoinsMax`.
        public let coins: UInt64
        /// The purpose, 1 to `Limits.ledgerTextBytesMax` bytes without NUL.
        public let purpose: String
        /// The workspace that is paid for, if any.
        public let workspace: PaidWorkspace?

        /// - Precondition: all within the bounds above.
        public init(coins: UInt64, purpose: String, workspace: PaidWorkspace? = nil) {
            self.coins = coins
            self.purpose = purpose
            self.workspace = workspace
        }
    }

    /// Opens the ledger under a name, 1 to `Limits.ledgerTextBytesMax` bytes without NUL.
    case opening(name: String)
    /// The current offer of an item; `nil` when it is no longer offered. Its name has 1 to
    /// `Limits.ledgerItemBytesMax` bytes without NUL.
    case item(String, Offer?)
    /// The current price of a workspace in coins; `nil` for none.
    case workspacePrice(UInt64?)
    /// The author orders an amount, 1 to `Limits.ledgerAmountMax`, of an offer.
    case order(of: MessageKey, amount: UInt64)
    case grant(Grant)
    case spend(Spend)
    /// Refunds the coins of a spend.
    case refund(of: MessageKey)
    /// Cancels an order.
    case void(order: MessageKey)
    /// States in a workspace which spend, of which ledger in which other workspace, pays for it.
    case payment(in: WorkspaceID, ledger: DocumentID, spend: MessageKey)
}

/// A phantom type for hashes of workspaces. No value exists.
public enum NamedInLedger {
    /// A workspace, recognisable only to those who know its id.
    public enum Workspace {}
}

/// `H16("wsx-paid1", workspace)`.
public typealias PaidWorkspace = Identifier16<NamedInLedger.Workspace>

extension LedgerContent {
    /// The types of content that are in ledgers.
    static let types: ClosedRange<UInt64> = 20...28

    var encoded: [UInt8] {
        switch self {
        case .opening(let name):
            var fields = FieldWriter(type: 20)
            fields.field(1) { $0.text(name) }
            return fields.bytes
        case .item(let item, let offer):
            var fields = FieldWriter(type: 21)
            fields.field(1) { $0.text(item) }
            fields.optional(2, offer?.label) { $0.text($1) }
            fields.optional(3, offer?.coins) { $0.uint($1) }
            fields.optional(4, offer?.price) { $0.text($1) }
            return fields.bytes
        case .workspacePrice(let coins):
            var fields = FieldWriter(type: 22)
            fields.optional(1, coins) { $0.uint($1) }
            return fields.bytes
        case .order(let offer, let amount):
            var fields = FieldWriter(type: 23)
            fields.field(1) { offer.encode(to: &$0) }
            fields.field(2) { $0.uint(amount) }
            return fields.bytes
        case .grant(let grant):
            var fields = FieldWriter(type: 24)
            fields.field(1) { grant.order.encode(to: &$0) }
            fields.field(2) { $0.text(grant.billing) }
            fields.field(3) { $0.uint(grant.coins) }
            fields.field(4) { $0.uint(grant.paidAt) }
            return fields.bytes
        case .spend(let spend):
            var fields = FieldWriter(type: 25)
            fields.field(1) { $0.uint(spend.coins) }
            fields.field(2) { $0.text(spend.purpose) }
            fields.optional(3, spend.workspace) { $0.byteString($1) }
            return fields.bytes
        case .refund(let spend): return Self.naming(spend, as: 26)
        case .void(let order): return Self.naming(order, as: 27)
        case .payment(let workspace, let ledger, let spend):
            var fields = FieldWriter(type: 28)
            fields.field(1) { $0.byteString(workspace) }
            fields.field(2) { $0.byteString(ledger) }
            fields.field(3) { spend.encode(to: &$0) }
            return fields.bytes
        }
    }

    private static func naming(_ key: MessageKey, as type: UInt64) -> [UInt8] {
        var fields = FieldWriter(type: type)
        fields.field(1) { key.encode(to: &$0) }
        return fields.bytes
    }

    /// - Precondition: `type` is one of `types`.
    init(_ type: UInt64, _ fields: inout FieldReader) throws(Malformed) {
        switch type {
        case 20: self = .opening(name: try Self.text(1, Limits.ledgerTextBytesMax, &fields))
        case 21:
            let item = try Self.text(1, Limits.ledgerItemBytesMax, &fields)
            self = .item(item, try Self.offer(&fields))
        case 22:
            self = .workspacePrice(
                try fields.optional(1) { (d) throws(Malformed) in
                    try Self.number(&d, Limits.ledgerCoinsMax)
                })
        case 23:
            let offer = try Self.key(1, &fields)
            self = .order(of: offer, amount: try Self.number(2, Limits.ledgerAmountMax, &fields))
        case 24:
            let order = try Self.key(1, &fields)
            let billing = try Self.text(2, Limits.ledgerBillingBytesMax, &fields)
            let coins = try Self.number(3, Limits.ledgerCoinsMax, &fields)
            let paidAt = try fields.required(4) { (d) throws(Malformed) in try d.uint() }
            self = .grant(
                Grant(order: order, billing: billing, coins: coins, paidAt: paidAt))
        case 25:
            let coins = try Self.number(1, Limits.ledgerCoinsMax, &fields)
            let purpose = try Self.text(2, Limits.ledgerTextBytesMax, &fields)
            let workspace = try fields.optional(3) { (d) throws(Malformed) -> PaidWorkspace in
                try d.identifier16()
            }
            self = .spend(Spend(coins: coins, purpose: purpose, workspace: workspace))
        case 26: self = .refund(of: try Self.key(1, &fields))
        case 27: self = .void(order: try Self.key(1, &fields))
        default:
            let workspace = try fields.required(1) { (d) throws(Malformed) -> WorkspaceID in
                try d.identifier32()
            }
            let ledger = try fields.required(2) { (d) throws(Malformed) -> DocumentID in
                try d.identifier32()
            }
            self = .payment(in: workspace, ledger: ledger, spend: try Self.key(3, &fields))
        }
    }

    /// All three fields, or none.
    private static func offer(_ fields: inout FieldReader) throws(Malformed) -> Offer? {
        let start = fields.decoder.position
        let label = try fields.optional(2) { (d) throws(Malformed) in
            try text(&d, Limits.ledgerTextBytesMax)
        }
        let coins = try fields.optional(3) { (d) throws(Malformed) in
            try number(&d, Limits.ledgerCoinsMax)
        }
        let price = try fields.optional(4) { (d) throws(Malformed) in
            try text(&d, Limits.ledgerTextBytesMax)
        }
        if label == nil, coins == nil, price == nil { return nil }
        guard let label, let coins, let price else { throw Malformed(.wrongKeys, at: start) }
        return Offer(label: label, coins: coins, price: price)
    }

    private static func key(
        _ key: UInt64, _ fields: inout FieldReader
    ) throws(Malformed) -> MessageKey {
        try fields.required(key) { (d) throws(Malformed) in try MessageKey(&d) }
    }

    private static func text(
        _ key: UInt64, _ bytesMax: Int, _ fields: inout FieldReader
    ) throws(Malformed) -> String {
        try fields.required(key) { (d) throws(Malformed) in try text(&d, bytesMax) }
    }

    private static func text(
        _ decoder: inout CBORDecoder, _ bytesMax: Int
    ) throws(Malformed) -> String {
        let start = decoder.position
        let text = try decoder.text(maxBytes: bytesMax)
        guard !text.isEmpty, !text.hasNUL else { throw Malformed(.badText, at: start) }
        return text
    }

    private static func number(
        _ key: UInt64, _ most: UInt64, _ fields: inout FieldReader
    ) throws(Malformed) -> UInt64 {
        try fields.required(key) { (d) throws(Malformed) in try number(&d, most) }
    }

    private static func number(
        _ decoder: inout CBORDecoder, _ most: UInt64
    ) throws(Malformed) -> UInt64 {
        let start = decoder.position
        let number = try decoder.uint()
        guard (1...most).contains(number) else { throw Malformed(.outOfRange, at: start) }
        return number
    }
}

extension ContentPayload {
    /// Whether it belongs in a ledger.
    public var isOfLedger: Bool {
        if case .ledger = self { true } else { false }
    }
}
