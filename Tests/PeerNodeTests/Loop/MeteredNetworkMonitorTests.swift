import Testing

@testable import PeerNode

struct `Whether the network is metered` {
    private func answer(_ command: String, at times: [UInt64] = [0]) throws -> [Bool?] {
        let driver = try NodeDriver()
        let watch = MeteredNetworkMonitor(driver: driver, command: command)
        watch.look(now: 0)
        watch.look(now: 0)
        var answers: [Bool?] = []
        for _ in 0..<200 where answers.isEmpty {
            for time in times { watch.passTime(now: time) }
            driver.timers.set(.next, deadline: MonotonicClock.milliseconds() + 100)
            for ready in try driver.gather().ready { _ = watch.handle(ready) }
            for case .metered(let isMetered) in watch.takeInputs() { answers.append(isMetered) }
        }
        watch.close()
        return answers
    }

    @Test func `is what the system says, once for each question`() throws {
        #expect(try answer("exit 10") == [true])
        #expect(try answer("exit 11") == [false])
        #expect(try answer("exit 12") == [nil])
        #expect(try answer("exit 0") == [nil])
    }

    @Test func `is unknown where nobody answers in time`() throws {
        #expect(try answer("sleep 60", at: [20_000]) == [nil])
    }
}
