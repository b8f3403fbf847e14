/// Which conversations may look otherwise than before: what stands last in them, how much was not read,
/// who follows them. Whoever keeps what it has worked out of each asks here what to work out anew.
extension ViewStore {
    /// Where something has changed, or been written again as it was.
    public struct Changes: Sendable {
        /// The short numbers of the documents.
        public internal(set) var documents: Set<Int64> = []
        /// The subjects of the read markers that say more or less, 16 bytes each.
        public internal(set) var markers: Set<[UInt8]> = []
        /// Whether it may be any other too.
        public internal(set) var isEverything = false
    }

    /// What has changed since this was called last; at first, since the store was opened.
    public func takeChanges() -> Changes {
        defer { memory.changes = Changes() }
        return memory.changes
    }
}

/// What was worked out of the view, and what has changed in it since somebody asked.
final class ViewMemory {
    /// What has changed since somebody asked.
    var changes = ViewStore.Changes()
    /// What was counted of each document, for as long as it is so.
    var unreadCounts: [Int64: ViewStore.UnreadCount] = [:]
    /// The largest arrival number in `redacted`, or a larger one; `nil` until it is needed. What came
    /// after it is not deleted, and nearly all that is asked about has just come.
    var redactedThrough: Int64?
    /// The same of the messages that are replied to, by the timestamp in their name.
    var repliedThrough: Int64?
    /// The same of the messages that have a star, by workspace.
    var starredThrough: [Int64: [UInt8]] = [:]

    func noteMarker(_ place: ViewStore.Register.Place) {
        if place.kind == .read { changes.markers.insert(place.subject) }
    }

    /// Something else than a new message has changed in a document.
    func forgetUnread(in document: Int64) {
        changes.documents.insert(document)
        unreadCounts[document] = nil
    }
}
