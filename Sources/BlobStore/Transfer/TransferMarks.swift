/// An index over all transfers, so that a plan visits only those with changes: with thousands of
/// small files in a row, each would otherwise visit all others.
struct TransferMarks: Sendable {
    /// Transfers with something to request, by root.
    private(set) var askable: [BlobRoot] = []
    /// Transfers changed since the last plan.
    private var changed: Set<BlobRoot> = []
    /// Transfers with several sources: what one does not send in time is requested from another.
    private(set) var shared: Set<BlobRoot> = []
    /// Transfers waiting for leaves.
    private(set) var awaitingLeaves: Set<BlobRoot> = []
    /// Since when no peer is asked for anything; absent for transfers with requests.
    private(set) var idleSince: [BlobRoot: UInt64] = [:]

    /// A transfer changed, so that there may be more to request.
    mutating func change(_ root: BlobRoot) {
        changed.insert(root)
        let place = place(of: root)
        if place == askable.count || askable[place] != root { askable.insert(root, at: place) }
    }

    /// Something was requested.
    mutating func ask(_ root: BlobRoot) { changed.insert(root) }

    /// Nothing more of a transfer can be requested until it changes.
    mutating func rest(_ root: BlobRoot) {
        let place = place(of: root)
        if place < askable.count, askable[place] == root { askable.remove(at: place) }
    }

    /// Sets the number of peers that hold something of a transfer.
    mutating func setSources(_ count: Int, of root: BlobRoot) {
        if count > 1 { shared.insert(root) } else { shared.remove(root) }
        change(root)
    }

    /// Sets whether a transfer waits for leaves.
    mutating func setAwaitsLeaves(_ isOn: Bool, _ root: BlobRoot) {
        if isOn {
            awaitingLeaves.insert(root)
            ask(root)
        } else if awaitingLeaves.remove(root) != nil {
            change(root)
        }
    }

    /// Sets whether a transfer has no requests.
    mutating func setIdle(_ isIdle: Bool, _ root: BlobRoot, at now: UInt64) {
        idleSince[root] = isIdle ? idleSince[root] ?? now : nil
    }

    /// Removes a transfer.
    mutating func end(_ root: BlobRoot) {
        rest(root)
        changed.remove(root)
        shared.remove(root)
        awaitingLeaves.remove(root)
        idleSince[root] = nil
    }

    /// The transfers changed since the last call.
    mutating func takeChanged() -> Set<BlobRoot> {
        defer { changed.removeAll(keepingCapacity: true) }
        return changed
    }

    /// The index of a root in `askable`, or where it would be.
    private func place(of root: BlobRoot) -> Int {
        var (low, high) = (0, askable.count)
        while low < high {
            let middle = (low + high) / 2
            if askable[middle] < root { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
