import CRDTStore
import WorkspaceModel

/// Notifies the owner of orders, coins and spends that they wait for or lose.
extension Events {
    /// The notice about an order or a spend; `nil` where nobody wants one.
    func notice(
        _ command: String, of news: LedgerNews
    ) throws(StorageError) -> Notice? {
        guard let workspace = core.workspaces[news.workspace], workspace.standing == .member,
            try core.own.noticeLevel(of: workspace) != OwnRegister.NoticeLevel.none,
            let issuer = try core.ledgers.issuer(of: news.document, in: workspace)
        else { return nil }
        // Where a command checks payments, nobody has to do it.
        if news.type == .orderCreated, try core.ledgers.verifyCommand() != nil { return nil }
        let data = try core.ledgers.data(
            of: news.reference, isOrder: news.type != .spendOverturned, in: news.document,
            workspace)
        let buyer = data["buyer"]?["name"]?.stringValue ?? ""
        let author =
            news.type == .orderCreated ? buyer : workspace.displayName(of: issuer.member)
        let pairs = [
            ("WSX_EVENT_TYPE", news.type.word), ("WSX_TEXT", Self.text(news.type, data)),
            ("WSX_AUTHOR", author), ("WSX_LEDGER", data["ledger"]?.stringValue ?? ""),
            ("WSX_CHANNEL", ""), ("WSX_CHANNEL_NAME", issuer.ledger),
            ("WSX_WORKSPACE", PublicID.workspace(workspace.id)),
            ("WSX_WORKSPACE_NAME", workspace.displayName),
            ("WSX_NODE_SOCKET", environment.socket), ("WSX_BOT", "notify"),
        ]
        return Notice(
            command: command, input: Array((data.text + "\n").utf8),
            variables: pairs.map { Notice.Variable(name: $0.0, value: Self.variable($0.1)) })
    }

    private static func text(_ type: EventType, _ data: JSONValue) -> String {
        let coins = data["coins"]?.integerValue ?? 0
        let label = data["label"]?.stringValue ?? ""
        switch type {
        case .orderCreated:
            let amount = data["amount"]?.integerValue ?? 1
            let price = data["price"]?.stringValue ?? ""
            return "ordered \(amount) x \(label) (\(price) each), and waits for your grant"
        case .orderGranted: return "gave you \(coins) coins for \(label)"
        default:
            let purpose = data["purpose"]?.stringValue ?? ""
            return "your \(coins) coins for \(purpose) do not count: you have too few"
        }
    }
}
