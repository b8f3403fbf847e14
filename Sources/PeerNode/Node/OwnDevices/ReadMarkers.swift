import CRDTStore
import WorkspaceModel

/// What was read on any device of this person, and how much is unread.
extension Workspace {
    /// Read markers that wait to be written, and when the last ones were. By the 16 bytes that a
    /// conversation's id spells.
    struct ReadMarks {
        /// A marker that is not written yet.
        struct Pending {
            var key: MessageKey
            /// What had arrived by then.
            var frontier: ReadFrontier
            /// When it is written, on the monotonic clock.
            var due: UInt64
            /// Whether this person's connected devices still have to hear of it.
            var isUntold = false
        }

        /// By conversation.
        private(set) var pending: [ConversationName: Pending] = [:]
        /// Conversations whose pending marker has changed since the last query.
        private var changed: Set<ConversationName> = []
        /// When a marker was last written, on the monotonic clock.
        var written: [ConversationName: UInt64] = [:]
        /// When this person's devices were last told of one that is not written yet, likewise.
        var told: [ConversationName: UInt64] = [:]
        /// Documents in which others have written nothing since the local member was last seen to
        /// have read everything: there the unread count need not be computed.
        var answered: Set<Int64> = []
        /// The limits that new messages are compared with, by document; computed once a turn.
        var lateLimits: [Int64: LateLimit?] = [:]
        /// When reminders, which are stored beside the markers, are due.
        var reminders = ReminderTimes()

        /// Adds a pending marker, or removes it.
        mutating func keep(_ mark: Pending?, of name: ConversationName) {
            pending[name] = mark
            changed.insert(name)
        }

        /// This person's devices have heard of a pending marker.
        mutating func noteTold(_ name: ConversationName, at moment: UInt64) {
            pending[name]?.isUntold = false
            told[name] = moment
        }

        /// The conversations whose waiting markers are others than when this was called last.
        mutating func takeChanged() -> Set<ConversationName> {
            defer { changed = [] }
            return changed
        }
    }
}

extension Workspace.Channel {
    /// Its name in registers.
    var conversation: ConversationName? {
        PublicID.bytes(publicID, prefix: "c_").flatMap(ConversationName.init)
    }
}

extension OwnDocuments {
    // MARK: Markers

    /// Up to where a conversation was read: by the stored or the pending marker.
    func marker(
        _ place: ViewStore.Register.Place, in workspace: Workspace
    ) throws(StorageError) -> MessageKey? {
        let stored = try store.view.own.register(place)?.key
        let pending = ConversationName(place.subject).flatMap {
            workspace.own.readMarks.pending[$0]?.key
        }
        return [stored, pending].compactMap { $0 }.max()
    }

    /// Up to where a conversation counts as read: by a marker, or because the local member joined
    /// later. `nil` for a conversation that the member is not in, where nothing is unread.
    func readUpTo(
        _ channel: Workspace.Channel, in workspace: Workspace
    ) throws(StorageError) -> MessageKey? {
        guard let name = channel.conversation, let beginning = try beginning(channel, workspace)
        else { return nil }
        return Self.end(
            of: try marker(place(.read, name, in: workspace), in: workspace), since: beginning)
    }

    /// Up to where counts as read what a marker says, of a conversation joined at `beginning`.
    static func end(of marker: MessageKey?, since beginning: HybridTimestamp) -> MessageKey {
        let first = MessageKey(timestamp: beginning, idPrefix: .max)
        return max(first, marker ?? first)
    }

    /// When the local member joined a conversation; `nil` where they are not in it.
    func beginning(
        _ channel: Workspace.Channel, _ workspace: Workspace
    ) throws(StorageError) -> HybridTimestamp? {
        guard channel.includes(workspace.member) else { return nil }
        if channel.isDirect { return .zero }
        if channel.isDefault {
            return try core.membership.admission(of: workspace.member, in: workspace).flatMap {
                (record) throws(StorageError) in
                try store.operations.credibleTime(at: record.arrival)
            }
        }
        guard channel.isPrivate else {
            return try store.view.following.joiningWord(of: workspace.member, channel.number)
                .flatMap {
                    (arrival) throws(StorageError) in try store.operations.credibleTime(at: arrival)
                }
        }
        return try seated(in: channel.id, workspace)
    }

    /// When the local member was admitted to a private channel: by the first root or add whose seat
    /// still holds, so that adding someone again does not change it.
    private func seated(
        in channel: DocumentID, _ workspace: Workspace
    ) throws(StorageError) -> HybridTimestamp? {
        guard let document = workspace.sealed.documents[channel] else { return nil }
        var first: HybridTimestamp?
        for id in document.lastingSeats(of: workspace.member) {
            guard let record = document.records[id] else { continue }
            switch record.change?.action {
            case .root, .add: break
            default: continue
            }
            guard let time = try store.operations.credibleTime(at: record.arrival) else { continue }
            first = first.map { min($0, time) } ?? time
        }
        return first
    }

    /// How much in a conversation was not read.
    struct Unread {
        /// Messages of others.
        var count: Int64 = 0
        /// Those of them that mention the local member. In a direct conversation every message
        /// does, and none is counted.
        var mentions: Int64 = 0
        /// The last of all messages behind what was read, and of those that came late.
        var last: MessageKey?
        /// The place of the last of all of them.
        var end: Int64?
        /// The first and the last message of others.
        var oldest: ViewStore.Unread.Place?
        var newest: ViewStore.Unread.Place?
    }

    /// What is unread in a conversation. Nothing is for a person who is out of it: nobody writes to
    /// them there.
    func unread(
        _ channel: Workspace.Channel, in workspace: Workspace
    ) throws(StorageError) -> Unread {
        guard core.membership.ownEnd(in: workspace) == nil,
            let key = try readUpTo(channel, in: workspace)
        else {
            return Unread()
        }
        try settleLate(channel, in: workspace)
        let found = try store.view.unread(channel.filter, after: key)
        var unread = Unread(last: found.last)
        unread.end = found.tallies.values.map(\.newest.sort).max()
        var others: ViewStore.Unread.Tally?
        for (grant, tally) in found.tallies
        where core.membership.author(ofGrant: grant, in: workspace) != workspace.member {
            guard others != nil else {
                others = tally
                continue
            }
            others?.merge(tally)
        }
        guard let others else { return unread }
        unread.count = others.count
        unread.mentions = channel.isDirect ? 0 : others.mentions
        (unread.oldest, unread.newest) = (others.oldest, others.newest)
        return unread
    }

    // MARK: Marking

    /// Records that a conversation was read up to a message. At most one marker a minute is written
    /// per conversation; a later one waits until then, and counts at once. So does one that marks
    /// late messages as read: if two people write at the same instant, every second message is
    /// late.
    ///
    /// - Parameter sort: the place of that message in display order.
    /// - Returns: whether this device may write.
    func markRead(
        _ channel: Workspace.Channel, upTo key: MessageKey, sort: Int64, in workspace: Workspace
    ) throws(StorageError) -> Bool {
        guard let name = channel.conversation else { return true }
        let isLateRead = try hasLate(in: channel, upTo: sort, of: workspace)
        let known = try readUpTo(channel, in: workspace)
        if let known, known >= key, !isLateRead { return true }
        let frontier = frontier(of: channel, upTo: sort, in: workspace)
        let due = (workspace.own.readMarks.written[name] ?? 0) &+ Limits.readMarkerMilliseconds
        guard workspace.own.readMarks.written[name] != nil, time.monotonic < due else {
            return try writeMarker(name, key, frontier, in: workspace)
        }
        var mark =
            workspace.own.readMarks.pending[name]
            ?? .init(key: key, frontier: frontier, due: due)
        mark.key = max(mark.key, key)
        mark.frontier.merge(frontier)
        mark.due = min(mark.due, due)
        mark.isUntold = true
        workspace.own.readMarks.keep(mark, of: name)
        try reviewLate(name, after: known, isOwn: true, in: workspace)
        try tellRead(name.bytes, in: workspace, isBackfill: false)
        return true
    }

    /// Writes what earlier markers do not say, in as many operations as that needs.
    private func writeMarker(
        _ name: ConversationName, _ key: MessageKey, _ frontier: ReadFrontier,
        in workspace: Workspace
    ) throws(StorageError) -> Bool {
        workspace.own.readMarks.written[name] = time.monotonic
        let known = try store.view.own.frontier(place(.read, name, in: workspace))
        let pieces = frontier.pieces(beyond: known)
        for piece in pieces.isEmpty ? [ReadFrontier()] : pieces {
            guard try authorOwn(.read(name, upTo: key, frontier: piece), in: workspace) else {
                return false
            }
        }
        return true
    }

    /// When a pending marker has to be written or told, on the monotonic clock.
    var nextMarker: UInt64? {
        guard home != nil, mayWrite else { return nil }
        var first = Earliest()
        for workspace in workspaces.values {
            for (name, mark) in workspace.own.readMarks.pending {
                first.take(mark.due)
                if mark.isUntold { first.take(tellDue(name, in: workspace)) }
            }
        }
        return first.moment
    }

    /// Writes the markers whose minute is over; all of them before the keys go or the node ends.
    func writeMarkers(all: Bool = false) throws(StorageError) {
        guard home != nil, mayWrite else { return }
        guard workspaces.values.contains(where: { !$0.own.readMarks.pending.isEmpty })
        else { return }
        for workspace in workspaces.values.sorted(by: { $0.number < $1.number }) {
            let due = workspace.own.readMarks.pending.filter {
                all || $0.value.due <= time.monotonic
            }
            for (name, mark) in due.sorted(by: {
                $0.key.bytes.lexicographicallyPrecedes($1.key.bytes)
            }) {
                // Another device may have marked more as read; and a former member keeps no
                // markers.
                let place = place(.read, name, in: workspace)
                let known = try store.view.own.register(place)?.key
                let pieces = mark.frontier.pieces(beyond: try store.view.own.frontier(place))
                let isNews = known.map { $0 < mark.key } ?? true || !pieces.isEmpty
                var isKept = !isNews
                if workspace.standing == .member, isNews {
                    isKept = try writeMarker(name, mark.key, mark.frontier, in: workspace)
                }
                workspace.own.readMarks.keep(nil, of: name)
                workspace.own.readMarks.lateLimits = [:]
                // A stored marker counts up to where it is credible, which may be less than was
                // read.
                let stored = try store.view.own.register(place)?.key
                if !isKept || stored.map({ $0 < mark.key }) ?? true {
                    try forgetLate(name, in: workspace)
                }
            }
        }
    }

    // MARK: Telling

    /// Records that a conversation was read further, where it is one that is shown.
    func tellRead(
        _ subject: [UInt8], in workspace: Workspace, isBackfill: Bool
    ) throws(StorageError) {
        let id = PublicID.conversation(subject)
        guard let place = workspace.channelIndex.place(of: id) else { return }
        let channel = workspace.channelIndex.all[place]
        try turn.record(
            .readChanged, workspace: workspace.number, document: channel.number, extra: subject,
            isBackfill: isBackfill)
    }
}
