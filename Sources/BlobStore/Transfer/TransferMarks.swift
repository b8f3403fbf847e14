/// What is known of all transfers together, so that a plan looks only at those of which something has
/// changed: thousands of small files come one after the other, and each would look at all others.
struct TransferMarks: Sendable {
    /// Those of which somebody may be asked for more, in the order of their roots.
    private(set) var askable: [BlobRoot] = []
    /// Those that have changed since the last plan.
    private var changed: Set<BlobRoot> = []
    /// Those with several sources: what one does not send in time is asked of another.
    private(set) var shared: Set<BlobRoot> = []
    /// Those of which somebody was asked for leaves.
    private(set) var awaitingLeaves: Set<BlobRoot> = []
    /// Since when nobody is asked for anything; nothing of those of which somebody is.
    private(set) var idleSince: [BlobRoot: UInt64] = [:]

    /// Notes that something of a transfer is another than before, so that there may be more to ask.
    mutating func change(_ root: BlobRoot) {
        changed.insert(root)
        let place = place(of: root)
        if place == askable.count || askable[place] != root { askable.insert(root, at: place) }
    }

    /// Notes that somebody was asked for something.
    mutating func ask(_ root: BlobRoot) { changed.insert(root) }

    /// Notes that nobody can be asked for more of a transfer until something of it changes.
    mutating func rest(_ root: BlobRoot) {
        let place = place(of: root)
        if place < askable.count, askable[place] == root { askable.remove(at: place) }
    }

    /// Notes how many peers hold something of a transfer.
    mutating func setSources(_ count: Int, of root: BlobRoot) {
        if count > 1 { shared.insert(root) } else { shared.remove(root) }
        change(root)
    }

    /// Notes whether somebody was asked for leaves.
    mutating func setAwaitsLeaves(_ isOn: Bool, _ root: BlobRoot) {
        if isOn {
            awaitingLeaves.insert(root)
            ask(root)
        } else if awaitingLeaves.remove(root) != nil {
            change(root)
        }
    }

    /// Notes whether somebody is asked for something of a transfer.
    mutating func setIdle(_ isIdle: Bool, _ root: BlobRoot, at now: UInt64) {
        idleSince[root] = isIdle ? idleSince[root] ?? now : nil
    }

    /// Forgets a transfer.
    mutating func end(_ root: BlobRoot) {
        rest(root)
        changed.remove(root)
        shared.remove(root)
        awaitingLeaves.remove(root)
        idleSince[root] = nil
    }

    /// Those that have changed since the last time.
    mutating func takeChanged() -> Set<BlobRoot> {
        defer { changed.removeAll(keepingCapacity: true) }
        return changed
    }

    /// Where a root stands in `askable`, or would.
    private func place(of root: BlobRoot) -> Int {
        var (low, high) = (0, askable.count)
        while low < high {
            let middle = (low + high) / 2
            if askable[middle] < root { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
