import Testing
import WorkspaceCrypto
import WorkspaceTestKit

@testable import PeerNode

struct `A beacon packet` {
    static let window = BeaconPacket.windowMilliseconds
    static let wall: UInt64 = 1_795_000_000_000
    static let sender = PeerAddress.Host.ipv4(0x0A00_0001)

    static func keys(_ count: Int, seed: UInt64 = 1) -> [SymmetricKey] {
        let random = SeededRandom(seed: seed)
        return (0..<count).map { _ in SymmetricKey(using: random) }
    }

    static func packet(
        _ keys: [SymmetricKey], turn: UInt64 = 0, wall: UInt64 = wall, seed: UInt64 = 7
    ) -> BeaconPacket {
        BeaconPacket(
            from: sender, port: 29_790,
            keys: BeaconPacket.keys(first: keys, others: [], turn: turn), wallMilliseconds: wall,
            using: SeededRandom(seed: seed))
    }

    @Test func `is 82 bytes and reads back`() throws {
        let packet = Self.packet(Self.keys(3))
        #expect(packet.bytes.count == 82)
        #expect(BeaconPacket.byteCount == 82)
        let read = try #require(BeaconPacket(untrusted: packet.bytes))
        #expect(read == packet)
        #expect(read.port == 29_790)
        #expect(Array(packet.bytes[16..<18]) == [0x74, 0x5e])
    }

    @Test func `has the tag of the protocol`() {
        let key = Self.keys(1)[0]
        let packet = Self.packet([key])
        let number = Self.wall / Self.window
        let windowBytes = (0..<8).map { UInt8(truncatingIfNeeded: number >> UInt64(8 * $0)) }
        let address: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, 1]
        let tag = Hash.keyed(key, windowBytes + packet.nonce + address + [0x74, 0x5e]).prefix(8)
        #expect(Array(packet.bytes[18..<26]) == Array(tag))
    }

    /// Anybody can send on what others sent, from elsewhere, and change what no tag covers.
    @Test func `means nothing from another address or with another port`() throws {
        let key = Self.keys(1)[0]
        let packet = Self.packet([key])
        func means(_ packet: BeaconPacket, from host: PeerAddress.Host) -> Bool {
            packet.matches(key, from: host, wallMilliseconds: Self.wall)
        }
        #expect(means(packet, from: Self.sender))
        // The same host, as a socket for both kinds sees it.
        #expect(means(packet, from: .ipv6(0, 0xffff_0a00_0001, scope: 3)))
        for other: PeerAddress.Host in [
            .ipv4(0x0A00_0002), .ipv6(0, 0x0a00_0001, scope: 0), .name("10.0.0.1"),
        ] {
            #expect(!means(packet, from: other), "\(other)")
        }
        for place in 16..<18 {
            var bytes = packet.bytes
            bytes[place] ^= 1
            let changed = try #require(BeaconPacket(untrusted: bytes))
            #expect(changed.port != packet.port)
            #expect(!means(changed, from: Self.sender))
        }
    }

    @Test(arguments: [(0, true), (1, true), (-1, true), (2, false), (-2, false)])
    func `is understood in its window and the two beside it`(offset: Int, expected: Bool) {
        let key = Self.keys(1)[0]
        let packet = Self.packet([key])
        let heard = UInt64(Int(Self.wall) + offset * Int(Self.window))
        #expect(packet.matches(key, from: Self.sender, wallMilliseconds: heard) == expected)
        let other = Self.keys(1, seed: 2)[0]
        #expect(!packet.matches(other, from: Self.sender, wallMilliseconds: heard))
    }

    /// A member may write very many invites, and each has a key.
    @Test(arguments: [1, 4, 5, 9])
    func `is for workspaces first, however many invites there are`(count: Int) {
        func name(_ key: SymmetricKey) -> [UInt8] { Hash.keyed(key, [1]) }
        let (first, others) = (Self.keys(count), Self.keys(630, seed: 2))
        let workspaces = Set(first.map(name))
        func workspaceCount(besides others: [SymmetricKey]) -> Int {
            BeaconPacket.keys(first: first, others: others, turn: 0)
                .count { workspaces.contains(name($0)) }
        }
        var heard: Set<[UInt8]> = []
        for turn in 0..<UInt64(630) {
            let keys = BeaconPacket.keys(first: first, others: others, turn: turn).map(name)
            #expect(keys.count == 8)
            #expect(keys.count { workspaces.contains($0) } == min(count, 4))
            heard.formUnion(keys)
        }
        #expect(heard.count == count + 630)
        #expect(workspaceCount(besides: []) == min(count, 8))
        #expect(workspaceCount(besides: Array(others.prefix(2))) == min(count, 6))
    }

    @Test func `works at the beginning of time`() {
        let key = Self.keys(1)[0]
        #expect(Self.packet([key], wall: 0).matches(key, from: Self.sender, wallMilliseconds: 0))
    }

    /// Two packets of one node share a byte at a place only by chance, but for the port.
    @Test func `shares nothing but the port with the one before and the next window's`() {
        let keys = Self.keys(8)
        let random = SeededRandom(seed: 3)
        let packets = (0..<200).map { index in
            BeaconPacket(
                from: Self.sender, port: 29_790, keys: keys,
                wallMilliseconds: Self.wall + UInt64(index % 2) * Self.window, using: random
            ).bytes
        }
        for place in 0..<82 {
            let values = Set(packets.map { $0[place] })
            if (16..<18).contains(place) {
                #expect(values.count == 1)
            } else {
                #expect(values.count > 80)
            }
        }
        // And no 8 bytes ever come again, wherever they stand.
        var seen: Set<[UInt8]> = []
        for packet in packets {
            for start in stride(from: 18, to: 82, by: 8) {
                #expect(seen.insert(Array(packet[start..<start + 8])).inserted)
            }
        }
    }

    @Test func `names every one of many keys in turn`() {
        let keys = Self.keys(19)
        var heard: Set<Int> = []
        for turn in 0..<19 {
            let packet = Self.packet(keys, turn: UInt64(turn), seed: UInt64(turn))
            let matching = keys.indices.filter {
                packet.matches(keys[$0], from: Self.sender, wallMilliseconds: Self.wall)
            }
            #expect(matching.count == 8)
            heard.formUnion(matching)
            if turn == 2 { #expect(heard.count == 19) }
        }
        #expect(Self.packet(keys, turn: .max).bytes.count == 82)
    }

    @Test func `of another length or port 0 is none`() {
        let bytes = Self.packet([]).bytes
        #expect(BeaconPacket(untrusted: []) == nil)
        #expect(BeaconPacket(untrusted: Array(bytes.dropLast())) == nil)
        #expect(BeaconPacket(untrusted: bytes + [0]) == nil)
        var portless = bytes
        portless[16] = 0
        portless[17] = 0
        #expect(BeaconPacket(untrusted: portless) == nil)
    }
}
