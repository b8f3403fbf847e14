import PeerNode
import WorkspaceModel

/// What is said of coins, as people read it.
extension Rendering {
    /// Whether a workspace is paid, in a few words; `nil` where nothing is known of that.
    func payment(_ payment: JSONValue?) -> String? {
        guard let state = payment?["state"]?.stringValue else { return nil }
        let issuer = payment?["issuer"].map { shown($0["name"]) } ?? "-"
        switch state {
        case "paid":
            return "paid: \(shown(payment?["coins"])) coins of \(issuer), "
                + "by \(shown(payment?["payer"]?["name"]))"
        case "unpaid": return "not paid in the ledger of \(issuer)"
        default: return "said to be paid in a ledger that you cannot see"
        }
    }
}
