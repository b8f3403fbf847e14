import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

struct `The table of subscriptions` {
    private let all = EventFilter(types: [], documents: [])

    private func key(_ connection: UInt64, _ id: Int64) -> SubscriptionTable.Key {
        SubscriptionTable.Key(connection: connection, id: id)
    }

    private func waiter(_ connection: UInt64, _ number: UInt64) -> SubscriptionTable.Waiter {
        SubscriptionTable.Waiter(
            call: CallID(connection: connection, number: number), filter: all, limit: 1,
            after: 0, deadline: 100)
    }

    @Test func `forgets what is kept in memory, and counts it where it must`() {
        var table = SubscriptionTable()
        let plain = table.open(on: 7, all, after: 10, keepalive: nil, now: 0)
        let passing = table.open(
            on: 7, all, after: 10, keepalive: nil, isEphemeral: true, now: 0)
        #expect(table.wantPassing)
        let event = PassingEvent(at: 0, type: .typing, workspace: "w_1", data: [:])
        for isCounted in [true, false] {
            table.offer(event) { _ in true }
            table.offer(event) { _ in true }
            var waiting = waiter(9, 1)
            waiting.found = [
                EventObject(sequence: 1, cursor: "e1.1", at: 0, type: "typing", data: [:])
            ]
            waiting.sequence = 9
            waiting.bytes = 200
            table.waiters = [waiting]
            table.forgetPassing(isCounted: isCounted)
            let taken = table.takePassing(key(7, passing))
            #expect(taken.events.isEmpty)
            #expect(taken.dropped == (isCounted ? 2 : 0))
            let other = table.takePassing(key(7, plain))
            #expect(other.dropped == 0)
            #expect(table.waiters[0].found.isEmpty && table.waiters[0].bytes == 0)
            #expect(table.waiters[0].sequence == 0)
        }
        let isClosed = table.close(passing, on: 7)
        #expect(isClosed && !table.wantPassing)
    }

    @Test func `numbers streams from 1 and never gives a number again`() {
        var table = SubscriptionTable()
        let first = table.open(on: 7, all, after: 10, keepalive: nil, now: 0)
        #expect(first == 1)
        #expect(table.close(1, on: 7) == true)
        let second = table.open(on: 7, all, after: 10, keepalive: nil, now: 0)
        #expect(second == 2)
        #expect(table.subscriptions(of: 7).map(\.id) == [2])
    }

    @Test func `numbers the streams of each connection by themselves`() {
        var table = SubscriptionTable()
        let ids = ([7, 8, 7, 8, 8] as [UInt64]).map {
            table.open(on: $0, all, after: 0, keepalive: nil, now: 0)
        }
        #expect(ids == [1, 1, 2, 2, 3])
        table.advance(key(8, 1), to: 5)
        #expect(table.subscriptions[key(7, 1)]?.sequence == 0, "another one of the same number")
        let isClosed = table.close(1, on: 8)
        #expect(isClosed)
        #expect(table.subscriptions(of: 7).map(\.id) == [1, 2])
        // The loop never gives a number of a connection twice either.
        table.close(connection: 8)
        let first = table.open(on: 9, all, after: 0, keepalive: nil, now: 0)
        #expect(first == 1)
    }

    @Test func `begins a stream where it is told and moves it on`() {
        var table = SubscriptionTable()
        let id = table.open(on: 7, all, after: 10, keepalive: nil, now: 0)
        #expect(table.subscriptions[key(7, id)]?.sequence == 10)
        table.advance(key(7, id), to: 12)
        #expect(table.subscriptions[key(7, id)]?.sequence == 12)
        table.advance(key(7, 99), to: 12)
        #expect(table.subscriptions.count == 1, "what is gone cannot be moved on")
    }

    @Test func `ends a stream only on its own connection, and once`() {
        var table = SubscriptionTable()
        let id = table.open(on: 7, all, after: 0, keepalive: nil, now: 0)
        let answers = [
            table.close(id, on: 8), table.close(id + 1, on: 7), table.close(id, on: 7),
            table.close(id, on: 7),
        ]
        #expect(answers == [false, false, true, false])
        #expect(table.connections.isEmpty)
    }

    @Test func `forgets the streams and waiting calls of a closed connection alone`() {
        var table = SubscriptionTable()
        for connection: UInt64 in [9, 3, 9, 5] {
            _ = table.open(on: connection, all, after: 0, keepalive: nil, now: 0)
        }
        table.waiters = [waiter(9, 1), waiter(3, 1), waiter(9, 2)]
        #expect(table.connections == [3, 5, 9], "each once, ascending")
        #expect(table.subscriptions(of: 9).map(\.id) == [1, 2], "oldest first")
        table.close(connection: 9)
        #expect(table.connections == [3, 5])
        #expect(table.waiters.map(\.call.connection) == [3])
        table.close(connection: 1)
        #expect(table.connections == [3, 5])
    }

    @Test func `wants a sign of life only of streams that asked for one`() {
        var table = SubscriptionTable()
        let silent = table.open(on: 1, all, after: 0, keepalive: nil, now: 1_000)
        let lively = table.open(on: 1, all, after: 0, keepalive: 5_000, now: 1_000)
        #expect(table.subscriptions[key(1, silent)]?.keepaliveDue == nil)
        #expect(table.nextKeepalive == 6_000)
        table.gave(key(1, lively), at: 4_000)
        #expect(table.nextKeepalive == 9_000, "an event is a sign of life as well")
        table.gave(key(1, silent), at: 4_000)
        #expect(table.nextKeepalive == 9_000)
    }

    @Test func `does not overflow at the end of time`() {
        var table = SubscriptionTable()
        _ = table.open(on: 1, all, after: .max, keepalive: .max, now: .max)
        #expect(table.nextKeepalive != nil)
    }

    /// Against a list, whatever is opened and closed.
    @Test(arguments: Seeds.explore(10))
    func `does what a list does`(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var table = SubscriptionTable()
        var model: [(id: Int64, connection: UInt64)] = []
        var last: [UInt64: Int64] = [:]
        for _ in 0..<300 {
            let connection = UInt64(random.below(6))
            switch random.below(5) {
            case 0...2:
                let id = table.open(on: connection, all, after: 0, keepalive: nil, now: 0)
                last[connection, default: 0] += 1
                #expect(id == last[connection], "WSX_SEED=\(seed)")
                model.append((id, connection))
            case 3:
                let id = Int64(random.below(40))
                let isThere = model.contains { $0 == (id, connection) }
                #expect(table.close(id, on: connection) == isThere, "WSX_SEED=\(seed)")
                model.removeAll { $0 == (id, connection) }
            default:
                if random.oneIn(4) {
                    table.close(connection: connection)
                    model.removeAll { $0.connection == connection }
                    last[connection] = nil
                }
            }
            let own = model.filter { $0.connection == connection }.map(\.id)
            #expect(table.subscriptions(of: connection).map(\.id) == own, "WSX_SEED=\(seed)")
            #expect(table.connections == Set(model.map(\.connection)).sorted())
        }
    }
}
