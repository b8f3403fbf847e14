import Foundation
import Glibc
import WorkspaceTestKit

/// Machines in a private network: a namespace each, and a router with two local networks.
///
/// Needs root and the `ip` program; some containers forbid it even so.
final class NetworkLab {
    private static let ip = ["/sbin/ip", "/usr/sbin/ip", "/bin/ip"].first {
        FileManager.default.isExecutableFile(atPath: $0)
    }

    /// Whether this machine lets us make one.
    static let isPossible = geteuid() == 0 && NetworkLab(machines: []) != nil

    private let prefix: String
    private let machines: [String]
    private var processes: [Process] = []

    /// Machines that stand in the first network, the second one at 10.1.0.3 and so on.
    init?(machines: [String]) {
        prefix = "wsx\(getpid() % 100_000)n\(UInt16.random(in: 0...UInt16.max))"
        self.machines = machines
        guard ip("netns", "add", name("router")) else { return nil }
        var isMade = on("router", "link", "set", "lo", "up")
        for network in 1...2 {
            isMade =
                isMade && on("router", "link", "add", "br\(network)", "type", "bridge")
                && on("router", "link", "set", "br\(network)", "up")
                && on("router", "addr", "add", "10.\(network).0.1/24", "dev", "br\(network)")
        }
        isMade =
            isMade
            && run(["netns", "exec", name("router"), "sysctl", "-qw", "net.ipv4.ip_forward=1"])
        for (number, machine) in machines.enumerated() {
            isMade = isMade && add(machine, number)
        }
        guard isMade else {
            tearDown()
            return nil
        }
    }

    deinit { tearDown() }

    private func tearDown() {
        for process in processes where process.isRunning {
            kill(process.processIdentifier, SIGTERM)
            process.waitUntilExit()
        }
        for machine in machines + ["router"] { _ = ip("netns", "del", name(machine)) }
    }

    private func add(_ machine: String, _ number: Int) -> Bool {
        ip("netns", "add", name(machine))
            && on(machine, "link", "set", "lo", "up")
            && on(
                "router", "link", "add", "v\(number)", "type", "veth", "peer", "name", "eth0",
                "netns", name(machine))
            && on("router", "link", "set", "v\(number)", "master", "br1", "up")
            && on(machine, "link", "set", "eth0", "up")
            && on(machine, "addr", "add", "10.1.0.\(number + 2)/24", "dev", "eth0")
            && on(machine, "route", "add", "default", "via", "10.1.0.1")
    }

    /// Carries a machine over to the other network, where it gets an address and a way out, as from a
    /// router that it has not met before.
    func move(_ machine: String, to network: Int) -> Bool {
        guard let number = machines.firstIndex(of: machine) else { return false }
        return on("router", "link", "set", "v\(number)", "nomaster")
            && on(machine, "addr", "flush", "dev", "eth0", "scope", "global")
            && on("router", "link", "set", "v\(number)", "master", "br\(network)")
            && on(machine, "addr", "add", "10.\(network).0.\(number + 2)/24", "dev", "eth0")
            && on(machine, "route", "add", "default", "via", "10.\(network).0.1")
    }

    /// Takes the address by IPv4 from a machine: what is left is what IPv6 gives each interface.
    func leaveLinkLocal(_ machine: String) -> Bool {
        on(machine, "-4", "addr", "flush", "dev", "eth0")
    }

    /// Starts the daemon of a home on one of the machines, and returns when its socket answers.
    func start(_ node: TemporaryNode, on machine: String) throws {
        guard let ip = Self.ip else { return }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: ip)
        process.arguments = [
            "netns", "exec", name(machine), TemporaryNode.program, "--home", node.home, "daemon",
            "run", "--announce", "on",
        ]
        process.environment = ["HOME": node.folder, "PATH": "/usr/bin:/bin"]
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        processes.append(process)
        _ = eventually { ControlSocket(node.socket) != nil || !process.isRunning }
    }

    // MARK: Commands

    private func name(_ machine: String) -> String { prefix + machine }

    private func on(_ machine: String, _ words: String...) -> Bool {
        run(["-n", name(machine)] + words)
    }

    private func ip(_ words: String...) -> Bool { run(words) }

    private func run(_ words: [String]) -> Bool {
        guard let ip = Self.ip else { return false }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: ip)
        process.arguments = words
        return TemporaryNode.finish(process).status == 0
    }
}
