private import Glibc

/// A socket on which peers connect.
///
/// - Not thread-safe: it belongs to the loop's thread.
public final class TCPListener {
    /// Where it listens, with the port the kernel chose.
    public let address: SocketAddress
    private var queue: AcceptQueue

    /// Listens at `address`. `[::]` takes IPv4 as well; where there is no IPv6 at all it becomes
    /// `0.0.0.0`.
    ///
    /// - Throws: `SystemError`; `isAddressTaken` says that somebody else has the port.
    public convenience init(_ address: SocketAddress) throws(SystemError) {
        do throws(SystemError) {
            try self.init(exactly: address)
        } catch {
            let isUnsupported = error.number == EAFNOSUPPORT || error.number == EADDRNOTAVAIL
            guard address.host == .anyV6, isUnsupported else { throw error }
            try self.init(exactly: SocketAddress(host: .anyV4, port: address.port))
        }
    }

    private init(exactly address: SocketAddress) throws(SystemError) {
        let descriptor = try FileDescriptor.socket(address.family, SOCK_STREAM)
        // Otherwise a restart would wait a minute for the old connections to be forgotten.
        try descriptor.setOption(SOL_SOCKET, SO_REUSEADDR, 1)
        if case .v6 = address.host {
            let isV6Only: Int32 = address.host.isWildcard ? 0 : 1
            try descriptor.setOption(Int32(IPPROTO_IPV6), IPV6_V6ONLY, isV6Only)
        }
        // As `TCPLink.tcp` does for dialled links; accepted sockets inherit it.
        try descriptor.setOption(Int32(IPPROTO_TCP), TCP_NODELAY, 1)
        try descriptor.setOption(
            Int32(IPPROTO_TCP), TCP_NOTSENT_LOWAT, TCPLink.kernelUnsentBytesMax)
        try descriptor.bind(RawSocketAddress(address), path: address.description)
        try descriptor.listen(backlog: AcceptQueue.backlog, path: address.description)
        self.address = descriptor.localAddress ?? address
        queue = AcceptQueue(descriptor)
    }

    /// The first of `ports` that is free, at `host`.
    ///
    /// - Throws: the last port's `SystemError` when all are taken, or the first other one.
    public static func onFirstFree(
        of ports: some Sequence<UInt16>, host: IPAddress
    ) throws(SystemError) -> TCPListener {
        var last = SystemError("bind", number: EADDRINUSE)
        for port in ports {
            do throws(SystemError) {
                return try TCPListener(SocketAddress(host: host, port: port))
            } catch {
                guard error.isAddressTaken else { throw error }
                last = error
            }
        }
        throw last
    }

    /// The socket, for the poller.
    public var descriptor: FileDescriptor { queue.descriptor }

    /// What the poller should watch for now. Ask after every `accept`.
    public var interest: Poller.Interest { queue.interest }

    /// When to call `accept` again although nothing is reported, in the milliseconds of `accept`.
    /// Set while descriptors have run out.
    public var pausedUntil: UInt64? { queue.pausedUntil }

    /// Takes waiting connections, at most `countMax`; the rest is reported ready again.
    ///
    /// - Parameter now: milliseconds of the caller's monotonic clock.
    /// - Returns: the links, and why accepting pauses, if it does.
    public func accept(countMax: Int, now: UInt64) -> (links: [TCPLink], problem: SystemError?) {
        let (accepted, problem) = queue.accept(countMax: countMax, now: now)
        let links = accepted.compactMap { descriptor, address in
            address.map { TCPLink(descriptor, remoteAddress: $0) }
        }
        return (links, problem)
    }
}

/// Which port a home listens on.
public enum PortPolicy {
    /// Tried first by a home that has no port yet.
    public static let first: UInt16 = 29_790
    /// Tried when that one is in use. Below the kernel's ephemeral range, above the fixed ports.
    public static let others: ClosedRange<UInt16> = 29_793...32_767

    /// Every port in the order in which to try them.
    ///
    /// - Parameters:
    ///   - remembered: the port that this home used last.
    ///   - seed: a random number; two homes that start together then do not race for one port.
    public static func candidates(remembered: UInt16?, seed: UInt64) -> [UInt16] {
        let count = UInt64(others.count)
        let rotated = (0..<count).map {
            others.lowerBound + UInt16(truncatingIfNeeded: (seed % count + $0) % count)
        }
        let preferred = remembered.map { $0 == first ? [first] : [$0, first] } ?? [first]
        return preferred + rotated.filter { $0 != remembered }
    }
}
