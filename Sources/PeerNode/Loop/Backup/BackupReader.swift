import CRDTStore
private import Glibc
import WorkspaceCrypto
import WorkspaceModel

/// Reads a backup: its header, its pieces, and whether all of it is as it was written.
///
/// It accepts arbitrary files safely: sizes are compared with the file's before anything is read,
/// and every byte is hashed before it is used.
struct BackupReader {
    let header: BackupHeader
    private let file: FileDescriptor
    private let path: String

    init(path: String) throws(NodeError) {
        self.path = path
        let bytes: [UInt8]
        let size: Int64
        do throws(SystemError) {
            file = try FileSystem.openPlainFile(path)
            let start = try file.readFully(byteCount: BackupHeader.byteCount, path: path)
            let more = BackupHeader.byteCount(startingWith: start) - start.count
            bytes = more > 0 ? start + (try file.readFully(byteCount: more, path: path)) : start
            size = try file.byteCount(path: path)
        } catch { throw .backup("read", error) }
        guard let header = BackupHeader(bytes) else {
            throw .damagedBackup(path, "it has no complete header of this version")
        }
        guard header.fileByteCount == UInt64(clamping: size) else {
            throw .damagedBackup(path, "its size is not what its header says")
        }
        self.header = header
    }

    /// The key of a sealed backup.
    func key(_ passphrase: [UInt8]?) throws(NodeError) -> BackupKey? {
        guard let vault = header.vault else { return nil }
        guard let passphrase else {
            throw NodeError(
                .wrongSecret, "the backup is protected by a passphrase",
                hint: "give --passphrase-file FILE", reason: KnownReason.sealedBackup.rawValue)
        }
        let opened: BackupKey
        do throws(PassphraseVault.OpenError) {
            let key = try PassphraseVault.open(vault, passphrase: passphrase)
            guard let key = SymmetricKey(untrusted: key) else { throw .malformed }
            opened = BackupKey(key: key, context: header.context)
        } catch {
            switch error {
            case .wrongPassphrase:
                throw NodeError(
                    .wrongSecret, "that is not the backup's passphrase", hint: nil,
                    reason: "backup.passphrase")
            case .malformed, .excessiveCost:
                throw .damagedBackup(path, "its sealed key cannot be read")
            case .outOfMemory:
                throw NodeError(
                    .busy, "there is not enough memory for the passphrase now", hint: "try again",
                    reason: "backup.memory")
            }
        }
        guard header.isProven(under: opened) else {
            throw .damagedBackup(path, "its header was changed or damaged")
        }
        return opened
    }

    /// Passes a part to `take`, piece by piece, each checked as far as possible; the hash of the
    /// whole is known only at the end.
    func read(
        _ part: Int, _ key: BackupKey?, _ take: ([UInt8]) throws(SystemError) -> Void
    ) throws(NodeError) {
        let isWhole: Bool
        do throws(SystemError) { isWhole = try isGood(part, key, take) } catch {
            throw .backup("restore", error)
        }
        guard isWhole else {
            throw .damagedBackup(path, "its contents were changed or damaged")
        }
    }

    private func isGood(
        _ part: Int, _ key: BackupKey?, _ take: ([UInt8]) throws(SystemError) -> Void
    ) throws(SystemError) -> Bool {
        let start = header.parts[..<part].reduce(UInt64(header.headerByteCount)) {
            $0 + $1.storedByteCount
        }
        guard lseek(file.number, off_t(clamping: start), SEEK_SET) >= 0 else {
            throw SystemError("lseek", path: path)
        }
        // A part that is not there has no bytes to be hashed.
        guard header.parts[part].storedByteCount > 0 else { return true }
        let hash = HashStream("wsx-backup1")
        var left = header.parts[part].storedByteCount
        var number: UInt64 = 0
        let size = BackupHeader.pieceByteCount + (header.isSealed ? 16 : 0)
        while left > 0 {
            let stored = try file.readFully(
                byteCount: Int(min(left, UInt64(size))), path: path)
            guard !stored.isEmpty else { return false }
            hash.update(stored)
            left -= UInt64(stored.count)
            guard let piece = key.map({ $0.open(stored, part: part, number: number) }) ?? stored
            else { return false }
            try take(piece)
            number += 1
        }
        return hash.finish() == header.parts[part].hash
    }

    /// A whole part in memory, of at most `BackupHeader.smallByteCountMax` bytes.
    func small(_ part: Int, _ key: BackupKey?) throws(NodeError) -> [UInt8] {
        guard header.parts[part].byteCount <= UInt64(BackupHeader.smallByteCountMax) else {
            throw .damagedBackup(path, "one of its parts is too large")
        }
        var bytes: [UInt8] = []
        try read(part, key) { bytes += $0 }
        return bytes
    }

    /// The file of the identity: that of the device which the header names.
    func identity(_ key: BackupKey?) throws(NodeError) -> [UInt8] {
        let identity = try small(1, key)
        guard let own = try? IdentityFile(fileBytes: identity), own.device == header.device
        else { throw .damagedBackup(path, "its identity cannot be read") }
        return identity
    }

    /// Writes a part into a new file (0600), synced.
    func extract(_ part: Int, _ key: BackupKey?, to target: String) throws(NodeError) {
        let file: FileDescriptor
        do throws(SystemError) {
            _ = try FileSystem.remove(target)
            file = try FileSystem.openFile(target, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW)
        } catch { throw .backup("unpack", error) }
        do throws(NodeError) {
            try read(part, key) { (piece) throws(SystemError) in
                try file.writeAll(piece, path: target)
            }
            guard uninterrupted({ fsync(file.number) }) == 0 else {
                throw .backup("unpack", SystemError("fsync", path: target))
            }
        } catch {
            _ = try? FileSystem.remove(target)
            throw error
        }
    }

    /// Takes the files of blobs out, or looks only whether they are as they were written.
    ///
    /// - Parameter folder: where they go; `nil` for nowhere.
    /// - Returns: how many there are.
    func files(_ key: BackupKey?, to folder: String?) throws(NodeError) -> Int64 {
        guard header.hasFiles else { return 0 }
        var reader = BackupFileReader(to: folder)
        try read(BackupHeader.partCount, key) { (piece) throws(SystemError) in
            try reader.take(piece)
        }
        guard reader.isWhole else {
            throw .damagedBackup(path, "its files cannot be read")
        }
        return reader.count
    }

    // MARK: Verifying

    /// Whether a backup could be restored: its hashes, its identity, and its store's own checks.
    ///
    /// The store is unpacked into the home for the duration of the check.
    static func verify(
        _ path: String, passphrase: [UInt8]?, in home: HomeFolder
    ) throws(NodeError) -> JSONValue {
        let reader = try BackupReader(path: path)
        let key = try reader.key(passphrase)
        _ = try reader.identity(key)
        try reader.read(2, key) { _ in }
        let files = try reader.files(key, to: nil)
        let folder = try BackupWorkFolder.make(in: home)
        defer { folder.remove() }
        try reader.extract(0, key, to: folder.store)
        let operations = try checkStore(folder.store, of: path)
        var object = json(of: reader.header, path: path).objectValue ?? JSONObject()
        object.append("operations", .integer(operations))
        object.append("files", .integer(files))
        return .object(object)
    }

    /// Whether a store that was unpacked is whole, and gives all of its operations.
    ///
    /// - Parameter path: the backup that it comes from.
    /// - Returns: how many operations it holds.
    static func checkStore(_ copy: String, of path: String) throws(NodeError) -> Int64 {
        defer {
            for name in [copy + "-wal", copy + "-shm"] { _ = try? FileSystem.remove(name) }
        }
        do throws(StorageError) { return try check(copy) } catch {
            // A disk that is full or broken says nothing of the backup.
            let kinds: [StorageError.Kind] = [.notOurs, .newerSchema, .olderSchema, .empty]
            guard error.isDamage || kinds.contains(error.kind) else {
                throw NodeError(storage: error)
            }
            throw .damagedBackup(path, "its store: \(error.message)")
        }
    }

    private static func check(_ copy: String) throws(StorageError) -> Int64 {
        var connection = try Connection(path: copy, mode: .readOnly)
        if let problem = try connection.integrityProblems(countMax: 1).first {
            throw StorageError(.corrupt, problem)
        }
        try StoreBounds.checkForeign(connection)
        if try connection.schemaVersion() < Schema.version {
            // A store of an earlier version is migrated in the copy, which is what is restored.
            connection = try Connection(path: copy, mode: .main)
        }
        let store = try NodeStore(connection)
        let last = store.operations.arrival
        var next: Int64 = 1
        while let first = try store.operations.nextArrival(from: next) {
            let end = min(last, first + 999)
            if let problem = try StoreCheck.problems(in: store.operations, arrivals: first...end)
                .first
            {
                throw StorageError(.corrupt, "operation \(problem.arrival): \(problem.what)")
            }
            next = end + 1
        }
        return store.operations.count
    }

    /// The object `backup`.
    static func json(of header: BackupHeader, path: String) -> JSONValue {
        [
            "path": .string(path), "created_at": .integer(Int64(clamping: header.createdAt)),
            "device": .string(PublicID.device(header.device)), "sealed": .bool(header.isSealed),
            "bytes": .integer(Int64(clamping: header.fileByteCount ?? 0)),
        ]
    }
}

extension NodeError {
    static func damagedBackup(_ path: String, _ what: String) -> NodeError {
        NodeError(
            .badRequest, "\(quotedPath(path)) is not a usable backup: \(what)",
            hint: "use another copy of it", reason: "backup.damaged",
            fields: [.init(name: "path", reason: "form")])
    }
}
