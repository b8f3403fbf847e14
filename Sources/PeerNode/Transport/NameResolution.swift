private import Glibc

/// Asks the system for the addresses of a host name. It may take many seconds, so it is a job.
public enum NameResolution {
    /// Why there is no address.
    public struct Failure: Error, Equatable, Sendable, CustomStringConvertible {
        /// The name that was asked for.
        public let host: String
        /// An EAI_ number of `getaddrinfo`.
        public let number: Int32

        /// One clause without a full stop.
        public var description: String {
            "\(host): \(gai_strerror(number).map { String(cString: $0) } ?? "error \(number)")"
        }
    }

    /// The addresses of `host` in the order in which the system would try them, each once. An
    /// address written out needs no question.
    public static func addresses(
        of host: String, port: UInt16
    ) -> Result<[SocketAddress], Failure> {
        if let address = IPAddress(host) {
            return .success([SocketAddress(host: address, port: port)])
        }
        guard !host.utf8.contains(0) else {
            return .failure(Failure(host: host, number: Int32(EAI_NONAME)))
        }
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        let number = getaddrinfo(host, nil, &hints, &list)
        guard number == 0 else { return .failure(Failure(host: host, number: number)) }
        defer { freeaddrinfo(list) }

        var found: [SocketAddress] = []
        var next = list
        while let entry = next?.pointee {
            if var address = RawSocketAddress(entry.ai_addr, length: entry.ai_addrlen)?.address {
                address.port = port
                if !found.contains(address) { found.append(address) }
            }
            next = entry.ai_next
        }
        return .success(found)
    }
}
