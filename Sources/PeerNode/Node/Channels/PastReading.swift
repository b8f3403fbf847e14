import CRDTStore
import WorkspaceModel

/// Rights over other people's messages in a public channel that somebody had in the past.
extension Channels {
    /// The right over what others wrote that the author of a redaction had when it was written, as
    /// far as that can be believed.
    func formerPower(
        of member: MemberID, _ stored: StoredOperation, _ ruling: ChannelRuling,
        in workspace: Workspace
    ) throws(StorageError) -> Int? {
        let (time, document) = (stored.entry.timestamp, stored.log.document)
        guard let ledger = workspace.book.folds[document]?.ledger,
            let roles = workspace.judged.roles(in: ledger, until: time.rawValue),
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

    /// How far a link keeps the logs of those whose right it revokes; `nil` for an operation that
    /// is not a link.
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
