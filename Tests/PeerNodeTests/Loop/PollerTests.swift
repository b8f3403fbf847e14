import Foundation
import PeerNode
import Testing

struct `A poller` {
    @Test func `reports what is ready under its token, again and again until it is read`() throws {
        let poller = try Poller()
        let (reading, writing) = try makePipe()
        try poller.watch(reading, token: 7, interest: .readable)
        #expect(try poller.wait(timeoutMilliseconds: 0).isEmpty)

        #expect(write(writing.number, "ab", 2) == 2)
        for _ in 0..<2 {
            let ready = try poller.wait(timeoutMilliseconds: patienceMilliseconds)
            #expect(ready.map(\.token) == [7])
            #expect(ready.allSatisfy { $0.isReadable && !$0.isWritable && !$0.isHangUp })
        }
        var bytes: [UInt8] = [0, 0]
        #expect(read(reading.number, &bytes, 2) == 2)
        #expect(try poller.wait(timeoutMilliseconds: 0).isEmpty)
    }

    @Test func `reports only what was asked for last`() throws {
        let poller = try Poller()
        let (reading, writing) = try makePipe()
        try poller.watch(writing, token: 2, interest: .writable)
        #expect(try poller.wait(timeoutMilliseconds: 0).contains { $0.token == 2 && $0.isWritable })
        try poller.watch(writing, token: 2, interest: [])
        #expect(try !poller.wait(timeoutMilliseconds: 0).contains { $0.token == 2 })
        try poller.watch(writing, token: 3, interest: .writable)
        #expect(try poller.wait(timeoutMilliseconds: 0).contains { $0.token == 3 })
        poller.forget(writing)
        #expect(try !poller.wait(timeoutMilliseconds: 0).contains { $0.token >= 2 })
        withExtendedLifetime(reading) {}
    }

    @Test func `tells a hang-up although nothing was asked for`() throws {
        let poller = try Poller()
        var ends: (reading: FileDescriptor, writing: FileDescriptor)? = try makePipe()
        let writing = try #require(ends?.writing)
        try poller.watch(writing, token: 4, interest: [])
        #expect(try poller.wait(timeoutMilliseconds: 0).isEmpty)
        ends = nil
        let ready = try poller.wait(timeoutMilliseconds: patienceMilliseconds)
        #expect(ready.map(\.token) == [4])
        #expect(ready.map(\.isHangUp) == [true])
    }

    @Test func `watches a descriptor again after its first owner closed it silently`() throws {
        let poller = try Poller()
        var number: Int32 = -1
        do {
            let (reading, _) = try makePipe()
            number = reading.number
            try poller.watch(reading, token: 1, interest: .readable)
        }
        // The lowest free numbers are given out again, to this test or to one beside it.
        let (reading, writing) = try makePipe()
        try poller.watch(reading, token: 2, interest: .readable)
        #expect(write(writing.number, "a", 1) == 1)
        let ready = try poller.wait(timeoutMilliseconds: patienceMilliseconds)
        #expect(ready.map(\.token) == [2], "the number was \(number), then \(reading.number)")
    }

    @Test func `is woken from another thread, once for many calls`() throws {
        let poller = try Poller()
        let wakeup = try Wakeup()
        try poller.watch(wakeup.descriptor, token: 1, interest: .readable)
        Thread.detachNewThread { for _ in 0..<100 { wakeup.wake() } }
        #expect(try poller.wait(timeoutMilliseconds: patienceMilliseconds).map(\.token) == [1])
        wakeup.clear()
        wakeup.wake()
        wakeup.wake()
        wakeup.clear()
        wakeup.clear()
    }

    @Test func `returns at its time-out, which the clock confirms`() throws {
        let before = MonotonicClock.milliseconds()
        #expect(try Poller().wait(timeoutMilliseconds: 3).isEmpty)
        // The two clocks are rounded down on their own.
        #expect(MonotonicClock.milliseconds() - before >= 2)
    }
}

struct `The clocks` {
    @Test func `go on, and agree with the system about the year`() {
        let first = MonotonicClock.milliseconds()
        #expect(MonotonicClock.milliseconds() >= first)
        let seconds = Date().timeIntervalSince1970
        #expect(abs(Double(WallClock.milliseconds()) / 1_000 - seconds) < 60)
    }
}
