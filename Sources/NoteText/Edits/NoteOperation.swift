public import WorkspaceModel

/// An operation of a note as the text knows it: who wrote it, where in whose log, and what it says.
public struct NoteOperation: Hashable, Sendable {
    /// Which log it is in.
    public struct Author: Hashable, Comparable, Sendable {
        /// The device that signs.
        public let device: DeviceID
        /// The incarnation of its store.
        public let incarnation: UInt32

        /// The author of one log.
        public init(device: DeviceID, incarnation: UInt32) {
            self.device = device
            self.incarnation = incarnation
        }

        /// By device, then by incarnation.
        public static func < (left: Self, right: Self) -> Bool {
            (left.device, left.incarnation) < (right.device, right.incarnation)
        }
    }

    /// Who wrote it.
    public let author: Author
    /// Its place in the log.
    public let sequence: UInt64
    /// When, by the author's hybrid clock.
    public let timestamp: HybridTimestamp
    /// Its id.
    public let id: OperationID
    /// What it says.
    public let edit: NoteEdit

    /// An operation as it came out of the log.
    public init(
        author: Author, sequence: UInt64, timestamp: HybridTimestamp, id: OperationID,
        edit: NoteEdit
    ) {
        self.author = author
        self.sequence = sequence
        self.timestamp = timestamp
        self.id = id
        self.edit = edit
    }

    /// How other operations name it.
    public var key: MessageKey { MessageKey(timestamp: timestamp, idPrefix: id.leadingWord) }
}
