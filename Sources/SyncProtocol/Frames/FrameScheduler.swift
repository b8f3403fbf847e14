import WorkspaceModel

/// The messages that one link has to send, cut into fragments, the most urgent first.
///
/// The owner asks for a frame when its socket can take one, so what is urgent overtakes what is
/// large at every frame.
public struct FrameScheduler: Sendable {
    /// Encoded messages of one class, first in, first out.
    private struct Queue {
        struct Item {
            let bytes: [UInt8]
            let isUnasked: Bool
        }

        var items: [Item] = []
        /// The index of the first item that is not sent yet.
        var next = 0
        /// How much of that item is sent.
        var offset = 0

        var first: Item? { next < items.count ? items[next] : nil }

        /// Forgets the first item, and now and then the memory of all before.
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
    /// Those of them that nobody asked for: live pushes.
    public private(set) var unaskedUnsentBytes = 0

    /// Shorter pieces at the end of a frame cost more in heads than they save.
    private static let pieceBytesMin = 512

    /// A scheduler with nothing to send.
    public init() {}

    /// Whether there is nothing to send.
    public var isEmpty: Bool { unsentBytes == 0 }

    /// Puts an encoded message behind those of its class.
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
        if isUnasked { unaskedUnsentBytes += message.count }
    }

    /// The next frame's plaintext, or `nil` when there is nothing to send.
    ///
    /// - Parameter maxPlaintext: how large it may be; at least 4 bytes.
    public mutating func nextFrame(
        maxPlaintext: Int = Frame.plaintextBytesMax
    ) -> [UInt8]? {
        precondition(maxPlaintext > Frame.fragmentHeadBytes, "no room for a fragment")
        let limit = min(maxPlaintext, Frame.plaintextBytesMax)
        guard !isEmpty else { return nil }
        var frame: [UInt8] = []
        frame.reserveCapacity(min(limit, unsentBytes + 64))
        while let index = queues.firstIndex(where: { $0.first != nil }),
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

    private mutating func append(
        _ length: Int, of item: Queue.Item, from index: Int, isFinal: Bool, to frame: inout [UInt8]
    ) {
        let start = queues[index].offset
        frame.append(UInt8(truncatingIfNeeded: index) | (isFinal ? Frame.finalBit : 0))
        frame.append(UInt8(truncatingIfNeeded: length >> 8))
        frame.append(UInt8(truncatingIfNeeded: length))
        frame.append(contentsOf: item.bytes[start..<start + length])
        unsentBytes -= length
        if item.isUnasked { unaskedUnsentBytes -= length }
        if isFinal {
            queues[index].dropFirst()
        } else {
            queues[index].offset += length
        }
    }
}
