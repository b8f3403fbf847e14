import WorkspaceModel

/// How many bytes are missing from the frame that a peer has started (PROTOCOL.md, 5.1 and 5.2).
///
/// A peer may send a frame byte by byte, and each byte would cost a turn of the node. The kernel is
/// told how many bytes to wait for, and wakes nobody before.
struct FrameGauge {
    /// Bytes that are missing of the hint, or of a frame's content.
    private var missing: Int
    /// The first byte of a frame's length, when the second has not come.
    private var lengthHighByte: UInt8?

    /// - Parameter isAccepted: whether the other end dialled, and begins with its hint.
    init(isAccepted: Bool) { missing = isAccepted ? LinkHandshake.hintByteCount : 0 }

    /// How many bytes are worth waking for.
    var wanted: Int {
        if lengthHighByte != nil { return 1 }
        return missing == 0 ? 1 : min(missing, Limits.gatheredBytesMax)
    }

    /// Counts the arrived bytes.
    mutating func take(_ bytes: [UInt8]) {
        var next = 0
        while next < bytes.count {
            if missing > 0 {
                let taken = min(missing, bytes.count - next)
                missing -= taken
                next += taken
            } else if let high = lengthHighByte.take() {
                missing = Int(high) << 8 | Int(bytes[next])
                next += 1
            } else {
                lengthHighByte = bytes[next]
                next += 1
            }
        }
    }
}
