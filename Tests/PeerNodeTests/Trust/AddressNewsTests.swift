import SyncProtocol
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// Members who announce false addresses of others (PROTOCOL.md, 5.3, 95).
struct `A member's word on addresses` {
    private let pair: HostilePair

    init() throws {
        pair = try HostilePair()
        pair.takeOver()
        pair.bench.advance(30_000)
    }

    private func name(_ node: BenchNode) throws -> DeviceName {
        DeviceName(of: try #require(node.host?.core.session.home).device)
    }

    private func say(
        _ visitor: Visitor, entries: [AddressBookUpdate.Entry]? = nil, wants: [DeviceName]? = nil
    ) {
        visitor.send(.book(1, AddressBookUpdate(.zero, entries: entries, wants: wants)))
    }

    private func wishes(_ visitor: Visitor) -> [DeviceName] {
        visitor.messages.flatMap { message -> [DeviceName] in
            guard case .book(_, let word) = message else { return [] }
            return word.wants ?? []
        }
    }

    @Test func `is answered with a record once on a link`() throws {
        let visitor = try pair.visit(pair.ada)
        for _ in 0..<5 { say(visitor, wants: [try name(pair.bob), try name(pair.ada)]) }
        let given = visitor.messages.flatMap { message -> [AddressRecord] in
            guard case .peers(_, let records) = message else { return [] }
            return records
        }
        #expect(given.count == 2)
        // On another link it is sent again.
        let eve = try pair.accomplice()
        let other = try pair.visit(pair.ada, as: eve.keys, from: "10.0.1.2")
        say(other, wants: [try name(pair.bob)])
        #expect(other.messages.contains { if case .peers = $0 { true } else { false } })
    }

    @Test func `keeps nobody else from being asked`() throws {
        let eve = try pair.accomplice()
        let bob = try #require(pair.bob.host?.core.session.home).device
        let now = pair.bench.wall
        let liar = try pair.visit(pair.ada)
        say(liar, entries: [.init(bob, at: now + 2_000)])
        #expect(wishes(liar) == [try name(pair.bob)])
        let honest = try pair.visit(pair.ada, as: eve.keys, from: "10.0.1.2")
        // The same record is requested from one peer at a time, another record at once.
        say(honest, entries: [.init(bob, at: now + 2_000)])
        #expect(wishes(honest).isEmpty)
        say(honest, entries: [.init(bob, at: now + 1_000)])
        #expect(wishes(honest) == [try name(pair.bob)])
        // Nor is it requested again on a link that has not delivered it.
        for _ in 0..<3 {
            pair.bench.advance(2 * Limits.bookAnswerMilliseconds)
            say(liar, entries: [.init(bob, at: now + 2_000)])
        }
        #expect(wishes(liar).count == 1)
    }

    @Test func `of a time that has not come, or of nobody, is passed over`() throws {
        let visitor = try pair.visit(pair.ada)
        let bob = try #require(pair.bob.host?.core.session.home).device
        say(
            visitor,
            entries: [
                .init(bob, at: pair.bench.wall + 2 * Limits.addressRecordMilliseconds),
                .init(bob, at: .max),
                .init(DeviceID([UInt8](repeating: 7, count: 32)), at: pair.bench.wall),
            ])
        #expect(wishes(visitor).isEmpty)
    }

    @Test func `of this device is nothing while it is only claimed`() throws {
        let core = try #require(pair.ada.host?.core)
        let home = try #require(core.session.home)
        let before = try #require(core.links.network.addresses.book.record(of: home.device))
        let visitor = try pair.visit(pair.ada)
        let ahead = pair.bench.wall + Limits.addressRecordMilliseconds - 1_000
        say(visitor, entries: [.init(home.device, at: ahead)])
        #expect(wishes(visitor) == [try name(pair.ada)])
        // Another member's record in its place counts no more than the claim.
        let foreign = AddressRecord(
            signedBy: pair.keys.signing, at: ahead,
            addresses: core.links.network.addresses.listening)
        visitor.send(.peers(1, [foreign]))
        var forged = foreign
        forged.device = home.device
        visitor.send(.peers(1, [forged]))
        pair.bench.advance(20 * 60_000)
        #expect(core.links.network.addresses.book.record(of: home.device) == before)
    }

    @Test func `of this device has it sign again, seldom, where it is shown`() throws {
        let core = try #require(pair.ada.host?.core)
        let home = try #require(core.session.home)
        let visitor = try pair.visit(pair.ada)
        let before = try #require(core.links.network.addresses.book.record(of: home.device))
        var signed = Set([before.at])
        for step in 1...20 {
            let at = pair.bench.wall + 1_000 * UInt64(step)
            say(visitor, entries: [.init(home.device, at: at)])
            let shown = AddressRecord(
                signedBy: home.signing, at: at, addresses: core.links.network.addresses.listening)
            visitor.send(.peers(1, [shown]))
            signed.insert(
                try #require(core.links.network.addresses.book.record(of: home.device)).at)
            pair.bench.advance(5_000)
        }
        #expect(signed.count == 2)
    }
}
