import PeerNode

extension ColumnSet {
    /// The columns of attestations.
    static func ofProofs(_ shape: Command.Shape) -> ColumnSet? {
        switch shape {
        case .attestations:
            ColumnSet(
                [
                    "MEMBER": "member.name", "KIND": "kind", "VALUE": "value", "BY": "by.name",
                    "SINCE": "at", "VALID": "state", "ID": "id",
                ], drops: ["ID", "KIND", "SINCE"])
        case .accountLinks:
            ColumnSet(
                [
                    "MEMBER": "member.name", "PROVIDER": "provider", "ACCOUNT": "value",
                    "BY": "by.name", "SINCE": "at", "VALID": "state", "ID": "id",
                ], drops: ["ID", "SINCE", "BY"])
        case .accountProviders:
            ColumnSet(
                [
                    "NAME": "name", "ISSUER": "issuer", "CLIENT": "client_id",
                    "KEYS": "jwks",
                ], drops: ["KEYS", "CLIENT"])
        default: nil
        }
    }
}
