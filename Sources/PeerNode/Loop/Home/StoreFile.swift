import CRDTStore
private import Glibc
import WorkspaceCrypto
import WorkspaceModel

/// node.db as a file: created once, and never again by accident.
enum StoreFile {
    /// Opens the store of a home, and makes it where the home is new.
    ///
    /// A home with an identity had a store. If that is missing or empty now, it was lost, and a new
    /// empty one would look as if everybody else had lost theirs.
    ///
    /// - Throws: what `Connection` and `NodeStore` throw; `.empty` for a store that was lost.
    static func open(_ home: HomeFolder) throws(StorageError) -> NodeStore {
        if let store = try openFile(home, unlessCut: true) { return store }
        mendLog(of: home)
        guard let store = try openFile(home, unlessCut: false) else { throw unreadable }
        return store
    }

    private static func hasLog(_ home: HomeFolder) -> Bool {
        ((try? FileSystem.status(of: home.store + "-wal"))?.byteCount ?? 0) > 0
    }

    /// Whether the guard has seen more commits than can be read.
    private static func isOlder(_ connection: Connection, _ home: HomeFolder) -> Bool {
        let name = "SELECT value FROM meta WHERE name = 'store'"
        let rows = try? connection.statement(name).rows { (row) throws(StorageError) in row.blob(0)
        }
        guard let id = rows?.first.flatMap(StoreID.init(untrusted:)),
            let commits = try? NodeStore.commitCount(in: connection)
        else { return false }
        let files = DiskHomeFiles(home: home)
        let verdict = RestoreGuard.judge(
            files.read(), facts: files.storeFacts, storeID: id,
            commitCounter: UInt64(max(commits, 0)))
        return verdict == .newStoreNeeded(.storeIsOlder)
    }

    private static var unreadable: StorageError {
        StorageError(.empty, "nothing in the store can be read", statement: "open")
    }

    /// Puts right what one bit in each frame of the log has spoilt. A log that is larger is copied into
    /// the store long before.
    private static func mendLog(of home: HomeFolder) {
        let path = home.store + "-wal"
        guard let log = try? FileSystem.read(path, byteCountMax: 256 * 1024 * 1024),
            let mended = LogMending.mended(log)
        else { return }
        try? FileSystem.replace(path, with: mended)
        _ = try? FileSystem.remove(home.store + "-shm")
    }

    /// - Parameter unlessCut: gives `nil`, and has written nothing, where less can be read of the log
    ///   than was written.
    private static func openFile(
        _ home: HomeFolder, unlessCut: Bool
    ) throws(StorageError) -> NodeStore? {
        let found = try? FileSystem.status(of: home.store)
        let isNew = (found?.byteCount ?? 0) == 0
        let hasIdentity = (try? FileSystem.status(of: home.identity)) != nil
        if isNew, hasIdentity {
            throw StorageError(.empty, "the store is missing or empty", statement: "open")
        }
        if found == nil {
            do throws(SystemError) {
                // With its mode from the first moment; SQLite would use the umask.
                _ = try FileSystem.openFile(
                    home.store, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW)
            } catch { throw failure(error, "open") }
        }
        let connection = try Connection(path: home.store, mode: isNew ? .create : .main)
        // A young store is completely in its log, and if the log begins with a damaged page, SQLite
        // sees nothing of it. Nothing may be written over it.
        let isLost = hasIdentity ? try connection.schemaVersion() == 0 : false
        if isLost || unlessCut && hasLog(home) && isOlder(connection, home) {
            connection.leaveLog()
            if unlessCut, hasLog(home) { return nil }
            throw unreadable
        }
        let store = try NodeStore(connection)
        keepSchema(of: connection, in: home)
        return store
    }

    /// Keeps a copy of the schema beside the store. No start depends on it.
    private static func keepSchema(of connection: Connection, in home: HomeFolder) {
        guard let bytes = (try? StoreSchema(of: connection))?.fileBytes else { return }
        let kept = try? FileSystem.read(
            home.storeSchema, byteCountMax: StoreSchema.fileBytesMax)
        if kept != bytes { try? FileSystem.replace(home.storeSchema, with: bytes) }
    }

    // MARK: Inspecting

    /// Where a store is looked through: a copy of it, and what is built from that, beside it.
    static func inspection(_ home: HomeFolder) -> InspectionJob.Places {
        .init(
            live: { () throws(StorageError) in
                try Connection(path: home.store, mode: .readOnly)
            },
            copy: { (live) throws(StorageError) in
                try live.copy(into: makeEmpty(home.inspectedStore))
                return try Connection(path: home.inspectedStore, mode: .readOnly)
            },
            fresh: { () throws(StorageError) in
                try Connection(path: makeEmpty(home.builtStore), mode: .disposable)
            }, random: SystemRandom())
    }

    static func removeInspection(_ home: HomeFolder) {
        for path in files(home.inspectedStore) + files(home.builtStore) {
            _ = try? FileSystem.remove(path)
        }
    }

    /// With its mode from the first moment; SQLite would use the umask.
    private static func makeEmpty(_ path: String) throws(StorageError) -> String {
        do throws(SystemError) {
            for path in files(path) { _ = try FileSystem.remove(path) }
            _ = try FileSystem.openFile(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW)
        } catch { throw failure(error, "open") }
        return path
    }

    // MARK: Rebuilding

    /// Replaces a damaged store by what can be read of it. The damaged one is kept beside it, under
    /// another name.
    ///
    /// No connection to it may be in use by then; an open one has detached from its log.
    static func rebuild(_ home: HomeFolder) throws(StorageError) {
        let draft = home.store + ".new"
        do throws(StorageError) {
            try mendSchema(of: home)
            try salvage(home.store, into: makeEmpty(draft))
            try putInPlace(draft, home)
        } catch {
            for path in files(draft) { _ = try? FileSystem.remove(path) }
            throw error
        }
    }

    /// Restores the schema of a store whose own cannot be read: SQLite reads nothing of a file
    /// without it. If this is interrupted, the next start does it again.
    private static func mendSchema(of home: HomeFolder) throws(StorageError) {
        guard
            let bytes = try? FileSystem.read(
                home.storeSchema, byteCountMax: StoreSchema.fileBytesMax),
            let schema = StoreSchema(fileBytes: bytes)
        else { return }
        // The log may have a first page that is whole, or say the same as the file.
        if try !isOpened(home) { try writeFirstPage(of: schema, in: home) }
        if try isReadable(schema, in: home) { return }
        try writeFirstPage(of: schema, in: home)
        try schema.write(into: Connection(path: home.store, mode: .main, isDamaged: true))
    }

    private static func isOpened(_ home: HomeFolder) throws(StorageError) -> Bool {
        do throws(StorageError) {
            try Connection(path: home.store, mode: .main, isDamaged: true).leaveLog()
            return true
        } catch {
            guard error.isDamage else { throw error }
            return false
        }
    }

    /// - Returns: `false` where all that the log holds is in the file by now.
    private static func isReadable(
        _ schema: StoreSchema, in home: HomeFolder
    ) throws(StorageError) -> Bool {
        let former = try Connection(path: home.store, mode: .main, isDamaged: true)
        guard try !schema.isReadable(in: former) else {
            former.leaveLog()
            return true
        }
        guard try !former.checkpoint(.truncate).isBlocked else { throw busy }
        return false
    }

    private static func writeFirstPage(
        of schema: StoreSchema, in home: HomeFolder
    ) throws(StorageError) {
        do throws(SystemError) {
            let byteCount = try FileSystem.status(of: home.store).byteCount
            let count = UInt32(clamping: Int(byteCount) / StoreSchema.pageBytes)
            try FileSystem.overwriteStart(
                of: home.store, with: schema.firstPage(pageCount: count))
        } catch { throw failure(error, "rebuild") }
    }

    private static var busy: StorageError {
        StorageError(.busy, "another process is reading the store", statement: "rebuild")
    }

    private static func salvage(_ store: String, into draft: String) throws(StorageError) {
        let former = try Connection(path: store, mode: .main, isDamaged: true)
        let fresh = try Connection(path: draft, mode: .create)
        _ = try StoreSalvage.copy(former, into: fresh)
        guard try !fresh.checkpoint(.truncate).isBlocked,
            try !former.checkpoint(.truncate).isBlocked
        else { throw busy }
    }

    /// The name moves from one file to the other atomically, once the log of the old one is empty.
    private static func putInPlace(_ draft: String, _ home: HomeFolder) throws(StorageError) {
        do throws(SystemError) {
            for path in files(home.damagedStore) { _ = try FileSystem.remove(path) }
            for path in files(draft).dropFirst() + files(home.store).dropFirst() {
                _ = try FileSystem.remove(path)
            }
            try FileSystem.link(home.store, as: home.damagedStore)
            try FileSystem.moveSynced(draft, to: home.store)
        } catch { throw failure(error, "rebuild") }
    }

    private static func files(_ store: String) -> [String] {
        ["", "-wal", "-shm"].map { store + $0 }
    }

    private static func failure(_ error: SystemError, _ what: String) -> StorageError {
        StorageError(
            error.isOutOfSpace ? .full : .cannotOpen, error.description, statement: what)
    }
}
