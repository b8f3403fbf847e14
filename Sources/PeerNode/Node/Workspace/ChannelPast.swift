import CRDTStore
import WorkspaceModel

/// Who owned a public channel and who administered it, for each link of its chain. Deletions of
/// other people's messages by someone who has since lost the right are judged by this (PROTOCOL.md,
/// 4.6).
///
/// A timestamp proves nothing, since its author sets it. So a link that revokes the right says up
/// to which operation it was used, as a removal does; an operation behind that place does not
/// count, even if its timestamp is earlier.
struct ChannelPast {
    private struct OwnershipPeriod {
        /// The largest time of this link and those before it.
        let latest: UInt64
        let owner: MemberID
        let admins: [MemberID]
        /// How far the link keeps each log.
        let kept: [LogName: [CutPlace]]
    }

    /// The last link of the chain that it was made of.
    let last: OperationID
    private let periods: [OwnershipPeriod]

    init(_ ledger: ChannelLedger, upTo last: OperationID, in workspace: Workspace) {
        self.last = last
        periods = workspace.judged.evaluator.links(in: ledger).map { link in
            var kept: [LogName: [CutPlace]] = [:]
            if case .setDocument(let settings)? = workspace.authority[link.id]?.payload {
                kept = Dictionary(grouping: settings.cuts ?? [], by: \.log)
                    .mapValues { $0.map(CutPlace.init) }
            }
            return OwnershipPeriod(
                latest: link.latest, owner: link.owner, admins: link.admins, kept: kept)
        }
    }

    static func power(of member: MemberID, owner: MemberID?, admins: [MemberID]) -> Int? {
        member == owner ? 2 : admins.contains(member) ? 3 : nil
    }

    /// Whether a member had the right by any link.
    func everHadPower(_ member: MemberID) -> Bool {
        periods.contains { Self.power(of: member, owner: $0.owner, admins: $0.admins) != nil }
    }

    /// How far the links that revoked a member's right after a time keep a log. A link without cuts
    /// keeps nothing: a member who gives up the right chooses the timestamp, and could choose one
    /// far ahead.
    func kept(
        of member: MemberID, after timestamp: HybridTimestamp, in log: LogName
    ) -> [ArraySlice<CutPlace>] {
        let next =
            periods.firstIndex { $0.latest > timestamp.rawValue } ?? periods.endIndex
        var kept: [ArraySlice<CutPlace>] = []
        var had = true
        for period in periods[next...] {
            let has =
                Self.power(of: member, owner: period.owner, admins: period.admins) != nil
            if had, !has { kept.append((period.kept[log] ?? [])[...]) }
            had = has
        }
        return kept
    }
}
