extension PeerRegistry {
    /// What a peer is doing, for people and for the owner.
    public enum DialState: Equatable, Sendable {
        /// No address to dial, or due with the next `dialsDue`.
        case idle
        /// An attempt is under way.
        case dialing(PeerAddress)
        /// Resting until then, in monotonic milliseconds.
        case waiting(until: UInt64)
        /// A link is open.
        case connected
        /// Never dialled and not let in, by somebody's word.
        case blocked
        /// All dialling is off.
        case suspended
    }

    /// One peer, for display.
    public struct Peer: Equatable, Sendable {
        /// The device, or the address of somebody unknown.
        public let name: PeerName
        /// Where it may be, best first.
        public let addresses: [KnownAddress]
        /// What it is doing.
        public let state: DialState
        /// Rounds of attempts that failed since the last good link.
        public let failures: Int
        /// The word of the last failure.
        public let lastError: String?
        /// When a link to it last stood, in wall milliseconds.
        public let lastSeen: UInt64?
        /// When an attempt failed last, in monotonic milliseconds; `nil` where none did since the start.
        public let lastTried: UInt64?
    }

    /// An attempt that the owner must now make, and report under its number.
    public struct Dial: Equatable, Sendable {
        /// Never used twice by one registry.
        public let number: UInt64
        /// The expected peer.
        public let peer: PeerName
        /// Where to dial.
        public let address: PeerAddress
    }
}
