private import Glibc
import WorkspaceModel

/// A folder of its own for what is made on the way to a backup, or to a verdict on one: a copy of
/// the store, which is as plain as the store, and the draft of the file.
///
/// Nobody's file is in the way of a name in it. While it is used it is locked; what a crash leaves
/// is known by its name, goes with the next one at the same place, and with a wipe of the home.
struct BackupWorkFolder {
    private static let infix = ".wsx-work."
    /// What `mkdtemp` puts behind a name.
    private static let suffixByteCount = 6
    private static let names = [
        "draft", "node.db", "node.db-journal", "node.db-wal", "node.db-shm",
    ]

    private let path: String
    /// Locked until this goes.
    private let folder: FileDescriptor

    var store: String { path + "/node.db" }
    var draft: String { path + "/draft" }

    /// A folder beside the file at `path`, on the same file system.
    static func make(at path: String) throws(NodeError) -> BackupWorkFolder {
        do throws(SystemError) { return try BackupWorkFolder(beside: path) } catch {
            throw .backup("write", error)
        }
    }

    /// A folder in a home, for what must not be plain anywhere else.
    static func make(in home: HomeFolder) throws(NodeError) -> BackupWorkFolder {
        try make(at: home.data + "/backup")
    }

    private init(beside file: String) throws(SystemError) {
        try Self.removeAbandoned(beside: file)
        path = try FileSystem.makeOwnFolder(at: file + Self.infix.dropLast())
        folder = try FileSystem.openFile(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
        guard Self.lock(folder) else { throw SystemError("flock", path: path) }
    }

    /// Removes all of it, as far as that goes: a failure to do so is nothing that a backup fails for.
    func remove() {
        try? Self.remove(path)
    }

    /// Of which file's work a folder of this name is, or `nil` where it is another one.
    static func target(ofFolder name: String) -> String? {
        let bytes = Array(name.utf8)
        let tail = bytes.suffix(infix.utf8.count + suffixByteCount)
        guard tail.count == infix.utf8.count + suffixByteCount, tail.starts(with: infix.utf8) else {
            return nil
        }
        return String(decoding: bytes.dropLast(tail.count), as: UTF8.self)
    }

    /// Removes such a folder: what is ever in one, and then itself. Anything else in it stays, and
    /// so does the folder then.
    static func remove(_ path: String) throws(SystemError) {
        for name in names { try FileSystem.remove(path + "/" + name) }
        rmdir(path)
    }

    /// Those of this name which nobody uses. An empty one may be about to be locked.
    private static func removeAbandoned(beside file: String) throws(SystemError) {
        let parent = FileSystem.parent(of: file)
        guard let own = file.split(separator: "/").last.map(String.init) else { return }
        for name in try FileSystem.names(in: parent) where target(ofFolder: name) == own {
            let path = parent + "/" + name
            guard
                let folder = try? FileSystem.openFile(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW),
                let found = try? FileSystem.names(in: path), !found.isEmpty, lock(folder)
            else { continue }
            try? remove(path)
        }
    }

    private static func lock(_ folder: FileDescriptor) -> Bool {
        uninterrupted { flock(folder.number, LOCK_EX | LOCK_NB) } == 0
    }
}
