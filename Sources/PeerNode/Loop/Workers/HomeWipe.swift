import BlobStore
private import Glibc
import WorkspaceModel

/// Removes a node's files from its home after its owner has logged out permanently: keys, store,
/// log and settings, what restoring moved aside, and backups that were written into the home
/// itself. A backup elsewhere belongs to its owner, and so does every other file: a home may be a
/// folder that contains other things too.
///
/// A marker file is created first and removed last, so that the next start completes a wipe that a
/// crash interrupted, and does not leave half a home. If it cannot be created, as on a full disk,
/// the files are removed nevertheless. Only the lock file stays, which another start may be waiting
/// for; it contains nothing but a process id.
struct HomeWipe {
    private let home: HomeFolder
    /// Why something of it is still there: the first reason of several.
    private var failure: SystemError?

    /// Removes everything; the store must be closed.
    ///
    /// - Throws: why something is left. Nothing that can be removed is kept because of it.
    static func begin(_ home: HomeFolder) throws(NodeError) {
        try? FileSystem.replace(home.wipeMark, with: [])
        try removeAll(of: home)
        // A start that completes a wipe goes on to use this folder.
        rmdir(home.identityFolder)
    }

    /// Completes an interrupted wipe, if there is one.
    static func finish(_ home: HomeFolder) throws(NodeError) {
        guard (try? FileSystem.status(of: home.wipeMark)) != nil else { return }
        try removeAll(of: home)
    }

    private static func removeAll(of home: HomeFolder) throws(NodeError) {
        var wipe = HomeWipe(home: home, failure: nil)
        wipe.removeAll()
        if let failure = wipe.failure {
            throw .badConfiguration("cannot wipe the home: \(failure)")
        }
    }

    private mutating func removeAll() {
        // First of all, and also those of an identity that restoring moved aside.
        let aside = names().filter { $0.utf8.starts(with: "before-restore-".utf8) }
            .map { home.data + "/" + $0 }
        for path in [home.identity] + aside.map({ $0 + "/device.key" }) { removeKeys(path) }
        remove(home.identity + ".new")
        SearchFile(path: home.searchIndex).remove()
        for path in [
            home.store, home.store + "-wal", home.store + "-shm", home.store + ".restored",
            home.storeGuard, home.storeSchema, home.storeSchema + ".new", home.store + "-wal.new",
            home.listen, home.damagedStore, home.store + ".new",
            home.store + ".new-wal", home.store + ".new-shm", home.inspectedStore,
            home.builtStore, home.builtStore + "-wal", home.builtStore + "-shm",
        ] { remove(path) }
        for folder in aside { removeAside(folder) }
        removeBackups()
        removeFiles(in: home.blobs)
        if let settings = home.configuration { remove(settings) }
        synchronize(home.identityFolder)
        synchronize(home.data)
        // The log may have to say what is left, and the mark that something is.
        guard failure == nil else { return }
        for path in [home.log, home.log + ".1", home.wipeMark] { remove(path) }
    }

    // MARK: Parts

    private mutating func attempt(_ body: () throws(SystemError) -> Void) {
        do throws(SystemError) { try body() } catch { failure = failure ?? error }
    }

    private mutating func remove(_ path: String) {
        attempt { () throws(SystemError) in try FileSystem.remove(path) }
    }

    private mutating func synchronize(_ folder: String) {
        attempt { () throws(SystemError) in try FileSystem.synchronizeFolder(folder) }
    }

    private mutating func names() -> [String] {
        do throws(SystemError) { return try FileSystem.names(in: home.data) } catch {
            failure = failure ?? error
            return []
        }
    }

    private mutating func removeKeys(_ path: String) {
        let file = try? FileSystem.openFile(path, O_RDWR | O_NOFOLLOW)
        remove(path)
        if let file { FileSystem.overwriteNameless(file) }
    }

    /// A folder that restoring made, with what it puts there.
    private mutating func removeAside(_ folder: String) {
        for path in [home.store, home.store + "-wal", home.store + "-shm", home.storeGuard] {
            let name = path.split(separator: "/").last.map(String.init) ?? ""
            remove(folder + "/" + name)
        }
        removeFiles(in: folder + "/blobs")
        rmdir(folder)
    }

    /// The files of blobs: what is named as they are, in the folders that they have.
    private mutating func removeFiles(in blobs: String) {
        guard let folders = try? FileSystem.names(in: blobs) else { return }
        let digits = Set("0123456789abcdef".utf8)
        for folder in folders {
            let isOurs =
                folder == ChunkFiles.putFolderName
                || folder.utf8.count == 2 && folder.utf8.allSatisfy(digits.contains)
            guard isOurs, let names = try? FileSystem.names(in: blobs + "/" + folder) else {
                continue
            }
            for name in names { remove(blobs + "/" + folder + "/" + name) }
            rmdir(blobs + "/" + folder)
        }
        rmdir(blobs)
    }

    /// Backups, told by how they begin, whatever they are called, and what a crash has left of one
    /// that was being made or looked at.
    private mutating func removeBackups() {
        for name in names() where BackupWorkFolder.isOne(name) {
            let path = home.data + "/" + name
            attempt { () throws(SystemError) in try BackupWorkFolder.remove(path) }
        }
        let besideKeys = (try? FileSystem.names(in: home.identityFolder)) ?? []
        let paths =
            names().map { home.data + "/" + $0 } + besideKeys.map { home.identityFolder + "/" + $0 }
        for path in paths where Self.isBackup(path) { remove(path) }
    }

    private static func isBackup(_ path: String) -> Bool {
        guard (try? FileSystem.status(of: path))?.kind == .file,
            let file = try? FileSystem.openFile(path, O_RDONLY | O_NOFOLLOW),
            let start = try? file.readSome(
                byteCountMax: BackupHeader.filesByteCount, path: path)
        else { return false }
        let count = BackupHeader.byteCount(startingWith: start)
        return BackupHeader([UInt8](start.prefix(count))) != nil
    }
}
