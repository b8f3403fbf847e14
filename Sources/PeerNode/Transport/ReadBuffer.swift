private import Glibc

/// The single buffer into which the loop reads from all links, so that an idle connection uses no
/// memory of this process.
///
/// - Not thread-safe: it belongs to the loop's thread.
public final class ReadBuffer {
    /// How many bytes one system call may bring.
    public let byteCount: Int
    private let storage: UnsafeMutableRawBufferPointer

    /// - Parameter byteCount: more than 0. 64 KiB is where larger calls stop being faster.
    public init(byteCount: Int = 64 * 1024) {
        precondition(byteCount > 0, "a buffer that nothing fits into")
        self.byteCount = byteCount
        storage = .allocate(byteCount: byteCount, alignment: 16)
    }

    deinit { storage.deallocate() }

    /// Receives once, at most `byteCountMax` bytes.
    ///
    /// - Returns: the count of `recv`: 0 at the end, -1 with an errno.
    func fill(byteCountMax: Int, from descriptor: FileDescriptor) -> Int {
        let count = min(byteCountMax, storage.count)
        return uninterrupted { recv(descriptor.number, storage.baseAddress, count, 0) }
    }

    /// Receives one datagram and who sent it. A longer one reports its real length, with only what
    /// fits in the buffer.
    func fillDatagram(from descriptor: FileDescriptor) -> (count: Int, source: SocketAddress?) {
        var raw = RawSocketAddress()
        var count = 0
        _ = raw.fill { address, length in
            count = uninterrupted {
                recvfrom(
                    descriptor.number, storage.baseAddress, storage.count,
                    Int32(MSG_TRUNC), address, &length)
            }
            return 0
        }
        return (count, count >= 0 ? raw.address : nil)
    }

    /// Copies the first `count` bytes out.
    func appendFilled(_ count: Int, to bytes: inout [UInt8]) {
        bytes += storage[..<min(count, storage.count)]
    }
}

extension [UInt8] {
    /// Receives once behind these bytes, at most `byteCountMax`, for which there is room then.
    ///
    /// - Returns: the count of `recv`: 0 at the end, -1 with an errno.
    mutating func receive(byteCountMax: Int, from descriptor: FileDescriptor) -> Int {
        var result = 0
        append(addingCapacity: byteCountMax) { output in
            output.withUnsafeMutableBufferPointer { memory, initializedCount in
                let room = Swift.min(byteCountMax, memory.count)
                result = uninterrupted { recv(descriptor.number, memory.baseAddress, room, 0) }
                initializedCount = Swift.max(0, result)
            }
        }
        return result
    }
}

/// Outgoing bytes, in order.
///
/// Small pieces are combined, so that a thousand answers of one turn cost a few system calls; large
/// ones are kept as they are, to avoid copies.
struct UnsentBytes {
    private static let pieceByteCount = 64 * 1024

    /// How many bytes wait.
    private(set) var count = 0
    private var pieces: [[UInt8]] = []
    /// Pieces before this one have left.
    private var first = 0
    /// Bytes of the first piece that have left.
    private var taken = 0

    var isEmpty: Bool { count == 0 }

    mutating func append(_ bytes: [UInt8]) {
        // An empty piece would be shown as if nothing waited behind it.
        guard !bytes.isEmpty else { return }
        count += bytes.count
        let last = pieces.count - 1
        if last >= first, pieces[last].count + bytes.count <= Self.pieceByteCount {
            pieces[last] += bytes
        } else {
            pieces.append(bytes)
        }
    }

    /// The next bytes to leave, without the pieces behind them.
    func withFirst(_ body: (UnsafeRawBufferPointer) -> Int) -> Int {
        pieces[first].withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[taken...])) }
    }

    /// Drops bytes that have left.
    ///
    /// - Parameter byteCount: at most what `withFirst` showed.
    mutating func removeFirst(_ byteCount: Int) {
        precondition(byteCount <= pieces[first].count - taken, "more was taken than shown")
        count -= byteCount
        taken += byteCount
        guard taken == pieces[first].count else { return }
        pieces[first] = []
        first += 1
        taken = 0
        // Moving the list each time would cost its length each time.
        if first == pieces.count || first > 256 {
            pieces.removeFirst(first)
            first = 0
        }
    }
}
