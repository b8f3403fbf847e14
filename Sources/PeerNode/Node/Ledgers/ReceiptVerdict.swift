import WorkspaceModel

/// The output of a command that checks receipts: the closed list of what it may print.
///
/// ```
/// {"paid": true, "billing": "ch_3P…", "order": "p_…", "buyer": "u_…", "coins": 100, "paid_at": 1795150800123}
/// {"paid": false}
/// ```
///
/// `order`, `buyer` and `coins` are optional. If present they have to match the question, so that a
/// receipt for another payment is not accepted.
enum ReceiptVerdict: Equatable {
    /// It is paid, by the payment of this name, then.
    case paid(billing: String, at: UInt64?)
    /// It is not, or by somebody else, or something else was.
    case notPaid
    /// Nothing is known of the payment.
    case unknown

    /// What the command was asked about.
    struct Question: Equatable {
        let order: String
        let buyer: String
        let coins: UInt64
    }

    /// - Parameters:
    ///   - output: what the command printed, from outside; `nil` where it failed.
    ///   - question: what it was asked about.
    init(untrusted output: [UInt8]?, about question: Question) {
        guard let output, output.count <= Limits.receiptAnswerBytesMax,
            let answer = try? JSONValue(parsing: output), let paid = answer["paid"]?.boolValue
        else {
            self = .unknown
            return
        }
        guard paid, Self.fits(answer, question) else {
            self = .notPaid
            return
        }
        guard let billing = answer["billing"]?.stringValue, Self.isName(billing) else {
            self = .unknown
            return
        }
        self = .paid(
            billing: billing, at: answer["paid_at"]?.integerValue.flatMap { UInt64(exactly: $0) })
    }

    /// Why nothing was granted for what a command printed, in a word for the log; `nil` if it was paid.
    static func problem(untrusted output: [UInt8]?, about question: Question) -> String? {
        guard let output else { return "command_failed" }
        guard output.count <= Limits.receiptAnswerBytesMax else { return "answer_too_long" }
        guard let answer = try? JSONValue(parsing: output) else { return "answer_not_json" }
        guard let paid = answer["paid"]?.boolValue else { return "answer_without_paid" }
        guard paid else { return "not_paid" }
        guard fits(answer, question) else { return "other_payment" }
        guard let billing = answer["billing"]?.stringValue, isName(billing) else {
            return "answer_without_billing"
        }
        return nil
    }

    private static func fits(_ answer: JSONValue, _ question: Question) -> Bool {
        let texts = [("order", question.order), ("buyer", question.buyer)]
        let isSame = texts.allSatisfy { name, wanted in
            guard let given = answer[name] else { return true }
            return given.stringValue?.utf8.elementsEqual(wanted.utf8) ?? false
        }
        guard let coins = answer["coins"] else { return isSame }
        return isSame && coins.integerValue.flatMap { UInt64(exactly: $0) } == question.coins
    }

    /// Whether a payment may have this name, which is displayed and permanent.
    static func isName(_ billing: String) -> Bool {
        (1...Limits.ledgerBillingBytesMax).contains(billing.utf8.count)
            && (try? CheckedName.checkWire(billing)) != nil
    }
}
