import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

struct `The registry of peers` {
    static let wall: UInt64 = 1_795_000_000_000
    let random = SeededRandom(seed: 1)
    let device = DeviceID([UInt8](repeating: 1, count: 32))
    let other = DeviceID([UInt8](repeating: 2, count: 32))

    func known(_ text: String, _ source: KnownAddress.Source = .learnt) throws -> KnownAddress {
        KnownAddress(try #require(PeerAddress(text)), source: source, freshness: Self.wall)
    }

    @Test func `dials a peer's next address when one has failed, at once`() throws {
        var registry = PeerRegistry()
        registry.add(device, addresses: [try known("a:1", .manual), try known("b:1")])
        #expect(registry.nextDeadline == 0)
        let first = registry.dialsDue(now: 100)
        #expect(first.map(\.address.text) == ["a:1"])
        #expect(registry.dialsDue(now: 100).isEmpty)
        #expect(registry.nextDeadline == 100 + Limits.dialHeadStartMilliseconds)
        registry.failed(first[0].number, error: "refused", now: 100, using: random)
        let second = registry.dialsDue(now: 100)
        #expect(second.map(\.address.text) == ["b:1"])
        registry.failed(second[0].number, error: "timeout", now: 100, using: random)
        let peer = try #require(registry.peer(.device(device)))
        #expect(peer.lastError == "timeout")
        #expect(peer.failures == 1)
        guard case .waiting(let until) = peer.state else {
            Issue.record("not waiting")
            return
        }
        #expect((600...1_100).contains(until))
        #expect(registry.nextDeadline == until)
        #expect(registry.dialsDue(now: until - 1).isEmpty)
        #expect(registry.dialsDue(now: until).map(\.address.text) == ["a:1"])
    }

    /// Most addresses are of networks that somebody has left: what is sent there is never answered.
    @Test func `has a peer's addresses race, each with a head start`() throws {
        var registry = PeerRegistry()
        registry.add(device, addresses: [try known("a:1", .manual), try known("b:1")])
        let first = registry.dialsDue(now: 0)
        #expect(first.map(\.address.text) == ["a:1"])
        let step = Limits.dialHeadStartMilliseconds
        #expect(registry.dialsDue(now: step - 1).isEmpty)
        let second = registry.dialsDue(now: step)
        #expect(second.map(\.address.text) == ["b:1"] && registry.nextDeadline == nil)
        registry.connected(device, attempt: second[0].number, now: 0, wallMilliseconds: Self.wall)
        #expect(registry.peer(.device(device))?.state == .connected)
        // What comes of the other one is let go.
        #expect(registry.target(ofAttempt: first[0].number) == nil)
        registry.failed(first[0].number, error: "timeout", now: 10_000, using: random)
        #expect(registry.peer(.device(device))?.state == .connected)
    }

    @Test func `tries what failed again while another address does not answer`() throws {
        var registry = PeerRegistry()
        registry.add(device, addresses: [try known("a:1", .manual), try known("b:1")])
        let silent = registry.dialsDue(now: 0)[0]
        let refused = registry.dialsDue(now: 250)[0]
        registry.failed(refused.number, error: "no_route", now: 250, using: random)
        let due = try #require(registry.nextDeadline)
        #expect((750...1_250).contains(due))
        #expect(registry.dialsDue(now: due).map(\.address.text) == ["b:1"])
        // The silent one is not dialled a second time before it is over.
        registry.failed(silent.number, error: "timeout", now: 10_000, using: random)
        #expect(registry.dialsDue(now: 20_000).map(\.address.text) == ["a:1"])
    }

    /// A machine that sleeps answers at none of its addresses, and a cable that is out refuses at once.
    @Test(arguments: [[10_000, 10_000], [10_000, 0], [0, 10_000], [0, 0]] as [[UInt64]])
    func `rests longer after every round, however long an address is silent`(
        patience: [UInt64]
    ) throws {
        var registry = PeerRegistry()
        registry.add(device, addresses: [try known("a:1", .manual), try known("b:1")])
        var failing: [UInt64: UInt64] = [:]
        var dials = 0
        for now in stride(from: UInt64(0), to: 120_000, by: 50) {
            for (number, at) in failing where at <= now {
                failing[number] = nil
                registry.failed(number, error: "x", now: now, using: random)
            }
            for dial in registry.dialsDue(now: now) {
                dials += 1
                failing[dial.number] = now + patience[dial.address.text == "a:1" ? 0 : 1]
            }
        }
        #expect((6...20).contains(dials), "\(dials)")
    }

    /// Sockets that nobody waits for any more are open until the kernel gives up.
    @Test func `opens no more sockets than twice its places, however often the network changes`()
        throws
    {
        var registry = PeerRegistry()
        for number in 0..<100 as Range<UInt8> {
            registry.add(
                DeviceID([number] + [UInt8](repeating: 7, count: 31)), of: [number],
                addresses: [try known("a\(number):1")])
        }
        var open: Set<UInt64> = []
        for round in 0..<50 as Range<UInt64> {
            open.formUnion(registry.dialsDue(now: round * 10).map(\.number))
            registry.networkChanged(now: round * 10)
        }
        #expect(open.count == 2 * Limits.dialsInFlightMax)
        for number in open { registry.failed(number, error: "x", now: 1_000, using: random) }
        #expect(registry.dialsDue(now: 1_000).count == Limits.dialsInFlightMax)
    }

    /// An abandoned dial may still give a link, or nothing at all: no slot is lost permanently.
    @Test(arguments: ["connected", "ourselves", "failed", "abandoned", "nothing"])
    func `has free places again, no matter how abandoned attempts end`(_ outcome: String) throws {
        var registry = PeerRegistry()
        let device = device
        for number in 0..<100 as Range<UInt8> {
            registry.add(
                DeviceID([number] + [UInt8](repeating: 7, count: 31)), of: [number],
                addresses: [try known("a\(number):1")])
        }
        func report(_ number: UInt64, _ now: UInt64) {
            switch outcome {
            case "connected":
                registry.connected(device, attempt: number, now: now, wallMilliseconds: Self.wall)
            case "ourselves": registry.reachedOurselves(number)
            case "failed": registry.failed(number, error: "x", now: now, using: random)
            case "abandoned": registry.abandoned(number)
            default: break
            }
        }
        var now: UInt64 = 0
        for _ in 0..<10 {
            let dials = registry.dialsDue(now: now)
            #expect(dials.count == Limits.dialsInFlightMax)
            registry.networkChanged(now: now)
            for dial in dials { report(dial.number, now) }
            if outcome == "nothing" {
                #expect(registry.dialsDue(now: now).count == Limits.dialsInFlightMax)
                registry.networkChanged(now: now)
                #expect(registry.dialsDue(now: now).isEmpty)
                now += Limits.abandonedDialMilliseconds
                #expect(registry.nextDeadline == now)
            }
        }
    }

    @Test func `starts anew in another network, whatever is under way`() throws {
        var registry = PeerRegistry()
        registry.add(device, addresses: [try known("a:1"), try known("b:1")])
        let before = registry.dialsDue(now: 0)[0]
        registry.networkChanged(now: 0)
        #expect(registry.target(ofAttempt: before.number) == nil)
        let after = registry.dialsDue(now: 10)
        #expect(after.map(\.address.text) == [before.address.text])
        #expect(after[0].number != before.number)
    }

    /// A member who links many devices and signs sixteen addresses for each
    /// keeps no one from others.
    @Test func `dials few devices of one person at a time, and the least busy person first`()
        throws
    {
        var registry = PeerRegistry()
        func many(_ people: Range<Int>) throws {
            for person in people {
                for number in 0..<63 {
                    let bytes = [UInt8(person), UInt8(number)] + [UInt8](repeating: 0, count: 30)
                    let addresses = try (1...16).map { try known("a\(person)-\(number):\($0)") }
                    registry.add(
                        DeviceID(bytes), of: [UInt8(person)], addresses: addresses)
                }
            }
        }
        try many(0..<1)
        let first = registry.dialsDue(now: 0)
        #expect(first.count == Limits.dialsInFlightOfOneMax)
        #expect(registry.dialsDue(now: 0).isEmpty && registry.nextDeadline == nil)
        // Somebody who is added later has a place at once, and accomplices share what is left.
        let late = DeviceID([UInt8](repeating: 255, count: 32))
        registry.add(late, of: [255], addresses: [try known("late:1")])
        #expect(registry.nextDeadline == 0)
        #expect(registry.dialsDue(now: 0).map(\.address.text) == ["late:1"])
        try many(1..<12)
        let rest = registry.dialsDue(now: 0)
        #expect(rest.count == Limits.dialsInFlightMax - 5)
        #expect(Set(rest.map { $0.address.text.prefix { $0 != "-" } }).count == rest.count)
        // A failed address of theirs makes room for a person without a dial under way.
        let next = DeviceID([UInt8](repeating: 254, count: 32))
        registry.add(next, of: [254], addresses: [try known("next:1")])
        registry.failed(rest[0].number, error: "timeout", now: 5_000, using: random)
        #expect(registry.dialsDue(now: 5_000).map(\.address.text) == ["next:1"])
    }

    @Test
    func `prefers devices of a person that failed least or answered before`()
        throws
    {
        var registry = PeerRegistry()
        func device(_ number: UInt8) -> DeviceID {
            DeviceID([number] + [UInt8](repeating: 0, count: 31))
        }
        for number in 1...8 as ClosedRange<UInt8> {
            registry.add(
                device(number), of: [1],
                addresses: [try known("a\(number):1"), try known("a\(number):2")])
        }
        registry.restoreLastSeen(device(8), Self.wall)
        let first = registry.dialsDue(now: 0)
        #expect(first.map(\.address.text) == ["a8:1", "a1:1", "a2:1", "a3:1"])
        for dial in first { registry.failed(dial.number, error: "x", now: 0, using: random) }
        #expect(registry.dialsDue(now: 0).map(\.address.text) == ["a4:1", "a5:1", "a6:1", "a7:1"])
    }

    static let delays: [(round: Int, full: UInt64)] = [
        (1, 1_000), (2, 2_000), (3, 4_000), (6, 32_000), (9, 256_000), (10, 300_000),
        (30, 300_000),
    ]

    @Test(arguments: delays)
    func `rests longer after every round, by half to all of the step`(
        round: Int, full: UInt64
    ) throws {
        var seen: [UInt64] = []
        for _ in 0..<20 {
            var registry = PeerRegistry()
            registry.add(device, addresses: [try known("a:1")])
            var now: UInt64 = 0
            var delay: UInt64 = 0
            for _ in 0..<round {
                let dial = try #require(registry.dialsDue(now: now).first)
                registry.failed(dial.number, error: "x", now: now, using: random)
                let until = try #require(registry.nextDeadline)
                delay = until - now
                now = until
            }
            seen.append(delay)
        }
        #expect(seen.allSatisfy { $0 >= full / 2 && $0 <= full })
        #expect(Set(seen).count > 10)
    }

    @Test func `wakes everybody when the network changes or a new address is told`() throws {
        var registry = PeerRegistry()
        registry.add(device, addresses: [try known("a:1")])
        let dial = registry.dialsDue(now: 0)[0]
        registry.failed(dial.number, error: "x", now: 0, using: random)
        #expect(registry.dialsDue(now: 0).isEmpty)
        registry.add(device, addresses: [try known("a:1")])
        #expect(registry.dialsDue(now: 0).isEmpty)
        registry.networkChanged(now: 0)
        #expect(registry.dialsDue(now: 0).count == 1)
        registry.failed(dial.number + 1, error: "x", now: 0, using: random)
        registry.add(device, addresses: [try known("b:1", .manual)])
        #expect(registry.dialsDue(now: 0).map(\.address.text) == ["b:1"])
    }

    @Test func `does not dial whom it is linked to, and dials again when the link is gone`() throws
    {
        var registry = PeerRegistry()
        registry.add(device, addresses: [try known("a:1")])
        let dial = registry.dialsDue(now: 0)[0]
        registry.connected(device, attempt: dial.number, now: 0, wallMilliseconds: Self.wall)
        #expect(registry.peer(.device(device))?.state == .connected)
        #expect(registry.peer(.device(device))?.addresses.first?.source == .remembered)
        #expect(registry.peer(.device(device))?.lastSeen == Self.wall)
        #expect(registry.nextDeadline == nil)
        registry.disconnected(
            device, lived: 60_000, error: "transport.dead", now: 90_000,
            wallMilliseconds: Self.wall, using: random)
        #expect(registry.nextDeadline.map { $0 <= 91_000 } == true)
    }

    /// N18: what breaks at once is not dialled at once.
    @Test func `backs off from a peer that hangs up on every link`() throws {
        var registry = PeerRegistry()
        registry.add(device, addresses: [try known("a:1")])
        var now: UInt64 = 0
        var dials = 0
        while now < 60_000 {
            for dial in registry.dialsDue(now: now) {
                dials += 1
                registry.connected(
                    device, attempt: dial.number, now: 0, wallMilliseconds: Self.wall)
                registry.disconnected(
                    device, lived: 5, error: nil, now: now, wallMilliseconds: Self.wall,
                    using: random)
            }
            now += 10
        }
        #expect((5...8).contains(dials))
    }

    @Test func `moves an address to the device that answers there`() throws {
        var registry = PeerRegistry()
        let address = try #require(PeerAddress("a:1"))
        registry.addManual(address, wallMilliseconds: Self.wall)
        let dial = registry.dialsDue(now: 0)[0]
        #expect(dial.peer == .address(address))
        registry.connected(device, attempt: dial.number, now: 0, wallMilliseconds: Self.wall)
        #expect(registry.peers.map(\.name) == [.device(device)])
        #expect(registry.peers[0].addresses.map(\.source) == [.manual])
    }

    @Test func `takes an address from the device that is not there any more`() throws {
        var registry = PeerRegistry()
        registry.add(device, addresses: [try known("a:1"), try known("b:1")])
        let dial = registry.dialsDue(now: 0)[0]
        registry.connected(other, attempt: dial.number, now: 0, wallMilliseconds: Self.wall)
        #expect(registry.peer(.device(device))?.addresses.map(\.address.text) == ["b:1"])
        #expect(registry.peer(.device(device))?.state == .idle)
        #expect(registry.peer(.device(other))?.addresses.map(\.address.text) == ["a:1"])
    }

    @Test func `forgets what was only heard when it fails, and where it finds itself`() throws {
        var registry = PeerRegistry()
        let address = try #require(PeerAddress("a:1"))
        registry.heard(address, wallMilliseconds: Self.wall)
        registry.heard(address, wallMilliseconds: Self.wall)
        #expect(registry.peers.count == 1)
        let dial = registry.dialsDue(now: 0)[0]
        registry.failed(dial.number, error: "x", now: 0, using: random)
        #expect(registry.peers.isEmpty)
        registry.addManual(address, wallMilliseconds: Self.wall)
        let second = registry.dialsDue(now: 0)[0]
        #expect(second.number != dial.number)
        registry.reachedOurselves(second.number)
        #expect(registry.peers.isEmpty)
        registry.failed(second.number, error: "late", now: 0, using: random)
    }

    @Test func `is not filled by beacons, and keeps its places for those who fail least`() throws {
        var registry = PeerRegistry()
        for number in 0..<200 {
            let address = PeerAddress(host: .ipv4(0x0a00_0000 + UInt32(number)), port: 1)
            registry.heard(try #require(address), wallMilliseconds: Self.wall)
        }
        #expect(registry.peers.count == Limits.heardAddressesMax)
        let dials = registry.dialsDue(now: 0)
        #expect(dials.count == Limits.dialsInFlightOfOneMax)
        #expect(registry.dialsDue(now: 0).isEmpty)
        #expect(registry.nextDeadline == nil)
        registry.abandoned(dials[0].number)
        #expect(registry.nextDeadline == 0)
        #expect(registry.dialsDue(now: 0).count == 1)
    }

    @Test func `dials nobody who is blocked, and nobody while it is suspended`() throws {
        var registry = PeerRegistry()
        registry.add(device, addresses: [try known("a:1")])
        registry.block(device)
        #expect(registry.isBlocked(device))
        #expect(registry.peer(.device(device))?.state == .blocked)
        #expect(registry.dialsDue(now: 0).isEmpty)
        #expect(registry.nextDeadline == nil)
        registry.block(device, false)
        registry.suspend()
        #expect(registry.peer(.device(device))?.state == .suspended)
        #expect(registry.dialsDue(now: 0).isEmpty)
        registry.resume(now: 0)
        #expect(registry.dialsDue(now: 0).count == 1)
    }

    @Test func `keeps 16 addresses of a device, and those that somebody typed`() throws {
        var registry = PeerRegistry()
        registry.add(device, addresses: [try known("typed:1", .manual)])
        for number in 0..<30 {
            let address = try #require(PeerAddress("h\(number):1"))
            registry.add(
                device,
                addresses: [
                    KnownAddress(address, source: .learnt, freshness: UInt64(number))
                ])
        }
        let addresses = try #require(registry.peer(.device(device))).addresses
        #expect(addresses.count == 16)
        #expect(addresses[0].address.text == "typed:1")
        #expect(addresses[1].address.text == "h29:1")
    }

    @Test func `comes back from its rows`() throws {
        var registry = PeerRegistry()
        registry.add(device, addresses: [try known("a:1", .manual), try known("[::1]:9")])
        registry.connected(device, attempt: nil, now: 0, wallMilliseconds: Self.wall)
        registry.add(other)
        registry.block(other)
        registry.addManual(try #require(PeerAddress("c:1")), wallMilliseconds: Self.wall)
        registry.heard(try #require(PeerAddress("d:1")), wallMilliseconds: Self.wall)
        let rows = registry.rows
        #expect(rows.count == 3)
        var again = PeerRegistry()
        for row in rows { again.restore(try PeerRow(row.bytes)) }
        #expect(again.rows == rows)
        #expect(again.peer(.device(device))?.state == .idle)
        #expect(again.isBlocked(other))
        for row in rows {
            for count in 0..<row.bytes.count {
                #expect(throws: Malformed.self) { try PeerRow(Array(row.bytes.prefix(count))) }
            }
        }
    }
}
