private import Glibc

/// A host's address, IPv4 or IPv6, as a value.
///
/// IPv4 inside IPv6 (`::ffff:a.b.c.d`, as a dual-stack listener sees it) is IPv4 here, so that one
/// host has one address.
public enum IPAddress: Hashable, Sendable {
    /// Four bytes, the first in the highest place.
    case v4(UInt32)
    /// Sixteen bytes as two such words. `scope` is the number of the interface where a link-local
    /// address means something, else 0; it means nothing on another machine.
    case v6(high: UInt64, low: UInt64, scope: UInt32)

    /// Every IPv4 address of this machine.
    public static let anyV4 = IPAddress.v4(0)
    /// Every address of this machine.
    public static let anyV6 = IPAddress.v6(high: 0, low: 0, scope: 0)
    /// 127.0.0.1
    public static let loopbackV4 = IPAddress.v4(0x7F00_0001)
    /// ::1
    public static let loopbackV6 = IPAddress.v6(high: 0, low: 1, scope: 0)

    /// The address of 16 bytes, which may hold an IPv4 one.
    init(v6Bytes bytes: [UInt8], scope: UInt32) {
        precondition(bytes.count == 16, "an IPv6 address of \(bytes.count) bytes")
        let high = bytes[..<8].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        let low = bytes[8...].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        if high == 0 && low >> 32 == 0xFFFF {
            self = .v4(UInt32(truncatingIfNeeded: low))
        } else {
            // Only a link-local address differs from one interface to the next.
            self = .v6(high: high, low: low, scope: Self.isScoped(high) ? scope : 0)
        }
    }

    /// The address that `text` spells: `192.0.2.1`, `fd00::1`, `fe80::1%eth0` or `fe80::1%2`.
    /// No brackets, no names of hosts.
    public init?(_ text: String) {
        // No address is longer, and nothing longer is worth looking at.
        guard text.utf8.count <= 64, !text.utf8.contains(0) else { return nil }
        var v4 = in_addr()
        if inet_pton(AF_INET, text, &v4) == 1 {
            self = .v4(UInt32(bigEndian: v4.s_addr))
            return
        }
        let parts = text.split(separator: "%", maxSplits: 1, omittingEmptySubsequences: false)
        var v6 = in6_addr()
        guard inet_pton(AF_INET6, String(parts[0]), &v6) == 1 else { return nil }
        var scope: UInt32 = 0
        if parts.count == 2 {
            scope = UInt32(parts[1]) ?? if_nametoindex(String(parts[1]))
            if scope == 0 { return nil }
        }
        self.init(v6Bytes: withUnsafeBytes(of: v6) { [UInt8]($0) }, scope: scope)
    }

    /// Means this machine.
    public var isLoopback: Bool {
        switch self {
        case .v4(let word): word >> 24 == 127
        case .v6(let high, let low, _): high == 0 && low == 1
        }
    }

    /// Holds only on one link: 169.254/16 or fe80::/10. Such an address is never told to others.
    public var isLinkLocal: Bool {
        switch self {
        case .v4(let word): word >> 16 == 0xA9FE
        case .v6(let high, _, _): high >> 54 == 0x3FA
        }
    }

    /// Is IPv4.
    public var isV4: Bool { if case .v4 = self { true } else { false } }

    /// Names a group of hosts: 224/4 or ff00::/8.
    public var isMulticast: Bool {
        switch self {
        case .v4(let word): word >> 28 == 0xE
        case .v6(let high, _, _): high >> 56 == 0xFF
        }
    }

    /// Stands for all addresses of this machine; nobody can be dialled there.
    public var isWildcard: Bool {
        switch self {
        case .v4(let word): word == 0
        case .v6(let high, let low, _): high == 0 && low == 0
        }
    }

    /// The 4 or 16 bytes in network order, without the scope.
    public var bytes: [UInt8] {
        switch self {
        case .v4(let word): bigEndianBytes(UInt64(word), count: 4)
        case .v6(let high, let low, _):
            bigEndianBytes(high, count: 8) + bigEndianBytes(low, count: 8)
        }
    }

    /// Link-local unicast, and multicast of interface and link scope.
    private static func isScoped(_ high: UInt64) -> Bool {
        high >> 54 == 0x3FA || (high >> 56 == 0xFF && (1...2).contains(high >> 48 & 0xF))
    }
}

extension IPAddress: CustomStringConvertible {
    /// The usual spelling (RFC 5952), with `%` and the interface's number for a scoped one.
    public var description: String {
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        let family = isV4 ? AF_INET : AF_INET6
        guard inet_ntop(family, bytes, &text, socklen_t(text.count)) != nil else { return "?" }
        let spelled = String(
            decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        if case .v6(_, _, let scope) = self, scope != 0 { return "\(spelled)%\(scope)" }
        return spelled
    }
}

extension IPAddress: Comparable {
    /// IPv4 before IPv6, then the order of the bytes: a fixed order for what is sent or shown.
    public static func < (left: Self, right: Self) -> Bool { left.sortKey < right.sortKey }

    private var sortKey: (UInt8, UInt64, UInt64, UInt32) {
        switch self {
        case .v4(let word): (4, 0, UInt64(word), 0)
        case .v6(let high, let low, let scope): (6, high, low, scope)
        }
    }
}

private func bigEndianBytes(_ word: UInt64, count: UInt64) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: word >> (8 * (count - 1 - $0))) }
}
