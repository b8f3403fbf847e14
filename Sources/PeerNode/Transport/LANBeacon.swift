private import Glibc

/// The sockets of the beacon: short datagrams to every listener on the same network.
///
/// The core decides the content of a datagram. Nobody replies to one: a node that hears it dials
/// its source address.
///
/// - Not thread-safe: it belongs to the loop's thread.
public final class LANBeacon {
    /// The port of the beacon, which nodes of one machine share.
    public static let port: UInt16 = 29_790
    /// 239.255.116.94, of the administratively scoped local block (RFC 2365); 116.94 is the port.
    public static let groupV4 = IPAddress.v4(0xEFFF_745E)
    /// ff12::745e, transient and link-local (RFC 4291); 745e is the port.
    public static let groupV6 = IPAddress.v6(high: 0xFF12_0000_0000_0000, low: 0x745E, scope: 0)
    /// The longest datagram that is sent or handed on, in bytes.
    public static let datagramByteCountMax = 512

    /// A received datagram.
    public struct Datagram: Equatable, Sendable {
        /// Its bytes, at most `datagramByteCountMax`.
        public let bytes: [UInt8]
        /// The sender, with the interface for a link-local address.
        public let source: SocketAddress
    }

    private struct Side {
        let descriptor: FileDescriptor
        /// The numbers of interfaces, with the addresses of this kind that they have.
        var joined: [UInt32: [IPAddress]]
    }

    private let port: UInt16
    private var v4: Side?
    private var v6: Side?

    /// Opens the sockets and joins the groups on `interfaces`.
    ///
    /// - Throws: `SystemError` if neither IPv4 nor IPv6 could be opened.
    public init(port: UInt16 = LANBeacon.port, interfaces: [NetworkInterface]) throws(SystemError) {
        self.port = port
        v6 = try? Self.open(AF_INET6, SocketAddress(host: .anyV6, port: port))
        do throws(SystemError) {
            v4 = try Self.open(AF_INET, SocketAddress(host: .anyV4, port: port))
        } catch {
            if v6 == nil { throw error }
        }
        join(interfaces)
    }

    /// The sockets, for the poller; one or two, always the same.
    public var descriptors: [FileDescriptor] { [v4, v6].compactMap { $0?.descriptor } }

    /// How many memberships there are, of both kinds.
    public var membershipCount: Int { (v4?.joined.count ?? 0) + (v6?.joined.count ?? 0) }

    /// Joins the groups on these interfaces where that has not been done, and stops sending on the
    /// others. Call it again whenever the network changed. An interface that refuses is left out:
    /// the beacon is a bonus.
    public func join(_ interfaces: [NetworkInterface]) {
        var hasV4: [UInt32: [IPAddress]] = [:]
        var hasV6: [UInt32: [IPAddress]] = [:]
        for interface in interfaces {
            let v4 = interface.addresses.filter(\.isV4)
            if !v4.isEmpty { hasV4[interface.index] = v4 }
            if v4.count < interface.addresses.count {
                hasV6[interface.index] = interface.addresses.filter { !$0.isV4 }
            }
        }
        // In two steps: to read a side while it is being assigned is a conflict that traps.
        let joinedV4 = v4.map { side in hasV4.filter { Self.joinV4(side, $0.key) } }
        let joinedV6 = v6.map { side in hasV6.filter { Self.joinV6(side, $0.key) } }
        v4?.joined = joinedV4 ?? [:]
        v6?.joined = joinedV6 ?? [:]
    }

    /// The addresses of this machine that `send` takes, each once, in their fixed order.
    public var sources: [IPAddress] {
        let all = [v4, v6].compactMap { $0 }.flatMap { $0.joined.values.joined() }
        return Set(all).sorted()
    }

    /// Sends one datagram from an address of this machine, on the interface that has it.
    ///
    /// - Returns: whether it was sent. A failure is not an error: a laptop on a train has no
    ///   network.
    @discardableResult
    public func send(_ bytes: [UInt8], from source: IPAddress) -> Bool {
        precondition(bytes.count <= Self.datagramByteCountMax, "the core made too long a beacon")
        guard let side = source.isV4 ? v4 : v6,
            let index = side.joined.first(where: { $0.value.contains(source) })?.key,
            Self.choose(source, on: index, side)
        else { return false }
        var group = Self.groupV4
        if !source.isV4, case .v6(let high, let low, _) = Self.groupV6 {
            group = .v6(high: high, low: low, scope: index)
        }
        return send(bytes, by: side, to: SocketAddress(host: group, port: port))
    }

    /// The datagrams that wait, at most `countMax`; the rest is reported ready again. Longer ones
    /// than are allowed are dropped.
    public func receive(countMax: Int, into buffer: ReadBuffer) -> [Datagram] {
        var heard: [Datagram] = []
        for side in [v4, v6].compactMap({ $0 }) {
            for _ in 0..<countMax {
                let (count, source) = buffer.fillDatagram(from: side.descriptor)
                if count < 0 { break }
                guard let source, count <= Self.datagramByteCountMax else { continue }
                var bytes: [UInt8] = []
                buffer.appendFilled(count, to: &bytes)
                heard.append(Datagram(bytes: bytes, source: source))
            }
        }
        return heard
    }

    private func send(_ bytes: [UInt8], by side: Side, to address: SocketAddress) -> Bool {
        let count = RawSocketAddress(address).withPointer { pointer, length in
            uninterrupted {
                let flags = Int32(MSG_NOSIGNAL)
                return sendto(side.descriptor.number, bytes, bytes.count, flags, pointer, length)
            }
        }
        return count == bytes.count
    }
}

extension LANBeacon {
    private static func open(_ family: Int32, _ address: SocketAddress) throws(SystemError) -> Side
    {
        let descriptor = try FileDescriptor.socket(family, SOCK_DGRAM)
        // Several nodes of one machine hear the same datagrams.
        try descriptor.setOption(SOL_SOCKET, SO_REUSEADDR, 1)
        if family == AF_INET6 {
            let level = Int32(IPPROTO_IPV6)
            try descriptor.setOption(level, IPV6_V6ONLY, 1)
            try descriptor.setOption(level, IPV6_MULTICAST_HOPS, 1)
        } else {
            let level = Int32(IPPROTO_IP)
            try descriptor.setOption(level, IP_MULTICAST_TTL, 1)
            // Only what this socket joined, not what any program of the machine did.
            try descriptor.setOption(level, IP_MULTICAST_ALL, 0)
        }
        try descriptor.bind(RawSocketAddress(address), path: "udp \(address)")
        return Side(descriptor: descriptor, joined: [:])
    }

    /// Has what is sent next leave by an interface and from an address of it.
    private static func choose(_ source: IPAddress, on index: UInt32, _ side: Side) -> Bool {
        if source.isV4 {
            var request = ip_mreqn()
            request.imr_ifindex = Int32(bitPattern: index)
            withUnsafeMutableBytes(of: &request.imr_address) { $0.copyBytes(from: source.bytes) }
            return withUnsafeBytes(of: &request) {
                setOption(side.descriptor, Int32(IPPROTO_IP), IP_MULTICAST_IF, $0)
            }
        }
        // struct in6_pktinfo: an address, and the number of an interface (RFC 3542, 6.1).
        var information = source.bytes
        withUnsafeBytes(of: index) { information += $0 }
        return information.withUnsafeBytes {
            setOption(side.descriptor, Int32(IPPROTO_IPV6), packetInformationV6, $0)
        }
    }

    private static func joinV4(_ side: Side, _ index: UInt32) -> Bool {
        guard case .v4(let group) = groupV4 else { return false }
        var request = ip_mreqn()
        request.imr_multiaddr.s_addr = group.bigEndian
        request.imr_ifindex = Int32(bitPattern: index)
        return withUnsafeBytes(of: &request) {
            setOption(side.descriptor, Int32(IPPROTO_IP), IP_ADD_MEMBERSHIP, $0)
        } || currentErrorNumber() == EADDRINUSE
    }

    private static func joinV6(_ side: Side, _ index: UInt32) -> Bool {
        var request = ipv6_mreq()
        withUnsafeMutableBytes(of: &request.ipv6mr_multiaddr) { $0.copyBytes(from: groupV6.bytes) }
        request.ipv6mr_interface = index
        return withUnsafeBytes(of: &request) {
            setOption(side.descriptor, Int32(IPPROTO_IPV6), IPV6_JOIN_GROUP, $0)
        } || currentErrorNumber() == EADDRINUSE
    }
}

/// IPV6_PKTINFO, which the headers show to those alone who ask for more than POSIX.
private let packetInformationV6: Int32 = 50

/// Sets an option whose value is a structure; EADDRINUSE says that a group is joined already.
private func setOption(
    _ descriptor: FileDescriptor, _ level: Int32, _ name: Int32, _ value: UnsafeRawBufferPointer
) -> Bool {
    setsockopt(descriptor.number, level, name, value.baseAddress, socklen_t(value.count)) == 0
}
