public import WorkspaceModel

/// A note's operation as the text needs it: author, place in the author's log, and edit.
public struct NoteOperation: Hashable, Sendable {
    /// The log that it belongs to.
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

    /// The author.
    public let author: Author
    /// Its place in the log.
    public let sequence: UInt64
    /// The time by the author's hybrid clock.
    public let timestamp: HybridTimestamp
    /// Its id.
    public let id: OperationID
    /// The edit.
    public let edit: NoteEdit

    /// An operation from the log.
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

    /// The name that other operations use for it.
    public var key: MessageKey { MessageKey(timestamp: timestamp, idPrefix: id.leadingWord) }
}
