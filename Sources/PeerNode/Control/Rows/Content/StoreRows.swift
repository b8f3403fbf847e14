import WorkspaceModel

/// The commands for selling coins in a ledger.
enum StoreCommandTable {
    static let commands = [
        list, offer, withdraw, buy, orders, validate, grant, void, refund, price, verifyCommand,
    ]

    private static let refusals = LedgerCommandTable.refusals
    private static let ledger = LedgerCommandTable.ledger
    private static let listedLedger = LedgerCommandTable.listedLedger
    private static let item = Parameter.text(
        "item", "The word for the item, as 'store list' shows it.",
        bytes: 1...Limits.ledgerItemBytesMax)
    private static let order = Parameter.identifier(
        "order", "Which order, as 'store orders' shows it.", prefix: "p_")

    private static let list = Command(
        "store.list", line: CommandLineForm("store list", examples: ["store list"]),
        "List what you can buy.",
        parameters: [listedLedger, Command.limit, Command.cursor], result: "list of item",
        shape: .ledgerItems, emptiness: "nothing is offered", effect: .reads, scope: .workspace,
        failures: refusals,
        run: .answer { (call) throws(NodeError) in
            try call.node.ledgers.items(in: call[listedLedger], call.page, call.scope)
        })

    private static let offer = {
        let label = Parameter.text(
            "label", "What it is called.", bytes: 1...Limits.ledgerTextBytesMax)
        let coins = Parameter.integer(
            "coins", "How many coins it gives.", LedgerCommandTable.coinRange
        ).called("number of coins").asked("how many coins?")
        let price = Parameter.text(
            "price", "What it costs and how to pay, in words.",
            bytes: 1...Limits.ledgerTextBytesMax)
        return Command(
            "store.offer",
            line: CommandLineForm(
                "store offer", ["item", "label"],
                examples: [
                    "store offer small 'Small pack' --coins 100 --price '5 EUR at pay.example/acme'"
                ]),
            "Offer coins for money, or change an offer. Issuers only.",
            parameters: [item, label, coins, price, ledger], result: "item", shape: .ledgerItems,
            effect: .signs, scope: .workspace, failures: refusals,
            example: ["item": "small", "label": "Small pack", "coins": 100, "price": "5 EUR"],
            run: .answer { (call) throws(NodeError) in
                try call.node.ledgers.offer(
                    OfferDraft(
                        item: call[item], label: call[label], coins: call[coins], price: call[price]
                    ), in: call[ledger], call.scope)
            })
    }()

    private static let withdraw = Command(
        "store.withdraw",
        line: CommandLineForm("store withdraw", ["item"], examples: ["store withdraw small"]),
        "Stop offering an item. Issuers only.",
        parameters: [item, ledger], result: "item", shape: .ledgerItems, effect: .signs,
        scope: .workspace, failures: refusals, example: ["item": "small"],
        run: .answer { (call) throws(NodeError) in
            try call.node.ledgers.withdraw(call[item], in: call[ledger], call.scope)
        })

    private static let buy = {
        let amount = Parameter.integer("amount", "How many.", 1...Int64(Limits.ledgerAmountMax))
            .defaulting(to: 1)
        return Command(
            "store.buy",
            line: CommandLineForm(
                "store buy", ["item"], examples: ["store buy small", "store buy small --amount 3"]),
            "Order an item. Then pay as its price says, and redeem the receipt.",
            parameters: [item, amount, ledger, Command.key], result: "order", shape: .orders,
            effect: .signs, scope: .workspace,
            failures: refusals + [.tooMany, .tooLarge, .keyReused], example: ["item": "small"],
            run: .answer { (call) throws(NodeError) in
                try call.node.ledgers.buy(
                    call[item], amount: call[amount], in: call[ledger], call.creatingScope)
            })
    }()

    private static let orders = {
        let state = Parameter.choice(
            "state", "Only orders in this state.", ["open", "paid", "granted", "void"]
        ).optional()
        return Command(
            "store.orders",
            line: CommandLineForm(
                "store orders", examples: ["store orders", "store orders --state open"]),
            "List your orders, the latest first; in your own ledger everyone's.",
            parameters: [state, listedLedger, Command.limit, Command.cursor],
            result: "list of order", shape: .orders, emptiness: "no orders", effect: .reads,
            scope: .workspace, failures: refusals,
            run: .answer { (call) throws(NodeError) in
                try call.node.ledgers.orders(
                    OrderFilter(ledger: call[listedLedger], state: call[state]), call.page,
                    call.scope)
            })
    }()

    private static let validate = {
        let receipt = Parameter.text(
            "receipt",
            "The receipt for the payment. Other people on this machine can see it on the command "
                + "line; '-' reads standard input.", bytes: 1...Limits.receiptBytesMax
        ).standardInput()
        return Command(
            "store.validate",
            line: CommandLineForm(
                "store validate", ["order"],
                examples: ["store validate p_01hx9t4c --receipt - < receipt.txt"]),
            "Redeem a receipt. A device of the issuer checks it; nobody keeps it.",
            parameters: [order, receipt], result: "order", shape: .orders, effect: .signs,
            scope: .workspace,
            failures: refusals + [
                .unknownOrder, .alreadyRedeemed, .invalidReceipt, .pending, .unreachable, .timeout,
                .busy,
            ],
            example: ["order": "p_01hx9t4c", "receipt": "text"],
            run: .outcome { (call) throws(NodeError) in
                try call.node.ledgers.validate(call[order], receipt: call[receipt], call.scope)
            })
    }()

    private static let grant = {
        let billing = Parameter.text(
            "billing",
            "What names the payment. One payment grants once. Without it, the order itself does.",
            bytes: 1...Limits.ledgerBillingBytesMax
        ).optional()
        return Command(
            "store.grant",
            line: CommandLineForm(
                "store grant", ["order"],
                examples: ["store grant p_01hx9t4c", "store grant p_01hx9t4c --billing 2026-0041"]),
            "Grant the coins of an order that was paid. Issuers only.",
            parameters: [order, billing], result: "order", shape: .orders, effect: .signs,
            scope: .workspace, failures: refusals + [.unknownOrder, .alreadyRedeemed],
            example: ["order": "p_01hx9t4c"],
            run: .answer { (call) throws(NodeError) in
                try call.node.ledgers.grant(call[order], billing: call[billing], call.scope)
            })
    }()

    private static let void = Command(
        "store.void",
        line: CommandLineForm("store void", ["order"], examples: ["store void p_01hx9t4c"]),
        "Cancel an open order. Issuers can also void a granted one.",
        parameters: [order], result: "order", shape: .orders, effect: .signs, scope: .workspace,
        failures: refusals + [.unknownOrder, .alreadyRedeemed, .tooMany],
        example: ["order": "p_01hx9t4c"],
        run: .answer { (call) throws(NodeError) in
            try call.node.ledgers.void(call[order], call.scope)
        })

    private static let refund = {
        let spend = Parameter.identifier(
            "spend", "Which spend, as 'coin spends --all' shows it.", prefix: "s_")
        return Command(
            "store.refund",
            line: CommandLineForm("store refund", ["spend"], examples: ["store refund s_01hx9t4c"]),
            "Give the coins of a spend back to its member. Issuers only.",
            parameters: [spend], result: "spend", shape: .spends, effect: .signs, scope: .workspace,
            failures: refusals, example: ["spend": "s_01hx9t4c"],
            run: .answer { (call) throws(NodeError) in
                try call.node.ledgers.refund(call[spend], call.scope)
            })
    }()

    private static let price = {
        let coins = Parameter.text(
            "coins", "How many coins, or 'none'. Left out, the current price is shown.",
            bytes: 1...32
        ).optional().writing(effect: .signs)
        return Command(
            "store.price",
            line: CommandLineForm(
                "store price", ["coins"],
                examples: ["store price", "store price 50", "store price none"]),
            "Show or set what 'workspace create --paid-from' costs.",
            parameters: [coins, ledger], result: "setting", shape: .storeSetting, effect: .reads,
            scope: .workspace, failures: refusals, example: ["coins": "50"],
            run: .answer { (call) throws(NodeError) in
                try call.node.ledgers.price(call[coins], in: call[ledger], call.scope)
            })
    }()

    private static let verifyCommand = {
        let command = Parameter.text(
            "command",
            """
            The shell command, with order and receipt as JSON on standard input. It prints \
            {"paid":true,"billing":"ID"} or {"paid":false}. Empty removes it. Left out, the \
            current one is shown.
            """, bytes: 0...Limits.noticeCommandBytesMax
        ).optional().writing()
        return Command(
            "store.verify_command",
            line: CommandLineForm(
                "store verify-command", ["command"],
                examples: [
                    "store verify-command /usr/local/bin/check-payment",
                    "store verify-command ''",
                ]),
            "Make this node check receipts with a command, for ledgers you issue.",
            parameters: [command], result: "setting", shape: .storeSetting, effect: .reads,
            scope: .node, example: ["command": "exit 0"],
            run: .answer { (call) throws(NodeError) in
                try call.node.ledgers.verifyCommand(call[command], call.scope)
            })
    }()
}
