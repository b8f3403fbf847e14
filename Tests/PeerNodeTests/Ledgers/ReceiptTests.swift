import SyncProtocol
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// Receipts that a buyer redeems, with a gateway that lies, hangs and pays twice.
struct `A receipt` {
    private static let receipt = "xylograph-receipt-4711"
    private let table: LedgerBench

    init() throws {
        table = try LedgerBench()
        try table.ada.ok("store.verify_command", ["command": "check it"])
    }

    private func result(_ call: CallID, at node: BenchNode) throws -> JSONValue {
        try #require(node.answer(to: call), "no answer").get()
    }

    private func failure(_ call: CallID, at node: BenchNode) throws -> NodeError.Kind {
        let answer = try #require(node.answer(to: call), "no answer")
        guard case .failure(let error) = answer else { throw UnexpectedGrant() }
        return error.kind
    }

    private struct UnexpectedGrant: Error {}

    private static func paid(_ billing: String, _ more: String = "") -> String {
        #"{"paid":true,"billing":"\#(billing)"\#(more)}"# + "\n"
    }

    @Test func `that is paid gives the coins, over the link of the buyer`() throws {
        let order = try table.order(by: table.bob)
        let call = table.validate(order, Self.receipt, by: table.bob)
        #expect(table.bob.answer(to: call) == nil, "it waits for the issuer, beside the turn")
        #expect(table.ada.notices.last?.command == "check it")
        #expect(table.ada.notices.last?.variables.isEmpty == true)
        let asked = try table.gateway(prints: Self.paid("ch_1", #","coins":100,"paid_at":5"#))
        #expect(asked["receipt"]?.stringValue == Self.receipt)
        #expect(asked["order"]?["id"] == order && asked["order"]?["buyer"]?["name"] == "Bob")
        #expect(asked["order"]?["coins"] == 100 && asked["order"]?["price"] == "5 EUR")
        #expect(try result(call, at: table.bob)["state"] == "granted")
        #expect(try table.bob.ok("coin.balance")["balance"] == 100)
        try table.expectPeace()
    }

    /// The author of the command has nothing else to find a mistake by.
    @Test(arguments: [
        (nil, "notChecked why=command_failed"), ("yes", "notChecked why=answer_not_json"),
        (#"{"ok":true}"#, "notChecked why=answer_without_paid"),
        (#"{"paid":true}"#, "notChecked why=answer_without_billing"),
        (#"{"paid":false}"#, "notPaid why=not_paid"),
        (#"{"paid":true,"billing":"b","coins":7}"#, "notPaid why=other_payment"),
        (#"{"paid":true,"billing":"b"}"#, "granted"),
    ])
    func `is logged with its order, and why it was not granted`(
        _ output: String?, _ words: String
    ) throws {
        let order = try table.order(by: table.bob)
        _ = table.validate(order, Self.receipt, by: table.bob)
        let asked = table.ada.notices.popLast()
        let question = try #require(asked?.question)
        let effects = table.ada.turn([
            .noticed(.answered(question: question, output.map { Array($0.utf8) }))
        ])
        let lines = effects.compactMap { effect -> String? in
            if case .log(_, let text) = effect { text } else { nil }
        }
        let line = "receipt.checked order=\(order.stringValue ?? "") code=\(words)"
        #expect(lines.contains(line), "\(lines)")
        #expect(!lines.contains { $0.contains(Self.receipt) })
    }

    @Test func `that is redeemed twice gives coins once`() throws {
        let order = try table.order(by: table.bob)
        let first = table.validate(order, by: table.bob)
        // Meanwhile it is being checked.
        let second = table.validate(order, by: table.bob)
        #expect(try failure(second, at: table.bob) == .busy)
        try table.gateway(prints: Self.paid("ch_1"))
        #expect(try result(first, at: table.bob)["state"] == "granted")
        let third = table.validate(order, by: table.bob)
        #expect(try failure(third, at: table.bob) == .alreadyRedeemed)
        // The gateway says of another order that the same payment paid for it.
        let other = try table.order(by: table.cleo)
        let fourth = table.validate(other, by: table.cleo)
        try table.gateway(prints: Self.paid("ch_1"))
        #expect(try failure(fourth, at: table.cleo) == .alreadyRedeemed)
        #expect(try table.balance(of: "Cleo", on: table.cleo) == 0)
        #expect(try table.balance(of: "Bob", on: table.cleo) == 100)
        try table.expectPeace()
    }

    static let lies: [(String?, NodeError.Kind)] = [
        (#"{"paid":false}"#, .invalidReceipt),
        (#"{"paid":true,"billing":"b","order":"p_0"}"#, .invalidReceipt),
        (#"{"paid":true,"billing":"b","buyer":"u_0"}"#, .invalidReceipt),
        (#"{"paid":true,"billing":"b","coins":1000000}"#, .invalidReceipt),
        (#"{"paid":true,"billing":"b","coins":"100"}"#, .invalidReceipt),
        (#"{"paid":true,"billing":"b","coins":100.0}"#, .invalidReceipt),
        (#"{"paid":true}"#, .unreachable), (#"{"paid":true,"billing":""}"#, .unreachable),
        (#"{"paid":true,"billing":7}"#, .unreachable),
        (#"{"paid":"true","billing":"b"}"#, .unreachable), ("yes", .unreachable),
        ("", .unreachable), (#"{"paid":true,"billing":"b"} {"paid":false}"#, .unreachable),
        (#"{"paid":true,"billing":"\#(String(repeating: "b", count: 200))"}"#, .unreachable),
        (nil, .unreachable),
    ]

    @Test(arguments: lies)
    func `gives nothing if a gateway says anything else about it`(
        _ output: String?, _ kind: NodeError.Kind
    ) throws {
        let order = try table.order(by: table.bob)
        let call = table.validate(order, by: table.bob)
        try table.gateway(prints: output)
        #expect(try failure(call, at: table.bob) == kind, "\(output ?? "nothing")")
        #expect(try table.bob.ok("store.orders").items.first?["state"] == "open")
        #expect(try table.bob.ok("coin.balance")["balance"] == 0)
        // It may be tried again.
        let again = table.validate(order, by: table.bob)
        try table.gateway(prints: Self.paid("b"))
        #expect(try result(again, at: table.bob)["state"] == "granted")
    }

    @Test func `keeps nobody waiting, and no order, if a gateway never answers`() throws {
        let order = try table.order(by: table.bob)
        let call = table.validate(order, by: table.bob)
        // Other people's calls, and messages, go on meanwhile.
        try table.cleo.send("hello")
        #expect(try table.ada.log() == ["hello"])
        table.bench.advance(Limits.receiptCheckMilliseconds + 15_000)
        #expect(try failure(call, at: table.bob) == .unreachable)
        table.ada.notices = []
        let again = table.validate(order, by: table.bob)
        try table.gateway(prints: Self.paid("b"))
        #expect(try result(again, at: table.bob)["state"] == "granted")
    }

    @Test func `goes to nobody but the issuer, and only while one can be reached`() throws {
        let (ada, bob, bench) = (table.ada, table.bob, table.bench)
        let order = try table.order(by: bob)
        bench.cut(ada, bob)
        bench.advance(200_000)
        let call = table.validate(order, Self.receipt, by: bob)
        #expect(try failure(call, at: bob) == .unreachable)
        #expect(
            try bob.refused("store.validate", ["order": order, "receipt": "\n"]).kind
                == .invalidReceipt)
        bench.heal(ada, bob)
        bench.advance(200_000)
        // Cleo cannot redeem somebody else's order, asked politely or not.
        let refused = try table.cleo.refused(
            "store.validate", ["order": order, "receipt": .string(Self.receipt)])
        #expect(refused.kind == .invalidReceipt && refused.kind.seed == "E82")
        #expect(ada.notices.isEmpty)
        try table.cleo.inTurn { core, workspace in
            let document = try #require(core.ledgers.documents(in: workspace).first)
            let ledger = try #require(try core.ledgers.ledger(document, in: workspace))
            let key = try #require(PublicID.ledgerKey(order.stringValue ?? "", prefix: "p_"))
            try core.ledgers.ask(
                Self.receipt, for: key, in: ledger, workspace,
                call: CallID(connection: 9, number: 9))
        }
        bench.advance(1_000)
        #expect(ada.notices.isEmpty, "the link says who asks")
        #expect(
            try failure(CallID(connection: 9, number: 9), at: table.cleo) == .unknownOrder)
    }

    /// M-32. What is asked over a link is answered there or never.
    @Test func `is nobody's to wait for when its link ends, and may be sent again`() throws {
        let (ada, bob, bench) = (table.ada, table.bob, table.bench)
        let order = try table.order(by: bob)
        let call = table.validate(order, by: bob)
        #expect(bob.answer(to: call) == nil && ada.notices.count == 1)
        bench.cut(ada, bob)
        let answer = try #require(bob.answer(to: call), "no time has passed")
        guard case .failure(let error) = answer else { throw UnexpectedGrant() }
        #expect(error.kind == .unreachable && error.reason == "receipt.link_ended")
        #expect(error.kind.isRetryable && error.hint?.contains("store orders") == true)
        #expect(try #require(bob.host?.core).ledgers.questions.isEmpty)
        // What comes of the first check reaches nobody; the second one is as good.
        bench.heal(ada, bob)
        bench.advance(60_000)
        let again = table.validate(order, by: bob)
        try table.gateway(prints: Self.paid("ch_1"))
        #expect(try result(again, at: bob)["state"] == "granted")
        try table.expectPeace()
    }

    // MARK: Bounds

    /// Bob waits for as many answers as a node waits for, over a link that carries nothing any more.
    @Test func `is asked about with so many others, and no more`() throws {
        let (ada, bob, bench) = (table.ada, table.bob, table.bench)
        let orders = try (0...Limits.receiptsAskedMax).map { _ in try table.order(by: bob) }
        bench.silence(ada, bob)
        let calls = orders.dropLast().map { table.validate($0, by: bob) }
        let more = table.validate(try #require(orders.last), by: bob)
        #expect(try failure(more, at: bob) == .busy)
        let ledgers = try #require(bob.host?.core).ledgers
        #expect(ledgers.questions.count == Limits.receiptsAskedMax)
        #expect(ada.notices.isEmpty, "she heard of none: it was refused here")
        for call in calls { #expect(bob.answer(to: call) == nil) }
        // After their time there is room again.
        bench.advance(Limits.receiptAnswerMilliseconds + 1_000)
        for call in calls { #expect(bob.answer(to: call) != nil) }
        #expect(ledgers.questions.isEmpty)
    }

    @Test func `is checked with so many others, and no more`() throws {
        let (ada, bob, cleo) = (table.ada, table.bob, table.cleo)
        let orders = try (0..<Limits.receiptChecksMax).map { _ in try table.order(by: bob) }
        let other = try table.order(by: cleo)
        let calls = orders.map { table.validate($0, by: bob) }
        #expect(ada.notices.count == Limits.receiptChecksMax)
        #expect(try failure(table.validate(other, by: cleo), at: cleo) == .busy)
        #expect(ada.notices.count == Limits.receiptChecksMax)
        for _ in calls { try table.gateway(prints: #"{"paid":false}"#) }
        for call in calls { #expect(try failure(call, at: bob) == .invalidReceipt) }
        let again = table.validate(other, by: cleo)
        try table.gateway(prints: Self.paid("ch_1"))
        #expect(try result(again, at: cleo)["state"] == "granted")
    }

    @Test func `is checked for the issuer too, and by hand where there is no command`() throws {
        let ada = table.ada
        let order = try table.order(by: table.bob)
        let call = table.validate(order, Self.receipt, by: ada)
        try table.gateway(prints: Self.paid("b"))
        #expect(try result(call, at: ada)["state"] == "granted")
        try ada.ok("store.verify_command", ["command": ""])
        #expect(try ada.ok("store.verify_command")["value"]?.isNull == true)
        let other = try table.order(by: table.bob)
        #expect(try failure(table.validate(other, by: table.bob), at: table.bob) == .pending)
        #expect(try failure(table.validate(other, by: ada), at: ada) == .unsupported)
        #expect(try ada.ok("store.grant", ["order": other])["state"] == "granted")
        #expect(
            try ada.refused("store.validate", ["order": other, "receipt": "x"]).kind
                == .alreadyRedeemed)
    }

    @Test func `for an offer that is no more is checked by hand`() throws {
        let order = try table.order(by: table.bob)
        try table.ada.ok(
            "store.offer", ["item": "small", "label": "Small", "coins": 1, "price": "5 EUR"])
        table.bench.advance(1_000)
        #expect(try failure(table.validate(order, by: table.bob), at: table.bob) == .pending)
        #expect(table.ada.notices.isEmpty)
        // What was ordered is what was offered then.
        #expect(try table.ada.ok("store.grant", ["order": order])["coins"] == 100)
    }

    @Test func `is asked of another device of the issuer where the first one checks none`() throws {
        let (ada, bob, bench) = (table.ada, table.bob, table.bench)
        let phone = try bench.bareNode("Phone")
        let link = try ada.ok("device.link")["link"] ?? .null
        try phone.ok("device.link", ["code": link, "name": "Ada"])
        bench.advance(60_000)
        try ada.ok("store.verify_command", ["command": ""])
        try phone.ok("store.verify_command", ["command": "check it there"])
        let order = try table.order(by: bob)
        bench.advance(60_000)
        let call = table.validate(order, by: bob)
        bench.advance(1_000)
        try table.gateway(prints: Self.paid("b"), at: phone)
        bench.advance(5_000)
        #expect(try result(call, at: bob)["state"] == "granted")
        // Granted by hand on both devices while apart, an order gives its coins once.
        let other = try table.order(by: bob)
        bench.advance(60_000)
        // Nor does anybody else tell the one of the other.
        for node in [ada, bob, table.cleo] { bench.cut(node, phone) }
        for device in [ada, phone] {
            try device.ok("store.grant", ["order": other])
        }
        for node in [ada, bob, table.cleo] { bench.heal(node, phone) }
        bench.advance(300_000)
        #expect(try table.balance(of: "Bob", on: bob) == 200)
        try table.expectPeace()
    }

    @Test func `is checked a limited number of times for one member`() throws {
        let order = try table.order(by: table.bob)
        for _ in 0..<Limits.receiptBurstPerMember {
            let call = table.validate(order, by: table.bob)
            try table.gateway(prints: #"{"paid":false}"#)
            #expect(try failure(call, at: table.bob) == .invalidReceipt)
        }
        let call = table.validate(order, by: table.bob)
        #expect(try failure(call, at: table.bob) == .busy)
        #expect(table.ada.notices.isEmpty)
        // Others are checked as before.
        let other = try table.order(by: table.cleo)
        let theirs = table.validate(other, by: table.cleo)
        try table.gateway(prints: Self.paid("b"))
        #expect(try result(theirs, at: table.cleo)["state"] == "granted")
    }

    @Test func `is dropped by a lock, on both sides`() throws {
        let (ada, bob) = (table.ada, table.bob)
        for node in [ada, bob] {
            try node.ok("identity.passphrase.change", ["new": .string(goodPassphrase)])
        }
        let order = try table.order(by: bob)
        let call = table.validate(order, by: bob)
        try bob.ok("lock.now")
        #expect(try failure(call, at: bob) == .locked)
        try bob.ok("session.unlock", ["passphrase": .string(goodPassphrase)])
        let notice = try #require(ada.notices.last)
        try ada.ok("lock.now")
        #expect(ada.notices.isEmpty)
        let question = try #require(notice.question)
        table.bench.give(
            .noticed(.answered(question: question, Array(Self.paid("b").utf8))), to: ada)
        table.bench.settle()
        try ada.ok("session.unlock", ["passphrase": .string(goodPassphrase)])
        table.bench.advance(60_000)
        #expect(try ada.ok("store.orders").items.first?["state"] == "open")
    }

    @Test func `stands in no store, no log line and nobody else's link`() throws {
        let (ada, bob) = (table.ada, table.bob)
        let order = try table.order(by: bob)
        let call = table.validate(order, Self.receipt, by: bob)
        #expect(try #require(ada.notices.last).command == "check it")
        try table.gateway(prints: Self.paid("ch_1"))
        #expect(try result(call, at: bob)["state"] == "granted")
        table.bench.advance(60_000)
        for node in table.nodes {
            #expect(try !ByteSearch.finds(Array(Self.receipt.utf8), in: node.image), "\(node.name)")
            #expect(!node.log.contains { $0.contains(Self.receipt) }, "\(node.name)")
        }
        for node in [ada, bob] {
            let ledgers = try #require(node.host?.core.ledgers)
            #expect(ledgers.questions.isEmpty && ledgers.checks.isEmpty)
        }
    }
}

/// Valid names of payments, and what cannot be forged in the output.
struct `A verdict on a receipt` {
    private static let question = ReceiptVerdict.Question(order: "p_1", buyer: "u_1", coins: 5)

    @Test(arguments: Seeds.explore(200))
    func `is never paid on random bytes`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let bytes = random.bytes(random.below(200))
        #expect(ReceiptVerdict(untrusted: bytes, about: Self.question) == .unknown)
    }

    @Test func `has a bound`() {
        let long = #"{"paid":true,"billing":"b"}"# + String(repeating: " ", count: 5_000)
        #expect(ReceiptVerdict(untrusted: Array(long.utf8), about: Self.question) == .unknown)
        let deep = String(repeating: "[", count: 4_000)
        #expect(ReceiptVerdict(untrusted: Array(deep.utf8), about: Self.question) == .unknown)
        let late = #"{"paid":true,"billing":"b","paid_at":-1}"#
        #expect(
            ReceiptVerdict(untrusted: Array(late.utf8), about: Self.question)
                == .paid(billing: "b", at: nil))
    }
}
