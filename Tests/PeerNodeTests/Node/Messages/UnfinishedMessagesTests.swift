import SyncProtocol
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// Partially received messages: memory that anybody with a link can use.
struct `Unfinished messages` {
    @Test func `make the oldest give way, and none while there is room`() {
        var unfinished = UnfinishedMessages()
        unfinished.note(LinkID(1), byteCount: 400, since: 30, isMember: true)
        unfinished.note(LinkID(2), byteCount: 400, since: 10, isMember: true)
        unfinished.note(LinkID(3), byteCount: 100, since: 20, isMember: true)
        #expect(unfinished.byteCount == 900)
        #expect(unfinished.tooOld(beyond: 900) == nil)
        #expect(unfinished.tooOld(beyond: 899) == LinkID(2))
        unfinished.forget(LinkID(2))
        #expect(unfinished.byteCount == 500)
        #expect(unfinished.tooOld(beyond: 499) == LinkID(3))
        // What is finished is not counted.
        unfinished.note(LinkID(3), byteCount: 0, since: nil, isMember: true)
        #expect(unfinished.byteCount == 400)
        #expect(unfinished.tooOld(beyond: 399) == LinkID(1))
    }

    @Test func `of outsiders give way to those of members, however young they are`() {
        var unfinished = UnfinishedMessages()
        unfinished.note(LinkID(1), byteCount: 400, since: 10, isMember: true)
        unfinished.note(LinkID(2), byteCount: 400, since: 90, isMember: false)
        unfinished.note(LinkID(3), byteCount: 400, since: 80, isMember: false)
        #expect(unfinished.tooOld(beyond: 1_000) == LinkID(3))
        unfinished.forget(LinkID(3))
        #expect(unfinished.tooOld(beyond: 700) == LinkID(2))
        unfinished.forget(LinkID(2))
        #expect(unfinished.tooOld(beyond: 300) == LinkID(1))
    }

    @Test(arguments: [true, false])
    func `end a link where all links hold too much`(isTooMuch: Bool) throws {
        let scene = try HostileScene(seed: 93)
        defer { scene.world.end() }
        let core = try #require(scene.ada.host?.core)
        core.links.network.exchange.unfinishedBytesMax = isTooMuch ? 100_000 : 400_000
        let link = scene.peer().connect(to: scene.ada)
        var log = HostileLog(scene.mallory, incarnation: 77)
        for number in 0..<40 {
            log.write(
                String(repeating: "x", count: 9_000), at: scene.wall + UInt64(number))
        }
        link.bytesUntilCut = 200_000
        link.push(log.run())
        scene.world.run(for: 3_000)
        #expect(link.isOpen == !isTooMuch)
        #expect((core.links.network.exchange.unfinished.byteCount > 100_000) == !isTooMuch)
        let isTold = scene.ada.log.contains { $0.contains("link.unfinished") }
        #expect(isTold == isTooMuch)
        link.close()
        scene.world.run(for: 3_000)
        #expect(core.links.network.exchange.unfinished.byteCount == 0)
        try scene.expectHonestPeace()
    }
}
