import Foundation
import Testing
import WorkspaceTestKit

@testable import PeerNode

struct `An IP address` {
    /// Any address, with all kinds that are treated specially often enough.
    private func address(_ random: inout SeededGenerator) -> IPAddress {
        if random.oneIn(3) { return .v4(UInt32(truncatingIfNeeded: random.next())) }
        var bytes = random.bytes(16)
        switch random.below(7) {
        case 0: bytes.replaceSubrange(0..<12, with: [UInt8](repeating: 0, count: 10) + [255, 255])
        case 1: bytes.replaceSubrange(0..<8, with: [0xFE, 0x80, 0, 0, 0, 0, 0, 0])
        case 2: (bytes[0], bytes[1]) = (0xFF, UInt8(random.below(16)))
        case 3: bytes.replaceSubrange(0..<15, with: [UInt8](repeating: 0, count: 15))
        case 4: for place in 4..<12 { bytes[place] = 0 }
        default: break
        }
        return IPAddress(v6Bytes: bytes, scope: random.oneIn(2) ? 0 : 1 + UInt32(random.below(9)))
    }

    @Test(arguments: Seeds.explore(20))
    func `reads back what it prints, with and without a port`(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<200 {
            let address = self.address(&random)
            #expect(IPAddress(address.description) == address, "\(address) WSX_SEED=\(seed)")
            let port = UInt16(truncatingIfNeeded: random.next())
            let place = SocketAddress(host: address, port: port)
            #expect(SocketAddress(place.description) == place, "\(place) WSX_SEED=\(seed)")
        }
    }

    @Test(arguments: Seeds.explore(20))
    func `is its bytes, and IPv4 inside IPv6 is IPv4`(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<100 {
            let word = UInt32(truncatingIfNeeded: random.next())
            let four = IPAddress.v4(word)
            let inside = [UInt8](repeating: 0, count: 10) + [255, 255] + four.bytes
            #expect(IPAddress(v6Bytes: inside, scope: 3) == four, "WSX_SEED=\(seed)")
            let address = self.address(&random)
            #expect(address.bytes.count == (address.isV4 ? 4 : 16))
            guard !address.isV4, case .v6(_, _, let scope) = address else { continue }
            #expect(IPAddress(v6Bytes: address.bytes, scope: scope) == address)
        }
    }

    @Test(arguments: Seeds.explore(20))
    func `sorts by family and bytes, in one order`(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let all = (0..<60).map { _ in address(&random) }
        let sorted = all.sorted()
        #expect(sorted == all.shuffled(using: &random).sorted(), "WSX_SEED=\(seed)")
        for (left, right) in zip(sorted, sorted.dropFirst()) {
            if left.isV4 == right.isV4 {
                #expect(!right.bytes.lexicographicallyPrecedes(left.bytes), "WSX_SEED=\(seed)")
            } else {
                #expect(left.isV4, "WSX_SEED=\(seed)")
            }
        }
    }

    /// Nobody is told an address and dialled there that stands for something else.
    @Test(arguments: Seeds.explore(20))
    func `is of one kind at most`(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<300 {
            let address = self.address(&random)
            let kinds = [
                address.isLoopback, address.isLinkLocal, address.isMulticast, address.isWildcard,
            ]
            #expect(kinds.count { $0 } <= 1, "\(address) WSX_SEED=\(seed)")
            if case .v6(_, _, let scope) = address, scope != 0 {
                #expect(address.isLinkLocal || address.isMulticast, "\(address)")
            }
        }
    }

    static let refused = [
        "", " ", "1", "1.2", "1.2.3", "1.2.3.4.5", "1.2.3.256", "1.2.3.-4", "1.2.3.4 ", " 1.2.3.4",
        "1.2.3.04", "0x1.2.3.4", "1,2,3,4", "::1%", "::1%nosuchinterface", ":", ":::", "1::2::3",
        "12345::", "g::", "[::1]", "::1]", "fe80::1%1%2", "::ffff:1.2.3", "localhost",
        "1.2.3.4%1", "１.2.3.4", String(repeating: "0:", count: 40),
    ]

    @Test(arguments: refused)
    func `is nothing else`(_ text: String) { #expect(IPAddress(text) == nil) }

    @Test(arguments: Seeds.explore(20))
    func `or place is read from anything without a trap`(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let pieces = ["[", "]", ":", "::", ".", "%", "1", "255", "fe80", "65535", "65536", "a"]
        for _ in 0..<500 {
            let text = (0..<random.below(10)).map { _ in pieces[random.below(pieces.count)] }
                .joined()
            if let place = SocketAddress(text) {
                #expect(SocketAddress(place.description) == place, "\(text) WSX_SEED=\(seed)")
            }
            guard let parts = HostAndPort(text) else { continue }
            #expect(!parts.host.isEmpty, "\(text) WSX_SEED=\(seed)")
        }
    }
}

struct `What a person types for a place` {
    static let rows: [(String, String?, UInt16?)] = [
        ("amber:0", "amber", 0), ("amber:00080", "amber", 80), ("amber:65535", "amber", 65_535),
        ("amber:65536", nil, nil), ("amber:000080", nil, nil), ("amber:-1", nil, nil),
        ("amber: 1", nil, nil), ("amber:1:2", "amber:1:2", nil), ("::", "::", nil),
        ("::1:29790", "::1:29790", nil), ("[::1]:", nil, nil), ("[::1]x", nil, nil),
        ("[::1]:0", "::1", 0), ("[]", nil, nil), ("[a:b", nil, nil), ("[::1]]:1", nil, nil),
        ("a\tb", nil, nil), ("a\u{7F}", nil, nil), ("회의:1", nil, nil), ("-", "-", nil),
        (String(repeating: "h", count: 261), String(repeating: "h", count: 261), nil),
        (String(repeating: "h", count: 262), nil, nil),
    ]

    @Test(arguments: rows.indices)
    func `is a host and perhaps a port`(_ index: Int) {
        let (text, host, port) = Self.rows[index]
        let parts = HostAndPort(text)
        #expect(parts?.host == host, "\(text)")
        #expect(parts?.port == port, "\(text)")
    }

    /// A scope with a name has a sign that no host's name has, and is read all the same.
    @Test func `may name an interface`() {
        #expect(HostAndPort("[fe80::1%eth0]:7")?.host == "fe80::1%eth0")
        #expect(HostAndPort("fe80::1%eth0")?.port == nil)
    }
}

struct `The order of ports` {
    @Test(arguments: Seeds.explore(10))
    func `tries each port once, the known ones first`(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let remembered: UInt16? =
            random.oneIn(2) ? nil : UInt16(truncatingIfNeeded: random.next() | 1)
        let ports = PortPolicy.candidates(remembered: remembered, seed: random.next())
        #expect(Set(ports).count == ports.count, "WSX_SEED=\(seed)")
        #expect(ports.first == remembered ?? PortPolicy.first, "WSX_SEED=\(seed)")
        #expect(Set(ports).isSuperset(of: PortPolicy.others))
        // Ports above are handed out by the kernel, those below belong to others.
        let chosen = ports.dropFirst(remembered == nil ? 1 : 2)
        #expect(chosen.allSatisfy { (29_000..<32_768).contains($0) }, "WSX_SEED=\(seed)")
    }
}
