/// One device's hash-chained sequence of operations in one document.
///
/// A device that lost its memory starts a new incarnation, so a log is never continued from an
/// older state.
public struct LogName: Hashable, Comparable, Sendable {
    /// The document the operations belong to.
    public let document: DocumentID
    /// The device that signs them.
    public let device: DeviceID
    /// Random, drawn with every new store (PROTOCOL.md, 1.1).
    public let incarnation: UInt32

    /// The log of `device` in `document` since `incarnation`.
    public init(document: DocumentID, device: DeviceID, incarnation: UInt32) {
        self.document = document
        self.device = device
        self.incarnation = incarnation
    }

    /// By document, then device, then incarnation.
    public static func < (left: Self, right: Self) -> Bool {
        (left.document, left.device, left.incarnation)
            < (right.document, right.device, right.incarnation)
    }
}

/// The last operation of one branch of a log. Sent as an announcement, and as a receipt for
/// everything before it.
public struct LogTip: Hashable, Sendable {
    /// The log.
    public let log: LogName
    /// Its sequence number.
    public let sequence: UInt64
    /// The first 16 bytes of its id.
    public let id: Identifier16<Named.Operation>

    /// The operation at `sequence` whose id begins with `id`.
    public init(log: LogName, sequence: UInt64, id: Identifier16<Named.Operation>) {
        self.log = log
        self.sequence = sequence
        self.id = id
    }
}

/// How one operation cites another of the same document.
///
/// - Wire form: `Enc` array [device 32 bytes, incarnation, sequence, id 32 bytes].
public struct OperationReference: Hashable, Sendable {
    /// The author's device.
    public let device: DeviceID
    /// The author's incarnation.
    public let incarnation: UInt32
    /// The place in the author's log.
    public let sequence: UInt64
    /// The id, which alone identifies the operation.
    public let id: OperationID

    /// A reference to the operation `id`, found at the given place.
    public init(device: DeviceID, incarnation: UInt32, sequence: UInt64, id: OperationID) {
        self.device = device
        self.incarnation = incarnation
        self.sequence = sequence
        self.id = id
    }
}
