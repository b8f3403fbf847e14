private import Glibc
public import WorkspaceModel

/// Restores a backup into a home that no node uses.
///
/// The identity is written last: until then the home counts as empty, and a repeated restore starts
/// over. Nothing is deleted: previous files are moved into a folder beside it.
public enum BackupRestore {
    /// Restores the backup at `path`.
    ///
    /// - Parameters:
    ///   - configuration: where the settings go, unless there are some.
    ///   - isForced: whether a home with an identity is moved aside.
    /// - Throws: `duplicate` for a home with an identity, `in_use` for one with a daemon,
    ///   `wrong_secret`, `store_failed` for a damaged backup, which leaves the home as it was.
    public static func restore(
        _ path: String, to home: HomeFolder, configuration: String, passphrase: [UInt8]?,
        isForced: Bool, now: UInt64
    ) throws(NodeError) -> JSONValue {
        let reader = try BackupReader(path: path)
        let key = try reader.key(passphrase)
        let identity = try reader.identity(key)
        try home.prepare()
        let hasIdentity = (try? FileSystem.status(of: home.identity)) != nil
        guard !hasIdentity || isForced else {
            throw NodeError(
                .duplicate, "this home already has an identity",
                hint: "give --home DIR for another home, or --force to move this one aside",
                reason: "identity.exists")
        }
        let lock = try takeLock(of: home)
        defer { withExtendedLifetime(lock) {} }
        let draft = home.store + ".restored"
        try reader.extract(0, key, to: draft)
        let settings: [UInt8]
        do throws(NodeError) {
            settings = try reader.small(2, key)
            _ = try BackupReader.checkStore(draft, of: path)
            _ = try reader.files(key, to: nil)
        } catch {
            _ = try? FileSystem.remove(draft)
            throw error
        }
        let aside = try moveAside(home, now: now)
        let files = try reader.files(key, to: home.blobs)
        do throws(SystemError) {
            guard rename(draft, home.store) == 0 else {
                throw SystemError("rename", path: home.store)
            }
            try FileSystem.synchronizeFolder(home.data)
            if !settings.isEmpty, (try? FileSystem.status(of: configuration)) == nil {
                try FileSystem.makeFolder(FileSystem.parent(of: configuration))
                try FileSystem.create(configuration, with: settings)
            }
            try FileSystem.create(home.identity, with: identity)
        } catch { throw .backup("restore", error) }
        var object = BackupReader.json(of: reader.header, path: path).objectValue ?? JSONObject()
        object.append("home", .string(home.data))
        object.append("files", .integer(files))
        object.append("moved_aside", aside.map { .string($0) } ?? .null)
        return .object(object)
    }

    /// A daemon that was just stopped may hold its lock for a moment after it has hung up.
    private static func takeLock(of home: HomeFolder) throws(NodeError) -> FileLock {
        for _ in 0..<20 {
            if let lock = try? home.takeLock() { return lock }
            usleep(25_000)
        }
        return try home.takeLock()
    }

    /// Moves what a node left in the home into a folder of its own.
    ///
    /// - Returns: the folder, `nil` where there was nothing.
    private static func moveAside(_ home: HomeFolder, now: UInt64) throws(NodeError) -> String? {
        let found = [
            home.identity, home.store, home.store + "-wal", home.store + "-shm", home.storeGuard,
        ].filter { (try? FileSystem.status(of: $0)) != nil }
        guard !found.isEmpty else { return nil }
        // Files of messages go with the store that knows them: another one would sweep them away.
        let files = [home.blobs].filter { (try? FileSystem.status(of: $0)) != nil }
        let folder = home.data + "/before-restore-\(now)"
        do throws(SystemError) {
            try FileSystem.makeFolder(folder)
            // The identity goes first: a home without one is not started by accident.
            for path in found + files {
                let name = path.split(separator: "/").last.map(String.init) ?? "file"
                guard rename(path, folder + "/" + name) == 0 else {
                    throw SystemError("rename", path: path)
                }
            }
            try FileSystem.synchronizeFolder(folder)
            try FileSystem.synchronizeFolder(home.identityFolder)
            try FileSystem.synchronizeFolder(home.data)
        } catch { throw .backup("move aside", error) }
        return folder
    }
}

/// Verifies a backup for the command line, without a daemon.
public enum BackupCheck {
    /// The object `backup` with the number of operations.
    ///
    /// - Parameter home: where its store is unpacked.
    /// - Throws: `store_failed` for a damaged backup, `wrong_secret`.
    public static func verify(
        _ path: String, passphrase: [UInt8]?, in home: HomeFolder
    ) throws(NodeError) -> JSONValue {
        try BackupReader.verify(path, passphrase: passphrase, in: home)
    }
}
