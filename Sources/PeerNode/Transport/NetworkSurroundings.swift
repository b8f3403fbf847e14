/// How this machine can reach others: its interfaces, and its default routes.
struct NetworkSurroundings: Equatable {
    /// Those that are up and have an address, without loopback.
    private var interfaces: [NetworkInterface] = []
    private var waysOut: Set<DefaultRoute> = []

    /// The addresses of this machine.
    var addresses: Set<IPAddress> { Set(interfaces.flatMap(\.addresses)) }

    /// How it is now.
    static func current() -> NetworkSurroundings {
        var found = NetworkSurroundings()
        found.interfaces = ((try? NetworkInterface.allUp()) ?? [])
            .filter { !$0.isLoopback && !$0.addresses.isEmpty }
        found.waysOut = Set(
            DefaultRoute.v4(in: lines(of: "/proc/net/route"))
                + DefaultRoute.v6(in: lines(of: "/proc/net/ipv6_route")))
        return found
    }

    /// On a router with very many routes none are read: its addresses are enough.
    private static func lines(of path: String) -> [Substring] {
        let bytes = (try? FileSystem.read(path, byteCountMax: 64 * 1_024)) ?? []
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n")
    }
}
