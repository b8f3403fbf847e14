import CRDTStore
import WorkspaceModel

/// What lists of conversations have to know of every one, to show the part of them that fits on a page:
/// which want to be read, and which moved last. Of each it is kept until something in it changes; a page
/// then costs what is on it, however many there are.
struct ConversationOverview {
    /// One conversation.
    struct Entry: Equatable {
        /// Whether a first screen has it: the own member is in it, or was when they left.
        var isShown = false
        /// Whether the own member is in it and may be told of what comes.
        var isFollowed = false
        /// How many messages of others were not read, and how many of those mention the own member.
        var unread: Int64 = 0
        var mentions: Int64 = 0
        /// When the message was written that stands last, or the conversation was made, milliseconds.
        var moved: Int64
        /// When the last message was written that was not read, milliseconds; `nil` without any.
        var newest: Int64?
    }

    /// A conversation's place in the index, and what is known of it.
    struct Row {
        let place: Int
        let number: Int64
        let isDirect: Bool
        var entry: Entry
    }

    /// What all entries rest on besides their conversations.
    struct Basis: Equatable {
        /// Whether the own member is out of the workspace.
        var isOut = false
        /// What let them in, by its arrival number.
        var admission: Int64?
    }

    private(set) var basis = Basis()
    /// All conversations, in the order of the index as it was in `arrangement`.
    private(set) var rows: [Row] = []
    private var arrangement: Int?
    /// The numbers of those of which something has changed since.
    private var stale: Set<Int64> = []

    var isEmpty: Bool { rows.isEmpty }

    /// Forgets everything where it rested on something else.
    mutating func rest(on basis: Basis) {
        guard basis != self.basis else { return }
        self.basis = basis
        forgetAll()
    }

    /// Something in this conversation has changed, or in who is in it.
    mutating func forget(_ number: Int64) { if !isEmpty { stale.insert(number) } }

    mutating func forgetAll() {
        rows = []
        arrangement = nil
        stale = []
    }

    /// Works out what is not known, and leaves alone what is. While the same conversations are there as
    /// before, those alone are looked at in which something has changed.
    ///
    /// - Parameter find: what is known of a conversation by everything that is stored.
    mutating func complete(
        for index: ChannelIndex,
        _ find: (Workspace.Channel) throws(StorageError) -> Entry
    ) throws(StorageError) {
        guard arrangement == index.arrangement else { return try arrange(as: index, find) }
        for place in stale.compactMap({ index.place(ofNumber: $0) }).sorted()
        where rows.indices.contains(place) {
            rows[place].entry = try find(index.all[place])
        }
        stale = []
    }

    private mutating func arrange(
        as index: ChannelIndex,
        _ find: (Workspace.Channel) throws(StorageError) -> Entry
    ) throws(StorageError) {
        var known: [Int64: Entry] = [:]
        for row in rows where !stale.contains(row.number) { known[row.number] = row.entry }
        forgetAll()
        rows.reserveCapacity(index.all.count)
        for place in index.all.indices {
            let channel = index.all[place]
            let entry: Entry
            if let same = known[channel.number] { entry = same } else { entry = try find(channel) }
            rows.append(
                Row(
                    place: place, number: channel.number, isDirect: channel.isDirect,
                    entry: entry))
        }
        arrangement = index.arrangement
    }
}

extension Channels {
    /// All conversations of a workspace, in the order of its index.
    func overview(of workspace: Workspace) throws(StorageError) -> [ConversationOverview.Row] {
        forgetChanged()
        let index = workspace.channelIndex
        var overview = workspace.derived.overview
        // Else it would be copied.
        workspace.derived.overview.forgetAll()
        overview.rest(
            on: .init(
                isOut: core.membership.ownEnd(in: workspace) != nil,
                admission: core.queries.admission(of: workspace.member, in: workspace)?.arrival))
        let isOut = overview.basis.isOut
        try overview.complete(for: index) { (channel) throws(StorageError) in
            turn.tally.noteOverviewEntry()
            return try entry(of: channel, in: workspace, isOut: isOut)
        }
        workspace.derived.overview = overview
        // To work one out settles what came late in it, which is no news to its entry.
        _ = store.view.takeChanges()
        return overview.rows
    }

    /// What is known of a conversation by everything that is stored.
    func entry(
        of channel: Workspace.Channel, in workspace: Workspace, isOut: Bool
    ) throws(StorageError) -> ConversationOverview.Entry {
        let last = try core.queries.previewed(in: channel)?.key.timestamp.milliseconds
        var entry = ConversationOverview.Entry(
            moved: Int64(clamping: last ?? channel.createdAt))
        entry.isShown = channel.isDirect
        if !channel.isDirect { entry.isShown = try core.queries.isJoined(channel, in: workspace) }
        let beginning = try core.own.beginning(channel, workspace)
        guard !isOut else {
            // Where one is out one is in no channel, and reads on in those that one was in.
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
            let markers = workspace.readMarks.takeChanged().map(\.bytes) + changes.markers
            if changes.isEverything { workspace.derived.overview.forgetAll() }
            guard !workspace.derived.overview.isEmpty else { continue }
            let index = workspace.channelIndex
            for number in changes.documents {
                workspace.derived.overview.forget(index.channel(number)?.number ?? number)
            }
            for subject in markers {
                guard let place = index.place(of: PublicID.conversation(subject)) else { continue }
                workspace.derived.overview.forget(index.all[place].number)
            }
        }
    }
}
