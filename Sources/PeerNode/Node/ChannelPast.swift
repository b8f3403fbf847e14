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
        let begin: UInt64
        let owner: MemberID?
        let admins: [MemberID]
        /// What the link keeps of each log; `nil` where it says nothing of it.
        let kept: [LogName: [CutPlace]]?
    }

    /// The chain that it was made of, by its length and its last link.
    let length: Int
    let last: OperationID
    private var stretches: [Stretch] = []

    init(of ruling: ChannelRuling, in workspace: Workspace) {
        length = ruling.chain.count
        last = ruling.lastLink
        var owner = workspace.evaluator.author(of: ruling.creation)
        var admins: [MemberID] = []
        stretches.append(Stretch(begin: 0, owner: owner, admins: admins, kept: nil))
        for link in ruling.chain.dropFirst() {
            guard let record = workspace.authority[link],
                case .setDocument(let settings) = record.payload
            else { break }
            let change = settings.change
            owner = change.owner ?? owner
            admins = change.admins ?? admins
            let begin = max(stretches[stretches.count - 1].begin, record.timestamp.rawValue)
            let kept = settings.cuts.map { cuts in
                Dictionary(grouping: cuts, by: \.log).mapValues { $0.map(CutPlace.init) }
            }
            stretches.append(Stretch(begin: begin, owner: owner, admins: admins, kept: kept))
        }
    }

    static func power(of member: MemberID, owner: MemberID?, admins: [MemberID]) -> Int? {
        member == owner ? 2 : admins.contains(member) ? 3 : nil
    }

    private static func power(of member: MemberID, _ stretch: Stretch) -> Int? {
        power(of: member, owner: stretch.owner, admins: stretch.admins)
    }

    /// The right that a member had at a time, and what the links that took it away later keep of a
    /// log. A link that says nothing keeps all of it.
    func right(
        of member: MemberID, at timestamp: HybridTimestamp, in log: LogName
    ) -> (power: Int, kept: [ArraySlice<CutPlace>])? {
        let next =
            stretches.firstIndex { $0.begin > timestamp.rawValue } ?? stretches.endIndex
        guard next > 0, let power = Self.power(of: member, stretches[next - 1]) else { return nil }
        var kept: [ArraySlice<CutPlace>] = []
        var had = true
        for stretch in stretches[next...] {
            let has = Self.power(of: member, stretch) != nil
            if had, !has, let places = stretch.kept { kept.append((places[log] ?? [])[...]) }
            had = has
        }
        return (power, kept)
    }
}

extension NodeCore {
    /// The right over what others wrote that the author of a redaction had when it was written, as
    /// far as that can be believed.
    func formerPower(
        of member: MemberID, _ stored: StoredOperation, _ ruling: ChannelRuling,
        in workspace: Workspace
    ) throws(StorageError) -> Int? {
        let past = past(of: ruling, in: workspace)
        guard
            let right = past.right(
                of: member, at: stored.entry.timestamp, in: stored.log)
        else { return nil }
        guard !right.kept.isEmpty else { return right.power }
        guard right.kept.allSatisfy({ !$0.isEmpty }),
            let branch = store.operations.branch(stored.place.branch)
        else { return nil }
        var search = CutSearch(branch, store.operations, workspace: workspace.number)
        guard let bound = try search.bound(of: ContentLimit.cuts(right.kept)) else { return nil }
        return stored.place.sequence <= bound ? right.power : nil
    }

    private func past(of ruling: ChannelRuling, in workspace: Workspace) -> ChannelPast {
        let document = DocumentID(sameBytesAs: ruling.creation)
        if let known = workspace.channelPasts[document], known.length == ruling.chain.count,
            known.last == ruling.lastLink
        {
            return known
        }
        let past = ChannelPast(of: ruling, in: workspace)
        workspace.channelPasts[document] = past
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
            $0.formUnion(self.devices(everOf: $1, in: workspace))
        }
        let all = cuts(
            ofDevices: devices, in: workspace,
            only: DocumentID(sameBytesAs: ruling.creation))
        return Array(all.prefix(Limits.cutsPerOperationMax))
    }
}
