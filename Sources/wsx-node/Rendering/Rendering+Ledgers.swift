import PeerNode
import WorkspaceModel

/// Ledgers for people.
extension Rendering {
    /// An order: the item, its price, and the buyer's next step.
    func order(_ order: JSONValue) -> String {
        let id = shown(order["id"])
        let text = lines([
            ("order", id), ("item", "\(shown(order["item"]))  \(shown(order["label"]))"),
            ("amount", shown(order["amount"])), ("coins", shown(order["coins"])),
            ("price of one", shown(order["price"])), ("state", shown(order["state"])),
        ])
        guard order["state"] == "open" else { return text }
        return text
            + hints.text(
                "  next: pay the issuer as the price says, then\n"
                    + "        wsx-node store validate \(id) --receipt TEXT\n")
    }

    /// Whether a workspace is paid, in a few words; `nil` if unknown.
    func payment(_ payment: JSONValue?) -> String? {
        guard let state = payment?["state"]?.stringValue else { return nil }
        let issuer = payment?["issuer"].map { shown($0["name"]) } ?? "-"
        switch state {
        case "paid":
            return "paid: \(shown(payment?["coins"])) coins of \(issuer), "
                + "by \(shown(payment?["payer"]?["name"]))"
        case "unpaid": return "not paid (was paid in the ledger of \(issuer))"
        default: return "said to be paid in a ledger that you cannot see"
        }
    }
}
