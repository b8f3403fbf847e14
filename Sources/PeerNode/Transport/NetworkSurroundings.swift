/// What this machine can reach others by: its interfaces, and which way leads beyond them.
struct NetworkSurroundings: Equatable {
    /// Those that are up and have an address, without loopback.
    private var interfaces: [NetworkInterface] = []
    /// The default routes: interface and gateway, as the kernel spells them.
    private var waysOut: Set<String> = []

    /// The addresses of this machine.
    var addresses: Set<IPAddress> { Set(interfaces.flatMap(\.addresses)) }

    /// How it is now.
    static func current() -> NetworkSurroundings {
        var found = NetworkSurroundings()
        found.interfaces = ((try? NetworkInterface.allUp()) ?? [])
            .filter { !$0.isLoopback && !$0.addresses.isEmpty }
        for line in lines(of: "/proc/net/route") {
            let fields = line.split(whereSeparator: { $0 == "\t" || $0 == " " })
            guard fields.count > 7, fields[1] == "00000000", fields[7] == "00000000" else {
                continue
            }
            found.waysOut.insert("\(fields[0]) \(fields[2])")
        }
        for line in lines(of: "/proc/net/ipv6_route") {
            let fields = line.split(separator: " ")
            guard fields.count > 9, fields[1] == "00", fields[9] != "lo",
                fields[0].allSatisfy({ $0 == "0" })
            else { continue }
            found.waysOut.insert("\(fields[9]) \(fields[4])")
        }
        return found
    }

    /// Of a router with very many routes nothing is read: its addresses tell enough.
    private static func lines(of path: String) -> [Substring] {
        let bytes = (try? FileSystem.read(path, byteCountMax: 64 * 1_024)) ?? []
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n")
    }
}
