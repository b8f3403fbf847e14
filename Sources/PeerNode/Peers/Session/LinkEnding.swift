import SyncProtocol
import WorkspaceCrypto

/// Why a link ended: a stable word for logs and counters, and a few more for people. Never contains
/// bytes from the peer.
public struct LinkEnding: Error, Hashable, Sendable {
    /// The stable word, such as `handshake.bad_mac`.
    public let word: String
    /// What a log line says besides; may be empty.
    public let detail: String

    /// An ending with its owner's word.
    public init(_ word: String, _ detail: String = "") {
        self.word = word
        self.detail = detail
    }

    /// The hint of message 1 belongs to no secret that is held here. Nothing was answered.
    public static let unknownHint = LinkEnding("handshake.unknown")
    /// The other side stopped before the end of the handshake, or sent less than a message has.
    public static let short = LinkEnding("handshake.short")
    /// A handshake message with the wrong length or an invalid payload.
    public static let bad = LinkEnding("handshake.bad")
    /// A public key of low order.
    public static let badKey = LinkEnding("handshake.bad_key")
    /// A handshake message that was changed, or made with another prologue or secret.
    public static let badHandshakeMAC = LinkEnding("handshake.bad_mac")
    /// The handshake took more than five seconds.
    public static let handshakeTimeout = LinkEnding("handshake.timeout")
    /// Somebody else needed the place of a handshake under way.
    public static let crowded = LinkEnding("handshake.crowded")
    /// Its first message was answered before.
    public static let replayed = LinkEnding("handshake.replayed")
    /// The certificate does not bind the device to the static key that Noise proved.
    public static let unbound = LinkEnding("auth.binding")
    /// The node dialled itself.
    public static let ourselves = LinkEnding("link.self")
    /// A length prefix that no frame has.
    public static let badLength = LinkEnding("frame.bad_length")
    /// A frame that was changed, lost, repeated or reordered.
    public static let badFrameMAC = LinkEnding("transport.bad_mac")
    /// The counter of a cipher is used up.
    public static let exhausted = LinkEnding("transport.exhausted")
    /// The peer took nothing for 30 seconds, or left more unread than we keep.
    public static let stalled = LinkEnding("transport.stalled")
    /// Nothing came for 90 seconds.
    public static let dead = LinkEnding("transport.dead")
    /// The other side closed.
    public static let closedByPeer = LinkEnding("link.closed")

    /// The peer is no longer a member, and was told so.
    public static let farewell = LinkEnding("link.farewell")
    /// The peer said that this device is no longer a member.
    public static let removed = LinkEnding("removed")

    /// The versions that both sides offered, which have none in common.
    static func version(ours: ClosedRange<UInt64>, theirs: (UInt64, UInt64)) -> LinkEnding {
        LinkEnding(
            "handshake.version",
            "we speak \(ours.lowerBound) to \(ours.upperBound), they \(theirs.0) to \(theirs.1)")
    }

    /// What a Noise error during the handshake means.
    init(handshake error: NoiseError) {
        switch error {
        case .truncated: self = .short
        case .badMAC: self = .badHandshakeMAC
        case .badKey: self = .badKey
        case .messageTooLong, .wrongTurn, .exhausted: self = .bad
        }
    }

    /// What a Noise error after the handshake means.
    init(transport error: NoiseError) {
        switch error {
        case .exhausted: self = .exhausted
        case .messageTooLong: self = .badLength
        case .truncated, .badMAC, .badKey, .wrongTurn: self = .badFrameMAC
        }
    }

    /// A broken rule of the sync protocol.
    init(_ violation: SyncViolation) {
        self.init(violation.code, "\(violation)")
    }
}
