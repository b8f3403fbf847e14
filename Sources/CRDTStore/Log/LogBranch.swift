public import WorkspaceModel

/// One branch of a log: normally the whole log, more than one after a fork.
///
/// A second operation at one place of a log opens a branch whose parent is the branch it leaves.
/// The parent's operations before `forkSequence` belong to both.
public struct LogBranch: Sendable, Equatable {
    /// The row in table `log`.
    public let number: Int64
    /// The short number of the document, which says in which workspace the log is.
    public let document: Int64
    /// The log.
    public let log: LogName
    /// The branch this one leaves, `nil` for the first one.
    public let parent: Int64?
    /// The first place that belongs to this branch alone; 0 for the first one.
    public let forkSequence: UInt64
    /// The place of the last stored operation.
    public internal(set) var tipSequence: UInt64
    /// What the next operation builds on.
    public internal(set) var tip: ChainLink
    /// The display order of the tip, milliseconds; never part of validity.
    public internal(set) var tipSort: Int64
    /// The last kept place and its id, `nil` while nothing of the branch is kept.
    public internal(set) var kept: KeptTip?
    /// The arrival number of the last change of `kept`.
    public internal(set) var changedArrival: Int64

    /// The last kept operation of a branch.
    public struct KeptTip: Hashable, Sendable {
        /// Its place.
        public let sequence: UInt64
        /// Its id.
        public let id: OperationID

        /// The operation `id` at `sequence`.
        public init(sequence: UInt64, id: OperationID) {
            self.sequence = sequence
            self.id = id
        }
    }

    /// The number of operations of this branch alone: one at every place from its fork to its tip.
    var ownCount: Int64 { Int64(clamping: tipSequence - forkSequence) + 1 }

    /// The tip announced to peers, `nil` while nothing is kept.
    public var announcement: LogTip? {
        kept.map { LogTip(log: log, sequence: $0.sequence, id: Identifier16(prefixOf: $0.id)) }
    }
}
