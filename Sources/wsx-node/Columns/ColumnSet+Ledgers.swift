import PeerNode

extension ColumnSet {
    /// The columns of ledgers.
    static func ofLedgers(_ shape: Command.Shape) -> ColumnSet? {
        switch shape {
        case .ledgers:
            ColumnSet(
                [
                    "ID": "id", "NAME": "name", "ISSUER": "issuer.name", "BALANCE": "balance",
                    "ITEMS": "items", "WORKSPACE": "workspace_price",
                ], drops: ["ITEMS", "ID", "WORKSPACE"], optional: ["WORKSPACE"])
        case .balance:
            ColumnSet(
                [
                    "NAME": "name", "MEMBER": "member.name", "BALANCE": "balance",
                    "GRANTED": "granted", "SPENT": "spent",
                ], drops: ["SPENT", "GRANTED"])
        case .ledgerItems:
            ColumnSet(
                ["ITEM": "item", "COINS": "coins", "LABEL": "label", "PRICE": "price"],
                below: ["PRICE"])
        case .orders:
            ColumnSet(
                [
                    "ID": "id", "STATE": "state", "ITEM": "item", "AMOUNT": "amount",
                    "COINS": "coins", "BUYER": "buyer.name", "AT": "at", "PRICE": "price",
                ], drops: ["AT", "AMOUNT", "BUYER"], below: ["PRICE"])
        case .spends:
            ColumnSet(
                [
                    "ID": "id", "STATE": "state", "COINS": "coins", "MEMBER": "member.name",
                    "AT": "at", "FOR": "purpose",
                ], drops: ["AT", "MEMBER"], below: ["FOR"])
        case .storeSetting: ColumnSet(["SETTING": "id", "VALUE": "value"])
        default: nil
        }
    }
}
