import BlobStore
import Testing
import WorkspaceModel

@testable import PeerNode

struct `Files in a backup` {
    private func root(_ number: UInt8) throws -> BlobRoot {
        try #require(BlobRoot(untrusted: [UInt8](repeating: number, count: 32)))
    }

    @Test func `come out as they went in, however the pieces are cut`() throws {
        try withTemporaryFolder { folder in
            let files: [(UInt8, [UInt8])] = [
                (1, [7]), (2, FileScene.bytes(300_000, seed: 1)), (3, FileScene.bytes(40, seed: 2)),
            ]
            var items: [BackupFiles.Item] = []
            for (number, bytes) in files {
                let path = folder + "/in\(number)"
                try FileSystem.replace(path, with: bytes)
                items.append(BackupFiles.Item(root: try root(number), path: path))
            }
            // One that went meanwhile is left out.
            items.insert(.init(root: try root(9), path: folder + "/gone"), at: 1)
            var part: [UInt8] = []
            let count = try BackupFiles.write(items) { part += $0 }
            #expect(count == 3)
            #expect(part.count == 3 * BackupFiles.headByteCount + 300_041)
            for size in [1_000, 40, 65_536, 1_000_000] {
                let target = folder + "/out\(size)"
                var reader = BackupFileReader(to: target)
                for start in stride(from: 0, to: part.count, by: size) {
                    try reader.take(Array(part[start..<min(start + size, part.count)]))
                }
                #expect(reader.isWhole && reader.count == 3)
                for (number, bytes) in files {
                    let path = target + "/" + ChunkFiles.path(of: try root(number))
                    let read = try FileSystem.readPlain(path, byteCountMax: 1_000_000)
                    #expect(read == bytes, "\(number) by \(size)")
                }
            }
        }
    }

    @Test func `that make no sense write nothing, and are told`() throws {
        let head = [UInt8](repeating: 1, count: 32)
        for (bytes, isWhole) in [
            ([], true), ([1], false), (head + BackupHeader.bytes(0), false),
            (head + BackupHeader.bytes(.max), false), (head + BackupHeader.bytes(2) + [1], false),
            (head + BackupHeader.bytes(2) + [1, 2], true),
            (head + BackupHeader.bytes(2) + [1, 2, 3], false),
        ] as [([UInt8], Bool)] {
            var reader = BackupFileReader(to: nil)
            try reader.take(bytes)
            #expect(reader.isWhole == isWhole, "\(bytes.count) bytes")
        }
    }
}
