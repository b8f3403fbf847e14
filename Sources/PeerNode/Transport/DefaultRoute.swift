/// A default route, as the kernel lists it.
struct DefaultRoute: Hashable {
    /// The name of the interface.
    let interface: String
    /// The router, in hexadecimal as the kernel writes it.
    let gateway: String

    /// The default routes among the lines of `/proc/net/route`.
    static func v4(in lines: [Substring]) -> [DefaultRoute] {
        lines.compactMap { line in
            // Interface, destination, gateway, flags, references, uses, metric, mask.
            let fields = line.split(whereSeparator: { $0 == "\t" || $0 == " " })
            guard fields.count > 7, fields[1] == "00000000", fields[7] == "00000000" else {
                return nil
            }
            return DefaultRoute(interface: String(fields[0]), gateway: String(fields[2]))
        }
    }

    /// The default routes among the lines of `/proc/net/ipv6_route`; the kernel refuses by one of `lo`.
    static func v6(in lines: [Substring]) -> [DefaultRoute] {
        lines.compactMap { line in
            // Destination, its length, source, its length, gateway, metric, three counts, interface.
            let fields = line.split(separator: " ")
            guard fields.count > 9, fields[1] == "00", fields[9] != "lo",
                fields[0].allSatisfy({ $0 == "0" })
            else { return nil }
            return DefaultRoute(interface: String(fields[9]), gateway: String(fields[4]))
        }
    }
}
