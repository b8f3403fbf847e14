import WorkspaceModel

/// Reassembles messages from the fragments in decrypted frames.
///
/// Holds at most one unfinished message of each class, each within its own limit and all within
/// `Limits.unfinishedPerLinkBytesMax`, and allocates at most four times what has arrived. After an
/// error the link is closed and the decoder must not be used.
public struct FrameDecoder: Sendable {
    /// A whole message with its class.
    public struct Message: Sendable, Equatable {
        /// The class of its fragments.
        public let messageClass: MessageClass
        /// The type and the body.
        public let bytes: [UInt8]
    }

    private var unfinished = [[UInt8]](repeating: [], count: MessageClass.allCases.count)
    private var begun = [UInt64](repeating: 0, count: MessageClass.allCases.count)

    /// A decoder at the start of a link.
    public init() {}

    /// How many bytes wait for the rest of their message.
    public var bufferedBytes: Int { unfinished.reduce(into: 0) { $0 += $1.count } }

    /// The same of one class.
    public func bufferedBytes(of messageClass: MessageClass) -> Int {
        unfinished[Int(messageClass.rawValue)].count
    }

    /// Bytes of memory that they take.
    var allocatedBytes: Int { unfinished.reduce(into: 0) { $0 += $1.capacity } }

    /// When the oldest unfinished message began, `nil` where there is none.
    public var unfinishedSince: UInt64? {
        unfinished.indices.filter { !unfinished[$0].isEmpty }.map { begun[$0] }.min()
    }

    /// The messages that this frame completes, in order of completion. An empty frame is allowed.
    ///
    /// - Parameter now: the monotonic clock, in milliseconds.
    /// - Throws: `badFragment` for an impossible head or length, `messageTooLarge` as soon as a
    ///   message exceeds the limit of its type, or all unfinished ones exceed theirs.
    public mutating func messages(
        in plaintext: [UInt8], at now: UInt64
    ) throws(SyncViolation) -> [Message] {
        var messages: [Message] = []
        var position = 0
        while position < plaintext.count {
            guard plaintext.count - position > Frame.fragmentHeadBytes else { throw .badFragment }
            let head = plaintext[position]
            let length = Int(plaintext[position + 1]) << 8 | Int(plaintext[position + 2])
            position += Frame.fragmentHeadBytes
            guard head & ~(Frame.finalBit | Frame.classBits) == 0,
                let messageClass = MessageClass(rawValue: head & Frame.classBits),
                length > 0, length <= Limits.fragmentBytesMax,
                length <= plaintext.count - position
            else { throw .badFragment }
            let contents = plaintext[position..<position + length]
            position += length
            let isFinal = head & Frame.finalBit != 0
            if let bytes = try take(contents, of: messageClass, isFinal: isFinal, at: now) {
                messages.append(Message(messageClass: messageClass, bytes: bytes))
            }
        }
        return messages
    }

    /// Adds a fragment and returns the message that it completes.
    private mutating func take(
        _ contents: ArraySlice<UInt8>, of messageClass: MessageClass, isFinal: Bool, at now: UInt64
    ) throws(SyncViolation) -> [UInt8]? {
        let index = Int(messageClass.rawValue)
        guard let type = unfinished[index].first ?? contents.first else { throw .badFragment }
        let limit = SyncMessage.bytesMax(type: type)
        guard unfinished[index].count + contents.count <= limit else { throw .messageTooLarge }
        if isFinal, unfinished[index].isEmpty { return [UInt8](contents) }
        guard bufferedBytes + contents.count <= Limits.unfinishedPerLinkBytesMax else {
            throw .messageTooLarge
        }
        if unfinished[index].isEmpty { begun[index] = now }
        // A quarter has come: growing step by step would copy it two times more.
        if (unfinished[index].count + contents.count) * 4 >= limit {
            unfinished[index].reserveCapacity(limit)
        }
        unfinished[index].append(contentsOf: contents)
        guard isFinal else { return nil }
        let bytes = unfinished[index]
        unfinished[index] = []
        return bytes
    }
}
