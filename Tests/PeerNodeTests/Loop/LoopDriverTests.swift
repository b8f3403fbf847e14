import Foundation
import PeerNode
import Testing

struct `A loop driver` {
    typealias Driver = LoopDriver<String, String>

    @Test func `gathers timers, jobs and sockets into turns of values`() throws {
        let driver = try Driver()
        let (reading, writing) = try makePipe()
        let token = driver.newToken()
        try driver.poller.watch(reading, token: token, interest: .readable)
        #expect(write(writing.number, "x", 1) == 1)
        driver.jobs.submit(id: 5) { "done" }
        driver.timers.set("soon", deadline: MonotonicClock.milliseconds() + 5)

        var (jobs, timers, tokens): ([String], [String], Set<UInt64>) = ([], [], [])
        driver.timers.set("bound", deadline: MonotonicClock.milliseconds() + patienceMilliseconds)
        while jobs.isEmpty || timers.isEmpty || tokens.isEmpty {
            let turn = try driver.gather()
            jobs += turn.jobs.map(\.output)
            timers += turn.timers
            tokens.formUnion(turn.ready.map(\.token))
            try #require(!timers.contains("bound"))
        }
        #expect(jobs == ["done"])
        #expect(timers == ["soon"])
        #expect(tokens == [token])
    }

    @Test func `does not wait while work is left over, nor for a deadline that has passed`() throws
    {
        let driver = try Driver()
        #expect(try driver.gather(hasMoreToDo: true).timers == [])
        driver.timers.set("past", deadline: 1)
        #expect(try driver.gather().timers == ["past"])
    }

    @Test func `never gives a token twice, nor one of its own`() throws {
        let driver = try Driver()
        let tokens = (0..<100).map { _ in driver.newToken() }
        #expect(Set(tokens).count == 100)
        #expect(tokens.allSatisfy { $0 >= Driver.firstFreeToken })
    }

    @Test func `returns at once when another thread wakes it`() throws {
        let driver = try Driver()
        let wakeup = driver.wakeup
        Thread.detachNewThread { wakeup.wake() }
        // Without the wake-up this would wait endlessly.
        let turn = try driver.gather()
        #expect(turn.ready.isEmpty)
    }
}
