/// Where a peer may be reached over TCP: a numeric address or a name, and a port.
///
/// A pure value: nothing is looked up. Its text is what people type and what travels in address
/// records: `192.0.2.7:29790`, `[2001:db8::1]:29790`, `node.example:29790`. Two addresses are
/// equal exactly when their texts are.
public struct PeerAddress: Hashable, Sendable {
    /// The part before the port.
    public enum Host: Hashable, Sendable {
        /// Four bytes in network order.
        case ipv4(UInt32)
        /// Sixteen bytes in network order as two words. The scope is the number of a network
        /// interface for link-local addresses, and 0 elsewhere; it means nothing to other hosts.
        case ipv6(UInt64, UInt64, scope: UInt32)
        /// A host name of lower-case letters, digits, hyphens, underscores and dots.
        case name(String)
    }

    /// The scope of an address, which decides whether it is worth telling to others.
    public enum Reach: Sendable {
        /// This host only.
        case loopback
        /// This network segment only; needs an interface number.
        case linkLocal
        /// Private ranges and unique local addresses.
        case site
        /// Everything else, and every name.
        case global
        /// Unspecified, multicast and broadcast addresses: nobody can be dialled there.
        case none
    }

    /// The port that `wsx-node` listens on unless it is told otherwise.
    public static let defaultPort: UInt16 = 29_790
    /// The longest text that is read, in bytes: a 253-byte name and a port.
    public static let textBytesMax = 260

    /// The part before the port.
    public let host: Host
    /// The TCP port, never 0.
    public let port: UInt16

    /// The address of `host` at `port`, or `nil` for port 0 or a name that no host can have.
    public init?(host: Host, port: UInt16) {
        guard port != 0 else { return nil }
        if case .name(let name) = host, AddressText.name(Array(name.utf8)) != name { return nil }
        self.host = Self.canonical(host)
        self.port = port
    }

    /// Reads `1.2.3.4:29790`, `[v6]:29790`, `[fe80::1%3]:29790` or `name:29790`; with
    /// `defaultPort`, also without a port, an IPv6 address then also without brackets.
    public init?(_ text: String, defaultPort: UInt16? = nil) {
        guard text.utf8.count <= Self.textBytesMax else { return nil }
        let bytes = Array(text.utf8)
        if let defaultPort, let host = AddressText.ipv6(bytes) {
            self.init(host: host, port: defaultPort)
            return
        }
        guard let (hostBytes, portBytes) = AddressText.split(bytes) else { return nil }
        guard let port = portBytes.map(AddressText.port) ?? defaultPort else { return nil }
        guard let host = AddressText.host(hostBytes) else { return nil }
        self.init(host: host, port: port)
    }

    /// IPv4 inside IPv6, as a listener for both sees it, is IPv4; a scope is kept only where it
    /// means something. So one host has one address.
    private static func canonical(_ host: Host) -> Host {
        guard case .ipv6(let high, let low, _) = host else { return host }
        if high == 0, low >> 32 == 0xffff { return .ipv4(UInt32(truncatingIfNeeded: low)) }
        return high >> 54 == 0xfe80 >> 6 ? host : .ipv6(high, low, scope: 0)
    }

    /// The one text of this address. IPv6 is written as RFC 5952 recommends.
    public var text: String {
        if case .ipv6 = host { "[\(host.text)]:\(port)" } else { "\(host.text):\(port)" }
    }

    /// The scope of this address.
    ///
    /// - Source: the IANA special-purpose address registries.
    public var reach: Reach {
        switch host {
        case .name(let name): name == "localhost" ? .loopback : .global
        case .ipv4(let number): Self.reach(ipv4: number)
        case .ipv6(0, 0, _): .none
        case .ipv6(0, 1, _): .loopback
        case .ipv6(let high, _, _) where high >> 56 == 0xff: .none
        case .ipv6(let high, _, _) where high >> 54 == 0xfe80 >> 6: .linkLocal
        case .ipv6(let high, _, _) where high >> 57 == 0xfc >> 1: .site
        case .ipv6: .global
        }
    }

    private static func reach(ipv4 number: UInt32) -> Reach {
        switch number >> 24 {
        case 127: .loopback
        case 0, 224...255: .none
        case 10: .site
        case 172 where number >> 20 == 0xac1: .site
        case 192 where number >> 16 == 0xc0a8: .site
        case 100 where number >> 22 == 0x6440 >> 6: .site
        case 169 where number >> 16 == 0xa9fe: .linkLocal
        default: .global
        }
    }
}

extension PeerAddress.Host {
    /// The host alone, IPv6 without brackets.
    public var text: String {
        switch self {
        case .ipv4(let number): AddressText.dotted(number)
        case .ipv6(let high, let low, let scope):
            AddressText.colons(high, low) + (scope == 0 ? "" : "%\(scope)")
        case .name(let name): name
        }
    }
}

extension PeerAddress: Comparable, CustomStringConvertible {
    /// By host kind, then number or name, then port: a stable order for lists, nothing more.
    public static func < (left: Self, right: Self) -> Bool {
        let (leftRank, rightRank) = (left.rank, right.rank)
        if leftRank != rightRank { return leftRank < rightRank }
        if case .name(let leftName) = left.host, case .name(let rightName) = right.host,
            leftName != rightName
        {
            return leftName.utf8.lexicographicallyPrecedes(rightName.utf8)
        }
        return left.port < right.port
    }

    private var rank: (UInt8, UInt64, UInt64, UInt32) {
        switch host {
        case .ipv4(let number): (0, UInt64(number), 0, 0)
        case .ipv6(let high, let low, let scope): (1, high, low, scope)
        case .name: (2, 0, 0, 0)
        }
    }

    /// The text.
    public var description: String { text }
}
