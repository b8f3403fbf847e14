import CRDTStore
import SyncProtocol
import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// Devices that belong to nobody. An attacker with an old secret, whom others dial, answers each
/// time as another device.
struct `A device that is nobody's` {
    private static let ghost = DeviceID([UInt8](repeating: 0xee, count: 32))

    @Test func `is forgotten at the next start`() throws {
        let bench = CoreBench()
        let mina = try bench.node("Mina")
        let joon = try bench.guest("Joon", of: mina)
        bench.advance(5_000)
        let core = try #require(mina.host?.core)
        let address = KnownAddress(
            try #require(PeerAddress("10.9.9.9:1")), source: .remembered, freshness: bench.wall)
        core.links.network.registry.add(Self.ghost, addresses: [address])
        core.links.network.isRegistryDirty = true
        bench.advance(60_000)
        #expect(core.links.network.registry.peer(.device(Self.ghost)) != nil)
        let before = try mina.rowCount("peer")
        try mina.restart()
        bench.advance(60_000)
        let registry = try #require(mina.host?.core).links.network.registry
        #expect(registry.peer(.device(Self.ghost)) == nil)
        #expect(try mina.rowCount("peer") < before)
        let joons = try #require(joon.host?.core.session.home).device
        #expect(registry.peer(.device(joons)) != nil)
    }

    /// Nobody was asked for them, and each is written and passed on.
    @Test func `and records that nobody asked for are not taken`() throws {
        let bench = CoreBench()
        let mina = try bench.node("Mina")
        let joon = try bench.guest("Joon", of: mina)
        bench.advance(20_000)
        let home = try #require(joon.host?.core.session.home)
        let record = AddressRecord(
            signedBy: home.signing, at: bench.wall + 1,
            addresses: [try #require(PeerAddress("10.9.9.9:1"))])
        func isKnown() throws -> Bool {
            try #require(mina.host?.core).links.network.addresses.book.record(of: home.device)?.at
                == record.at
        }
        func tell(isAsked: Bool) throws {
            try mina.inTurn { core, known in
                let link = try #require(
                    core.links.network.links.values.first { $0.peer?.device == home.device })
                if isAsked { link.syncs[known.number]?.wanted[home.device] = record.at }
                try core.links.learned([record], in: known, from: link)
            }
        }
        try tell(isAsked: false)
        #expect(try !isKnown())
        try tell(isAsked: true)
        #expect(try isKnown())
    }

    @Test func `and of one person's records so many are asked for, and more as time goes by`() {
        var news = AddressNews()
        var asked = 0
        for number in UInt64(0)..<10_000 where news.allowances.take([1], at: number) { asked += 1 }
        let later = 9_999 / Limits.addressRecordOfOneMilliseconds
        #expect(asked == Int(Limits.addressRecordsOfOneMax + later))
        let mayOther = news.allowances.take([2], at: 10_000)
        #expect(mayOther)
    }
}
