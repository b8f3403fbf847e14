import WorkspaceModel

/// The network as the kernel lists it.
extension MachineSurroundings {
    /// A socket that listens, of `/proc/net/tcp` and `/proc/net/tcp6`.
    struct Listener: Equatable {
        let isV6: Bool
        /// Hexadecimal, as the kernel writes it.
        let host: String
        let port: UInt16
        let inode: String

        /// Whether it takes connections to any address of the machine.
        var isAny: Bool { host.allSatisfy { $0 == "0" } }
    }

    /// The sockets that listen.
    var listeners: [Listener] {
        var found: [Listener] = []
        for (path, isV6) in [("/proc/net/tcp", false), ("/proc/net/tcp6", true)] {
            for line in lines(of: path).dropFirst() {
                let fields: [Substring] = line.split(separator: " ")
                guard fields.count > 9, fields[3] == "0A" else { continue }
                let parts = fields[1].split(separator: ":")
                guard parts.count == 2, let port = UInt16(parts[1], radix: 16) else { continue }
                found.append(
                    Listener(
                        isV6: isV6, host: String(parts[0]), port: port, inode: String(fields[9])))
            }
        }
        return found
    }

    /// The numbers of this process's own sockets.
    var ownSockets: Set<String> {
        var own: Set<String> = []
        for name in names(in: "/proc/self/fd").prefix(65_536) {
            guard let target = target(of: "/proc/self/fd/" + name),
                target.hasPrefix("socket:["), target.hasSuffix("]")
            else { continue }
            own.insert(String(target.dropFirst(8).dropLast()))
        }
        return own
    }

    /// The names of the interfaces, in the kernel's order.
    var interfaces: [String] {
        var names: [String] = []
        for line in lines(of: "/proc/net/dev") {
            guard let end = line.firstIndex(of: ":") else { continue }
            names.append(String(line[..<end].drop { $0 == " " }))
        }
        return names
    }

    /// Interfaces that carry single packets alone, and so no announcement.
    static func isTunnel(_ name: String) -> Bool {
        ["tun", "wg", "tailscale", "zt", "ppp"].contains { name.hasPrefix($0) }
    }

    func networkFindings(_ facts: SurroundingsFacts) -> [FindingObject] {
        var findings = [routeFinding(facts)]
        let tunnels = interfaces.filter(Self.isTunnel)
        if !tunnels.isEmpty {
            findings.append(
                .init(
                    id: "vpn", state: "ok",
                    message: "\(tunnels.joined(separator: ", ")): announcements do not pass "
                        + "through a VPN; for peers behind it: wsx-node peer add HOST"))
        }
        guard let port = facts.port else { return findings }
        let here = listeners.filter { $0.port == port }
        let own = ownSockets
        findings.append(familyFinding(here.filter { own.contains($0.inode) }, facts))
        findings.append(
            portFinding(port, here.filter { !own.contains($0.inode) }, isSeen: !own.isEmpty))
        return findings
    }

    private func routeFinding(_ facts: SurroundingsFacts) -> FindingObject {
        let ways =
            DefaultRoute.v4(in: lines(of: "/proc/net/route"))
            + DefaultRoute.v6(in: lines(of: "/proc/net/ipv6_route"))
        let places = facts.listen.filter { !Self.isLoopback($0) }
        let reach =
            places.isEmpty
            ? "" : "; this machine has \(places.prefix(4).joined(separator: ", "))"
        guard let way = ways.first?.interface else {
            return .init(
                id: "route", state: "ok",
                message: "there is no route out of the local network, and none is needed" + reach)
        }
        return .init(id: "route", state: "ok", message: "the route out is \(way)" + reach)
    }

    /// Whether an address of `SurroundingsFacts` is only this machine's own.
    static func isLoopback(_ address: String) -> Bool {
        address.hasPrefix("127.") || address.hasPrefix("[::1]")
    }

    private func familyFinding(_ own: [Listener], _ facts: SurroundingsFacts) -> FindingObject {
        func finding(_ state: String, _ message: String, _ hint: String? = nil) -> FindingObject {
            .init(id: "families", state: state, message: message, hint: hint)
        }
        guard !own.isEmpty else {
            return finding("ok", "the kernel does not show its list of sockets")
        }
        // One socket for all of IPv6 takes IPv4 too, unless it was told not to.
        let hasV6 = own.contains(where: \.isV6)
        let hasV4 = own.contains { !$0.isV6 } || facts.listen.contains { !$0.hasPrefix("[") }
        switch (hasV4, hasV6) {
        case (true, true): return finding("ok", "it listens on IPv4 and IPv6")
        case (false, _):
            return finding(
                "warn", "it listens on IPv6 only", "wsx-node down; wsx-node up --listen '[::]:0'")
        case (true, false):
            guard own.contains(where: \.isAny), exists("/proc/net/if_inet6") else {
                return finding("ok", "it listens on IPv4")
            }
            return finding(
                "warn", "it listens on IPv4 only", "wsx-node down; wsx-node up --listen '[::]:0'")
        }
    }

    private func portFinding(
        _ port: UInt16, _ others: [Listener], isSeen: Bool
    ) -> FindingObject {
        guard isSeen, !others.isEmpty else {
            return .init(
                id: "port", state: "ok", message: "no other process listens on port \(port)")
        }
        return .init(
            id: "port", state: "warn",
            message: "another process also listens on port \(port), and peers may reach that one",
            hint: "wsx-node down; wsx-node up --listen '[::]:0'")
    }
}
