import WorkspaceModel

/// The format of a frame's plaintext: fragments, each `head u8 || length u16be || bytes`.
///
/// - Source: PROTOCOL.md, 5.2.
public enum Frame {
    /// Bytes of a frame's plaintext: the frame without its length and the 16-byte tag.
    public static let plaintextBytesMax = Limits.frameBytesMax - 16
    /// Bytes before a fragment's contents.
    static let fragmentHeadBytes = 3
    /// Bit of the head that marks a message's last fragment.
    static let finalBit: UInt8 = 0b100
    /// Bits of the head that name the class.
    static let classBits: UInt8 = 0b011
}

/// How urgent a message is. Fragments of a lower class overtake those of a higher one.
public enum MessageClass: UInt8, CaseIterable, Comparable, Sendable {
    /// Opening, requests, keep-alive.
    case control = 0
    /// New operations and announcements as they happen.
    case live = 1
    /// Answers to pulls and descents.
    case bulk = 2
    /// Pieces of files.
    case blob = 3

    /// More urgent first.
    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}
