private import Glibc
import WorkspaceModel

/// Removes what a node has left in its home, after its owner has logged out of it for good.
///
/// A mark is set first and removed last, so that a wipe which a crash cut short is finished by the
/// next start instead of leaving half a home.
enum HomeWipe {
    private static func mark(_ home: HomeFolder) -> String { home.data + "/wipe" }

    /// Removes everything; the store must be closed.
    static func begin(_ home: HomeFolder) throws(NodeError) {
        do throws(SystemError) {
            try FileSystem.replace(mark(home), with: [])
        } catch { throw .badConfiguration("cannot wipe the home: \(error)") }
        try finish(home)
    }

    /// Finishes a wipe that has begun, if one has.
    static func finish(_ home: HomeFolder) throws(NodeError) {
        guard (try? FileSystem.status(of: mark(home))) != nil else { return }
        do throws(SystemError) {
            try removeKeys(home.identity)
            _ = try FileSystem.remove(home.identity + ".new")
            SearchFile(path: home.searchIndex).remove()
            for path in [
                home.store, home.store + "-wal", home.store + "-shm", home.storeGuard,
                home.listen, home.log, home.log + ".1",
            ] {
                _ = try FileSystem.remove(path)
            }
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
}
