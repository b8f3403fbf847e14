import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode
@testable import SyncProtocol

/// What a node does between two turns when a link has sent everything, so that no turn is needed.
struct `A link that has taken all` {
    private let bench = CoreBench()

    private func linked() throws -> (host: NodeHost, link: PeerLink) {
        let (mina, joon) = try bench.laterLife()
        let host = try #require(mina.host)
        let device = try #require(joon.host?.core.session.ownDevice)
        return (host, try #require(host.core.links.network.links(to: device).first))
    }

    /// Something small is sealed and handed over.
    private func write(on link: PeerLink) {
        link.session.send(.error(code: "x", retryAfterMilliseconds: 0), in: .control)
        _ = link.session.flush(now: bench.monotonic)
    }

    @Test func `is noted, and the turn that would tell it does nothing`() throws {
        let (host, link) = try linked()
        // What is due by now is done.
        _ = host.turn([.tick], at: bench.time)
        #expect(host.noteAllSent(on: [link.id], at: bench.monotonic))
        write(on: link)
        #expect(link.session.unsentBytes > 0)
        #expect(host.noteAllSent(on: [link.id], at: bench.monotonic))
        #expect(link.session.unsentBytes == 0)
        let commits = host.commitCount
        #expect(host.turn([.unsent(link.id, byteCount: 0)], at: bench.time).isEmpty)
        #expect(host.commitCount == commits)
    }

    @Test func `is told where it may be waited for`() throws {
        let (host, link) = try linked()
        #expect(!host.noteAllSent(on: [LinkID(999_999)], at: bench.monotonic), "unknown")
        write(on: link)
        link.farewell = Farewell(at: bench.monotonic)
        #expect(!host.noteAllSent(on: [link.id], at: bench.monotonic))
        link.farewell = nil
        link.isClosing = true
        #expect(!host.noteAllSent(on: [link.id], at: bench.monotonic))
        link.isClosing = false
        let sync = try #require(link.orderedSyncs.first)
        let session = sync.session
        sync.session.serving.waitingPulls = [PullRequest(request: 1, items: [], maxBytes: 1)]
        #expect(!host.noteAllSent(on: [link.id], at: bench.monotonic))
        sync.session = session
        // Something that no turn has told yet, and something that none has sealed.
        host.core.log.needed = [1: []]
        #expect(!host.noteAllSent(on: [link.id], at: bench.monotonic))
        host.core.log.needed = [:]
        link.session.send(.error(code: "y", retryAfterMilliseconds: 0), in: .control)
        #expect(!host.noteAllSent(on: [link.id], at: bench.monotonic))
        _ = link.session.flush(now: bench.monotonic)
        #expect(host.noteAllSent(on: [link.id], at: bench.monotonic))
    }

    /// Pieces of files wait, of which a first frame was handed over.
    private func queuePieces(on link: PeerLink) {
        for _ in 0..<3 {
            link.session.send(raw: [UInt8](repeating: 0x80, count: 256 * 1024), in: .blob)
        }
        _ = link.session.flush(now: bench.monotonic)
    }

    @Test func `gets more pieces of files without a turn, as one would give it`() throws {
        let (host, link) = try linked()
        _ = host.turn([.tick], at: bench.time)
        #expect(host.moreToSend(on: link.id, unsent: 0, at: bench.monotonic) == nil, "none wait")
        queuePieces(on: link)
        let unsent = link.session.unsentBytes
        let commits = host.commitCount
        let bytes = try #require(host.moreToSend(on: link.id, unsent: 0, at: bench.monotonic))
        #expect(bytes.count >= Limits.sealedUnsentBytesMax - 1_024)
        let effects = host.turn([.unsent(link.id, byteCount: 0)], at: bench.time)
        guard case .write(link.id, let next) = effects.first, effects.count == 1 else {
            return #expect(Bool(false), "\(effects)")
        }
        #expect(next.count == bytes.count && host.commitCount == commits)
        #expect(link.session.unsentBytes < unsent)
    }

    @Test func `gets more by a turn where something else may wait`() throws {
        let (host, link) = try linked()
        _ = host.turn([.tick], at: bench.time)
        queuePieces(on: link)
        let now = bench.monotonic
        #expect(host.moreToSend(on: LinkID(999_999), unsent: 0, at: now) == nil, "unknown")
        link.farewell = Farewell(at: now)
        #expect(host.moreToSend(on: link.id, unsent: 0, at: now) == nil)
        link.farewell = nil
        let sync = try #require(link.orderedSyncs.first)
        let session = sync.session
        sync.session.serving.waitingPulls = [PullRequest(request: 1, items: [], maxBytes: 1)]
        #expect(host.moreToSend(on: link.id, unsent: 0, at: now) == nil)
        sync.session = session
        host.core.log.needed = [1: []]
        #expect(host.moreToSend(on: link.id, unsent: 0, at: now) == nil)
        host.core.log.needed = [:]
        #expect(host.moreToSend(on: link.id, unsent: 0, at: now)?.isEmpty == false)
    }
}
