import WorkspaceModel

/// Messages that peers have sent only in part, over all links: a byte of memory for each byte sent,
/// for as long as the sender likes. When they take too much memory, the link whose message has been
/// unfinished for longest is closed, since an honest one finishes soon: non-members first, so that
/// outsiders cannot close members' links.
struct UnfinishedMessages {
    private struct Share {
        let byteCount: Int
        let since: UInt64
        let isMember: Bool
    }

    private var links: [LinkID: Share] = [:]
    /// Bytes of all links.
    private(set) var byteCount = 0

    /// Notes what a link holds.
    ///
    /// - Parameters:
    ///   - byteCount: all of it, in bytes.
    ///   - since: when the oldest of its messages began, on the monotonic clock.
    ///   - isMember: whether a member is at the other end.
    mutating func note(_ link: LinkID, byteCount: Int, since: UInt64?, isMember: Bool) {
        self.byteCount += byteCount - (links[link]?.byteCount ?? 0)
        links[link] = since.map { Share(byteCount: byteCount, since: $0, isMember: isMember) }
    }

    /// Forgets a link that is gone.
    mutating func forget(_ link: LinkID) {
        note(link, byteCount: 0, since: nil, isMember: false)
    }

    /// The link to close, `nil` while there is room.
    ///
    /// - Cost: linear in the links, where there is none.
    func tooOld(beyond most: Int) -> LinkID? {
        guard byteCount > most else { return nil }
        let outsiders = links.filter { !$0.value.isMember }
        return (outsiders.isEmpty ? links : outsiders)
            .min { ($0.value.since, $0.key) < ($1.value.since, $1.key) }?.key
    }
}
