public import WorkspaceModel

/// Who may do what with one channel: judged after the evaluation, from valid operations alone, so
/// that it is a function of their set, as the verdicts are.
///
/// Settings that change owner or roles form a chain that begins with the creation. Each cites the
/// link that it replaces; if several replace one link, the strongest counts. Every other operation
/// cites the link under which it was written. It counts while that link is the last one, and
/// afterwards if it is in the past of the next link. So a replaced owner or admin cannot write
/// anything more that counts, however far back it is dated.
///
/// - Source: PROTOCOL.md, 4.1.
extension AuthEvaluator {
    /// The result of the claims about a channel; `nil` when the channel was not validly created.
    /// - Parameter isDefault: whether it is the channel that everybody is in, which is never
    ///   archived or deleted.
    /// - Cost: constant.
    public func ruling(on ledger: ChannelLedger, isDefault: Bool) -> ChannelRuling? {
        guard let creation = ledger.creation, records[creation].isValid,
            let last = ledger.chain.last
        else { return nil }
        var ruling = ChannelRuling(
            creation: records[creation].operation.id, owner: last.owner, admins: last.admins,
            lastLink: records[last.index].operation.id)
        func lastWord<Value>(_ list: [Int], _ word: (ChannelChange) -> Value?) -> Value? {
            list.last.flatMap { ledger.claims[$0]?.change }.flatMap(word)
        }
        lastWord(ledger.histories, \.history).map { ruling.history = $0 }
        guard !isDefault else { return ruling }
        lastWord(ledger.archivings, \.archived).map { ruling.isArchived = $0 }
        ruling.deletion = ledger.deletions.first.map { records[$0].operation.id }
        return ruling
    }

    /// The links that determine owner and roles of a channel, the creation first.
    public func chain(of ledger: ChannelLedger) -> [OperationID] {
        ledger.chain.map { records[$0.index].operation.id }
    }

    /// The settings that count. If two set the same field, the later one in this list wins.
    public func counting(in ledger: ChannelLedger) -> [OperationID] {
        ledger.counting.map { records[$0].operation.id }
    }

    /// Whether a setting, or deletion, of a channel has effect.
    public func counts(_ id: OperationID, in ledger: ChannelLedger) -> Bool {
        indices[id].flatMap { ledger.claims[$0]?.counts } ?? false
    }

    /// Whether one of two settings overwrites the other: (lam, rank of the grant, id).
    public func isOverwritten(_ setting: OperationID, by other: OperationID) -> Bool {
        guard let first = indices[setting], let second = indices[other] else { return false }
        return isEarlier(first, second)
    }

    /// Owner and admins of a channel by the links of its chain up to a time, that is, before the
    /// first link that names a later time.
    ///
    /// - Cost: a binary search.
    public func roles(
        in ledger: ChannelLedger, until timestamp: UInt64
    ) -> (owner: MemberID, admins: [MemberID])? {
        var (low, high) = (0, ledger.chain.count)
        while low < high {
            let middle = low + (high - low) / 2
            if ledger.chain[middle].latest <= timestamp { low = middle + 1 } else { high = middle }
        }
        // The creation names no time here, so it is always before.
        guard low > 0 else { return nil }
        return (ledger.chain[low - 1].owner, ledger.chain[low - 1].admins)
    }

    /// The links of a channel, its creation first: owner and admins under each, and the latest time
    /// that this link or an earlier one names.
    public func links(
        in ledger: ChannelLedger
    ) -> [(id: OperationID, owner: MemberID, admins: [MemberID], latest: UInt64)] {
        ledger.chain.map { (records[$0.index].operation.id, $0.owner, $0.admins, $0.latest) }
    }

    /// The default channel: the valid creation with the smallest (lam, id), whatever happened to
    /// the channel since.
    public func defaultChannel(among creations: some Sequence<OperationID>) -> DocumentID? {
        MadeChannels(creations, in: self).first
    }
}

/// The validly created channels, ascending by (lam, id), maintained from operation to operation.
public struct MadeChannels: Sendable {
    private struct Made: Comparable {
        let lamport: UInt64
        let id: OperationID

        static func < (left: Self, right: Self) -> Bool {
            (left.lamport, left.id) < (right.lamport, right.id)
        }
    }

    private var made: [Made] = []

    /// None.
    public init() {}

    /// The valid ones among the creations.
    public init(_ creations: some Sequence<OperationID>, in evaluator: AuthEvaluator) {
        made = creations.filter(evaluator.isValid).compactMap { id in
            evaluator.lamport(of: id).map { Made(lamport: $0, id: id) }
        }.sorted()
    }

    /// The default channel.
    public var first: DocumentID? { made.first.map { DocumentID(sameBytesAs: $0.id) } }

    /// Adds a new creation, or one with a changed verdict.
    public mutating func note(_ id: OperationID, in evaluator: AuthEvaluator) {
        guard let lamport = evaluator.lamport(of: id) else { return }
        let new = Made(lamport: lamport, id: id)
        // It is usually the last one.
        var place = made.count
        if let last = made.last, !(last < new) {
            var low = 0
            while low < place {
                let middle = low + (place - low) / 2
                if made[middle] < new { low = middle + 1 } else { place = middle }
            }
        }
        let isKnown = place < made.count && made[place] == new
        guard isKnown != evaluator.isValid(id) else { return }
        if isKnown { made.remove(at: place) } else { made.insert(new, at: place) }
    }
}
