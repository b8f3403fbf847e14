import WorkspaceModel

/// The commands about coins and the store.
enum LedgerCommandTable {
    static let commands =
        [open, list, balance, spend, spends] + StoreCommandTable.commands

    static let refusals: [NodeError.Kind] = [.notFound, .ambiguous, .forbidden]

    static let ledger = Parameter.text(
        "ledger", "Which ledger: its name or id. Without it, the only one.",
        bytes: 1...Limits.ledgerTextBytesMax
    ).optional()

    /// The same of what lists can be about all of.
    static let listedLedger = Parameter.text(
        "ledger", "Only of this ledger: its name or id.", bytes: 1...Limits.ledgerTextBytesMax
    ).optional()

    static let coinRange: ClosedRange<Int64> = 1...Int64(Limits.ledgerCoinsMax)

    private static let open = {
        let name = Parameter.name("name", "The name of the ledger.")
        return Command(
            "ledger.open",
            line: CommandLineForm("ledger open", ["name"], examples: ["ledger open coins"]),
            "Open a ledger. You are its issuer: its coins are worth your word.",
            parameters: [name, Command.key], result: "ledger", shape: .ledgers, effect: .signs,
            scope: .workspace, failures: [.notFound, .forbidden, .duplicate, .keyReused],
            example: ["name": "coins"],
            run: .answer { (call) throws(NodeError) in
                try call.node.ledgers.open(call[name], call.creatingScope)
            })
    }()

    private static let list = Command(
        "ledger.list", line: CommandLineForm("ledger list", examples: ["ledger list"]),
        "List the ledgers of a workspace, with what you have in each.",
        parameters: [Command.limit, Command.cursor], result: "list of ledger", shape: .ledgers,
        emptiness: "no ledgers", effect: .reads, scope: .workspace, failures: [.notFound],
        run: .answer { (call) throws(NodeError) in
            try call.node.ledgers.ledgers(call.page, call.scope)
        })

    private static let balance = {
        let member = Parameter.member("member", "Whose. Without it, yours.").optional()
        return Command(
            "coin.balance",
            line: CommandLineForm(
                "coin balance", ["member"], examples: ["coin balance", "coin balance @Mina"]),
            "Show how many coins you have.",
            parameters: [member, ledger], result: "balance", shape: .balance, effect: .reads,
            scope: .workspace, failures: refusals,
            run: .answer { (call) throws(NodeError) in
                try call.node.ledgers.balance(of: call[member], in: call[ledger], call.scope)
            })
    }()

    private static let spend = {
        let coins = Parameter.integer("coins", "How many.", coinRange)
            .called("number of coins").asked("how many coins?")
            .hinting("wsx-node coin balance shows how many you have")
        let purpose = Parameter.text(
            "purpose", "What for. Everyone in the workspace can read it.",
            bytes: 1...Limits.ledgerTextBytesMax
        ).asked("for what?")
        return Command(
            "coin.spend",
            line: CommandLineForm(
                "coin spend", ["coins", "purpose"], examples: ["coin spend 5 'a new logo'"]),
            "Spend coins. Only the issuer can give them back.",
            parameters: [coins, purpose, ledger, Command.key], result: "spend", shape: .spends,
            effect: .signs, scope: .workspace,
            failures: refusals + [.insufficientCoins, .tooMany, .keyReused],
            example: ["coins": 5, "purpose": "a new logo"],
            run: .answer { (call) throws(NodeError) in
                try call.node.ledgers.spend(
                    call[coins], for: call[purpose], in: call[ledger], call.creatingScope)
            })
    }()

    private static let spends = {
        let all = Parameter.flag("all", "What everyone spent.")
        return Command(
            "coin.spends",
            line: CommandLineForm("coin spends", examples: ["coin spends", "coin spends --all"]),
            "List what you spent, the latest first, and what did not suffice.",
            parameters: [all, listedLedger, Command.limit, Command.cursor], result: "list of spend",
            shape: .spends, emptiness: "nothing spent", effect: .reads, scope: .workspace,
            failures: refusals,
            run: .answer { (call) throws(NodeError) in
                try call.node.ledgers.spends(
                    all: call[all], in: call[listedLedger], call.page, call.scope)
            })
    }()
}
