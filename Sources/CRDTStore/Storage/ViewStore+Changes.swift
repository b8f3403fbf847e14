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
        defer { changes = Changes() }
        return changes
    }

    func noteMarker(_ place: Register.Place) {
        if place.kind == .read { changes.markers.insert(place.subject) }
    }
}
