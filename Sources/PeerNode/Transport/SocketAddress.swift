/// Where a node can be reached: a host's address and a port.
public struct SocketAddress: Hashable, Sendable {
    /// The host.
    public var host: IPAddress
    /// The port. 0 lets the kernel choose when listening, and is nowhere to dial.
    public var port: UInt16

    /// An address of these two parts.
    public init(host: IPAddress, port: UInt16) {
        self.host = host
        self.port = port
    }

    /// Parses `192.0.2.1:29790` or `[fd00::1]:29790`. The port is required, and names are rejected.
    public init?(_ text: String) {
        guard let parts = HostAndPort(text), let port = parts.port, let host = IPAddress(parts.host)
        else { return nil }
        self.init(host: host, port: port)
    }
}

extension SocketAddress: CustomStringConvertible {
    /// The spelling that `init` reads.
    public var description: String {
        if case .v4 = host { "\(host):\(port)" } else { "[\(host)]:\(port)" }
    }
}

extension SocketAddress: Comparable {
    /// By host, then by port.
    public static func < (left: Self, right: Self) -> Bool {
        (left.host, left.port) < (right.host, right.port)
    }
}

/// What a person types to say where a node is: a host by name or address, optionally with a port.
public struct HostAndPort: Equatable, Sendable {
    /// A name, or an address without brackets. Never empty.
    public let host: String
    /// The port after the last colon, `nil` where there is none.
    public let port: UInt16?

    /// Reads `host`, `host:port`, `1.2.3.4:port`, `[v6]`, `[v6]:port` or a bare IPv6 address, which
    /// has no port. A port is 0...65535 in decimal digits and nothing else.
    public init?(_ text: String) {
        let bytes = Array(text.utf8)
        // 253 bytes of name, brackets, colon and port.
        guard bytes.count <= 261, bytes.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { return nil }
        let colon = UInt8(ascii: ":")
        let host: [UInt8]
        let rest: [UInt8]
        if bytes.first == UInt8(ascii: "[") {
            guard let end = bytes.firstIndex(of: UInt8(ascii: "]")) else { return nil }
            host = Array(bytes[1..<end])
            rest = Array(bytes[(end + 1)...])
            guard host.contains(colon) else { return nil }
        } else if bytes.count(where: { $0 == colon }) > 1 {
            host = bytes
            rest = []
        } else {
            let end = bytes.firstIndex(of: colon) ?? bytes.endIndex
            host = Array(bytes[..<end])
            rest = Array(bytes[end...])
        }
        guard !host.isEmpty else { return nil }
        self.host = String(decoding: host, as: UTF8.self)
        if rest.isEmpty {
            port = nil
        } else {
            guard rest[0] == colon, let number = Self.port(rest.dropFirst()) else { return nil }
            port = number
        }
    }

    private static func port(_ digits: ArraySlice<UInt8>) -> UInt16? {
        // `UInt16(String)` alone would take a plus sign.
        guard (1...5).contains(digits.count), digits.allSatisfy({ (0x30...0x39).contains($0) })
        else { return nil }
        return UInt16(String(decoding: digits, as: UTF8.self))
    }
}
