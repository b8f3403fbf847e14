import Foundation
import Testing
import WorkspaceModel

@testable import PeerNode

/// A machine with fabricated files.
private final class Machine {
    let root: String
    let socket: String
    var user: UInt32 = geteuid()
    var facts = SurroundingsFacts(listen: ["192.168.1.20:29790"], port: 29_790)

    init(_ root: String) throws {
        self.root = root
        socket = root + "/control.sock"
        let bound = try UnixListener(path: socket)
        listener = bound
        try write(
            "/proc/self/limits", "Limit  Soft  Hard  Units\nMax open files  1024  4096  files\n")
        try write("/proc/net/dev", "Inter-| Receive\n face |bytes\n    lo: 1 2\n  eth0: 3 4\n")
        try write(
            "/proc/net/route",
            "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\n"
                + "eth0\t00000000\t0101A8C0\t0003\t0\t0\t0\t00000000\n"
                + "eth0\t0001A8C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\n")
        try listen([])
    }

    private let listener: UnixListener

    func write(_ path: String, _ text: String) throws {
        let path = root + path
        try FileManager.default.createDirectory(
            atPath: (path as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
        try text.write(toFile: path, atomically: false, encoding: .utf8)
    }

    /// Sockets that listen: family, host in hexadecimal, port, whether it is this process's.
    func listen(_ sockets: [(isV6: Bool, host: String, port: Int, isOwn: Bool)]) throws {
        try? FileManager.default.removeItem(atPath: root + "/proc/self/fd")
        try FileManager.default.createDirectory(
            atPath: root + "/proc/self/fd", withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(
            atPath: root + "/proc/self/fd/0", withDestinationPath: "/dev/null")
        try FileManager.default.createSymbolicLink(
            atPath: root + "/proc/self/fd/3", withDestinationPath: "socket:[7]")
        var files = ["tcp": "  sl  local_address rem_address st\n"]
        files["tcp6"] = files["tcp"]
        for (number, socket) in sockets.enumerated() {
            let port = String(socket.port, radix: 16, uppercase: true)
            let inode = 100 + number
            let zero = String(repeating: "0", count: socket.host.count)
            files[socket.isV6 ? "tcp6" : "tcp", default: ""] +=
                "   \(number): \(socket.host):\(port) \(zero):0000 0A 00000000:00000000 "
                + "00:00000000 00000000  1000  0 \(inode) 1 0000 100 0\n"
            if socket.isOwn {
                try FileManager.default.createSymbolicLink(
                    atPath: root + "/proc/self/fd/\(10 + number)",
                    withDestinationPath: "socket:[\(inode)]")
            }
        }
        for (name, text) in files { try write("/proc/net/" + name, text) }
    }

    var findings: [String: FindingObject] {
        let all = MachineSurroundings(root: root, socket: socket, user: user).findings(facts)
        return Dictionary(all.map { ($0.id, $0) }) { first, _ in first }
    }
}

struct `The machine around a node` {
    private func withMachine(_ body: (Machine) throws -> Void) throws {
        try withTemporaryFolder { try body(try Machine($0)) }
    }

    private static let anyV6 = String(repeating: "0", count: 32)

    @Test func `is in order on a usual one`() throws {
        try withMachine { machine in
            try machine.listen([(true, Self.anyV6, 29_790, true), (false, "0100007F", 80, false)])
            for (id, finding) in machine.findings {
                #expect(finding.state == "ok", "\(id): \(finding.message)")
                #expect(finding.hint == nil)
            }
            #expect(machine.findings["families"]?.message == "it listens on IPv4 and IPv6")
            #expect(
                machine.findings["route"]?.message
                    == "the route out is eth0; this machine has 192.168.1.20:29790")
            #expect(machine.findings["limits"]?.message == "1024 open files are allowed")
            #expect(machine.findings["linger"] == nil && machine.findings["vpn"] == nil)
        }
    }

    @Test func `is told as unknown, and as no failure, where nothing can be read`() throws {
        try withMachine { machine in
            try FileManager.default.removeItem(atPath: machine.root + "/proc")
            for (id, finding) in machine.findings {
                #expect(finding.state == "ok", "\(id): \(finding.message)")
            }
        }
    }

    /// None of them is waited for.
    @Test func `has files that can be read, and pipes and folders that are none`() throws {
        try withMachine { machine in
            try machine.write("/keys/lab.json", "{}")
            #expect(mkfifo(machine.root + "/keys/pipe", 0o600) == 0)
            let around = MachineSurroundings(root: machine.root, socket: machine.socket)
            #expect(around.canRead("/keys/lab.json"))
            for path in ["/keys/pipe", "/keys", "/keys/other.json", "/keys/lab.json/x"] {
                #expect(!around.canRead(path), "\(path)")
            }
        }
    }

    @Test func `has a control socket that is there, ours, and ours alone`() throws {
        try withMachine { machine in
            #expect(machine.findings["socket"]?.state == "ok")
            chmod(machine.socket, 0o666)
            let open = try #require(machine.findings["socket"])
            #expect(open.state == "fail" && open.hint?.hasPrefix("chmod 600 ") == true)
            chmod(machine.socket, 0o600)
            machine.user += 1
            #expect(machine.findings["socket"]?.message.contains("belongs to someone else") == true)
            machine.user -= 1
            unlink(machine.socket)
            #expect(machine.findings["socket"]?.state == "fail")
            try machine.write("/control.sock", "")
            #expect(machine.findings["socket"]?.state == "fail")
        }
    }

    @Test(arguments: [
        ("Max open files  64  4096  files", "warn"), ("Max open files  256  256  files", "ok"),
        ("Max open files  unlimited  unlimited  files", "ok"), ("Max open files", "ok"), ("", "ok"),
    ])
    func `has few descriptors or enough`(_ line: String, _ state: String) throws {
        try withMachine { machine in
            try machine.write("/proc/self/limits", "Limit\n\(line)\n")
            #expect(machine.findings["limits"]?.state == state)
        }
    }

    // MARK: Network

    @Test func `may have a port that somebody else listens on too`() throws {
        try withMachine { machine in
            try machine.listen([
                (true, Self.anyV6, 29_790, true), (false, "0100007F", 29_790, false),
            ])
            let port = try #require(machine.findings["port"])
            #expect(port.state == "warn" && port.message.contains("another process"))
            try machine.listen([
                (true, Self.anyV6, 29_790, true), (false, "0100007F", 29_791, false),
            ])
            #expect(machine.findings["port"]?.state == "ok")
        }
    }

    @Test func `may be reached by one family alone`() throws {
        try withMachine { machine in
            try machine.write("/proc/net/if_inet6", "")
            try machine.listen([(false, "00000000", 29_790, true)])
            #expect(machine.findings["families"]?.state == "warn")
            // Somebody asked for just that address.
            try machine.listen([(false, "1401A8C0", 29_790, true)])
            #expect(machine.findings["families"]?.state == "ok")
            machine.facts.listen = ["[fd00::1]:29790"]
            try machine.listen([(true, "0001", 29_790, true)])
            #expect(machine.findings["families"]?.message == "it listens on IPv6 only")
            machine.facts = SurroundingsFacts(listen: [], port: nil)
            #expect(machine.findings["families"] == nil && machine.findings["port"] == nil)
        }
    }

    @Test func `has ways out by either family, or none`() throws {
        try withMachine { machine in
            try machine.write("/proc/net/route", "Iface\tDestination\n")
            #expect(machine.findings["route"]?.message.hasPrefix("there is no route out") == true)
            let none = Self.anyV6
            try machine.write(
                "/proc/net/ipv6_route",
                "\(none) 00 \(none) 00 \(none) ffffffff 1 0 00200200 lo\n"
                    + "\(none) 00 \(none) 00 \(none) 00000400 1 0 00000003 wlan0\n")
            #expect(machine.findings["route"]?.message.hasPrefix("the route out is wlan0") == true)
            #expect(machine.findings["route"]?.state == "ok")
        }
    }

    @Test func `names the tunnels through which nothing is announced`() throws {
        try withMachine { machine in
            try machine.write(
                "/proc/net/dev",
                "Inter-|\n face |\n  lo: 0\neth0: 1\ntailscale0: 2\n wg0:3\ntunnel: 1\n")
            let vpn = try #require(machine.findings["vpn"])
            #expect(vpn.message.hasPrefix("tailscale0, wg0, tunnel: ") && vpn.state == "ok")
        }
    }

    // MARK: Firewalls

    private static let tuple = "0.0.0.0/0 any 0.0.0.0/0 in"

    @Test(arguments: [
        ("", "closed"), ("### tuple ### allow tcp 22 \(tuple)", "closed"),
        ("### tuple ### allow tcp 29790 \(tuple)", "open"),
        ("### tuple ### allow any 29790 \(tuple)", "open"),
        ("### tuple ### allow udp 29790 \(tuple)", "closed"),
        ("### tuple ### limit tcp 29000:30000 \(tuple)", "open"),
        ("### tuple ### allow tcp 80,29790 \(tuple)", "open"),
        ("### tuple ### allow any any 0.0.0.0/0 any 10.0.0.0/8 in", "open"),
        ("### tuple ### deny tcp 29790 \(tuple)\n### tuple ### allow tcp 29790 \(tuple)", "closed"),
        ("### tuple ### allow tcp 29790 0.0.0.0/0 any 0.0.0.0/0 out", "closed"),
        ("### tuple ### allow tcp", "closed"),
    ])
    func `may be behind ufw`(_ rules: String, _ gate: String) throws {
        try withMachine { machine in
            try machine.write("/etc/ufw/ufw.conf", "# on at boot\nENABLED=yes\nLOGLEVEL=low\n")
            try machine.write("/etc/ufw/user.rules", "*filter\n\(rules)\nCOMMIT\n")
            let finding = try #require(machine.findings["firewall"])
            #expect(finding.state == (gate == "open" ? "ok" : "warn"), "\(finding.message)")
            #expect(finding.hint == (gate == "open" ? nil : "sudo ufw allow 29790/tcp"))
            #expect(finding.message.hasPrefix("ufw is on"))
        }
    }

    @Test func `is not kept by a firewall that is off, or asks nobody`() throws {
        try withMachine { machine in
            try machine.write("/etc/ufw/user.rules", "")
            for settings in ["ENABLED=no", "", "#ENABLED=yes"] {
                try machine.write("/etc/ufw/ufw.conf", settings)
                #expect(machine.findings["firewall"]?.state == "ok", "\(settings)")
            }
            try machine.write("/etc/ufw/ufw.conf", "ENABLED=yes")
            #expect(machine.findings["firewall"]?.state == "warn")
            try machine.write("/etc/default/ufw", "IPV6=yes\nDEFAULT_INPUT_POLICY=\"ACCEPT\"\n")
            #expect(machine.findings["firewall"]?.state == "ok")
            try machine.write("/etc/default/ufw", "DEFAULT_INPUT_POLICY=\"DROP\"\n")
            // Nobody could come from outside anyway.
            machine.facts.listen = ["127.0.0.1:29790", "[::1]:29790"]
            #expect(machine.findings["firewall"] == nil)
        }
    }

    @Test func `may have rules that are not for us to read`() throws {
        try withMachine { machine in
            try machine.write("/etc/ufw/ufw.conf", "ENABLED=yes")
            // A folder cannot be read as a file by anybody, the superuser included.
            try FileManager.default.createDirectory(
                atPath: machine.root + "/etc/ufw/user.rules", withIntermediateDirectories: true)
            let finding = try #require(machine.findings["firewall"])
            #expect(finding.state == "warn" && finding.message.contains("cannot be read"))
        }
    }

    @Test(arguments: [
        (#"<zone><service name="ssh"/></zone>"#, false),
        (#"<zone><port protocol="tcp" port="29790"/></zone>"#, true),
        (#"<zone><port port="29000-30000" protocol="tcp"/></zone>"#, true),
        (#"<zone><port protocol="udp" port="29790"/></zone>"#, false),
        (#"<zone target="ACCEPT"></zone>"#, true), ("<", false),
    ])
    func `may be behind firewalld`(_ zone: String, _ isOpen: Bool) throws {
        try withMachine { machine in
            try machine.write("/run/firewalld.pid", "1")
            #expect(machine.findings["firewall"]?.state == "warn")
            try machine.write("/etc/firewalld/firewalld.conf", "DefaultZone=home\n")
            try machine.write("/etc/firewalld/zones/home.xml", zone)
            let finding = try #require(machine.findings["firewall"])
            #expect(finding.message.hasPrefix("firewalld is on"))
            #expect((finding.state == "ok") == isOpen)
            try machine.write("/etc/firewalld/firewalld.conf", "DefaultZone=trusted\n")
            #expect(machine.findings["firewall"]?.state == "ok")
        }
    }

    // MARK: Services

    @Test func `lets a service end with the login, unless it lingers`() throws {
        try withMachine { machine in
            // As another account, so that the socket is somebody else's; that is not asked here.
            machine.user = 1_234
            try machine.write("/etc/passwd", "root:x:0:0::/root:/bin/sh\nmina:x:1234:1:::/bin/sh\n")
            #expect(machine.findings["linger"] == nil)
            let manager = "0::/user.slice/user-1234.slice/user@1234.service"
            try machine.write("/proc/self/cgroup", manager + "/app.slice/wsx-node.service\n")
            #expect(machine.findings["linger"]?.hint == "loginctl enable-linger")
            try machine.write("/var/lib/systemd/linger/mina", "")
            #expect(machine.findings["linger"]?.state == "ok")
            // A shell in a terminal ends with its terminal.
            try machine.write("/proc/self/cgroup", manager + "/app.slice/term.scope\n")
            #expect(machine.findings["linger"] == nil)
            try machine.write("/proc/self/cgroup", "0::/system.slice/wsx-node@mina.service\n")
            #expect(machine.findings["linger"] == nil)
        }
    }

    @Test func `is looked at without waiting, whatever lies there`() throws {
        try withMachine { machine in
            try FileManager.default.createDirectory(
                atPath: machine.root + "/etc/ufw", withIntermediateDirectories: true)
            #expect(mkfifo(machine.root + "/etc/ufw/ufw.conf", 0o600) == 0)
            unlink(machine.root + "/proc/net/dev")
            #expect(mkfifo(machine.root + "/proc/net/dev", 0o600) == 0)
            #expect(machine.findings["firewall"]?.state == "ok")
        }
    }
}
