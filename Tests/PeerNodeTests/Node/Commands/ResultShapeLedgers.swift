import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

extension `Every method answers with the fields of the contract` {
    private static let ledger: Set<String> = [
        "id", "workspace", "name", "issuer", "self", "items", "balance", "workspace_price",
    ]
    private static let item: Set<String> = ["item", "label", "coins", "price", "ledger"]
    private static let order: Set<String> = [
        "id", "state", "item", "label", "amount", "coins", "price", "buyer", "at", "ledger",
    ]
    private static let spend: Set<String> = [
        "id", "state", "coins", "purpose", "member", "at", "ledger",
    ]
    private static let setting: Set<String> = ["id", "ledger", "value"]

    static let ledgers: [Call] = [
        Call(method: "ledger.open", parameters: ["name": "gold"], fields: ledger),
        Call(method: "ledger.list", fields: ResultFields.page, element: ledger),
        Call(
            method: "coin.balance",
            fields: ["ledger", "name", "member", "balance", "granted", "spent"]),
        Call(method: "coin.spend", parameters: ["coins": 1, "purpose": "x"], fields: spend),
        Call(method: "coin.spends", fields: ResultFields.page, element: spend),
        Call(method: "store.list", fields: ResultFields.page, element: item),
        Call(
            method: "store.offer",
            parameters: ["item": "b", "label": "B", "coins": 1, "price": "1"], fields: item),
        Call(method: "store.withdraw", parameters: ["item": "small"], fields: item),
        Call(method: "store.buy", parameters: ["item": "small"], fields: order),
        Call(method: "store.orders", fields: ResultFields.page, element: order),
        Call(method: "store.grant", parameters: ["order": "$order"], fields: order),
        Call(method: "store.void", parameters: ["order": "$order"], fields: order),
        Call(method: "store.refund", parameters: ["spend": "$spend"], fields: spend),
        Call(method: "store.price", parameters: ["coins": "5"], fields: setting),
        Call(
            method: "store.verify_command", parameters: ["command": "exit 0"], fields: setting),
    ]

    /// A ledger in which its issuer has ordered, was granted coins, and spent one; and an order that is
    /// open.
    static func openLedger(for method: String, on node: BenchNode) throws -> [String: JSONValue] {
        try node.ok("ledger.open", ["name": "coins"])
        try node.ok(
            "store.offer", ["item": "small", "label": "S", "coins": 10, "price": "1 EUR"])
        let paid = try node.ok("store.buy", ["item": "small"])["id"] ?? .null
        try node.ok("store.grant", ["order": paid])
        let spend = try node.ok("coin.spend", ["coins": 1, "purpose": "x"])["id"]
        let open = try node.ok("store.buy", ["item": "small"])["id"]
        return ["$order": open ?? .null, "$spend": spend ?? .null]
    }
}
