public import CRDTStore
public import WorkspaceModel

/// The ruling on a channel, with the links and settings that lead to it.
@dynamicMemberLookup
public struct JudgedChannel: Hashable {
    /// What it comes to.
    public let ruling: ChannelRuling
    /// The links that count, the creation first.
    public let chain: [OperationID]
    /// The settings that count, in their order.
    public let counting: [OperationID]

    /// What the ruling says.
    public subscript<Value>(dynamicMember path: KeyPath<ChannelRuling, Value>) -> Value {
        ruling[keyPath: path]
    }
}

extension AuthEvaluator {
    /// Judges a channel from nothing, with claims in any order.
    public func ruling(
        on channel: DocumentID, claims: [ChannelClaim], isDefault: Bool
    ) -> JudgedChannel? {
        judged(ledger(of: channel, claims: claims), isDefault: isDefault)
    }

    /// What a ledger comes to, taken apart.
    public func judged(_ ledger: ChannelLedger, isDefault: Bool = false) -> JudgedChannel? {
        ruling(on: ledger, isDefault: isDefault).map {
            JudgedChannel(ruling: $0, chain: chain(of: ledger), counting: counting(in: ledger))
        }
    }
}
