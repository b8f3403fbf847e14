private import Glibc

/// A network interface of this machine, with its addresses.
public struct NetworkInterface: Equatable, Sendable {
    /// The name that people know, such as `eth0`.
    public let name: String
    /// The number that the kernel knows.
    public let index: UInt32
    /// Whether it is this machine's own.
    public let isLoopback: Bool
    /// Whether a multicast datagram can leave by it.
    public let isMulticast: Bool
    /// Whether it is connected: a cable is in, an access point answers.
    public let isRunning: Bool
    /// Its addresses in their fixed order, without those that the kernel still probes.
    public let addresses: [IPAddress]
}

extension NetworkInterface {
    /// The interfaces that are up, by number.
    public static func allUp() throws(SystemError) -> [NetworkInterface] {
        var list: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&list) == 0 else { throw SystemError("getifaddrs") }
        defer { freeifaddrs(list) }
        let tentative = tentativeAddresses()
        var found: [UInt32: NetworkInterface] = [:]
        var next = list
        while let entry = next?.pointee {
            next = entry.ifa_next
            guard entry.ifa_flags & UInt32(IFF_UP) != 0,
                let name = entry.ifa_name.map({ String(cString: $0) })
            else { continue }
            let index = if_nametoindex(name)
            // It went away in between.
            guard index != 0 else { continue }
            let address = Self.address(entry.ifa_addr).flatMap {
                tentative.contains($0.bytes) ? nil : $0
            }
            found[index] = NetworkInterface(
                name: name, index: index,
                isLoopback: entry.ifa_flags & UInt32(IFF_LOOPBACK) != 0,
                isMulticast: entry.ifa_flags & UInt32(IFF_MULTICAST) != 0,
                isRunning: entry.ifa_flags & UInt32(IFF_RUNNING) != 0,
                addresses: (found[index]?.addresses ?? []) + (address.map { [$0] } ?? []))
        }
        return found.values.sorted { $0.index < $1.index }.map(\.withSortedAddresses)
    }

    /// The addresses under which other machines may reach this one: no loopback, and no link-local
    /// one, which means nothing elsewhere. Each once, in their fixed order.
    public static func reachableAddresses() throws(SystemError) -> [IPAddress] {
        let all = try allUp().filter { !$0.isLoopback }.flatMap(\.addresses)
        return Set(all.filter { !$0.isLoopback && !$0.isLinkLocal }).sorted()
    }

    private var withSortedAddresses: NetworkInterface {
        NetworkInterface(
            name: name, index: index, isLoopback: isLoopback, isMulticast: isMulticast,
            isRunning: isRunning, addresses: addresses.sorted())
    }

    /// The bytes of IPv6 addresses that the kernel still checks for duplicates: nothing can be sent
    /// from one for about a second.
    private static func tentativeAddresses() -> Set<[UInt8]> {
        let file = try? FileSystem.read("/proc/net/if_inet6", byteCountMax: 1 << 20)
        var found: Set<[UInt8]> = []
        for line in String(decoding: file ?? [], as: UTF8.self).split(separator: "\n") {
            // Address, interface, prefix length, scope, flags, name; IFA_F_TENTATIVE is 0x40.
            let fields = line.split(separator: " ")
            guard fields.count == 6, let flags = UInt32(fields[4], radix: 16), flags & 0x40 != 0,
                let high = UInt64(fields[0].prefix(16), radix: 16),
                let low = UInt64(fields[0].dropFirst(16), radix: 16)
            else { continue }
            found.insert(IPAddress.v6(high: high, low: low, scope: 0).bytes)
        }
        return found
    }

    private static func address(_ pointer: UnsafeMutablePointer<sockaddr>?) -> IPAddress? {
        guard let pointer else { return nil }
        let size =
            switch Int32(pointer.pointee.sa_family) {
            case AF_INET: MemoryLayout<sockaddr_in>.size
            case AF_INET6: MemoryLayout<sockaddr_in6>.size
            default: 0
            }
        guard size > 0 else { return nil }
        return RawSocketAddress(pointer, length: socklen_t(size))?.address?.host
    }
}
