import Foundation
import PeerNode
import Testing

struct `A TCP listener` {
    @Test func `takes 2 000 silent connections, a bounded number at a time`() throws {
        let listener = try TCPListener(anyLoopbackPort)
        let poller = try Poller()
        var dialers: [Dialer] = []
        var links: [TCPLink] = []
        for _ in 0..<20 {
            for _ in 0..<100 { dialers.append(try Dialer(to: listener.address, deadline: .max)) }
            while links.count < dialers.count {
                try poller.watch(listener.descriptor, token: 1, interest: listener.interest)
                try #require(!(try poller.wait(timeoutMilliseconds: patienceMilliseconds)).isEmpty)
                let (accepted, problem) = listener.accept(countMax: 16, now: 0)
                #expect(accepted.count <= 16)
                #expect(problem == nil)
                links += accepted
            }
        }
        #expect(links.count == 2_000)
        #expect(Set(links.map { $0.remoteAddress }).count == 2_000)
    }

    @Test func `hears IPv4 and IPv6 at the wildcard address`() throws {
        let listener = try TCPListener(SocketAddress(host: .anyV6, port: 0))
        let hosts: [IPAddress] =
            listener.address.host.isV4 ? [.loopbackV4] : [.loopbackV4, .loopbackV6]
        for host in hosts {
            let link = try dialedLink(SocketAddress(host: host, port: listener.address.port))
            let accepted = try #require(try acceptLinks(1, from: listener).first)
            #expect(accepted.remoteAddress?.host == host)
            withExtendedLifetime(link) {}
        }
    }

    @Test func `goes to the next port when one is taken`() throws {
        let taken = try TCPListener(anyLoopbackPort)
        #expect(throws: SystemError.self) { _ = try TCPListener(taken.address) }
        let other = try TCPListener.onFirstFree(of: [taken.address.port, 0], host: .loopbackV4)
        #expect(other.address.port != taken.address.port)
        do throws(SystemError) {
            _ = try TCPListener.onFirstFree(of: [taken.address.port], host: .loopbackV4)
            Issue.record("two listeners on one port")
        } catch { #expect(error.isAddressTaken) }
    }

    @Test func `prefers the remembered port, then the first, then each other one once`() {
        let all = Set(PortPolicy.others).union([PortPolicy.first])
        for (remembered, head) in [
            (nil, [29_790]), (29_790, [29_790]), (31_000, [31_000, 29_790]), (5, [5, 29_790]),
        ] as [(UInt16?, [UInt16])] {
            for seed in [0, 1, 2_974, 2_975, UInt64.max] {
                let ports = PortPolicy.candidates(remembered: remembered, seed: seed)
                #expect(Array(ports.prefix(head.count)) == head)
                #expect(ports.count == Set(ports).count)
                #expect(Set(ports) == all.union(head))
            }
        }
        let starts = [UInt64(0), 1].map { PortPolicy.candidates(remembered: nil, seed: $0)[1] }
        #expect(starts == [29_793, 29_794])
    }

    /// Case D11.
    @Test func `pauses without spinning when descriptors run out, and goes on after it`() async {
        await #expect(processExitsWith: .success) {
            let listener = try TCPListener(anyLoopbackPort)
            let poller = try Poller()
            let dialer = try Dialer(to: listener.address, deadline: .max)
            try poller.watch(listener.descriptor, token: 1, interest: listener.interest)
            guard try poller.wait(timeoutMilliseconds: patienceMilliseconds).count == 1 else {
                exit(1)
            }

            // No number is left from here on, whichever are open.
            var limit = rlimit()
            getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            let free = dup(0)
            close(free)
            var none = rlimit(rlim_cur: rlim_t(free), rlim_max: limit.rlim_max)
            setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &none)

            let (links, problem) = listener.accept(countMax: 8, now: 1_000)
            guard links.isEmpty, problem?.isOutOfDescriptors == true, listener.interest == [],
                let resume = listener.pausedUntil, resume > 1_000
            else { exit(2) }
            try poller.watch(listener.descriptor, token: 1, interest: listener.interest)
            guard try poller.wait(timeoutMilliseconds: 0).isEmpty else { exit(3) }
            // Too early: not even a system call.
            guard listener.accept(countMax: 8, now: resume - 1).problem == nil else { exit(4) }

            setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            guard listener.accept(countMax: 8, now: resume).links.count == 1,
                listener.interest == .readable, listener.pausedUntil == nil
            else { exit(5) }
            withExtendedLifetime(dialer) {}
            exit(0)
        }
    }
}

struct `A dialer` {
    @Test func `tells that nobody listens`() throws {
        let address = try TCPListener(anyLoopbackPort).address
        guard case .failed(let error) = try dialed(address) else {
            Issue.record("connected to nobody")
            return
        }
        #expect(error.number == ECONNREFUSED)
        #expect(error.path == address.description)
    }

    @Test func `gives up at its deadline, and not before`() throws {
        // A queue for one, filled, so that the next dial gets no answer at all.
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        let owner = FileDescriptor(owning: listener)
        var raw = sockaddr_in()
        raw.sin_family = sa_family_t(AF_INET)
        raw.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        withUnsafeMutablePointer(to: &raw) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                _ = bind(listener, $0, size)
                _ = listen(listener, 0)
                _ = getsockname(listener, $0, &size)
            }
        }
        let address = SocketAddress(host: .loopbackV4, port: UInt16(bigEndian: raw.sin_port))
        let first = try dialedLink(address)
        let dialer = try Dialer(to: address, deadline: 100)
        guard case .pending = dialer.outcome(now: 99) else {
            Issue.record("decided although nobody answered")
            return
        }
        guard case .failed(let error) = dialer.outcome(now: 100) else {
            Issue.record("still waiting at the deadline")
            return
        }
        #expect(error.number == ETIMEDOUT)
        withExtendedLifetime((first, owner)) {}
    }

    @Test func `resolves addresses without asking, names by asking, nonsense never`() throws {
        #expect(
            try NameResolution.addresses(of: "fd00::1", port: 7).get()
                == [SocketAddress(host: #require(IPAddress("fd00::1")), port: 7)])
        let local = try NameResolution.addresses(of: "localhost", port: 9).get()
        #expect(!local.isEmpty)
        #expect(local.allSatisfy { $0.host.isLoopback && $0.port == 9 })
        #expect(Set(local).count == local.count)
        #expect(throws: NameResolution.Failure.self) {
            try NameResolution.addresses(of: "local\0host", port: 9).get()
        }
    }
}
