import Foundation
import PeerNode
import Testing

struct `A LAN beacon` {
    private let buffer = ReadBuffer()

    private func loopback() throws -> [NetworkInterface] {
        try NetworkInterface.allUp().filter(\.isLoopback)
    }

    /// A port that no other test has.
    private func freePort() throws -> UInt16 { try TCPListener(anyLoopbackPort).address.port }

    /// What `beacon` hears until there is something.
    private func hear(_ beacon: LANBeacon) throws -> [LANBeacon.Datagram] {
        let poller = try Poller()
        for (token, descriptor) in beacon.descriptors.enumerated() {
            try poller.watch(descriptor, token: UInt64(token), interest: .readable)
        }
        let ready = try poller.wait(timeoutMilliseconds: patienceMilliseconds)
        try #require(!ready.isEmpty)
        return beacon.receive(countMax: 16, into: buffer)
    }

    @Test func `is heard by every node of the machine, itself included, with its source`() throws {
        let port = try freePort()
        let beacons = try (0..<3).map { _ in try LANBeacon(port: port, interfaces: loopback()) }
        let sources = beacons[0].sources
        #expect(sources.contains(.loopbackV4))
        // From ::1 nothing goes to a group.
        for source in sources where source.isV4 {
            #expect(beacons[0].send([1, 2, 3], from: source))
            for beacon in beacons {
                let heard = try hear(beacon)
                #expect(heard.map(\.bytes) == [[1, 2, 3]])
                // What a beacon says holds for the address that it comes from.
                #expect(heard.map(\.source) == [SocketAddress(host: source, port: port)])
            }
        }
        #expect(!beacons[0].send([1], from: .v4(0x0A09_0807)))
    }

    @Test func `drops what is too long, and takes a bounded number at a time`() throws {
        let port = try freePort()
        let beacon = try LANBeacon(port: port, interfaces: loopback())
        let stranger = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
        let owner = FileDescriptor(owning: stranger)
        var raw = sockaddr_in()
        raw.sin_family = sa_family_t(AF_INET)
        raw.sin_port = port.bigEndian
        raw.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        for count in [513, 60_000, 512, 0, 1] {
            let bytes = [UInt8](repeating: 9, count: count)
            let sent = withUnsafePointer(to: &raw) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    let size = socklen_t(MemoryLayout<sockaddr_in>.size)
                    return sendto(owner.number, bytes, bytes.count, 0, $0, size)
                }
            }
            #expect(sent == count)
        }
        #expect(beacon.receive(countMax: 2, into: buffer).isEmpty)
        #expect(beacon.receive(countMax: 9, into: buffer).map(\.bytes.count) == [512, 0, 1])
        #expect(beacon.receive(countMax: 9, into: buffer).isEmpty)
    }

    @Test func `sends nothing where there is no interface, and joins twice without harm`() throws {
        let beacon = try LANBeacon(port: try freePort(), interfaces: [])
        #expect(beacon.membershipCount == 0)
        #expect(beacon.sources.isEmpty)
        #expect(!beacon.send([1], from: .loopbackV4))
        try beacon.join(loopback())
        let count = beacon.membershipCount
        #expect(count > 0)
        try beacon.join(loopback())
        #expect(beacon.membershipCount == count)
        beacon.join([])
        #expect(!beacon.send([1], from: .loopbackV4))
    }

    @Test func `uses groups that stay on the local network`() {
        #expect(LANBeacon.groupV4.description == "239.255.116.94")
        #expect(LANBeacon.groupV6.description == "ff12::745e")
        #expect(LANBeacon.groupV4.isMulticast && LANBeacon.groupV6.isMulticast)
    }
}

struct `The network of this machine` {
    @Test func `has a loopback interface, and tells others no address of it`() throws {
        let all = try NetworkInterface.allUp()
        let loopback = try #require(all.first { $0.isLoopback })
        #expect(loopback.addresses.contains(.loopbackV4))
        #expect(all.map(\.index) == all.map(\.index).sorted())
        let reachable = try NetworkInterface.reachableAddresses()
        #expect(reachable.allSatisfy { !$0.isLoopback && !$0.isLinkLocal && !$0.isWildcard })
        #expect(reachable == Set(reachable).sorted())
    }

    @Test func `has not changed before anything changed`() throws {
        #expect(throws: Never.self) { _ = try NetworkChanges().take() }
    }

    static let ip = ["/sbin/ip", "/usr/sbin/ip", "/bin/ip"].first {
        FileManager.default.isExecutableFile(atPath: $0)
    }

    /// In a network of the test's own, so that the machine's stays as it is.
    @Test(.enabled(if: isRoot && ip != nil, "needs root and the ip program"))
    func `tells once that a link came up`() async {
        await #expect(processExitsWith: .success) {
            guard let found = dlsym(nil, "unshare"), let ip = `The network of this machine`.ip
            else {
                exit(1)
            }
            let unshare = unsafeBitCast(found, to: (@convention(c) (Int32) -> Int32).self)
            // CLONE_NEWNET; some containers forbid it, and then there is nothing to see.
            guard unshare(0x4000_0000) == 0 else { exit(0) }
            let changes = try NetworkChanges()
            guard try !changes.take() else { exit(2) }
            let status = try withTemporaryFolder { root in
                let log = try DetachedProcess.openLog(root + "/log")
                let arguments = ["link", "set", "lo", "up"]
                let pid = try DetachedProcess.start(
                    executable: ip, arguments: arguments, environment: [], log: log)
                return try DetachedProcess.wait(for: pid)
            }
            guard status == 0 else { exit(3) }
            var patience = try Patience()
            try patience.wait(for: changes.descriptor)
            guard try changes.take(), try !changes.take() else { exit(4) }
            exit(0)
        }
    }
}
