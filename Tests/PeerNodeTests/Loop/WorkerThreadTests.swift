import Glibc
import Testing

@testable import PeerNode

struct `A thread beside the loop` {
    /// What a thread of this niceness has.
    private static func niceness(_ wanted: Int32) throws -> Int32 {
        let found = Lock<Int32?>(nil)
        let thread = try WorkerThread(name: "wsx-test", niceness: wanted) {
            let own = getpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0)
            found.withLock { $0 = own }
        }
        thread.join()
        return try #require(found.withLock { $0 })
    }

    @Test func `stands back as far as it is told to, and no other does`() throws {
        let usual = try Self.niceness(0)
        #expect(try Self.niceness(5) == min(19, usual + 5))
        #expect(try Self.niceness(0) == usual)
        #expect(getpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0) == usual)
    }
}
