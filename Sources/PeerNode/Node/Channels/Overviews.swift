import CRDTStore
import WorkspaceModel

/// Computes what lists show about conversations.
extension Channels {
    /// All conversations of a workspace, in the order of its index.
    func overview(of workspace: Workspace) throws(StorageError) -> [ConversationOverview.Row] {
        forgetChanged()
        let index = workspace.channelIndex
        var overview = workspace.judged.derived.overview
        // Else it would be copied.
        workspace.judged.derived.overview.forgetAll()
        overview.rest(
            on: .init(
                isOut: core.membership.ownEnd(in: workspace) != nil,
                admission: core.membership.admission(of: workspace.member, in: workspace)?.arrival))
        let isOut = overview.basis.isOut
        try overview.complete(for: index) { (channel) throws(StorageError) in
            turn.tally.noteOverviewEntry()
            return try entry(of: channel, in: workspace, isOut: isOut)
        }
        workspace.judged.derived.overview = overview
        // Computing an entry settles its late messages, which does not make the entry outdated.
        _ = store.view.takeChanges()
        return overview.rows
    }

    /// The overview of a conversation, computed from everything that is stored.
    func entry(
        of channel: Workspace.Channel, in workspace: Workspace, isOut: Bool
    ) throws(StorageError) -> ConversationOverview.Entry {
        let last = try previewed(in: channel)?.key.timestamp.milliseconds
        var entry = ConversationOverview.Entry(
            moved: Int64(clamping: last ?? channel.createdAt))
        entry.isShown = channel.isDirect
        if !channel.isDirect { entry.isShown = try isJoined(channel, in: workspace) }
        let beginning = try core.own.beginning(channel, workspace)
        guard !isOut else {
            // A former member is in no channel, and can still read those they were in.
            entry.isShown = entry.isShown || beginning != nil
            return entry
        }
        entry.isFollowed = beginning != nil && channel.conversation != nil
        let unread = try core.own.unread(channel, in: workspace)
        (entry.unread, entry.mentions) = (unread.count, unread.mentions)
        entry.newest = unread.newest.map { Int64(clamping: $0.key.timestamp.milliseconds) }
        return entry
    }

    /// Forgets what is known of conversations in which something has changed.
    private func forgetChanged() {
        let changes = store.view.takeChanges()
        for workspace in workspaces.values {
            let markers = workspace.own.readMarks.takeChanged().map(\.bytes) + changes.markers
            if changes.isEverything { workspace.judged.derived.overview.forgetAll() }
            guard !workspace.judged.derived.overview.isEmpty else { continue }
            let index = workspace.channelIndex
            for number in changes.documents {
                workspace.judged.derived.overview.forget(index.channel(number)?.number ?? number)
            }
            for subject in markers {
                guard let place = index.place(of: PublicID.conversation(subject)) else { continue }
                workspace.judged.derived.overview.forget(index.all[place].number)
            }
        }
    }
}
