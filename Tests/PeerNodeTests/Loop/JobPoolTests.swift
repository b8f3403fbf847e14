import Foundation
import PeerNode
import Testing

struct `A job pool` {
    /// Takes results as the loop does, until there are `count`.
    private func take<Output: Sendable>(
        _ count: Int, from pool: JobPool<Output>, _ wakeup: Wakeup
    ) throws -> [JobPool<Output>.Finished] {
        var patience = try Patience()
        var finished: [JobPool<Output>.Finished] = []
        while finished.count < count {
            try patience.wait(for: wakeup.descriptor)
            wakeup.clear()
            finished += pool.takeFinished()
        }
        return finished
    }

    @Test func `gives every result back once, under its own id`() throws {
        let wakeup = try Wakeup()
        let pool = try JobPool<UInt64>(wakeup: wakeup)
        for id in 0..<UInt64(1_000) { pool.submit(id: id) { id * id } }
        let finished = try take(1_000, from: pool, wakeup)
        #expect(finished.allSatisfy { $0.output == $0.id * $0.id })
        #expect(Set(finished.map(\.id)).count == 1_000)
        #expect(pool.takeFinished().isEmpty)
    }

    @Test func `runs jobs in the order they came, and one thread ends them in it`() throws {
        let wakeup = try Wakeup()
        let pool = try JobPool<Int>(threadCount: 1, wakeup: wakeup)
        for id in 0..<UInt64(100) { pool.submit(id: id) { Int(id) } }
        #expect(try take(100, from: pool, wakeup).map(\.output) == Array(0..<100))
    }

    @Test func `hands results on in the order in which jobs end, not in which they begin`() throws {
        let wakeup = try Wakeup()
        let pool = try JobPool<String>(threadCount: 2, wakeup: wakeup)
        let gate = DispatchSemaphore(value: 0)
        pool.submit(id: 1) {
            gate.wait()
            return "slow"
        }
        pool.submit(id: 2) { "quick" }
        #expect(try take(1, from: pool, wakeup).map(\.output) == ["quick"])
        gate.signal()
        #expect(try take(1, from: pool, wakeup).map(\.output) == ["slow"])
    }

    @Test func `runs as many jobs at a time as it has threads`() throws {
        let wakeup = try Wakeup()
        let pool = try JobPool<Bool>(threadCount: 2, wakeup: wakeup)
        let (first, second) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        // Each waits for the other, which one thread could never do.
        pool.submit(id: 1) {
            first.signal()
            return second.wait(timeout: .now() + 20) == .success
        }
        pool.submit(id: 2) {
            second.signal()
            return first.wait(timeout: .now() + 20) == .success
        }
        #expect(try take(2, from: pool, wakeup).map(\.output) == [true, true])
    }

    @Test func `waits for running jobs when it closes, and drops those that have not begun`() throws
    {
        let wakeup = try Wakeup()
        let pool = try JobPool<Int>(threadCount: 1, wakeup: wakeup)
        let (begun, gate) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        pool.submit(id: 1) {
            begun.signal()
            gate.wait()
            return 1
        }
        pool.submit(id: 2) { 2 }
        begun.wait()
        Thread.detachNewThread {
            // The job goes on only once nothing more is taken, which is after `close` began.
            while pool.submit(id: 3, { 3 }) { sched_yield() }
            gate.signal()
        }
        pool.close()
        #expect(pool.takeFinished().map(\.id) == [1])
        #expect(!pool.submit(id: 4) { 4 })
        pool.close()
    }
}
