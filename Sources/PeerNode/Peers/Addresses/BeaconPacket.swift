public import WorkspaceCrypto

/// What a node sends into the local network: that a peer who shares a secret with the receiver
/// listens at a port. 82 bytes, of which strangers can read only the port.
///
/// ```
/// packet = nonce 16 || TCP port u16be || 8 tags of 8 bytes
/// tag    = Hk(key, window u64 || nonce || address 16 || port)[0..7], window = wall ms / 15 min
/// key    = Hk(disc, "beacon") for a workspace, Hk(psk, "beacon") for an open invite
/// ```
/// Slots without a tag are random, and the nonce is new in every packet, so packets show neither
/// how many workspaces a node is in nor that two of them are from one node. A tag is valid only for
/// the address and port that it was made for, so a replayed packet makes nobody dial where its
/// sender is not.
///
/// - Source: PROTOCOL.md, 5.7.
public struct BeaconPacket: Equatable, Sendable {
    /// The size of a packet.
    public static let byteCount = nonceByteCount + 2 + tagCount * tagByteCount
    /// The number of tags in a packet.
    public static let tagCount = 8
    /// How long a tag is valid: this long, and as long again before and after, so that clocks may
    /// differ by a quarter of an hour.
    public static let windowMilliseconds: UInt64 = 15 * 60 * 1_000

    /// In how many windows a tag is looked for.
    static let triedWindowCount = 3

    private static let nonceByteCount = 16
    private static let tagByteCount = 8

    /// 16 random bytes. A node that hears a nonce of its own hears itself.
    public let nonce: [UInt8]
    /// Where the sender listens, never 0. The address is the one the packet comes from.
    public let port: UInt16
    /// Eight tags of 8 bytes, some of them random.
    private let tags: [[UInt8]]

    /// A packet for the first eight of `keys`.
    ///
    /// - Parameter source: the address that it is sent from, no name.
    /// - Precondition: `port` is not 0.
    public init(
        from source: PeerAddress.Host, port: UInt16, keys: [SymmetricKey],
        wallMilliseconds: UInt64, using random: any RandomSource
    ) {
        precondition(port != 0, "a beacon without a port")
        let nonce = random.bytes(Self.nonceByteCount)
        self.nonce = nonce
        self.port = port
        let window = wallMilliseconds / Self.windowMilliseconds
        let place = Self.place(source, port)
        tags = (0..<Self.tagCount).map { index in
            index < keys.count
                ? Self.tag(keys[index], window: window, nonce + place)
                : random.bytes(Self.tagByteCount)
        }
    }

    /// The eight keys for one packet: half of the places are for workspaces however many invites there
    /// are, and what does not fit has its turn in the next ones.
    static func keys(
        first: [SymmetricKey], others: [SymmetricKey], turn: UInt64
    ) -> [SymmetricKey] {
        let room = max(tagCount / 2, tagCount - others.count)
        let chosen = turned(first, room, turn)
        return chosen + turned(others, tagCount - chosen.count, turn)
    }

    private static func turned(
        _ keys: [SymmetricKey], _ room: Int, _ turn: UInt64
    ) -> [SymmetricKey] {
        guard keys.count > room else { return keys }
        let start = Int(turn % UInt64(keys.count)) * room
        return (0..<room).map { keys[(start + $0) % keys.count] }
    }

    /// The packet in `bytes`, or `nil` for another length or port 0. Says nothing about who sent it.
    public init?(untrusted bytes: [UInt8]) {
        guard bytes.count == Self.byteCount else { return nil }
        nonce = Array(bytes.prefix(Self.nonceByteCount))
        port = bytes[16..<18].reduce(0) { $0 << 8 | UInt16($1) }
        guard port != 0 else { return nil }
        tags = stride(from: 18, to: Self.byteCount, by: Self.tagByteCount).map {
            Array(bytes[$0..<$0 + Self.tagByteCount])
        }
    }

    /// The 82 bytes.
    public var bytes: [UInt8] {
        nonce + [UInt8(port >> 8), UInt8(truncatingIfNeeded: port)] + tags.joined()
    }

    /// Whether the sender holds `key` and is where the packet came from, by a tag of this window, the
    /// one before or the one after.
    public func matches(
        _ key: SymmetricKey, from source: PeerAddress.Host, wallMilliseconds: UInt64
    ) -> Bool {
        let bound = nonce + Self.place(source, port)
        let window = wallMilliseconds / Self.windowMilliseconds
        let first = window == 0 ? 0 : window - 1
        return (first...window + 1).contains { candidate in
            tags.contains(Self.tag(key, window: candidate, bound))
        }
    }

    /// Address and port as a tag covers them: 16 bytes, an IPv4 address inside an IPv6 one, without the
    /// number of an interface; and 2. No name has any.
    private static func place(_ source: PeerAddress.Host, _ port: UInt16) -> [UInt8] {
        let (high, low): (UInt64, UInt64) =
            switch source {
            case .ipv4(let number): (0, 0xffff << 32 | UInt64(number))
            case .ipv6(let high, let low, _): (high, low)
            case .name: (0, 0)
            }
        return bytes(of: high, 8) + bytes(of: low, 8) + bytes(of: UInt64(port), 2)
    }

    private static func bytes(of number: UInt64, _ count: Int) -> [UInt8] {
        (1...count).map { UInt8(truncatingIfNeeded: number >> UInt64(8 * (count - $0))) }
    }

    private static func tag(_ key: SymmetricKey, window: UInt64, _ bound: [UInt8]) -> [UInt8] {
        let windowBytes = (0..<8).map { UInt8(truncatingIfNeeded: window >> UInt64(8 * $0)) }
        return Array(Hash.keyed(key, windowBytes, bound).prefix(tagByteCount))
    }
}
