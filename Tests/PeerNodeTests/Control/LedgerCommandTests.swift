import Testing
import WorkspaceModel

@testable import PeerNode

/// The methods of ledgers pass their arguments to the node unchanged.
struct `A method of ledgers` {
    static let rows: [(method: String, given: JSONObject, asked: String)] = [
        ("ledger.open", ["name": "coins"], "ledger open coins"),
        ("ledger.list", [:], "ledgers 100"), ("coin.balance", [:], "balance own nil"),
        (
            "coin.balance", ["member": "Mina", "ledger": "coins"],
            "balance name(\"Mina\") coins"
        ),
        ("coin.spend", ["coins": 5, "purpose": "a logo"], "spend 5 a logo nil"),
        ("coin.spends", ["all": true, "limit": 3], "spends true nil 3"),
        ("store.list", ["ledger": "l_01hx9t4c"], "items l_01hx9t4c 100"),
        (
            "store.offer", ["item": "s", "label": "Small", "coins": 9, "price": "1 EUR"],
            "offer s Small 9 1 EUR nil"
        ),
        ("store.withdraw", ["item": "s"], "withdraw s nil"),
        ("store.buy", ["item": "s"], "buy 1 s nil"),
        ("store.buy", ["item": "s", "amount": 3, "ledger": "coins"], "buy 3 s coins"),
        ("store.orders", [:], "orders all nil 100"),
        ("store.orders", ["state": "open"], "orders open nil 100"),
        (
            "store.validate", ["order": "p_01hx9t4c", "receipt": "r"],
            "validate p_01hx9t4c r"
        ),
        ("store.grant", ["order": "p_01hx9t4c"], "grant p_01hx9t4c nil"),
        ("store.grant", ["order": "p_01hx9t4c", "billing": "b"], "grant p_01hx9t4c b"),
        ("store.void", ["order": "p_01hx9t4c"], "void p_01hx9t4c"),
        ("store.refund", ["spend": "s_01hx9t4c"], "refund s_01hx9t4c"),
        ("store.price", [:], "price shown nil"),
        ("store.price", ["coins": "none"], "price none nil"),
        ("store.verify_command", ["command": "check"], "verify check"),
    ]

    @Test(arguments: rows.indices)
    func `hands on what it was given`(index: Int) throws {
        let (method, given, asked) = Self.rows[index]
        let node = TableNode()
        let context = CommandContext(node: node, call: CallID(connection: 3, number: 9))
        _ = try Command.method(method).call(context, given)
        #expect(node.asked == [asked], "\(method)")
    }

    @Test func `says what it changes`() throws {
        let price = try Command.method("store.price")
        #expect(price.effect(of: [:]) == .reads && price.effect(of: ["coins": "5"]) == .signs)
        let command = try Command.method("store.verify_command")
        #expect(command.effect(of: [:]) == .reads)
        #expect(command.effect(of: ["command": ""]) == .writes)
        #expect(try Command.method("store.validate").effect(of: [:]) == .signs)
    }

    /// Everybody on the machine can read what stands on a command line.
    @Test func `takes a receipt from standard input`() throws {
        let validate = try Command.method("store.validate")
        let receipt = try #require(validate.parameters.first { $0.name == "receipt" })
        #expect(receipt.readsStandardInput)
        #expect(validate.line?.examples.allSatisfy { $0.contains("--receipt -") } == true)
    }

    @Test func `is explained in ten lines`() throws {
        let text = try #require(Manual.topics.first { $0.word == "coins" }?.text)
        let lines = text.split(separator: "\n")
        #expect(lines.count == 10)
        #expect(lines.allSatisfy { $0.count <= 80 })
    }

    @Test func `shows a payment of a workspace where one is known`() {
        var object = WorkspaceObject(id: "w_1", name: "acme", createdAt: 5, digest: nil)
        #expect(object.json["payment"] == nil)
        object.payment = PaymentObject(state: "unknown", ledger: "l_1")
        #expect(
            object.json["payment"]?.text
                == #"{"state":"unknown","ledger":"l_1","issuer":null,"payer":null,"coins":null}"#)
    }

    @Test func `answers with these objects`() {
        let mina = #"{"id":"u_mina0000","name":"Mina"}"#
        #expect(
            TableLedgers.ledger.json.text == """
                {"id":"l_01hx9t4c","workspace":"w_acme0000","name":"coins","issuer":\(mina),\
                "self":true,"items":1,"balance":40,"workspace_price":null}
                """)
        #expect(
            TableLedgers.item.json.text == """
                {"item":"small","label":"Small pack","coins":100,"price":"5 EUR",\
                "ledger":"l_01hx9t4c"}
                """)
        #expect(
            TableLedgers.order.json.text == """
                {"id":"p_01hx9t4c","state":"open","item":"small","label":"Small pack","amount":1,\
                "coins":100,"price":"5 EUR","buyer":\(mina),"at":1795150000000,\
                "ledger":"l_01hx9t4c"}
                """)
        #expect(
            TableLedgers.spend.json.text == """
                {"id":"s_01hx9t4c","state":"spent","coins":5,"purpose":"a logo","member":\(mina),\
                "at":1795150000000,"ledger":"l_01hx9t4c"}
                """)
    }
}
