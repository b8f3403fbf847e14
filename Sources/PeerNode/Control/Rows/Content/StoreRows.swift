import WorkspaceModel

/// The commands about what is sold in a ledger.
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
        parameters: [
            listedLedger.definition, Command.limit.definition, Command.cursor.definition,
        ],
        result: "list of item", shape: .ledgerItems, emptiness: "nothing is offered",
        effect: .reads, scope: .workspace, failures: refusals,
        run: { (context, given) throws(NodeError) in
            .reply(
                try context.node.ledgers.items(
                    in: given[listedLedger], PageRequest(given), context.scope(given)))
        })

    private static let offer = {
        let label = Parameter.text(
            "label", "What it is called.", bytes: 1...Limits.ledgerTextBytesMax)
        let coins = Parameter.integer(
            "coins", "How many coins it gives.", LedgerCommandTable.coinRange)
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
            parameters: [
                item.definition, label.definition, coins.definition, price.definition,
                ledger.definition,
            ],
            result: "item", shape: .ledgerItems, effect: .signs, scope: .workspace,
            failures: refusals,
            example: ["item": "small", "label": "Small pack", "coins": 100, "price": "5 EUR"],
            run: { (context, given) throws(NodeError) in
                .reply(
                    try context.node.ledgers.offer(
                        OfferDraft(
                            item: given[item], label: given[label], coins: given[coins],
                            price: given[price]), in: given[ledger], context.scope(given)))
            })
    }()

    private static let withdraw = Command(
        "store.withdraw",
        line: CommandLineForm("store withdraw", ["item"], examples: ["store withdraw small"]),
        "Stop offering an item. Issuers only.",
        parameters: [item.definition, ledger.definition], result: "item", shape: .ledgerItems,
        effect: .signs, scope: .workspace, failures: refusals, example: ["item": "small"],
        run: { (context, given) throws(NodeError) in
            .reply(
                try context.node.ledgers.withdraw(
                    given[item], in: given[ledger], context.scope(given)))
        })

    private static let buy = {
        let amount = Parameter.integer("amount", "How many.", 1...Int64(Limits.ledgerAmountMax))
            .defaulting(to: 1)
        return Command(
            "store.buy",
            line: CommandLineForm(
                "store buy", ["item"], examples: ["store buy small", "store buy small --amount 3"]),
            "Order an item. Then pay as its price says, and redeem the receipt.",
            parameters: [
                item.definition, amount.definition, ledger.definition, Command.key.definition,
            ],
            result: "order", shape: .orders, effect: .signs, scope: .workspace,
            failures: refusals + [.tooMany, .tooLarge, .keyReused], example: ["item": "small"],
            run: { (context, given) throws(NodeError) in
                .reply(
                    try context.node.ledgers.buy(
                        given[item], amount: given[amount], in: given[ledger],
                        context.scope(creating: "store.buy", given)))
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
            parameters: [
                state.definition, listedLedger.definition, Command.limit.definition,
                Command.cursor.definition,
            ],
            result: "list of order", shape: .orders, emptiness: "no orders", effect: .reads,
            scope: .workspace, failures: refusals,
            run: { (context, given) throws(NodeError) in
                .reply(
                    try context.node.ledgers.orders(
                        OrderFilter(ledger: given[listedLedger], state: given[state]),
                        PageRequest(given), context.scope(given)))
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
            parameters: [order.definition, receipt.definition], result: "order", shape: .orders,
            effect: .signs, scope: .workspace,
            failures: refusals + [
                .unknownOrder, .alreadyRedeemed, .invalidReceipt, .pending, .unreachable, .timeout,
                .busy,
            ],
            example: ["order": "p_01hx9t4c", "receipt": "text"],
            run: { (context, given) throws(NodeError) in
                try context.node.ledgers.validate(
                    given[order], receipt: given[receipt], context.scope(given))
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
            parameters: [order.definition, billing.definition], result: "order", shape: .orders,
            effect: .signs, scope: .workspace,
            failures: refusals + [.unknownOrder, .alreadyRedeemed],
            example: ["order": "p_01hx9t4c"],
            run: { (context, given) throws(NodeError) in
                .reply(
                    try context.node.ledgers.grant(
                        given[order], billing: given[billing], context.scope(given)))
            })
    }()

    private static let void = Command(
        "store.void",
        line: CommandLineForm("store void", ["order"], examples: ["store void p_01hx9t4c"]),
        "Cancel an open order. Issuers can also void a granted one.",
        parameters: [order.definition], result: "order", shape: .orders, effect: .signs,
        scope: .workspace, failures: refusals + [.unknownOrder, .alreadyRedeemed, .tooMany],
        example: ["order": "p_01hx9t4c"],
        run: { (context, given) throws(NodeError) in
            .reply(try context.node.ledgers.void(given[order], context.scope(given)))
        })

    private static let refund = {
        let spend = Parameter.identifier(
            "spend", "Which spend, as 'coin spends --all' shows it.", prefix: "s_")
        return Command(
            "store.refund",
            line: CommandLineForm("store refund", ["spend"], examples: ["store refund s_01hx9t4c"]),
            "Give the coins of a spend back to its member. Issuers only.",
            parameters: [spend.definition], result: "spend", shape: .spends, effect: .signs,
            scope: .workspace, failures: refusals, example: ["spend": "s_01hx9t4c"],
            run: { (context, given) throws(NodeError) in
                .reply(try context.node.ledgers.refund(given[spend], context.scope(given)))
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
            parameters: [coins.definition, ledger.definition], result: "setting",
            shape: .storeSetting, effect: .reads, scope: .workspace, failures: refusals,
            example: ["coins": "50"],
            run: { (context, given) throws(NodeError) in
                .reply(
                    try context.node.ledgers.price(
                        given[coins], in: given[ledger], context.scope(given)))
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
            parameters: [command.definition], result: "setting", shape: .storeSetting,
            effect: .reads, scope: .node, example: ["command": "exit 0"],
            run: { (context, given) throws(NodeError) in
                .reply(
                    try context.node.ledgers.verifyCommand(given[command], context.scope(given)))
            })
    }()
}
