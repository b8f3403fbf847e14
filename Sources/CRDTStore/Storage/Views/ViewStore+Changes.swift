/// Conversations that may have changed: in their last message, unread count or followers. Callers
/// with cached results per conversation ask here which ones to recompute.
extension ViewStore {
    /// Changes, including rows that were rewritten unchanged.
    public struct Changes: Sendable {
        /// The short numbers of the documents.
        public internal(set) var documents: Set<Int64> = []
        /// The subjects of changed read markers, 16 bytes each.
        public internal(set) var markers: Set<[UInt8]> = []
        /// Whether any others may have changed too.
        public internal(set) var isEverything = false
    }

    /// The changes since the last call; at first, since the store was opened.
    public func takeChanges() -> Changes {
        defer { memory.changes = Changes() }
        return memory.changes
    }
}

/// Results cached from the view, and its changes since the last query.
final class ViewMemory {
    /// The changes since the last query.
    var changes = ViewStore.Changes()
    /// The valid unread counts by document.
    var unreadCounts: [Int64: ViewStore.UnreadCount] = [:]
    /// The largest arrival number in `redacted`, or a larger one; `nil` until needed. Later
    /// operations are not deleted, and most queries are about recent ones.
    var redactedThrough: Int64?
    /// The same for messages with replies, by the timestamp in their name.
    var repliedThrough: Int64?
    /// The same for starred messages, by workspace.
    var starredThrough: [Int64: [UInt8]] = [:]
    /// Read markers as their rows have them, `nil` for none: each message of others is compared
    /// with the one of its conversation.
    private var markers: [ViewStore.Register.Place: ViewStore.Register?] = [:]

    /// More conversations than are usually written in at a time.
    private static let markersMax = 256

    func noteMarker(_ place: ViewStore.Register.Place) {
        guard place.kind == .read else { return }
        changes.markers.insert(place.subject)
        markers[place] = nil
    }

    /// The row of a read marker, if it was read since it changed.
    func marker(_ place: ViewStore.Register.Place) -> ViewStore.Register?? {
        place.kind == .read ? markers[place] : nil
    }

    /// Caches what the row of a read marker says.
    func keepMarker(_ marker: ViewStore.Register?, at place: ViewStore.Register.Place) {
        guard place.kind == .read else { return }
        if markers.count >= Self.markersMax { markers = [:] }
        markers.updateValue(marker, forKey: place)
    }

    /// The rows of a whole workspace, or of all, are removed.
    func forgetRows() {
        changes.isEverything = true
        markers = [:]
        if messages != nil { messages = [:] }
    }

    /// Messages shown since `keepRecent()`, by arrival number; `nil` while none are cached.
    private var messages: [Int64: ViewStore.MessageRow]?

    /// More than a person writes in one turn.
    private static let messagesMax = 64

    /// Starts the cache of messages anew, or ends it.
    func keepMessages(_ keeps: Bool) {
        guard keeps else { return messages = nil }
        if messages?.isEmpty != true { messages = [:] }
    }

    /// Caches a message that was just folded, where its row says the same: one that is shown.
    func keep(_ message: ViewStore.MessageRow, as visibility: ViewStore.Visibility) {
        let arrival = message.position.arrival
        guard visibility == .shown, messages?.count ?? .max < Self.messagesMax else {
            messages?[arrival] = nil
            return
        }
        messages?[arrival] = message
        messages?[arrival]?.isRefused = false
    }

    /// The message at a place, if it is cached.
    func message(
        arrival: Int64, sort: Int64, document: Int64
    ) -> ViewStore.MessageRow? {
        guard let message = messages?[arrival], message.position.sort == sort,
            message.document == document
        else { return nil }
        return message
    }

    /// Something other than a new message has changed in a document.
    func forgetUnread(in document: Int64) {
        if messages != nil { messages = [:] }
        changes.documents.insert(document)
        unreadCounts[document] = nil
    }
}
