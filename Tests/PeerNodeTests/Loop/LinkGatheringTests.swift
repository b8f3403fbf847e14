import Testing
import WorkspaceModel

@testable import PeerNode

struct `What the kernel gathers for a link` {
    private var gathering = LinkGathering(isAccepted: false)

    @Test mutating func `is a frame that has begun, where little comes`() {
        let changed = gathering.take([0, 200], now: 5)
        #expect(changed && gathering.wanted == 200 && gathering.until == nil)
        let isSame = gathering.take([], now: 5)
        #expect(!isSame && gathering.wanted == 200)
    }

    @Test mutating func `is as much again where much has come, for a moment`() {
        let bulk = [UInt8](repeating: 0, count: Limits.bulkBytesMin)
        let changed = gathering.take(bulk, now: 5)
        #expect(changed && gathering.wanted == Limits.gatheredBulkBytes && gathering.until == 7)
        let isSame = gathering.take(bulk, now: 6)
        #expect(!isSame && gathering.until == 8)
        let early = gathering.passTime(now: 7)
        #expect(!early && gathering.wanted == Limits.gatheredBulkBytes)
        let isDue = gathering.passTime(now: 8)
        #expect(isDue && gathering.wanted == 1 && gathering.until == nil)
        let again = gathering.passTime(now: 9)
        #expect(!again)
    }

    @Test mutating func `is a frame again once less comes`() {
        _ = gathering.take([UInt8](repeating: 0, count: Limits.bulkBytesMin), now: 5)
        let changed = gathering.take([1, 0, 7], now: 6)
        #expect(changed && gathering.wanted == 255 && gathering.until == nil)
    }
}
