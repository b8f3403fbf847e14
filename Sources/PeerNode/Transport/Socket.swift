private import CLinux
internal import Glibc

/// The kernel's form of an address: the first `length` bytes of `storage`.
struct RawSocketAddress {
    var storage = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)

    init() {}

    /// For IPv4 in a socket of family AF_INET, for IPv6 in one of AF_INET6.
    init(_ address: SocketAddress) {
        switch address.host {
        case .v4(let word):
            var raw = sockaddr_in()
            raw.sin_family = sa_family_t(AF_INET)
            raw.sin_port = address.port.bigEndian
            raw.sin_addr.s_addr = word.bigEndian
            self.init(copying: raw)
        case .v6(_, _, let scope):
            var raw = sockaddr_in6()
            raw.sin6_family = sa_family_t(AF_INET6)
            raw.sin6_port = address.port.bigEndian
            raw.sin6_scope_id = scope
            withUnsafeMutableBytes(of: &raw.sin6_addr) { $0.copyBytes(from: address.host.bytes) }
            self.init(copying: raw)
        }
    }

    /// A Unix socket's path. The caller has checked its length.
    init(unixPath path: [UInt8]) {
        var raw = sockaddr_un()
        precondition(path.count < MemoryLayout.size(ofValue: raw.sun_path), "a path too long")
        raw.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &raw.sun_path) { $0.copyBytes(from: path) }
        self.init(copying: raw)
    }

    /// A copy of what a system call lists, `nil` where it lists none.
    init?(_ pointer: UnsafePointer<sockaddr>?, length: socklen_t) {
        guard let pointer, Int(length) <= MemoryLayout<sockaddr_storage>.size else { return nil }
        withUnsafeMutableBytes(of: &storage) { target in
            target.copyMemory(from: UnsafeRawBufferPointer(start: pointer, count: Int(length)))
        }
        self.length = length
    }

    private init<Raw>(copying raw: Raw) {
        withUnsafeMutableBytes(of: &storage) { target in
            withUnsafeBytes(of: raw) { target.copyMemory(from: $0) }
        }
        length = socklen_t(MemoryLayout<Raw>.size)
    }

    /// The address as a value, `nil` unless it is IPv4 or IPv6.
    var address: SocketAddress? {
        withUnsafeBytes(of: storage) { bytes in
            switch Int32(storage.ss_family) {
            case AF_INET:
                let raw = bytes.load(as: sockaddr_in.self)
                let host = IPAddress.v4(UInt32(bigEndian: raw.sin_addr.s_addr))
                return SocketAddress(host: host, port: UInt16(bigEndian: raw.sin_port))
            case AF_INET6:
                let raw = bytes.load(as: sockaddr_in6.self)
                let host = IPAddress(
                    v6Bytes: withUnsafeBytes(of: raw.sin6_addr) { [UInt8]($0) },
                    scope: raw.sin6_scope_id)
                return SocketAddress(host: host, port: UInt16(bigEndian: raw.sin6_port))
            default: return nil
            }
        }
    }

    func withPointer<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        withUnsafeBytes(of: storage) { bytes in
            // An array of one sockaddr is what the storage was made to be read as.
            guard let base = bytes.baseAddress else { preconditionFailure("storage has bytes") }
            return body(base.assumingMemoryBound(to: sockaddr.self), length)
        }
    }

    /// Lets a call that reports an address fill this one.
    mutating func fill(_ call: (UnsafeMutablePointer<sockaddr>, inout socklen_t) -> Int32) -> Int32
    {
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let result = withUnsafeMutableBytes(of: &storage) { bytes in
            guard let base = bytes.baseAddress else { preconditionFailure("storage has bytes") }
            return call(base.assumingMemoryBound(to: sockaddr.self), &length)
        }
        self.length = length
        return result
    }
}

extension FileDescriptor {
    /// A new non-blocking socket, closed on exec.
    static func socket(_ family: Int32, _ type: __socket_type) throws(SystemError) -> FileDescriptor
    {
        try .result(of: "socket") { wsx_socket(family, Int32(type.rawValue), 0) }
    }

    /// Sets an option whose value is a number.
    func setOption(_ level: Int32, _ name: Int32, _ value: Int32) throws(SystemError) {
        var value = value
        let size = socklen_t(MemoryLayout<Int32>.size)
        guard setsockopt(number, level, name, &value, size) == 0 else {
            throw SystemError("setsockopt")
        }
    }

    /// The error an asynchronous call has left behind, 0 for none. Reading it clears it.
    func takeSocketError() -> Int32 {
        var value: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        guard getsockopt(number, SOL_SOCKET, SO_ERROR, &value, &size) == 0 else { return errno }
        return value
    }

    func bind(_ address: RawSocketAddress, path: String) throws(SystemError) {
        let result = address.withPointer { Glibc.bind(number, $0, $1) }
        if result != 0 { throw SystemError("bind", path: path) }
    }

    func listen(backlog: Int32, path: String) throws(SystemError) {
        if Glibc.listen(number, backlog) != 0 { throw SystemError("listen", path: path) }
    }

    /// Where this socket is, as the kernel sees it.
    var localAddress: SocketAddress? {
        var raw = RawSocketAddress()
        let result = raw.fill { getsockname(number, $0, &$1) }
        return result == 0 ? raw.address : nil
    }

    /// The peer's address.
    var remoteAddress: SocketAddress? {
        var raw = RawSocketAddress()
        let result = raw.fill { getpeername(number, $0, &$1) }
        return result == 0 ? raw.address : nil
    }
}

extension SocketAddress {
    /// AF_INET or AF_INET6.
    var family: Int32 { if case .v4 = host { AF_INET } else { AF_INET6 } }
}
