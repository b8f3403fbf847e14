private import Foundation
import Testing

@Suite(.serialized, .ownThread) struct `A row on a thread of its own` {
    struct `with a suite in it` {
        @Test(arguments: 1...3) func `runs all cases there`(_ number: Int) {
            #expect(number > 0 && isOnLane)
        }

        @Test func `comes back to it after each wait`() async {
            for _ in 0..<5 {
                #expect(isOnLane)
                await Task.yield()
                #expect(await isAwayOnLane())
            }
        }

        @Test func `has its own for a task that asks for none`() async {
            async let child = isAwayOnLane()
            #expect(await child)
        }
    }

    @Test func `is another one than that of tests beside it`() async {
        #expect(isOnLane)
        let elsewhere = await Task.detached { isOnLane }.value
        #expect(!elsewhere)
    }
}

/// Whether this runs on the thread of a row.
private var isOnLane: Bool { Thread.current.name == "lane" }
private func isAwayOnLane() async -> Bool { isOnLane }
