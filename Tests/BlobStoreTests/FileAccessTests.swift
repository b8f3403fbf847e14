import BlobStore
import Foundation
import Testing
import WorkspaceCrypto
import WorkspaceModel

struct `Files of people` {
    static func contents(_ path: String) -> [UInt8]? {
        FileManager.default.contents(atPath: path).map { [UInt8]($0) }
    }

    static func write(_ bytes: [UInt8], _ path: String) throws {
        try Data(bytes).write(to: URL(fileURLWithPath: path))
    }

    static func names(_ folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
    }

    // MARK: Reading

    @Test func `are read to their end`() throws {
        try BlobBench.inFolder { folder in
            let text = BlobBench.text(700_000)
            try Self.write(text, folder + "/a")
            let source = try FileSource(path: folder + "/a")
            #expect(source.byteCount == 700_000)
            let store = ChunkMemory()
            let tree = try store.put(
                source, shape: BlobBench.shape(source.byteCount), key: BlobBench.key)
            #expect(tree == (try BlobBench.sealed(text)).tree)
            #expect(try source.read(1) == [], "and once only")
            try Self.write([], folder + "/empty")
            #expect(try FileSource(path: folder + "/empty").read(10) == [])
        }
    }

    /// F08: whatever is no file is refused, and nothing hangs.
    @Test func `are plain files, and nothing else is opened`() throws {
        try BlobBench.inFolder { folder in
            try Self.write([1], folder + "/a")
            try FileManager.default.createSymbolicLink(
                atPath: folder + "/link", withDestinationPath: "a")
            #expect(mkfifo(folder + "/pipe", 0o600) == 0)
            for path in [folder, folder + "/link", folder + "/pipe", "/dev/null", "/dev/zero"] {
                #expect(
                    BlobBench.error { _ = try FileSource(path: path) } == .notRegular, "\(path)")
            }
            #expect(BlobBench.error { _ = try FileSource(path: folder + "/b") } == .missing)
            #expect(BlobBench.error { _ = try FileSource(path: folder + "/a\0") } == .badName)
            #expect(BlobBench.error { _ = try FileSource(path: "") } == .badName)
        }
    }

    /// F07.
    @Test func `that change while they are read are refused, whatever was read`() throws {
        try BlobBench.inFolder { folder in
            let path = folder + "/a"
            let store = ChunkMemory()
            func put(_ change: () throws -> Void) throws -> BlobError? {
                try Self.write(BlobBench.text(600_000), path)
                let source = try FileSource(path: path)
                try change()
                return BlobBench.error {
                    _ = try store.put(
                        source, shape: BlobBench.shape(source.byteCount), key: BlobBench.key)
                }
            }
            #expect(try put {} == nil)
            for length in [300_000, 900_000] {
                #expect(try put { _ = truncate(path, length) } == .changed)
            }
            let byte = try put {
                let file = try #require(FileHandle(forUpdatingAtPath: path))
                try file.write(contentsOf: Data([9]))
                var times = [timespec(tv_sec: 5, tv_nsec: 0), timespec(tv_sec: 5, tv_nsec: 0)]
                #expect(futimens(file.fileDescriptor, &times) == 0)
            }
            #expect(byte == .changed)
            // A file that is gone from its folder is still the same file.
            #expect(try put { try FileManager.default.removeItem(atPath: path) } != .missing)
        }
    }

    // MARK: Saving

    @Test func `are saved under their name, private, and nothing else is left`() throws {
        try BlobBench.inFolder { folder in
            let saver = try FileSaver(
                folder: folder, name: "a.txt", random: SeededRandom(seed: 1))
            try saver.write([1, 2, 3])
            try saver.write([4])
            #expect(try Self.names(folder) != ["a.txt"])
            try saver.finish()
            #expect(try Self.names(folder) == ["a.txt"])
            #expect(Self.contents(folder + "/a.txt") == [1, 2, 3, 4])
            let mode = try FileManager.default.attributesOfItem(atPath: folder + "/a.txt")[
                .posixPermissions]
            #expect(mode as? Int == 0o600)
            #expect(BlobBench.error { try saver.write([5]) } == .closed)
            #expect(BlobBench.error { try saver.finish() } == .closed)
        }
    }

    /// F03.
    @Test func `are never saved over something`() throws {
        try BlobBench.inFolder { folder in
            try Self.write([7], folder + "/old")
            try FileManager.default.createSymbolicLink(
                atPath: folder + "/dangling", withDestinationPath: "nowhere")
            for name in ["old", "dangling"] {
                #expect(
                    BlobBench.error {
                        _ = try FileSaver(
                            folder: folder, name: name, random: SeededRandom(seed: 2))
                    } == .exists)
            }
            let saver = try FileSaver(folder: folder, name: "new", random: SeededRandom(seed: 3))
            try saver.write([1])
            // Somebody is faster.
            try Self.write([8], folder + "/new")
            #expect(BlobBench.error { try saver.finish() } == .exists)
            #expect(Self.contents(folder + "/new") == [8])
            #expect(Self.contents(folder + "/old") == [7])
            #expect(try Self.names(folder) == ["dangling", "new", "old"])
        }
    }

    @Test func `stay in their folder when its path becomes a link`() throws {
        try BlobBench.inFolder { folder in
            let (inside, outside) = (folder + "/in", folder + "/out")
            for path in [inside, outside] {
                try FileManager.default.createDirectory(
                    atPath: path, withIntermediateDirectories: false)
            }
            for turn in 0..<100 {
                let saver = try FileSaver(
                    folder: inside, name: "f\(turn)", random: SeededRandom(seed: UInt64(turn)))
                try saver.write([1])
                try FileManager.default.moveItem(atPath: inside, toPath: folder + "/moved")
                try FileManager.default.createSymbolicLink(
                    atPath: inside, withDestinationPath: outside)
                try saver.finish()
                try FileManager.default.removeItem(atPath: inside)
                try FileManager.default.moveItem(atPath: folder + "/moved", toPath: inside)
            }
            #expect(try Self.names(outside) == [])
            #expect(try Self.names(inside).count == 100)
        }
    }

    @Test func `leave nothing when saving is given up`() throws {
        try BlobBench.inFolder { folder in
            let saver = try FileSaver(folder: folder, name: "a", random: SeededRandom(seed: 1))
            try saver.write([1])
            saver.abandon()
            saver.abandon()
            #expect(BlobBench.error { try saver.finish() } == .closed)
            do {
                let other = try FileSaver(folder: folder, name: "b", random: SeededRandom(seed: 2))
                try other.write([1])
            }
            #expect(try Self.names(folder) == [])
        }
    }

    @Test(arguments: ["", ".", "..", "a/b", "/", "a\0", String(repeating: "a", count: 256)])
    func `have names that are one part of a path`(_ name: String) throws {
        try BlobBench.inFolder { folder in
            #expect(
                BlobBench.error {
                    _ = try FileSaver(folder: folder, name: name, random: SeededRandom(seed: 1))
                } == .badName)
        }
    }

    @Test func `are saved into folders alone`() throws {
        try BlobBench.inFolder { folder in
            try Self.write([1], folder + "/a")
            func error(_ path: String) -> BlobError? {
                BlobBench.error {
                    _ = try FileSaver(folder: path, name: "x", random: SeededRandom(seed: 1))
                }
            }
            #expect(error(folder + "/a") == .badName)
            #expect(error(folder + "/none") == .missing)
            #expect(error("") == .badName)
        }
    }

    @Test func `that were begun by the last process are removed at a start`() throws {
        try BlobBench.inFolder { folder in
            let former = try ChunkFiles(KernelDisk(folder: folder))
            let tree = try former.put(
                ArraySource([1, 2, 3]), shape: BlobBench.shape(3), key: BlobBench.key)
            _ = try former.claim()
            _ = try former.beginPut(BlobBench.shape(700_000))
            #expect(try Self.names(folder + "/new").count == 1)
            try ChunkFiles.removeUnfinished(on: KernelDisk(folder: folder))
            #expect(try Self.names(folder + "/new") == [])
            let next = try ChunkFiles(KernelDisk(folder: folder))
            let blob = BlobName(root: tree.root, shape: tree.shape)
            #expect(try next.reconcile(blob, held: .whole(tree.shape)).isWhole)
        }
    }

    @Test func `of the store are private, and of nobody's path`() throws {
        try BlobBench.inFolder { folder in
            let store = try ChunkFiles(KernelDisk(folder: folder + "/blobs"))
            let tree = try store.put(
                ArraySource([1, 2, 3]), shape: BlobBench.shape(3), key: BlobBench.key)
            _ = try store.claim()
            let hex = BlobBench.hex(tree.root.bytes)
            let path = folder + "/blobs/" + hex.prefix(2) + "/" + hex
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            #expect(attributes[.posixPermissions] as? Int == 0o600)
            #expect(attributes[.size] as? Int == 19)
            #expect(try Self.names(folder + "/blobs") == [String(hex.prefix(2)), "new"])
            #expect(try KernelDisk(folder: folder).freeByteCount() > 0)
            #expect(BlobBench.error { _ = try KernelDisk(folder: folder + "/x/y") } == .missing)
        }
    }
}
