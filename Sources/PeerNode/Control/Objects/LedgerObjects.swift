public import WorkspaceModel

/// A ledger, as the caller sees it.
public struct LedgerObject: ControlObject {
    /// `l_…`.
    public let id: String
    /// `w_…`.
    public let workspace: String
    /// What its issuer called it.
    public let name: String
    /// Whose word its coins are.
    public let issuer: PersonObject
    /// Whether that is the caller.
    public let isOwn: Bool
    /// How many items are offered.
    public let items: Int64
    /// What the caller has.
    public let balance: Int64
    /// What a workspace costs, `nil` for nothing.
    public let workspacePrice: Int64?

    /// All fields.
    public var json: JSONValue {
        [
            "id": .string(id), "workspace": .string(workspace), "name": .string(name),
            "issuer": issuer.json, "self": .bool(isOwn), "items": .integer(items),
            "balance": .integer(balance), "workspace_price": JSONValue(orNull: workspacePrice),
        ]
    }
}

/// An offer of coins.
public struct LedgerItemObject: ControlObject {
    /// The word by which one orders it.
    public let item: String
    /// What it is called.
    public let label: String
    /// How many coins one gives.
    public let coins: Int64
    /// What one costs outside, in the issuer's words.
    public let price: String
    /// The ledger, `l_…`.
    public let ledger: String

    /// All fields.
    public var json: JSONValue {
        [
            "item": .string(item), "label": .string(label), "coins": .integer(coins),
            "price": .string(price), "ledger": .string(ledger),
        ]
    }
}

/// An order.
public struct OrderObject: ControlObject {
    /// `p_…`.
    public let id: String
    /// The ledger, `l_…`.
    public let ledger: String
    /// The word for what was ordered.
    public let item: String
    /// What it was called.
    public let label: String
    /// How often.
    public let amount: Int64
    /// Of all of it together.
    public let coins: Int64
    /// What one costs outside, in the issuer's words.
    public let price: String
    /// Who ordered.
    public let buyer: PersonObject
    /// When, milliseconds since 1970, as the buyer's clock said.
    public let at: Int64
    /// `open`, `paid`, `granted` or `void`.
    public let state: String

    /// All fields.
    public var json: JSONValue {
        [
            "id": .string(id), "state": .string(state), "item": .string(item),
            "label": .string(label), "amount": .integer(amount), "coins": .integer(coins),
            "price": .string(price), "buyer": buyer.json, "at": .integer(at),
            "ledger": .string(ledger),
        ]
    }
}

/// A spend, counted or not.
public struct SpendObject: ControlObject {
    /// `s_…`.
    public let id: String
    /// The ledger, `l_…`.
    public let ledger: String
    /// How many coins.
    public let coins: Int64
    /// What for, in the member's words.
    public let purpose: String
    /// Who spent.
    public let member: PersonObject
    /// When, milliseconds since 1970, as the member's clock said.
    public let at: Int64
    /// `spent`, `insufficient` or `refunded`.
    public let state: String

    /// All fields.
    public var json: JSONValue {
        [
            "id": .string(id), "state": .string(state), "coins": .integer(coins),
            "purpose": .string(purpose), "member": member.json, "at": .integer(at),
            "ledger": .string(ledger),
        ]
    }
}

/// A member's balance in a ledger.
public struct BalanceObject: ControlObject {
    /// The ledger, `l_…`.
    public let ledger: String
    /// What the ledger is called.
    public let name: String
    /// Who.
    public let member: PersonObject
    /// What is left.
    public let balance: Int64
    /// What was granted in all.
    public let granted: Int64
    /// What was spent in all.
    public let spent: Int64

    /// All fields.
    public var json: JSONValue {
        [
            "ledger": .string(ledger), "name": .string(name), "member": member.json,
            "balance": .integer(balance), "granted": .integer(granted), "spent": .integer(spent),
        ]
    }
}

/// A setting of a ledger, or of a node that checks receipts.
public struct StoreSettingObject: ControlObject {
    /// `store.price` or `store.verify_command`.
    public let id: String
    /// The ledger, `l_…`; `nil` for what is of the node.
    public let ledger: String?
    /// What it is; `nil` for nothing.
    public let value: JSONValue?

    /// A setting.
    public init(of id: String, ledger: String?, value: JSONValue?) {
        self.id = id
        self.ledger = ledger
        self.value = value
    }

    /// All fields.
    public var json: JSONValue {
        [
            "id": .string(id), "ledger": JSONValue(orNull: ledger), "value": value ?? .null,
        ]
    }
}

/// Whether a workspace is paid for, according to the ledgers of this home.
public struct PaymentObject: ControlObject {
    /// `paid`, `unpaid`, or `unknown` where the ledger is not here.
    public let state: String
    /// The ledger that was paid from, `l_…`, where one is named.
    public var ledger: String?
    /// Whose coins they are, where the ledger is here.
    public var issuer: PersonObject?
    /// Who spent them.
    public var payer: PersonObject?
    /// How many; of those that count alone.
    public var coins: Int64?

    /// All fields.
    public var json: JSONValue {
        [
            "state": .string(state), "ledger": JSONValue(orNull: ledger),
            "issuer": issuer?.json ?? .null, "payer": payer?.json ?? .null,
            "coins": JSONValue(orNull: coins),
        ]
    }
}
