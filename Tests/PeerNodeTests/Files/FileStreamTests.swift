import BlobStore
import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

struct `Files that go over a connection` {
    /// A worker, and the connection that it works for.
    private final class Worker {
        let chunks = ChunkMemory()
        let worker: BlobWorker
        private let key = BlobKey(using: SeededRandom(seed: 5))
        private(set) var given: [UInt8] = []
        /// Of the largest part that was given at once.
        private(set) var largest = 0
        private(set) var outcomes: [BlobOutcome] = []
        private(set) var asks = 0
        private(set) var wasCut = false

        init() {
            let chunks = chunks
            worker = BlobWorker(
                places: MemoryFilePlaces(),
                store: { () throws(BlobError) -> any ChunkStore in chunks })
        }

        /// Has the worker do all it can without the connection.
        func run() {
            while worker.hasWork {
                for outcome in worker.step() {
                    guard case .portion(let portion) = outcome else {
                        outcomes.append(outcome)
                        continue
                    }
                    #expect(portion.connection == 7)
                    switch portion.step {
                    case .give(let bytes):
                        given += bytes
                        largest = max(largest, bytes.count)
                    case .take: asks += 1
                    case .cut: wasCut = true
                    }
                }
            }
        }

        /// Hands a file in, so many bytes at a time, and gives what became of it.
        func put(
            _ bytes: [UInt8], announced: Int? = nil, part: Int
        ) -> Result<PutContents, BlobError>? {
            let task = TaskID(number: 1)
            outcomes = []
            worker.take(
                .receive(task, byteCount: UInt64(announced ?? bytes.count), key: key, for: 7))
            run()
            for start in stride(from: 0, to: bytes.count, by: part) where result == nil {
                worker.take(.goOn(task, Array(bytes[start..<min(start + part, bytes.count)])))
                run()
            }
            return result
        }

        private var result: Result<PutContents, BlobError>? {
            for case .put(_, let result) in outcomes { return result }
            return nil
        }

        /// Reads a range, as fast as the worker gives it.
        func read(_ contents: SavedContents, _ range: Range<UInt64>) -> [UInt8] {
            let task = TaskID(number: 2)
            (given, largest, outcomes) = ([], 0, [])
            worker.take(.stream(task, contents, range, for: 7))
            run()
            while !isOver {
                let count = given.count
                worker.take(.goOn(task, []))
                run()
                guard given.count > count else { break }
            }
            return given
        }

        var isOver: Bool {
            outcomes.contains {
                switch $0 {
                case .streamed, .opened(_, .failure): true
                default: false
                }
            }
        }

        func contents(of put: PutContents) -> SavedContents {
            switch put.place {
            case .blob(let blob): .blob(blob, key)
            case .inline(let bytes): .inline(bytes)
            }
        }
    }

    @Test(arguments: [0, 1, 16_384, 16_385, 262_127, 262_128, 262_129, 1_000_000])
    func `are uploaded and read as they were, in any parts`(size: Int) throws {
        let bytes = FileScene.bytes(size, seed: UInt64(size) + 1)
        for part in [1_000, 65_536, 262_128, 2_000_000] {
            let worker = Worker()
            let put = try #require(try worker.put(bytes, part: part)?.get(), "\(part)")
            #expect(put.start == Array(bytes.prefix(BlobLimits.magicBytesMax)))
            #expect(worker.read(worker.contents(of: put), 0..<UInt64(size)) == bytes)
        }
    }

    @Test func `are read a chunk at a time, and no chunk that is not needed`() throws {
        let bytes = FileScene.bytes(1_000_000, seed: 3)
        let worker = Worker()
        let put = try #require(try worker.put(bytes, part: 300_000)?.get())
        guard case .blob(let blob) = put.place else {
            Issue.record("it is no blob")
            return
        }
        let contents = worker.contents(of: put)
        let size = UInt64(blob.shape.plaintextBytesPerChunk)
        for range in [
            0..<1, size - 1..<size + 1, size..<size * 2, 999_999..<1_000_000, 5..<999_000,
            500..<500,
        ] as [Range<UInt64>] {
            #expect(
                worker.read(contents, range)
                    == Array(bytes[Int(range.lowerBound)..<Int(range.upperBound)]), "\(range)")
            #expect(worker.largest <= blob.shape.plaintextBytesPerChunk)
        }
        worker.chunks.damage(chunk: 1, of: blob.root, byte: 9)
        #expect(worker.read(contents, 0..<10) == Array(bytes[..<10]), "chunk 1 is not looked at")
        #expect(worker.read(contents, size..<size + 1) == [])
        #expect(!worker.wasCut, "nothing was announced")
        #expect(worker.read(contents, 0..<1_000_000) == Array(bytes[..<Int(size)]))
        #expect(worker.wasCut && worker.isOver)
    }

    @Test func `rest until their connection goes on`() throws {
        let bytes = FileScene.bytes(1_000_000, seed: 4)
        let worker = Worker()
        let put = try #require(try worker.put(bytes, part: 300_000)?.get())
        let first = TaskID(number: 2)
        worker.worker.take(.stream(first, worker.contents(of: put), 0..<1_000_000, for: 7))
        worker.run()
        let count = worker.given.count
        #expect(count > 0 && count < 300_000 && !worker.worker.hasWork)
        worker.worker.take(.goOn(TaskID(number: 9), []))
        worker.run()
        #expect(worker.given.count == count, "that was somebody else's")
        worker.worker.take(.abandon(first))
        worker.worker.take(.goOn(first, []))
        worker.run()
        #expect(worker.given.count == count && !worker.worker.hasWork)
    }

    @Test func `leave nothing behind where they are longer, cut short or too much`() {
        let bytes = FileScene.bytes(900_000, seed: 6)
        let long = Worker()
        #expect(long.put(bytes, announced: 800_000, part: 70_000)?.failure == .tooLong)
        #expect(long.chunks.byteCount == 0)
        let short = Worker()
        #expect(short.put(Array(bytes[..<700_000]), announced: 900_000, part: 70_000) == nil)
        #expect(short.chunks.byteCount > 0)
        short.worker.take(.abandon(TaskID(number: 1)))
        short.run()
        #expect(short.chunks.byteCount == 0)
        let full = Worker()
        full.chunks.byteCountMax = 600_000
        #expect(full.put(bytes, part: 70_000)?.failure == .noSpace)
        #expect(full.chunks.byteCount == 0)
        let small = Worker()
        #expect(small.put([1, 2, 3, 4], announced: 3, part: 4)?.failure == .tooLong)
        #expect(small.put([1, 2], announced: 3, part: 4) == nil)
    }

    // MARK: The core

    private func read(
        _ message: JSONValue, _ offset: Int64, _ length: Int64? = nil, by node: SimulatedNode
    ) -> JSONValue? {
        let blob = message["attachments"]?[0]?["blob"] ?? .null
        var given: JSONObject = ["blob": blob, "offset": .integer(offset)]
        given["length"] = length.map { .integer($0) }
        return node.ask("blob.read", .object(given), within: 600_000)
    }

    @Test func `are fetched only as far as a range needs them`() throws {
        let scene = try #require(FileScene(seed: 41, count: 2))
        defer { scene.world.end() }
        let (ada, bob) = (scene.nodes[0], scene.nodes[1])
        let bytes = FileScene.bytes(3_000_000, seed: 7)
        let message = try #require(scene.send([bytes], by: ada))
        scene.world.run(for: 2_000)
        let answer = try #require(read(message, -5, by: bob))
        #expect(answer["offset"] == 2_999_995 && answer["bytes"] == 5)
        let given = bob.blobs.portions.compactMap { portion -> [UInt8]? in
            if case .give(let bytes) = portion.step { bytes } else { nil }
        }
        #expect(given == [Array(bytes.suffix(5))])
        let blob = message["attachments"]?[0]?["blob"] ?? .null
        let held = try #require(bob.ask("blob.stat", ["blob": blob]))
        #expect((held["have"]?.integerValue ?? 0) <= 262_128 && held["wanted"] == false)
        scene.world.run(for: 60_000)
        #expect(bob.ask("blob.stat", ["blob": blob])?["have"] == held["have"], "that was all")
        // Then the rest of it comes as ever.
        #expect(scene.save(message, by: bob) == bytes)
        #expect(scene.world.failures == [])
    }

    @Test func `that nobody sends are missed by name, and their transfer ends`() throws {
        let scene = try #require(FileScene(seed: 42, count: 2))
        defer { scene.world.end() }
        let (ada, bob) = (scene.nodes[0], scene.nodes[1])
        let message = try #require(
            scene.send([FileScene.bytes(600_000, seed: 8)], by: ada))
        scene.world.run(for: 2_000)
        ada.crash()
        let blob = message["attachments"]?[0]?["blob"] ?? .null
        let call = bob.call("blob.read", ["blob": blob, "length": 5])
        scene.world.run(for: 90_000)
        #expect(FileScene.failure(call, by: bob)?.kind == .blobMissing)
        ada.start()
        scene.world.run(for: 60_000)
        #expect(bob.ask("blob.stat", ["blob": blob])?["have"] == 0)
    }

    @Test func `have no bytes behind their end`() throws {
        let scene = try #require(FileScene(seed: 43, count: 1))
        defer { scene.world.end() }
        let ada = scene.nodes[0]
        let message = try #require(scene.send([FileScene.bytes(20_000, seed: 9)], by: ada))
        let blob = message["attachments"]?[0]?["blob"] ?? .null
        let call = ada.call("blob.read", ["blob": blob, "offset": 20_000])
        scene.world.run(for: 1_000)
        let error = FileScene.failure(call, by: ada)
        #expect(error?.reason == "file.bad_range" && error?.details["size"] == 20_000)
    }

    @Test func `that were uploaded can be named by a message`() throws {
        let scene = try #require(FileScene(seed: 44, count: 2))
        defer { scene.world.end() }
        let (ada, bob) = (scene.nodes[0], scene.nodes[1])
        let bytes = FileScene.bytes(500_000, seed: 10)
        let call = ada.call("blob.put", ["bytes": 500_000, "name": "a/plan.bin"])
        scene.world.run(for: 100)
        for half in [bytes[..<250_000], bytes[250_000...]] {
            let task = try #require(ada.blobs.portions.last?.task)
            ada.pass(Array(half), for: task)
            scene.world.run(for: 100)
        }
        scene.world.run(for: 1_000)
        let file = try #require(ada.value(call))
        #expect(file["name"] == "plan.bin" && file["size"] == 500_000 && file["own"] == true)
        let message = try #require(
            ada.ask(
                "message.send",
                ["channel": "general", "attachments": .array([file["id"] ?? .null])]))
        scene.world.run(for: 2_000)
        #expect(scene.save(message, by: bob) == bytes)
    }

    @Test func `that came with their call are added without asking for bytes`() throws {
        let scene = try #require(FileScene(seed: 46, count: 2))
        defer { scene.world.end() }
        let (ada, bob) = (scene.nodes[0], scene.nodes[1])
        let bytes = [UInt8]("%PDF-1.4 ".utf8) + FileScene.bytes(16_000, seed: 11)
        let call = ada.call(
            "blob.put", ["bytes": .integer(Int64(bytes.count)), "name": "a/plan.pdf"], file: bytes)
        scene.world.run(for: 100)
        let file = try #require(ada.value(call))
        #expect(ada.blobs.portions.isEmpty)
        #expect(file["name"] == "plan.pdf" && file["size"] == .integer(Int64(bytes.count)))
        #expect(file["type"] == "application/pdf")
        let message = try #require(
            ada.ask(
                "message.send",
                ["channel": "general", "attachments": .array([file["id"] ?? .null])]))
        scene.world.run(for: 2_000)
        #expect(scene.save(message, by: bob) == bytes)
        ada.fileDefaults.attachmentBytes = 100
        ada.crash()
        ada.start()
        scene.world.run(for: 5_000)
        let large = ada.call("blob.put", ["bytes": 101], file: FileScene.bytes(101, seed: 12))
        scene.world.run(for: 100)
        #expect(FileScene.failure(large, by: ada)?.kind == .tooLarge)
    }

    @Test func `are refused where so many would not fit into memory`() throws {
        let scene = try #require(FileScene(seed: 45, count: 1))
        defer { scene.world.end() }
        let ada = scene.nodes[0]
        ada.fileDefaults.attachmentBytes = .max
        ada.crash()
        ada.start()
        scene.world.run(for: 5_000)
        // Of the largest, each takes a chunk of 16 MiB.
        let calls = (0..<5).map { _ in ada.call("blob.put", ["bytes": 250_000_000_000]) }
        scene.world.run(for: 1_000)
        #expect(calls.prefix(4).allSatisfy { FileScene.failure($0, by: ada) == nil })
        #expect(FileScene.failure(calls.last ?? nil, by: ada)?.reason == "file.busy")
        let huge = ada.call("blob.put", ["bytes": 300_000_000_000])
        scene.world.run(for: 1_000)
        #expect(FileScene.failure(huge, by: ada)?.kind == .tooLarge)
    }
}

extension Result {
    fileprivate var failure: Failure? {
        if case .failure(let error) = self { error } else { nil }
    }
}
