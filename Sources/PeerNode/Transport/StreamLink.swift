private import Glibc

/// A connected byte stream that never blocks: TCP to a peer, or a Unix socket to a local client.
///
/// The loop reads from it when the poller says so, gives it bytes to send, and flushes it once a
/// turn. It has no callbacks. Dropping the reference closes it.
///
/// - Not thread-safe: it belongs to the loop's thread.
public final class StreamLink {
    /// How a link ended.
    public enum End: Equatable, Sendable {
        /// The other side has sent all it will (FIN). It may still be reading.
        case finished
        /// The link is gone: reset, timed out or unreachable. Bytes that were not taken are lost.
        case failed(SystemError)
    }

    /// The result of one `receive`.
    public struct Received: Equatable, Sendable {
        /// The bytes in order, perhaps none. They count even when `end` says the link failed.
        public var bytes: [UInt8]
        /// Set once nothing more will come.
        public var end: End?

        /// These bytes and this end.
        public init(bytes: [UInt8] = [], end: End? = nil) {
            self.bytes = bytes
            self.end = end
        }
    }

    /// The socket, for the poller.
    public let descriptor: FileDescriptor
    /// The other side's address, `nil` for a Unix socket.
    public let remoteAddress: SocketAddress?
    /// Set to stop asking the poller for bytes, where what was read waits for somebody slow. The
    /// kernel's buffer then fills and the sender stops.
    public var isReadingPaused = false

    /// Whether anything was ever written.
    public private(set) var hasWritten = false

    private var unsent = UnsentBytes()
    private var hasInputEnded = false
    private var isFinishing = false
    private var failure: SystemError?
    private var waitingSince: UInt64?

    /// Takes over a connected, non-blocking socket.
    public init(_ descriptor: FileDescriptor, remoteAddress: SocketAddress?) {
        self.descriptor = descriptor
        self.remoteAddress = remoteAddress
    }

    /// What the poller should watch for now. Ask after every turn that touched the link.
    public var interest: Poller.Interest {
        var interest: Poller.Interest = []
        if !isReadingPaused && !hasInputEnded { interest.insert(.readable) }
        if !unsent.isEmpty { interest.insert(.writable) }
        return failure == nil ? interest : []
    }

    /// Bytes that were written here and that the kernel has not taken yet.
    public var unsentByteCount: Int { unsent.count }

    /// Since when the other side has taken nothing of what waits for it, in milliseconds of the
    /// clock that `write` and `flush` were given; `nil` while nothing waits.
    public var stalledSince: UInt64? { waitingSince }

    /// Reads what is there, at most `byteCountMax` bytes; the rest is reported ready again.
    ///
    /// Call it when the poller says readable, and once more, paused or not, when it says hung up:
    /// then it tells the end.
    public func receive(byteCountMax: Int, into buffer: ReadBuffer) -> Received {
        var received = Received()
        while received.bytes.count < byteCountMax && received.end == nil {
            let left = byteCountMax - received.bytes.count
            // Most reads bring little, and should take little memory. What follows a full buffer is
            // much, and is not copied.
            let isMuch = !received.bytes.isEmpty
            let wanted = min(left, isMuch ? 4 * buffer.byteCount : buffer.byteCount)
            let count =
                isMuch
                ? received.bytes.receive(byteCountMax: wanted, from: descriptor)
                : buffer.fill(byteCountMax: wanted, from: descriptor)
            if count > 0 {
                if !isMuch { buffer.appendFilled(count, to: &received.bytes) }
                // A short read has emptied the kernel's buffer; asking again would only be told so.
                if count < wanted { break }
            } else if count == 0 {
                received.end = .finished
                hasInputEnded = true
            } else if currentErrorNumber() == EAGAIN {
                break
            } else {
                received.end = fail("recv")
            }
        }
        return received
    }

    /// Takes `bytes` for sending, behind those that wait. They leave with the next `flush`.
    ///
    /// - Parameter now: milliseconds of the caller's monotonic clock.
    /// - Returns: how many bytes wait now. The caller keeps it under its bound by not asking for
    ///   more work of that peer; nothing is refused here.
    @discardableResult
    public func write(_ bytes: [UInt8], now: UInt64) -> Int {
        guard failure == nil && !isFinishing && !bytes.isEmpty else { return unsent.count }
        if unsent.isEmpty { waitingSince = now }
        unsent.append(bytes)
        hasWritten = true
        return unsent.count
    }

    /// Sends as much as the kernel takes without waiting.
    ///
    /// - Returns: the failure if the link is gone, otherwise `nil`.
    @discardableResult
    public func flush(now: UInt64) -> End? {
        if let failure { return .failed(failure) }
        while !unsent.isEmpty {
            let count = unsent.withFirst { bytes in
                uninterrupted {
                    send(descriptor.number, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
                }
            }
            if count < 0 {
                return currentErrorNumber() == EAGAIN ? nil : fail("send")
            }
            unsent.removeFirst(count)
            waitingSince = unsent.isEmpty ? nil : now
        }
        if isFinishing { shutdown(descriptor.number, Int32(SHUT_WR)) }
        return nil
    }

    /// Tells the peer, after the pending bytes, that nothing more will come. Reading continues.
    public func finishWriting(now: UInt64) {
        isFinishing = true
        flush(now: now)
    }

    /// Makes the kernel drop pending bytes and reset the connection when the link is dropped, for a
    /// peer that needs no orderly close.
    public func abandon() {
        var option = linger(l_onoff: 1, l_linger: 0)
        let size = socklen_t(MemoryLayout<linger>.size)
        setsockopt(descriptor.number, SOL_SOCKET, SO_LINGER, &option, size)
        unsent = UnsentBytes()
        waitingSince = nil
    }

    private func fail(_ call: String) -> End {
        let number = currentErrorNumber()
        let error = SystemError(call, path: remoteAddress?.description, number: number)
        failure = error
        hasInputEnded = true
        unsent = UnsentBytes()
        waitingSince = nil
        return .failed(error)
    }
}
