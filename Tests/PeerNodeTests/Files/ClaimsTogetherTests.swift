import BlobStore
import Testing
import WorkspaceCrypto
import WorkspaceTestKit

@testable import PeerNode

/// Pieces of small files, each of which asks for a claim: a flush of the disk.
struct `Small files that come at about one time` {
    private let chunks = ChunkMemory()
    private let worker: BlobWorker

    init() {
        let chunks = chunks
        worker = BlobWorker(
            places: MemoryFilePlaces(), store: { () throws(BlobError) -> any ChunkStore in chunks })
    }

    /// The only piece of a small blob, and the blob.
    private func piece(_ number: UInt64) throws -> (BlobPiece, BlobName) {
        let random = SeededRandom(seed: number)
        let shape = try #require(BlobShape(byteCount: 1_000))
        let bytes = random.bytes(shape.ciphertextByteCount(of: 0))
        let top = BlobTree.leaf(bytes.span)
        let blob = BlobName(root: BlobTree.root(shape: shape, top: top), shape: shape)
        return (BlobPiece(root: blob.root, number: 0, bytes: bytes[...]), blob)
    }

    /// Hands a piece to the worker, and asks for a claim.
    private func bring(_ number: UInt64) throws -> BlobName {
        let (piece, blob) = try piece(number)
        worker.take(.store(piece, of: blob, leaf: nil))
        worker.take(.claim)
        return blob
    }

    private func claims(_ outcomes: [BlobOutcome]) -> [[ChunkClaim]] {
        outcomes.compactMap { if case .claimed(let claims) = $0 { claims } else { nil } }
    }

    @Test func `are claimed once, behind all that came meanwhile`() throws {
        let blobs = try (1...4).map { try bring($0) }
        let outcomes = worker.step()
        let claims = claims(outcomes)
        #expect(claims.count == 1)
        #expect(Set(claims.joined().map(\.blob)) == Set(blobs))
        guard case .claimed? = outcomes.last else {
            Issue.record("a claim tells only of what was told to be stored before")
            return
        }
        #expect(outcomes.count == blobs.count + 1)
        #expect(!worker.hasWork)
    }

    @Test func `are claimed without what is removed in the same round`() throws {
        let (gone, kept) = (try bring(1), try bring(2))
        worker.take(.remove(gone.root))
        let claims = claims(worker.step())
        #expect(claims.map { $0.map(\.blob) } == [[kept]])
    }

    @Test func `are all reported if the disk fails`() throws {
        _ = try (1...3).map { try bring($0) }
        chunks.claimFailure = .disk(call: "syncfs", number: 5)
        let failures = worker.step().filter { if case .unclaimed = $0 { true } else { false } }
        #expect(failures.count == 1)
    }

    @Test func `are claimed by the next round, where they come later`() throws {
        let first = try bring(1)
        #expect(claims(worker.step()).map { $0.map(\.blob) } == [[first]])
        let second = try bring(2)
        #expect(claims(worker.step()).map { $0.map(\.blob) } == [[second]])
    }
}
