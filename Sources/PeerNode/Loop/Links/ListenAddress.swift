public import WorkspaceModel

/// Where a node should listen: `--listen`, or the remembered address.
public struct ListenAddress: Equatable, Sendable {
    /// The host; a wildcard means all of this machine's addresses.
    public let host: IPAddress
    /// The port. 0 lets the kernel choose, `nil` leaves it to `PortPolicy`.
    public let port: UInt16?

    /// A place of these two parts.
    public init(host: IPAddress, port: UInt16?) {
        self.host = host
        self.port = port
    }

    /// Reads `0.0.0.0:29790`, `[::]:0`, or an address without a port.
    ///
    /// - Throws: `bad_request` for a name, or for anything but an address.
    public init(_ text: String) throws(NodeError) {
        guard let parts = HostAndPort(text),
            let host = parts.host == "localhost" ? .loopbackV4 : IPAddress(parts.host)
        else {
            throw NodeError(
                .badRequest, "cannot listen on \(NodeError.quoted(text)): that is not an address",
                hint: "give an address and a port, such as 0.0.0.0:29790", reason: "usage",
                fields: [NodeError.Field(name: "listen", reason: "form")])
        }
        self.init(host: host, port: parts.port)
    }

    /// The address on which `home` listened last, or `nil` where it never did.
    public init?(rememberedIn home: HomeFolder) {
        guard let bytes = try? FileSystem.read(home.listen, byteCountMax: 256),
            let text = String(validating: bytes, as: UTF8.self),
            let address = SocketAddress(String(text.prefix { $0 != "\n" }))
        else { return nil }
        self.init(host: address.host, port: address.port)
    }

    /// Stores the address that a node of `home` listens on. A failure does not stop it from
    /// listening.
    static func remember(_ address: SocketAddress, in home: HomeFolder) {
        let bytes = [UInt8]("\(address)\n".utf8)
        if let old = try? FileSystem.read(home.listen, byteCountMax: 256), old == bytes { return }
        try? FileSystem.replace(home.listen, with: bytes)
    }

    /// Opens a listener. A requested port is used or the call fails; one that is only remembered
    /// gives way to a free one. Port 0, which means any, uses the remembered one as long as it is
    /// free: links and other nodes know it.
    ///
    /// - Parameters:
    ///   - given: what the caller asked for, `nil` for nothing.
    ///   - remembered: where this home listened last.
    ///   - seed: a random number, see `PortPolicy`.
    static func listen(
        given: ListenAddress?, remembered: ListenAddress?, seed: UInt64
    ) throws(SystemError) -> TCPListener {
        let host = given?.host ?? remembered?.host ?? .anyV6
        if let port = given?.port {
            if port == 0, let last = remembered?.port,
                let listener = try? TCPListener(SocketAddress(host: host, port: last))
            {
                return listener
            }
            return try TCPListener(SocketAddress(host: host, port: port))
        }
        let ports = PortPolicy.candidates(remembered: remembered?.port, seed: seed)
        return try TCPListener.onFirstFree(of: ports, host: host)
    }

    /// Where peers can reach a listener at `bound`: that address, or for a wildcard each address
    /// of this machine that means something elsewhere, and its own where there is no other.
    static func dialable(_ bound: SocketAddress, among addresses: [IPAddress]) -> [String] {
        guard bound.host.isWildcard else { return [bound.description] }
        let fitting = addresses.filter { $0.isV4 || !bound.host.isV4 }
        return (fitting.isEmpty ? [.loopbackV4] : fitting).map {
            SocketAddress(host: $0, port: bound.port).description
        }
    }
}
