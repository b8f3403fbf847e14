public import WorkspaceModel

/// A buyer's payment receipt for a device of the issuer to check. Not stored, not relayed.
public struct ReceiptSubmission: Sendable, Equatable {
    /// Chosen by the sender, for the answer.
    public var number: UInt64
    /// The ledger.
    public var ledger: DocumentID
    /// The order.
    public var order: MessageKey
    /// The gateway's receipt, 1 to `Limits.receiptBytesMax` bytes without NUL.
    public var receipt: String

    /// A request with the given fields.
    public init(number: UInt64, ledger: DocumentID, order: MessageKey, receipt: String) {
        self.number = number
        self.ledger = ledger
        self.order = order
        self.receipt = receipt
    }
}

/// The result of checking a receipt.
public struct ReceiptResult: Sendable, Equatable {
    /// The outcome.
    public enum Code: UInt64, CaseIterable, Sendable {
        /// The grant is written and stored.
        case granted = 0
        /// There is no such order, or it is void.
        case noOrder = 1
        /// The order, or this payment, was already redeemed.
        case redeemed = 2
        /// It is not paid, paid by somebody else, or for something else.
        case notPaid = 3
        /// This device checks no receipts: the issuer grants by hand, or another device checks.
        case byHand = 4
        /// Too many requests; try later.
        case busy = 5
        /// The check failed without a result.
        case notChecked = 6
    }

    /// The number of the request that it answers.
    public var number: UInt64
    /// The outcome.
    public var code: Code

    /// An answer.
    public init(number: UInt64, _ code: Code) {
        self.number = number
        self.code = code
    }
}

extension ReceiptSubmission {
    func encode(_ workspace: WorkspaceNumber, to body: inout CBOREncoder) {
        body.map(count: 5)
        body.workspace(workspace)
        body.key(2)
        body.uint(number)
        body.key(3)
        body.byteString(ledger)
        body.key(4)
        order.encode(to: &body)
        body.key(5)
        body.text(receipt)
    }
}

extension ReceiptResult {
    func encode(_ workspace: WorkspaceNumber, to body: inout CBOREncoder) {
        body.map(count: 3)
        body.workspace(workspace)
        body.key(2)
        body.uint(number)
        body.key(3)
        body.uint(code.rawValue)
    }
}

extension SyncMessage {
    static func receipt(from body: inout CBORDecoder) throws(Malformed) -> SyncMessage {
        try body.mapCount(exactly: 5)
        let workspace = try body.workspace()
        try body.key(exactly: 2)
        let number = try body.uint()
        try body.key(exactly: 3)
        let ledger: DocumentID = try body.identifier32()
        try body.key(exactly: 4)
        let order = try MessageKey(&body)
        try body.key(exactly: 5)
        let start = body.position
        let receipt = try body.text(maxBytes: Limits.receiptBytesMax)
        guard !receipt.isEmpty, !receipt.utf8.contains(0) else {
            throw Malformed(.badText, at: start)
        }
        return .receipt(
            workspace,
            ReceiptSubmission(number: number, ledger: ledger, order: order, receipt: receipt))
    }

    static func receiptResult(from body: inout CBORDecoder) throws(Malformed) -> SyncMessage {
        try body.mapCount(exactly: 3)
        let workspace = try body.workspace()
        try body.key(exactly: 2)
        let number = try body.uint()
        try body.key(exactly: 3)
        return .receiptResult(
            workspace, ReceiptResult(number: number, try body.code(ReceiptResult.Code.self)))
    }
}
