import BlobStore
import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// What a save leaves of a file in the kernel's cache.
struct `A file that is saved` {
    private let chunks = ChunkMemory()
    private let places = MemoryFilePlaces()
    private let worker: BlobWorker
    private let bytes = SeededRandom(seed: 3).bytes(900_000)
    private let key = BlobKey(using: SeededRandom(seed: 4))

    init() {
        let chunks = chunks
        worker = BlobWorker(
            places: places, store: { () throws(BlobError) -> any ChunkStore in chunks })
    }

    /// Puts the file and saves it again.
    ///
    /// - Returns: the number of its chunks.
    private func putAndSave() throws -> Int {
        places.files["/from"] = bytes
        worker.take(
            .put(
                TaskID(number: 1), path: "/from", key: key,
                PutBounds(byteCountMax: 1_000_000, inlineByteCountMax: 0)))
        var put: BlobName?
        while worker.hasWork {
            for case .put(_, .success(let contents)) in worker.step() {
                if case .blob(let blob) = contents.place { put = blob }
            }
        }
        let blob = try #require(put)
        worker.take(
            .save(
                TaskID(number: 2), .blob(blob, key), folder: "/to",
                name: "file"))
        while worker.hasWork { _ = worker.step() }
        #expect(places.files["/to/file"] == bytes)
        return blob.shape.chunkCount
    }

    @Test func `leaves the cache chunk by chunk if it was not there before`() throws {
        chunks.isCached = false
        let count = try putAndSave()
        #expect(count > 1)
        #expect(chunks.dropped == Array(0..<count))
    }

    @Test func `stays cached if it was`() throws {
        _ = try putAndSave()
        #expect(chunks.dropped.isEmpty)
    }
}
