import Foundation
import PeerNode
import Testing

struct `A socket address` {
    static let spelled = [
        "1.2.3.4:29790", "0.0.0.0:0", "255.255.255.255:65535", "[::1]:29790", "[::]:1",
        "[fd00::2]:29790", "[2001:db8::8:800:200c:417a]:7",
    ]

    @Test(arguments: spelled) func `reads back what it prints`(_ text: String) {
        #expect(SocketAddress(text)?.description == text)
    }

    static let refused = [
        "", ":", "1.2.3.4", "1.2.3.4:", "1.2.3.4:65536", "1.2.3.4:-1", "1.2.3.4:+1", "1.2.3.4: 1",
        "1.2.3.4:1 ", "1.2.3:1", "1.2.3.4.5:1", "256.1.1.1:1", "01.2.3.4:1", "::1:29790", "[::1]",
        "[::1]29790", "[::1:29790", "::1]:29790", "[1.2.3.4]:1", "[]:1", "localhost:1", "[::1]:1:2",
        "1.2.3.4:\u{661}", "1.2.3.4\u{0}:1", "[fe80::1%nowhere0]:1", "[fe80::1%0]:1",
        "[fe80::1%]:1",
        "[::1::2]:1", "1.2.3.4:000001", String(repeating: "1", count: 100_000),
    ]

    @Test(arguments: refused) func `refuses what is none`(_ text: String) {
        #expect(SocketAddress(text) == nil)
    }

    @Test func `takes IPv4 inside IPv6 for IPv4`() {
        #expect(SocketAddress("[::ffff:1.2.3.4]:5") == SocketAddress("1.2.3.4:5"))
    }

    @Test func `keeps an interface only where it means something`() {
        #expect(IPAddress("fe80::1%7")?.description == "fe80::1%7")
        #expect(IPAddress("fe80::1%lo") == IPAddress("fe80::1%\(if_nametoindex("lo"))"))
        #expect(IPAddress("fd00::1%7") == IPAddress("fd00::1"))
        #expect(IPAddress("ff12::745e%3")?.description == "ff12::745e%3")
    }

    struct Kind: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var loopback = false
        var linkLocal = false
        var multicast = false
        var wildcard = false
    }

    static let kinds = [
        Kind(testDescription: "127.0.0.1", loopback: true),
        Kind(testDescription: "127.255.0.9", loopback: true), Kind(testDescription: "128.0.0.1"),
        Kind(testDescription: "::1", loopback: true), Kind(testDescription: "::2"),
        Kind(testDescription: "169.254.3.4", linkLocal: true),
        Kind(testDescription: "169.255.0.1"), Kind(testDescription: "fe80::1", linkLocal: true),
        Kind(testDescription: "febf::1", linkLocal: true), Kind(testDescription: "fec0::1"),
        Kind(testDescription: "224.0.0.1", multicast: true),
        Kind(testDescription: "239.255.116.94", multicast: true),
        Kind(testDescription: "240.0.0.1"), Kind(testDescription: "ff12::1", multicast: true),
        Kind(testDescription: "0.0.0.0", wildcard: true),
        Kind(testDescription: "::", wildcard: true), Kind(testDescription: "192.168.1.20"),
    ]

    @Test(arguments: kinds) func `knows its kind`(_ kind: Kind) throws {
        let address = try #require(IPAddress(kind.testDescription))
        #expect(address.isLoopback == kind.loopback)
        #expect(address.isLinkLocal == kind.linkLocal)
        #expect(address.isMulticast == kind.multicast)
        #expect(address.isWildcard == kind.wildcard)
    }

    @Test func `sorts by family, bytes and port`() throws {
        let sorted = try [
            "1.2.3.4:1", "1.2.3.4:2", "9.0.0.0:1", "10.0.0.0:1", "[::1]:1", "[fd00::]:1",
        ]
        .map { try #require(SocketAddress($0)) }
        #expect(sorted.reversed().sorted() == sorted)
        #expect(IPAddress("1.2.3.4")?.bytes == [1, 2, 3, 4])
        #expect(
            IPAddress("1:2::3")?.bytes == [0, 1, 0, 2] + [UInt8](repeating: 0, count: 11) + [3])
    }

    @Test func `is found in what people type`() {
        let rows: [(String, String, UInt16?)] = [
            ("amber", "amber", nil), ("amber:29790", "amber", 29_790), ("1.2.3.4", "1.2.3.4", nil),
            ("[fd00::1]", "fd00::1", nil), ("[fd00::1]:7", "fd00::1", 7),
            ("fd00::1", "fd00::1", nil),
            ("a.example.org:1", "a.example.org", 1),
        ]
        for (text, host, port) in rows {
            #expect(HostAndPort(text)?.host == host, "\(text)")
            #expect(HostAndPort(text)?.port == port, "\(text)")
        }
        for text in ["", ":1", "amber:", "amber:x", "am ber", "[amber]", "b\u{f6}:1"] {
            #expect(HostAndPort(text) == nil, "\(text)")
        }
    }
}
