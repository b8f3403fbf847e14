import CRDTStore
import WorkspaceModel

/// Who owned a public channel and who were its admins, link by link of its chain: on that rests what
/// somebody deleted of others who has no right to it any more (PROTOCOL.md, 4.6).
///
/// A clock shows nothing where its owner sets it. So a link that takes the right away says up to where
/// it was used, as a removal does, and what says that it was written before but stands behind that
/// place does not count.
struct ChannelPast {
    private struct Stretch {
        /// The largest time of this link and those before it.
        let latest: UInt64
        let owner: MemberID
        let admins: [MemberID]
        /// What the link keeps of each log.
        let kept: [LogName: [CutPlace]]
    }

    /// The last link of the chain that it was made of.
    let last: OperationID
    private let stretches: [Stretch]

    init(_ ledger: ChannelLedger, upTo last: OperationID, in workspace: Workspace) {
        self.last = last
        stretches = workspace.evaluator.links(in: ledger).map { link in
            var kept: [LogName: [CutPlace]] = [:]
            if case .setDocument(let settings)? = workspace.authority[link.id]?.payload {
                kept = Dictionary(grouping: settings.cuts ?? [], by: \.log)
                    .mapValues { $0.map(CutPlace.init) }
            }
            return Stretch(
                latest: link.latest, owner: link.owner, admins: link.admins, kept: kept)
        }
    }

    static func power(of member: MemberID, owner: MemberID?, admins: [MemberID]) -> Int? {
        member == owner ? 2 : admins.contains(member) ? 3 : nil
    }

    /// Whether a member had the right by any link.
    func everHadPower(_ member: MemberID) -> Bool {
        stretches.contains { Self.power(of: member, owner: $0.owner, admins: $0.admins) != nil }
    }

    /// What the links that took a member's right away after a time keep of a log. One that says nothing
    /// keeps nothing: who gives the right away chooses its date, and could choose one far ahead.
    func kept(
        of member: MemberID, after timestamp: HybridTimestamp, in log: LogName
    ) -> [ArraySlice<CutPlace>] {
        let next =
            stretches.firstIndex { $0.latest > timestamp.rawValue } ?? stretches.endIndex
        var kept: [ArraySlice<CutPlace>] = []
        var had = true
        for stretch in stretches[next...] {
            let has =
                Self.power(of: member, owner: stretch.owner, admins: stretch.admins) != nil
            if had, !has { kept.append((stretch.kept[log] ?? [])[...]) }
            had = has
        }
        return kept
    }
}

extension Channels {
    /// The right over what others wrote that the author of a redaction had when it was written, as
    /// far as that can be believed.
    func formerPower(
        of member: MemberID, _ stored: StoredOperation, _ ruling: ChannelRuling,
        in workspace: Workspace
    ) throws(StorageError) -> Int? {
        let (time, document) = (stored.entry.timestamp, stored.log.document)
        guard let ledger = workspace.book.folds[document]?.ledger,
            let roles = workspace.evaluator.roles(in: ledger, until: time.rawValue),
            let power = ChannelPast.power(
                of: member, owner: roles.owner, admins: roles.admins)
        else { return nil }
        let kept = past(ledger, ruling, in: workspace)
            .kept(of: member, after: time, in: stored.log)
        guard !kept.isEmpty else { return power }
        guard kept.allSatisfy({ !$0.isEmpty }),
            let branch = store.operations.branch(stored.place.branch)
        else { return nil }
        var search = CutSearch(branch, store.operations, workspace: workspace.number)
        guard let bound = try search.bound(of: ContentLimit.cuts(kept)) else { return nil }
        return stored.place.sequence <= bound ? power : nil
    }

    /// Whether a member has, or ever had, the right over what others write in a public channel.
    func everHadPower(
        _ member: MemberID, in document: DocumentID, _ workspace: Workspace
    ) -> Bool {
        guard let ruling = workspace.ruling(ofChannel: document) else { return false }
        if ChannelPast.power(of: member, owner: ruling.owner, admins: ruling.admins) != nil {
            return true
        }
        guard let ledger = workspace.book.folds[document]?.ledger else { return false }
        return past(ledger, ruling, in: workspace).everHadPower(member)
    }

    private func past(
        _ ledger: ChannelLedger, _ ruling: ChannelRuling, in workspace: Workspace
    ) -> ChannelPast {
        if let known = workspace.book.pasts[ledger.channel], known.last == ruling.lastLink {
            return known
        }
        let past = ChannelPast(ledger, upTo: ruling.lastLink, in: workspace)
        workspace.book.pasts[ledger.channel] = past
        return past
    }

    /// What a link keeps of the logs of those whose right it takes away; `nil` where it is no link.
    func cuts(
        of settings: AuthorityPayload.DocumentSettings, after ruling: ChannelRuling,
        in workspace: Workspace
    ) -> [CutEntry]? {
        let change = settings.change
        guard change.isLink else { return nil }
        let (owner, admins) = (change.owner ?? ruling.owner, change.admins ?? ruling.admins)
        let losers = Set([ruling.owner] + ruling.admins)
            .filter { ChannelPast.power(of: $0, owner: owner, admins: admins) == nil }
        let devices = losers.reduce(into: Set<DeviceID>()) {
            $0.formUnion(self.core.membership.devices(everOf: $1, in: workspace))
        }
        let all = core.membership.cuts(
            ofDevices: devices, in: workspace,
            only: DocumentID(sameBytesAs: ruling.creation))
        return Array(all.prefix(Limits.cutsPerOperationMax))
    }
}
