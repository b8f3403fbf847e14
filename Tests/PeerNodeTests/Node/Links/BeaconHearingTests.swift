import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// Packets from the local network, where anybody can send anything, including replays.
struct `What is heard on the local network` {
    let bench = CoreBench()
    let mina: BenchNode

    init() throws {
        mina = try bench.bareNode("Mina")
        mina.announces = true
        try mina.restart()
        try mina.ok("identity.create", ["name": "Mina"])
        try mina.ok("workspace.create", ["name": "acme"])
        bench.advance(60_000)
    }

    private func secret() throws -> SymmetricKey {
        try #require(try mina.workspace().discovery.last).derived(Array("beacon".utf8))
    }

    private func packet(
        from host: UInt32, port: UInt16 = 4_000, seed: UInt64 = 1
    ) throws -> BeaconPacket {
        BeaconPacket(
            from: .ipv4(host), port: port, keys: [try secret()], wallMilliseconds: bench.wall,
            using: SeededRandom(seed: seed))
    }

    /// Has a packet come, and lets what follows happen.
    private func hear(_ bytes: [UInt8], from host: String) {
        bench.give(.beacon(bytes, host: host), to: mina)
        bench.settle()
    }

    @Test func `dials its sender once, however often it comes`() throws {
        let beacon = try packet(from: 0x0A07_0707).bytes
        for _ in 0..<20 {
            hear(beacon, from: "10.7.7.7")
            bench.advance(1_000)
        }
        #expect(mina.dialled == ["10.7.7.7:4000"])
        // The next one that it sends counts again.
        hear(try packet(from: 0x0A07_0707, seed: 2).bytes, from: "10.7.7.7")
        #expect(mina.dialled.count == 2)
    }

    @Test func `dials nobody who did not send it`() throws {
        let beacon = try packet(from: 0x0A07_0707).bytes
        // A stranger relays it: from their own address, another's, or with another port.
        for host in ["10.6.6.6", "192.0.2.1", "fe80::1%3", "::ffff:10.6.6.6"] {
            hear(beacon, from: host)
        }
        for port in [UInt8](0...200) {
            var changed = beacon
            changed[16] = port &+ 1
            if changed != beacon { hear(changed, from: "10.7.7.7") }
        }
        bench.advance(60_000)
        #expect(mina.dialled.isEmpty)
        hear(beacon, from: "10.7.7.7")
        #expect(mina.dialled == ["10.7.7.7:4000"])
    }

    @Test func `costs few dials of peers that know a secret, and little work of others`()
        throws
    {
        // A removed member keeps an old secret, and may name any address.
        for number in 0..<UInt32(2_000) {
            let port = UInt16(1_000 + number)
            let beacon = try packet(from: 0x0A07_0707, port: port, seed: UInt64(number)).bytes
            bench.give(.beacon(beacon, host: "10.7.7.7"), to: mina)
            if number % 10 == 0 { bench.advance(500) }
        }
        bench.advance(1_000)
        let seconds = 2_000 / 10 / 2 + 1
        let most = Int(Limits.dialsOfOneMax) + seconds * 1_000 / Int(Limits.dialOfOneMilliseconds)
        #expect(mina.dialled.count <= most + 1, "\(mina.dialled.count)")
        #expect(mina.dialled.count > Int(Limits.dialsOfOneMax))

        // Above so many tags a second nothing is looked at; where there are few secrets that is much.
        bench.advance(600_000)
        let before = mina.dialled.count
        for tries in [6, 768] {
            var state = BeaconState()
            let looked = (0..<UInt64(20_000)).count { number in
                state.isAttentive(for: tries, at: bench.wall + number / 100)
            }
            let most = Limits.beaconTriesMax + 199 * Limits.beaconTriesPerMillisecond
            #expect(looked <= most / tries && looked > most / tries - 3)
        }
        // Of what is a secret now each is heard, however many come that mean nothing.
        for seed in 0..<UInt64(3_000) {
            let noise = SeededRandom(seed: seed).bytes(BeaconPacket.byteCount)
            bench.give(.beacon(noise, host: "10.4.4.4"), to: mina)
        }
        hear(try packet(from: 0x0A05_0505, seed: 9_000).bytes, from: "10.5.5.5")
        #expect(mina.dialled.count == before + 1)
    }

    /// Otherwise a peer that comes by a link over the local network waits for most of a minute.
    @Test func `has who made a link answer who looks for it, and not at every word`() throws {
        for _ in 0..<12 { _ = try mina.link() }
        let key = try InviteLink(mina.link()).secret.beaconKey
        bench.advance(1_000)
        func seek(_ seed: UInt64, by key: SymmetricKey) throws -> Int {
            let before = mina.beaconCount
            let beacon = BeaconPacket(
                from: .ipv4(0x0A03_0303), port: 4_000, keys: [key], wallMilliseconds: bench.wall,
                using: SeededRandom(seed: 50_000 + seed))
            hear(beacon.bytes, from: "10.3.3.3")
            bench.advance(10)
            return mina.beaconCount - before
        }
        #expect(try seek(1, by: SymmetricKey(using: SeededRandom(seed: 4))) == 0)
        #expect(try seek(2, by: key) == 1)
        let bytes = try #require(mina.lastBeacon)
        let answer = try #require(BeaconPacket(untrusted: bytes))
        #expect(
            answer.matches(
                key, from: .ipv4(0x0A00_0001), wallMilliseconds: bench.wall))
        #expect(try (3...20).map { try seek($0, by: key) }.reduce(0, +) == 0)
        bench.advance(Limits.beaconHurryMilliseconds)
        #expect(try seek(21, by: key) >= 1)
        // And nobody is dialled for it.
        #expect(mina.dialled.isEmpty)
    }

    @Test func `is said from each of very many addresses in its turn`() {
        var state = BeaconState()
        state.sources = (0..<50).map { .ipv4(0x0A00_0000 + $0) }
        var said: Set<PeerAddress.Host> = []
        for _ in 0..<4 {
            #expect(state.nextSources.count == Limits.beaconSourcesMax)
            said.formUnion(state.nextSources)
            state.turn += 1
        }
        #expect(said.count == 50)
    }

    @Test func `is said from each address that it holds for`() throws {
        let before = mina.beaconCount
        let hosts = ["10.0.0.1", "fe80::7%2", "2001:db8::1", "a.name", ""]
        bench.give(.beaconSources(hosts), to: mina)
        bench.advance(60_000)
        #expect(mina.beacons.count == mina.beaconCount)
        let sent = Array(mina.beacons.dropFirst(before))
        #expect(sent.map(\.host) == ["10.0.0.1", "fe80::7%2", "2001:db8::1"])
        for (bytes, host) in sent {
            let packet = try #require(BeaconPacket(untrusted: bytes))
            let text = host.contains(":") ? "[\(host)]:1" : "\(host):1"
            let source = try #require(PeerAddress(text)).host
            let key = try secret()
            #expect(packet.matches(key, from: source, wallMilliseconds: bench.wall))
            for other in sent where other.host != host {
                let text = other.host.contains(":") ? "[\(other.host)]:1" : "\(other.host):1"
                let elsewhere = try #require(PeerAddress(text)).host
                #expect(!packet.matches(key, from: elsewhere, wallMilliseconds: bench.wall))
            }
        }
        #expect(Set(sent.map { Array($0.bytes.prefix(16)) }).count == 3)
        bench.give(.beaconSources([]), to: mina)
        let last = mina.beaconCount
        bench.advance(120_000)
        #expect(mina.beaconCount == last)
    }
}
