import BlobStore
import CRDTStore
private import Glibc
import WorkspaceModel

/// The files of blobs in a backup: its fourth part.
///
/// ```
/// for each file: root 32, bytes of what follows 8 (little endian), the file of the blob as it lies in the
/// home: its ciphertext, and behind that its leaves
/// ```
/// It is ciphertext, and its root proves that it is correct: a restored store checks the files like
/// any other, and fetches wrong or missing ones again.
enum BackupFiles {
    static let headByteCount = 40
    private static let copiedByteCount = 256 * 1024

    /// A blob that goes into a backup.
    struct Item {
        let root: BlobRoot
        let path: String
    }

    /// The blobs of a copied store that are held completely.
    static func items(
        _ choice: BackupFileChoice, of copy: String, in home: HomeFolder
    ) throws(StorageError) -> [Item] {
        guard choice != .none else { return [] }
        let connection = try Connection(path: copy, mode: .readOnly)
        return try BlobTable.stored(in: connection).compactMap { row in
            guard choice == .all || row.isOwn, let root = row.blob?.root, row.held.isWhole
            else { return nil }
            return Item(root: root, path: home.blobs + "/" + ChunkFiles.path(of: root))
        }
    }

    /// Gives the bytes of the part to `take`. A file that went meanwhile is left out.
    ///
    /// - Returns: how many files there were.
    static func write(
        _ items: [Item], to take: ([UInt8]) throws(SystemError) -> Void
    ) throws(SystemError) -> Int64 {
        var count: Int64 = 0
        for item in items {
            guard let file = try? FileSystem.openPlainFile(item.path),
                let size = try? file.byteCount(path: item.path), size > 0
            else { continue }
            try take(item.root.bytes + BackupHeader.bytes(UInt64(size)))
            var left = Int(size)
            while left > 0 {
                let part = try file.readFully(
                    byteCount: min(left, copiedByteCount), path: item.path)
                // A file that has become shorter is padded: its hashes will show that it is wrong.
                let whole =
                    part.isEmpty
                    ? [UInt8](repeating: 0, count: min(left, copiedByteCount)) : part
                try take(whole)
                left -= whole.count
            }
            count += 1
        }
        return count
    }
}

/// Parses the fourth part of a backup, piece by piece. It accepts arbitrary bytes safely.
struct BackupFileReader {
    /// Where the files go; `nil` only looks whether the part makes sense.
    private let folder: String?
    private var head: [UInt8] = []
    private var left: UInt64 = 0
    private var file: FileDescriptor?
    private var path = ""
    /// How many files were begun.
    private(set) var count: Int64 = 0
    /// Whether what came cannot be such a part.
    private(set) var isMalformed = false

    init(to folder: String?) { self.folder = folder }

    /// Whether the part may end here.
    var isWhole: Bool { !isMalformed && head.isEmpty && left == 0 }

    mutating func take(_ piece: [UInt8]) throws(SystemError) {
        var rest = piece[...]
        while !rest.isEmpty, !isMalformed {
            if left == 0 {
                let part = rest.prefix(BackupFiles.headByteCount - head.count)
                head += part
                rest = rest.dropFirst(part.count)
                if head.count == BackupFiles.headByteCount { try begin() }
            } else {
                let part = rest.prefix(Int(clamping: left))
                try file?.writeAll(Array(part), path: path)
                left -= UInt64(part.count)
                rest = rest.dropFirst(part.count)
                if left == 0 { try end() }
            }
        }
    }

    private mutating func begin() throws(SystemError) {
        let size = BackupHeader.number(head[32...])
        guard let root = BlobRoot(untrusted: Array(head[..<32])), size > 0,
            size <= UInt64(Int64.max)
        else {
            isMalformed = true
            return
        }
        head = []
        left = size
        count += 1
        guard let folder else { return }
        path = folder + "/" + ChunkFiles.path(of: root)
        try FileSystem.makeFolder(FileSystem.parent(of: path))
        // A file left by an earlier identity of this home is useless: its keys are gone.
        _ = try FileSystem.remove(path)
        file = try FileSystem.openFile(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW)
    }

    private mutating func end() throws(SystemError) {
        guard let file else { return }
        guard uninterrupted({ fsync(file.number) }) == 0 else {
            throw SystemError("fsync", path: path)
        }
        self.file = nil
        try FileSystem.synchronizeFolder(FileSystem.parent(of: path))
    }
}
