import BlobStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// When arrived files are claimed: a claim costs the disk as much for one small file as for many.
struct `Small files that are here` {
    private let scene: FileScene
    private let core: NodeCore
    private var transfers: FileTransfers { core.files.transfers }

    init() throws {
        scene = try #require(FileScene(seed: 321, count: 1))
        core = try #require(scene.nodes[0].host?.core)
        _ = core.turn.takeEffects()
    }

    /// Has so many files of one piece be asked of one device.
    private func begin(_ count: Int) throws -> [BlobName] {
        let shape = try #require(BlobShape(byteCount: 1_000))
        var blobs: [BlobName] = []
        for number in 0..<count {
            let bytes = [UInt8(number)] + [UInt8](repeating: 5, count: 31)
            let blob = BlobName(root: try #require(BlobRoot(untrusted: bytes)), shape: shape)
            let isBegun = transfers.scheduler.fetch(
                blob, held: HaveMap(shape), chunks: 0..<1, at: core.turn.time.monotonic)
            #expect(isBegun)
            transfers.scheduler.note(
                BlobHolding(shape: shape, map: .whole(shape)), of: blob.root, from: 1)
            blobs.append(blob)
        }
        #expect(transfers.scheduler.plan(at: core.turn.time.monotonic).count == count)
        return blobs
    }

    /// The piece of a file comes, and is stored.
    private func arrive(_ blob: BlobName) {
        let bytes = [UInt8](repeating: 0, count: blob.shape.ciphertextByteCount(of: 0))
        _ = transfers.scheduler.take(
            BlobPiece(root: blob.root, number: 0, bytes: bytes[...]), from: 1,
            at: core.turn.time.monotonic)
        transfers.stored(0, of: blob, .success(.whole(chunk: 0)))
    }

    /// How many claims are asked for at the end of a turn.
    private func claims() -> Int {
        transfers.claimGathered()
        return core.turn.takeEffects().filter { if case .blob(.claim) = $0 { true } else { false } }
            .count
    }

    @Test func `are claimed at once where nothing else comes`() throws {
        defer { scene.world.end() }
        let blobs = try begin(1)
        #expect(claims() == 0)
        arrive(blobs[0])
        #expect(claims() == 1)
        #expect(transfers.claimDue == nil && transfers.gathered == [])
        #expect(claims() == 0)
    }

    @Test func `wait for others that are on their way, up to a bound`() throws {
        defer { scene.world.end() }
        let blobs = try begin(Limits.blobsGatheredMax + 3)
        for blob in blobs.prefix(Limits.blobsGatheredMax - 1) {
            arrive(blob)
            #expect(claims() == 0)
        }
        arrive(blobs[Limits.blobsGatheredMax - 1])
        #expect(claims() == 1)
        arrive(blobs[Limits.blobsGatheredMax])
        arrive(blobs[Limits.blobsGatheredMax + 1])
        #expect(claims() == 0)
        arrive(blobs[Limits.blobsGatheredMax + 2])
        #expect(claims() == 1, "these were the last")
    }

    @Test func `do not wait for long`() throws {
        defer { scene.world.end() }
        let blobs = try begin(2)
        let now = core.turn.time
        arrive(blobs[0])
        #expect(claims() == 0)
        #expect(transfers.claimDue == now.monotonic + Limits.blobGatherMilliseconds)
        for (after, count) in [(Limits.blobGatherMilliseconds - 1, 0), (1, 1)] {
            let time = core.turn.time
            core.beginTurn(
                at: TurnTime(wall: time.wall + after, monotonic: time.monotonic + after))
            transfers.tick()
            #expect(claims() == count)
        }
    }
}
