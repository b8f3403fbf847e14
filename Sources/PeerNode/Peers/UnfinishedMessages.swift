import WorkspaceModel

/// What peers have sent of messages whose rest is still to come, over all links: a byte of memory for
/// each byte sent, for as long as the sender likes. Where it is too much, who has kept a message
/// unfinished for longest has to give way, for an honest one is finished soon.
struct UnfinishedMessages {
    private var links: [LinkID: (byteCount: Int, since: UInt64)] = [:]
    /// Bytes of all links.
    private(set) var byteCount = 0

    /// Notes what a link holds.
    ///
    /// - Parameters:
    ///   - byteCount: all of it, in bytes.
    ///   - since: when the oldest of its messages began, on the monotonic clock.
    mutating func note(_ link: LinkID, byteCount: Int, since: UInt64?) {
        self.byteCount += byteCount - (links[link]?.byteCount ?? 0)
        links[link] = since.map { (byteCount, $0) }
    }

    /// Forgets a link that is gone.
    mutating func forget(_ link: LinkID) { note(link, byteCount: 0, since: nil) }

    /// Who has to give way, `nil` while there is room.
    ///
    /// - Cost: linear in the links, where there is none.
    func tooOld(beyond most: Int) -> LinkID? {
        guard byteCount > most else { return nil }
        return links.min { ($0.value.since, $0.key) < ($1.value.since, $1.key) }?.key
    }
}
