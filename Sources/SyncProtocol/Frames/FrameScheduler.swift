import WorkspaceModel

/// The send queue of one link: messages cut into fragments, the most urgent first.
///
/// The owner requests a frame when its socket can take one, so urgent messages overtake large ones
/// at every frame.
public struct FrameScheduler: Sendable {
    /// Encoded messages of one class, first in, first out.
    private struct Queue {
        struct Item {
            let bytes: [UInt8]
            let isUnasked: Bool
        }

        var items: [Item] = []
        /// The index of the first item that is not completely sent.
        var next = 0
        /// How much of that item is sent.
        var offset = 0
        /// Bytes that are in no frame yet.
        var unsentBytes = 0

        var first: Item? { next < items.count ? items[next] : nil }

        /// Drops the first item, and occasionally frees the memory of all sent ones.
        mutating func dropFirst() {
            items[next] = Item(bytes: [], isUnasked: false)
            next += 1
            offset = 0
            if next == items.count {
                items.removeAll(keepingCapacity: next <= 64)
                next = 0
            } else if next >= 64, next * 2 >= items.count {
                items.removeFirst(next)
                next = 0
            }
        }
    }

    private var queues = [Queue](repeating: Queue(), count: MessageClass.allCases.count)

    /// Bytes of messages that are not in a frame yet.
    public private(set) var unsentBytes = 0
    /// Those of them that were not requested: live pushes.
    public private(set) var unaskedUnsentBytes = 0

    /// Frames of bulk alone since the last one with a piece of a blob, while pieces are waiting.
    private var framesWithoutBlob = 0
    /// One frame in this many begins with a piece of a blob, so that endless bulk does not starve
    /// files.
    static let framesPerBlob = 8

    /// Shorter pieces at the end of a frame cost more in heads than they gain.
    private static let pieceBytesMin = 512

    /// A scheduler with nothing to send.
    public init() {}

    /// Whether there is nothing to send.
    public var isEmpty: Bool { unsentBytes == 0 }

    /// Bytes of messages of one class that are not in a frame yet.
    public func unsentBytes(of messageClass: MessageClass) -> Int {
        queues[Int(messageClass.rawValue)].unsentBytes
    }

    /// Appends an encoded message to the queue of its class.
    ///
    /// - Parameter isUnasked: a live push, which counts against `Limits.unaskedUnsentBytesMax`.
    /// - Precondition: the message is not empty.
    public mutating func enqueue(
        _ message: [UInt8], in messageClass: MessageClass, isUnasked: Bool = false
    ) {
        precondition(!message.isEmpty, "a message has at least its type")
        queues[Int(messageClass.rawValue)].items.append(
            Queue.Item(bytes: message, isUnasked: isUnasked))
        unsentBytes += message.count
        queues[Int(messageClass.rawValue)].unsentBytes += message.count
        if isUnasked { unaskedUnsentBytes += message.count }
    }

    /// The next frame's plaintext, or `nil` when there is nothing to send.
    ///
    /// - Parameter maxPlaintext: its maximum size in bytes; at least 4.
    public mutating func nextFrame(
        maxPlaintext: Int = Frame.plaintextBytesMax
    ) -> [UInt8]? {
        precondition(maxPlaintext > Frame.fragmentHeadBytes, "no room for a fragment")
        let limit = min(maxPlaintext, Frame.plaintextBytesMax)
        guard !isEmpty else { return nil }
        var frame: [UInt8] = []
        frame.reserveCapacity(min(limit, unsentBytes + 64))
        let isForBlob = isTurnOfBlob()
        while let index = nextQueue(isForBlob: isForBlob && frame.isEmpty),
            let item = queues[index].first
        {
            let left = item.bytes.count - queues[index].offset
            let room = limit - frame.count - Frame.fragmentHeadBytes
            let length = min(left, room, Limits.fragmentBytesMax)
            guard length > 0, frame.isEmpty || length >= min(left, Self.pieceBytesMin) else {
                break
            }
            append(length, of: item, from: index, isFinal: length == left, to: &frame)
        }
        return frame
    }

    /// The most urgent queue that is not empty.
    ///
    /// - Parameter isForBlob: whether a piece of a blob goes before bulk.
    /// - Parameter isForBlob: whether bulk lets a piece of a blob pass.
    private func nextQueue(isForBlob: Bool) -> Int? {
        let index = queues.firstIndex { $0.first != nil }
        guard isForBlob, index == Int(MessageClass.bulk.rawValue) else { return index }
        return Int(MessageClass.blob.rawValue)
    }

    /// Counts the frames that carry bulk alone.
    private mutating func isTurnOfBlob() -> Bool {
        guard queues[Int(MessageClass.bulk.rawValue)].first != nil,
            queues[Int(MessageClass.blob.rawValue)].first != nil
        else {
            framesWithoutBlob = 0
            return false
        }
        framesWithoutBlob = (framesWithoutBlob + 1) % Self.framesPerBlob
        return framesWithoutBlob == 0
    }

    private mutating func append(
        _ length: Int, of item: Queue.Item, from index: Int, isFinal: Bool, to frame: inout [UInt8]
    ) {
        let start = queues[index].offset
        frame.append(UInt8(truncatingIfNeeded: index) | (isFinal ? Frame.finalBit : 0))
        frame.append(UInt8(truncatingIfNeeded: length >> 8))
        frame.append(UInt8(truncatingIfNeeded: length))
        frame.append(contentsOf: item.bytes[start..<start + length])
        unsentBytes -= length
        queues[index].unsentBytes -= length
        if item.isUnasked { unaskedUnsentBytes -= length }
        if isFinal {
            queues[index].dropFirst()
        } else {
            queues[index].offset += length
        }
    }
}
