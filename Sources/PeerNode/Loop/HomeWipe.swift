private import Glibc
import WorkspaceModel

/// Removes what a node has left in its home, after its owner has logged out of it for good: keys,
/// store, log and settings, what restoring moved aside, and backups that were written into the
/// home itself. A backup elsewhere is its owner's, and so is whatever else lies there: a home may
/// be a folder that holds other things too.
///
/// A mark is set first and removed last, so that a wipe which a crash cut short is finished by the
/// next start instead of leaving half a home. What stays is the lock, which another start may be
/// waiting for; a process number is all that is in it.
enum HomeWipe {
    private static func mark(_ home: HomeFolder) -> String { home.data + "/wipe" }

    /// Removes everything; the store must be closed.
    static func begin(_ home: HomeFolder) throws(NodeError) {
        do throws(SystemError) {
            try FileSystem.replace(mark(home), with: [])
        } catch { throw .badConfiguration("cannot wipe the home: \(error)") }
        try finish(home)
        // A start that finishes a wipe goes on to use this folder.
        rmdir(home.identityFolder)
    }

    /// Finishes a wipe that has begun, if one has.
    static func finish(_ home: HomeFolder) throws(NodeError) {
        guard (try? FileSystem.status(of: mark(home))) != nil else { return }
        do throws(SystemError) {
            // First of all, and also those of an identity that restoring moved aside.
            let aside = try FileSystem.names(in: home.data)
                .filter { $0.utf8.starts(with: "before-restore-".utf8) }
                .map { home.data + "/" + $0 }
            for path in [home.identity] + aside.map({ $0 + "/device.key" }) {
                try removeKeys(path)
            }
            _ = try FileSystem.remove(home.identity + ".new")
            SearchFile(path: home.searchIndex).remove()
            for path in [
                home.store, home.store + "-wal", home.store + "-shm", home.store + ".restored",
                home.storeGuard, home.listen, home.log, home.log + ".1",
            ] {
                _ = try FileSystem.remove(path)
            }
            for folder in aside { try removeAside(folder, home) }
            try removeBackups(home)
            if let settings = home.configuration { _ = try FileSystem.remove(settings) }
            try FileSystem.synchronizeFolder(home.identityFolder)
            try FileSystem.synchronizeFolder(home.data)
            _ = try FileSystem.remove(mark(home))
        } catch { throw .badConfiguration("cannot wipe the home: \(error)") }
    }

    private static func removeKeys(_ path: String) throws(SystemError) {
        guard let file = try? FileSystem.openFile(path, O_RDWR | O_NOFOLLOW) else { return }
        _ = try FileSystem.remove(path)
        FileSystem.overwriteNameless(file)
    }

    /// A folder that restoring made, with what it puts there.
    private static func removeAside(_ folder: String, _ home: HomeFolder) throws(SystemError) {
        for path in [home.store, home.store + "-wal", home.store + "-shm", home.storeGuard] {
            let name = path.split(separator: "/").last.map(String.init) ?? ""
            _ = try FileSystem.remove(folder + "/" + name)
        }
        rmdir(folder)
    }

    /// Backups, told by how they begin, whatever they are called.
    private static func removeBackups(_ home: HomeFolder) throws(SystemError) {
        for name in try FileSystem.names(in: home.data) {
            let path = home.data + "/" + name
            guard (try? FileSystem.status(of: path))?.kind == .file,
                let file = try? FileSystem.openFile(path, O_RDONLY | O_NOFOLLOW),
                let start = try? file.readSome(
                    byteCountMax: BackupHeader.byteCount, path: path),
                BackupHeader(start) != nil
            else { continue }
            _ = try FileSystem.remove(path)
        }
    }
}
