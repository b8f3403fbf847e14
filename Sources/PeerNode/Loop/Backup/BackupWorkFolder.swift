private import Glibc
import WorkspaceModel

/// A folder in a home for the copy of a store from which a backup is made, or that was extracted
/// from one for inspection.
///
/// The copy is as unprotected as the store, so it stays in the home, where nobody else may write.
/// The folder is locked while in use; the remains of a crash are recognized by the name, and
/// removed by the next use and by a wipe of the home.
struct BackupWorkFolder {
    private static let prefix = "backup.wsx-work."
    private static let names = ["node.db", "node.db-journal", "node.db-wal", "node.db-shm"]

    private let path: String
    /// The home's folder where it was made for this; it goes with this.
    private let made: String?
    /// Locked until this goes.
    private let folder: FileDescriptor

    var store: String { path + "/node.db" }

    /// A folder in a home, which is made where it is not there.
    static func make(in home: HomeFolder) throws(NodeError) -> BackupWorkFolder {
        do throws(SystemError) { return try BackupWorkFolder(in: home.data) } catch {
            throw .backup("copy", error)
        }
    }

    private init(in data: String) throws(SystemError) {
        made = (try? FileSystem.status(of: data)) == nil ? data : nil
        try FileSystem.makeFolder(data)
        try Self.removeAbandoned(in: data)
        path = try FileSystem.makeOwnFolder(at: data + "/" + Self.prefix.dropLast())
        folder = try FileSystem.openFile(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
        guard Self.lock(folder) else { throw SystemError("flock", path: path) }
    }

    /// Removes all of it, as far as that goes: a failure to do so is nothing that a backup fails for.
    func remove() {
        try? Self.remove(path)
        if let made { rmdir(made) }
    }

    /// Whether a name in a home is that of such a folder.
    static func isOne(_ name: String) -> Bool { name.utf8.starts(with: prefix.utf8) }

    /// Removes such a folder: what is ever in one, and then itself. Anything else in it stays, and
    /// so does the folder then.
    static func remove(_ path: String) throws(SystemError) {
        for name in names { try FileSystem.remove(path + "/" + name) }
        rmdir(path)
    }

    /// Removes unused folders. An empty one may be about to be locked.
    private static func removeAbandoned(in data: String) throws(SystemError) {
        for name in try FileSystem.names(in: data) where isOne(name) {
            let path = data + "/" + name
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
