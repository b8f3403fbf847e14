import CRDTStore
import WorkspaceModel

/// What a list of conversations needs to know about every one to choose a page: which have unread
/// messages, and which changed last. Each row is cached until the conversation changes, so a page
/// costs what is on it, however many conversations there are.
struct ConversationOverview {
    /// One conversation.
    struct Entry: Equatable {
        /// Whether the first screen shows it: the local member is in it, or was when they left.
        var isShown = false
        /// Whether the local member is in it and may be notified of new messages.
        var isFollowed = false
        /// How many messages of others are unread, and how many of those mention the local member.
        var unread: Int64 = 0
        var mentions: Int64 = 0
        /// When the last message was written, or the conversation was created, milliseconds.
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

    /// The state that all entries depend on besides their conversations.
    struct Basis: Equatable {
        /// Whether the local member is out of the workspace.
        var isOut = false
        /// Their admission, by its arrival number.
        var admission: Int64?
    }

    private(set) var basis = Basis()
    /// All conversations, in the order of the index at `arrangement`.
    private(set) var rows: [Row] = []
    private var arrangement: Int?
    /// The numbers of those that have changed since.
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
