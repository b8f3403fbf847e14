import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// A member may announce any address as theirs, and a beacon any port: the host that listens there
/// has not asked to be dialled.
struct `Dials to addresses that others told` {
    private static let wall: UInt64 = 1_795_000_000_000
    private let random = SeededRandom(seed: 1)

    /// Dials, of which each fails at once, for so many milliseconds.
    private func dials(
        of registry: inout PeerRegistry, for milliseconds: UInt64,
        telling tell: (inout PeerRegistry, UInt64) throws -> Void
    ) throws -> Int {
        var count = 0
        for now in stride(from: 0, through: milliseconds, by: 10) {
            try tell(&registry, now)
            while true {
                let due = registry.dialsDue(now: now)
                if due.isEmpty { break }
                count += due.count
                for dial in due {
                    registry.failed(dial.number, error: "refused", now: now, using: random)
                }
            }
        }
        return count
    }

    private static func most(_ milliseconds: UInt64) -> Int {
        Int(Limits.dialsOfOneMax) + Int(milliseconds / Limits.dialOfOneMilliseconds)
    }

    private func address(_ number: UInt64, _ source: KnownAddress.Source) throws -> KnownAddress {
        let host = PeerAddress.Host.ipv4(UInt32(0x0a00_0000) + UInt32(number % 60_000))
        return KnownAddress(
            try #require(PeerAddress(host: host, port: 1)), source: source, freshness: Self.wall)
    }

    @Test func `are few a minute for all devices of a person, however often others are named`()
        throws
    {
        var registry = PeerRegistry()
        let milliseconds: UInt64 = 30_000
        let count = try dials(of: &registry, for: milliseconds) { registry, now in
            for number in UInt8(1)...16 {
                registry.add(
                    DeviceID([UInt8](repeating: number, count: 32)), of: [7],
                    addresses: [try address(now * 16 + UInt64(number), .learnt)])
            }
        }
        #expect(count <= Self.most(milliseconds) && count >= Int(Limits.dialsOfOneMax))
        // Others are dialled meanwhile.
        registry.add(
            DeviceID([UInt8](repeating: 99, count: 32)), of: [8],
            addresses: [try address(1, .learnt)])
        #expect(
            registry.dialsDue(now: milliseconds).map(\.peer).contains { name in
                name == .device(DeviceID([UInt8](repeating: 99, count: 32)))
            })
        // After a change of the network all is tried again.
        registry.networkChanged(now: milliseconds)
        #expect(registry.dialsDue(now: milliseconds).count > 1)
    }

    @Test func `are few a minute for all beacons`() throws {
        var registry = PeerRegistry()
        let milliseconds: UInt64 = 30_000
        let count = try dials(of: &registry, for: milliseconds) { registry, now in
            registry.heard(try address(now, .learnt).address, wallMilliseconds: Self.wall)
        }
        #expect(count <= Self.most(milliseconds) && count >= Int(Limits.dialsOfOneMax))
        #expect(try #require(registry.nextDeadline) > milliseconds)
    }

    @Test func `are not counted where somebody typed the address`() throws {
        var registry = PeerRegistry()
        for number in UInt64(0)..<200 {
            registry.addManual(try address(number, .manual).address, wallMilliseconds: Self.wall)
        }
        let count = try dials(of: &registry, for: 0) { _, _ in }
        #expect(count == 200)
    }

    /// An attacker with an old secret may answer each dial as another device.
    @Test func `leave nothing behind if a stranger answers`() throws {
        var registry = PeerRegistry()
        let typed = try address(5, .manual).address
        registry.addManual(typed, wallMilliseconds: Self.wall)
        registry.heard(try address(6, .learnt).address, wallMilliseconds: Self.wall)
        for number in UInt8(1)...100 {
            for dial in registry.dialsDue(now: UInt64(number) * 100_000_000) {
                let ghost = DeviceID([UInt8](repeating: number, count: 32))
                registry.connected(ghost, attempt: dial.number, now: 0, wallMilliseconds: Self.wall)
                registry.disconnected(
                    ghost, lived: 1, error: "x", now: UInt64(number) * 100_000_000,
                    wallMilliseconds: Self.wall, using: random)
                registry.forgetStranger(ghost)
            }
        }
        // What was typed is tried again, later each time.
        #expect(registry.peers.map(\.name) == [.address(typed)])
        #expect(registry.peers.first?.failures ?? 0 > 5)
    }
}
