import BlobStore
import WorkspaceModel

/// Which transfers a turn has to examine: of many thousands of small files some start and some end
/// in each turn, and most of the others need nothing.
struct TransferRounds {
    /// Between two looks at what there is to tell, milliseconds.
    private static let lookMilliseconds: UInt64 = 100

    /// Transfers about which nobody was asked yet.
    private var fresh: Set<BlobRoot> = []
    /// The links over which the others were asked about.
    private var links: [LinkID] = []
    /// When to determine again which devices may know of each blob.
    private var readersDue: UInt64 = 0
    /// When it is looked at next how far they are.
    private var lookDue: UInt64 = 0
    /// When the first report on a transfer is due even if nothing happens; `nil` where all had one.
    private(set) var firstWordDue: UInt64?

    /// Starts a transfer, which is not reported before a time on the monotonic clock.
    mutating func begin(_ root: BlobRoot, tellDue due: UInt64) {
        fresh.insert(root)
        firstWordDue = min(firstWordDue ?? due, due)
    }

    mutating func end(_ root: BlobRoot) { fresh.remove(root) }

    // MARK: Asking

    /// The transfers about which peers have to be asked now.
    struct Questions {
        let roots: [BlobRoot]
        /// Whether to determine again which devices may know of them.
        let isAnew: Bool
        /// Those that have started since, about which nothing is known.
        let fresh: Set<BlobRoot>
    }

    /// - Parameters:
    ///   - all: every transfer there is.
    ///   - links: the links over which somebody may be asked.
    mutating func takeQuestions(
        of all: some Sequence<BlobRoot>, over links: [LinkID], at now: UInt64
    ) -> Questions {
        defer { fresh.removeAll(keepingCapacity: true) }
        let isAnew = now >= readersDue
        if isAnew { readersDue = now &+ Limits.blobReadersMilliseconds }
        guard isAnew || links != self.links else {
            return Questions(roots: fresh.sorted(), isAnew: false, fresh: fresh)
        }
        self.links = links
        return Questions(roots: all.sorted(), isAnew: isAnew, fresh: fresh)
    }

    // MARK: Telling

    /// Whether the progress of transfers has to be checked now.
    func mayTell(at now: UInt64) -> Bool { now >= min(lookDue, firstWordDue ?? .max) }

    /// Notes that it was looked at.
    ///
    /// - Parameters:
    ///   - next: when there may be more to tell.
    ///   - firstWord: the same of those that nobody was told of; `nil` where there is none.
    mutating func didTell(next: UInt64?, firstWord: UInt64?, at now: UInt64) {
        let soonest = now &+ Self.lookMilliseconds
        lookDue = max(next ?? 0, soonest)
        firstWordDue = firstWord.map { max($0, soonest) }
    }
}
