import Foundation
import Testing
import WorkspaceModel

@testable import PeerNode

/// Links and dials on a clock that the test controls.
struct `The links to peers` {
    private let fixture: Fixture

    init() throws { fixture = try Fixture() }

    private final class Fixture {
        let driver: NodeDriver
        let links: PeerLinks
        var inputs: [String] = []
        var ids: [LinkID] = []

        init() throws {
            driver = try NodeDriver()
            links = PeerLinks(driver: driver, buffer: ReadBuffer())
        }

        func takeInputs() {
            for input in links.takeInputs() {
                switch input {
                case .dialled(let id, let number, let address):
                    ids.append(id)
                    inputs.append("dialled \(number) \(address)")
                case .dialFailed(let number, let reason):
                    inputs.append("failed \(number) \(reason)")
                case .accepted(let id, _):
                    ids.append(id)
                    inputs.append("accepted")
                case .received(_, let bytes): inputs.append("received \(bytes.count)")
                case .unsent(_, let count): inputs.append("unsent \(count)")
                case .linkClosed: inputs.append("closed")
                default: inputs.append("?")
                }
            }
        }

        func work(now: UInt64 = 0, until isDone: () -> Bool) throws {
            let deadline = MonotonicClock.milliseconds() + patienceMilliseconds
            while !isDone() {
                try #require(MonotonicClock.milliseconds() < deadline, "not within the time")
                for ready in try driver.poller.wait(timeoutMilliseconds: 20) {
                    _ = links.handle(ready, now: now)
                }
                links.readAll(byteCountMax: 1 << 20, now: now)
                takeInputs()
            }
        }
    }

    @Test(arguments: ["", ":1", "[::1", "127.0.0.1:0", "127.0.0.1:65536", "a b", "h:"])
    func `are not dialled at what is no address`(_ address: String) throws {
        fixture.links.dial(number: 4, address: address, now: 0)
        fixture.takeInputs()
        #expect(fixture.inputs == ["failed 4 bad_address"])
        #expect(fixture.links.nextDeadline == nil)
    }

    @Test func `are dialled at each address of a name until one answers`() throws {
        let dead = try TCPListener(anyLoopbackPort).address
        let alive = try TCPListener(anyLoopbackPort)
        fixture.links.dial(number: 4, address: "localhost", now: 0)
        fixture.links.resolved(
            .init(id: 4, output: .success([dead, dead, alive.address])), now: 0)
        try fixture.work { !fixture.inputs.isEmpty }
        #expect(fixture.inputs == ["dialled 4 \(alive.address)"])
        #expect(fixture.links.count == 1 && fixture.links.nextDeadline == nil)
        // The same answer again belongs to no dial any more.
        fixture.links.resolved(.init(id: 4, output: .success([dead])), now: 0)
        #expect(fixture.links.nextDeadline == nil && !fixture.links.hasInputs)
    }

    @Test func `fail with the word of the last address, or of the name`() throws {
        let dead = try TCPListener(anyLoopbackPort).address
        fixture.links.dial(number: 1, address: "\(dead)", now: 0)
        try fixture.work { fixture.inputs.count == 1 }
        #expect(fixture.inputs == ["failed 1 refused"])
        for (number, output) in [
            (UInt64(2), LookedUp.success([])),
            (3, .failure(NameResolution.Failure(host: "h", number: -2))),
        ] {
            fixture.links.dial(number: number, address: "localhost", now: 0)
            fixture.links.resolved(.init(id: number, output: output), now: 0)
        }
        fixture.takeInputs()
        #expect(fixture.inputs.dropFirst() == ["failed 2 no_address", "failed 3 no_such_name"])
    }

    @Test func `give up all dials and questions when the network goes`() throws {
        let listener = try TCPListener(anyLoopbackPort)
        fixture.links.dial(number: 9, address: "localhost", now: 0)
        fixture.links.dial(number: 2, address: "\(listener.address)", now: 0)
        #expect(fixture.links.nextDeadline == PeerLinks.dialMilliseconds)
        fixture.links.dropDials()
        fixture.takeInputs()
        #expect(fixture.inputs == ["failed 2 suspended", "failed 9 suspended"])
        #expect(fixture.links.nextDeadline == nil)
        fixture.links.resolved(.init(id: 9, output: .success([listener.address])), now: 0)
        #expect(fixture.links.nextDeadline == nil, "an answer that comes late is not followed")
    }

    @Test func `take with a connection what was sent with it`() throws {
        let (own, other) = try makeLinks()
        other.write([UInt8](repeating: 1, count: 66), now: 0)
        #expect(other.flush(now: 0) == nil)
        var patience = try Patience()
        try patience.wait(for: own.descriptor)
        fixture.links.accept(own, now: 0)
        fixture.takeInputs()
        #expect(fixture.inputs == ["accepted", "received 66"])
        // Nothing was written to it, so nothing of it stays: the other side is told at once.
        let id = try #require(fixture.ids.first)
        #expect(own.hasWritten == false)
        fixture.links.close(id, now: 0)
        #expect(fixture.links.count == 0)
    }

    @Test func `tell what is left of what was written, once a flush`() throws {
        let (own, other) = try makeLinks()
        fixture.links.accept(own, now: 0)
        fixture.takeInputs()
        let id = try #require(fixture.ids.first)
        fixture.links.write(id, [1, 2, 3], now: 0)
        fixture.links.write(id, [4], now: 0)
        fixture.links.write(LinkID(999), [5], now: 0)
        fixture.links.flush(now: 0)
        fixture.links.flush(now: 0)
        fixture.takeInputs()
        #expect(fixture.inputs == ["accepted", "unsent 0"])
        fixture.links.close(id, now: 0)
        fixture.links.close(id, now: 0)
        #expect(fixture.links.count == 0)
        let received = try other.receiveAll(ReadBuffer())
        #expect(received.bytes == [1, 2, 3, 4] && received.end == .finished)
        fixture.takeInputs()
        #expect(fixture.inputs.count == 2, "who closes a link is not told that it is closed")
    }

    @Test func `do not tell that all has left where that is known`() throws {
        let (own, other) = try makeLinks()
        fixture.links.accept(own, now: 0)
        fixture.takeInputs()
        let id = try #require(fixture.ids.first)
        var asked: [LinkID] = []
        func flush(isNoted: Bool) {
            fixture.links.flush(
                now: 0,
                isNoted: {
                    asked += $0
                    return isNoted
                })
        }
        fixture.links.write(id, [1, 2, 3], now: 0)
        flush(isNoted: true)
        flush(isNoted: true)
        #expect(asked == [id] && !fixture.links.hasInputs)
        fixture.links.write(id, [4], now: 0)
        flush(isNoted: false)
        fixture.takeInputs()
        #expect(asked == [id, id] && fixture.inputs == ["accepted", "unsent 0"])
        // More than the kernel takes while the other side does not read.
        fixture.links.write(id, [UInt8](repeating: 7, count: 8 << 20), now: 0)
        flush(isNoted: true)
        #expect(asked == [id, id] && fixture.links.hasInputs)
        // There is a turn anyway, which hears of this one, too.
        let pair = try makeLinks()
        fixture.links.accept(pair.0, now: 0)
        fixture.takeInputs()
        fixture.inputs = []
        fixture.links.write(id, [8], now: 0)
        fixture.links.write(try #require(fixture.ids.last), [9], now: 0)
        flush(isNoted: true)
        fixture.takeInputs()
        #expect(
            asked == [id, id] && fixture.inputs.count == 2 && fixture.inputs.last == "unsent 0")
        #expect(other.receive(byteCountMax: 4, into: ReadBuffer()).bytes == [1, 2, 3, 4])
        #expect(pair.1.receive(byteCountMax: 4, into: ReadBuffer()).bytes == [9])
    }

    @Test func `are given more without a turn while they take it`() throws {
        let (own, other) = try makeLinks()
        fixture.links.accept(own, now: 0)
        fixture.takeInputs()
        let id = try #require(fixture.ids.first)
        fixture.inputs = []
        var (asked, waiting) = ([Int](), 3)
        func more(_ link: LinkID, _ unsent: Int) -> [UInt8]? {
            #expect(link == id)
            asked.append(unsent)
            guard waiting > 0 else { return nil }
            waiting -= 1
            return [UInt8](repeating: UInt8(waiting), count: 1_000)
        }
        fixture.links.write(id, [9], now: 0)
        fixture.links.flush(now: 0, more: more)
        fixture.takeInputs()
        #expect(asked == [0, 0, 0, 0] && fixture.inputs == ["unsent 0"])
        let sent: [UInt8] = [9] + [2, 1, 0].flatMap { [UInt8](repeating: $0, count: 1_000) }
        #expect(other.receive(byteCountMax: 10_000, into: ReadBuffer()).bytes == sent)
        // More than the kernel takes: who knows what is left asks for no turn, and goes on with it later.
        fixture.links.write(id, [UInt8](repeating: 7, count: 8 << 20), now: 0)
        fixture.links.flush(now: 0) { _, unsent in unsent > 0 ? [] : nil }
        #expect(!fixture.links.hasInputs && fixture.links.hasUnsent)
        let watched = try fixture.driver.poller.wait(timeoutMilliseconds: 0)
        #expect(watched.isEmpty, "the kernel has no room")
        other.abandon()
        try fixture.work {
            fixture.links.flush(now: 0) { _, _ in [] }
            return fixture.inputs.last == "closed"
        }
    }

    @Test func `leave with the kernel all that was written, when they are closed`() throws {
        let (own, other) = try makeLinks()
        fixture.links.accept(own, now: 0)
        fixture.takeInputs()
        let id = try #require(fixture.ids.first)
        // More than the kernel takes while the other side does not read.
        fixture.links.write(id, [UInt8](repeating: 7, count: 1 << 20), now: 0)
        fixture.links.flush(now: 0)
        fixture.takeInputs()
        #expect(fixture.inputs != ["accepted", "unsent 0"])
        fixture.links.close(id, now: 0)
        let received = try other.receiveAll(ReadBuffer())
        #expect(received.bytes.count == 1 << 20 && received.end == .finished)
    }

    @Test func `are read in turn, none twice before the others`() throws {
        let pairs = try (0..<3).map { _ in try makeLinks() }
        for pair in pairs {
            fixture.links.accept(pair.0, now: 0)
            pair.1.write([UInt8](repeating: 7, count: 1_000), now: 0)
            pair.1.flush(now: 0)
        }
        fixture.takeInputs()
        fixture.inputs = []
        var order: [LinkID] = []
        let deadline = MonotonicClock.milliseconds() + patienceMilliseconds
        while order.count < 3 {
            try #require(MonotonicClock.milliseconds() < deadline)
            for ready in try fixture.driver.poller.wait(timeoutMilliseconds: 20) {
                _ = fixture.links.handle(ready, now: 0)
            }
            // Room for one link a turn.
            fixture.links.readAll(byteCountMax: 1, now: 0)
            for case .received(let id, let bytes) in fixture.links.takeInputs() {
                #expect(bytes.count == 1_000)
                order.append(id)
            }
        }
        #expect(Set(order) == Set(fixture.ids) && order.count == 3)
    }

    @Test func `are read a few times for a frame that comes byte by byte`() throws {
        let (own, other) = try makeLinks()
        fixture.links.accept(own, now: 0)
        let hint = [UInt8](repeating: 9, count: 16)
        let frame = [0, 200] + [UInt8](repeating: 7, count: 200)
        for byte in hint + frame {
            other.write([byte], now: 0)
            #expect(other.flush(now: 0) == nil)
            for ready in try fixture.driver.poller.wait(timeoutMilliseconds: 0) {
                _ = fixture.links.handle(ready, now: 0)
            }
            fixture.links.readAll(byteCountMax: 1 << 20, now: 0)
        }
        fixture.takeInputs()
        // The first byte, the rest of the hint, the two bytes of the length, the frame.
        #expect(fixture.inputs.filter { $0.hasPrefix("received") }.count <= 5)
        // The end is told though a frame has begun.
        other.write([0, 9, 1], now: 0)
        other.finishWriting(now: 0)
        try fixture.work { fixture.inputs.last == "closed" }
    }

    @Test func `are read after a moment where the kernel gathers more than comes`() throws {
        let (own, other) = try makeLinks()
        fixture.links.accept(own, now: 0)
        other.write([UInt8](repeating: 0, count: 60_000), now: 0)
        other.flush(now: 0)
        // Much comes first, then less than the kernel waits for, which says no more of it then.
        var (count, now) = (0, UInt64(0))
        let deadline = MonotonicClock.milliseconds() + patienceMilliseconds
        while count < 60_000 {
            try #require(MonotonicClock.milliseconds() < deadline)
            now += Limits.gatheredBulkMilliseconds
            for ready in try fixture.driver.poller.wait(timeoutMilliseconds: 0) {
                _ = fixture.links.handle(ready, now: now)
            }
            fixture.links.passTime(now: now)
            fixture.links.readAll(byteCountMax: 1 << 20, now: now)
            for case .received(_, let bytes) in fixture.links.takeInputs() { count += bytes.count }
        }
        #expect(count == 60_000)
    }

    @Test func `are left alone while they are busy, and read later`() throws {
        for _ in 0..<2 {
            let pair = try makeLinks()
            fixture.links.accept(pair.0, now: 0)
            pair.1.write([7, 7], now: 0)
            pair.1.flush(now: 0)
        }
        fixture.takeInputs()
        fixture.inputs = []
        let busy = try #require(fixture.ids.first)
        var order: [LinkID] = []
        let deadline = MonotonicClock.milliseconds() + patienceMilliseconds
        while order.count < 2 {
            try #require(MonotonicClock.milliseconds() < deadline)
            for ready in try fixture.driver.poller.wait(timeoutMilliseconds: 20) {
                _ = fixture.links.handle(ready, now: 0)
            }
            fixture.links.readAll(byteCountMax: 1 << 20, but: order.isEmpty ? [busy] : [], now: 0)
            for case .received(let id, _) in fixture.links.takeInputs() { order.append(id) }
        }
        #expect(order == [fixture.ids[1], busy])
    }

    @Test func `that are lost are told once, after their last bytes`() throws {
        let (own, other) = try makeLinks()
        fixture.links.accept(own, now: 0)
        other.write([1, 2], now: 0)
        other.finishWriting(now: 0)
        try fixture.work { fixture.inputs.contains("closed") }
        #expect(fixture.inputs == ["accepted", "received 2", "closed"])
        #expect(fixture.links.count == 0 && !fixture.links.hasUnsent)
        fixture.links.write(try #require(fixture.ids.first), [1], now: 0)
        fixture.links.flush(now: 0)
        #expect(!fixture.links.hasInputs)
    }
}
