import CRDTStore
private import Glibc
import WorkspaceCrypto
import WorkspaceModel

/// Makes a backup of a home whose node may be running.
///
/// Store, identity and settings go into one file. Memory stays bounded: everything is processed in
/// pieces of 64 KiB. The file gets its name only once it is complete and on the disk, and never
/// replaces another one.
struct BackupWriter {
    /// What to back up, and where to.
    struct Request: Sendable {
        let home: HomeFolder
        /// The settings' file, if there is one.
        let configuration: String?
        /// Absolute.
        let path: String
        /// `nil` for a backup that anyone with the file can use.
        let passphrase: [UInt8]?
        let createdAt: UInt64
        /// Which files are included.
        var files = BackupFileChoice.none
    }

    private let request: Request
    private let random: any RandomSource

    /// Makes the backup. Takes as long as the disk needs: a job.
    static func create(
        _ request: Request, using random: any RandomSource
    ) throws(NodeError) -> JSONValue {
        try BackupWriter(request: request, random: random).run()
    }

    private func run() throws(NodeError) -> JSONValue {
        guard (try? FileSystem.status(of: request.path)) == nil else {
            throw .backupExists(request.path)
        }
        let identity = try small(request.home.identity)
        guard let home = try? IdentityFile(fileBytes: identity) else {
            throw .badConfiguration("the identity cannot be read")
        }
        let folder = try BackupWorkFolder.make(in: request.home)
        defer { folder.remove() }
        let copy = folder.store
        let leavesPhraseOut = try copyStore(to: copy)
        let items = try files(of: copy)
        var header = BackupHeader(
            createdAt: request.createdAt, device: home.device, vault: nil,
            hasFiles: !items.isEmpty)
        let key = try seal(&header)
        let draft = try begin(header)
        defer { draft.discard() }
        let file = draft.file
        var fileCount: Int64 = 0
        do throws(SystemError) {
            header.parts[0] = try write(copy, as: 0, to: file, key)
            header.parts[1] = try write(request.home.identity, as: 1, to: file, key)
            if let settings = request.configuration,
                (try? FileSystem.status(of: settings)) != nil
            {
                header.parts[2] = try write(settings, as: 2, to: file, key)
            }
            if header.hasFiles {
                let part = BackupHeader.partCount
                var writer = PartWriter(part, to: file, path: request.path, key)
                fileCount = try BackupFiles.write(items) { (bytes) throws(SystemError) in
                    try writer.append(bytes)
                }
                header.parts[part] = try writer.finish()
            }
            key.map { header.prove(under: $0) }
            try finish(draft, header)
        } catch {
            throw error.isExistingFile ? .backupExists(request.path) : .backup("write", error)
        }
        let told = BackupReader.json(of: header, path: request.path)
        var object = told.objectValue ?? JSONObject()
        object.append("phrase_left_out", .bool(leavesPhraseOut))
        object.append("files", .integer(fileCount))
        return .object(object)
    }

    private func files(of copy: String) throws(NodeError) -> [BackupFiles.Item] {
        do throws(StorageError) {
            return try BackupFiles.items(request.files, of: copy, in: request.home)
        } catch {
            throw NodeError(
                .storeFailed, "cannot read the copy of the store: \(error.message)",
                hint: "wsx-node doctor", reason: "backup.copy")
        }
    }

    /// A draft with room for the header, which is known at the end.
    private func begin(_ header: BackupHeader) throws(NodeError) -> DraftFile {
        do throws(SystemError) {
            let draft = try DraftFile(for: request.path)
            let room = [UInt8](repeating: 0, count: header.headerByteCount)
            try draft.file.writeAll(room, path: request.path)
            return draft
        } catch { throw .backup("write", error) }
    }

    private func small(_ path: String) throws(NodeError) -> [UInt8] {
        do throws(SystemError) {
            return try FileSystem.readPlain(path, byteCountMax: BackupHeader.smallByteCountMax)
        } catch { throw .backup("read", error) }
    }

    private func seal(_ header: inout BackupHeader) throws(NodeError) -> BackupKey? {
        guard let passphrase = request.passphrase else { return nil }
        let key = SymmetricKey(using: random)
        do throws(PassphraseVault.OpenError) {
            header.vault = try PassphraseVault.seal(
                key.exposedCopy(), passphrase: passphrase, using: random)
        } catch {
            throw NodeError(
                .busy, "there is not enough memory for the passphrase now", hint: "try again",
                reason: "backup.memory")
        }
        return BackupKey(key: key, context: header.context)
    }

    /// One consistent copy, while the node keeps running; without the secret of a recovery phrase
    /// whose words nobody has seen. The phrase has to survive the theft of a device, and so of its
    /// backups, which are kept for years.
    ///
    /// - Returns: whether there was such a secret.
    private func copyStore(to path: String) throws(NodeError) -> Bool {
        do throws(SystemError) {
            // With its mode from the first moment; SQLite would use the umask.
            _ = try FileSystem.openFile(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW)
        } catch { throw .backup("copy", error) }
        do throws(StorageError) {
            try Connection(path: request.home.store, mode: .readOnly).copy(into: path)
            return try Connection.removeValue(Memberships.unshownPhrase, fromCopyAt: path)
        } catch {
            guard error.kind == .full else {
                throw NodeError(
                    .storeFailed, "cannot copy the store: \(error.message)",
                    hint: "wsx-node doctor", reason: "backup.copy")
            }
            throw .noRoomForCopy
        }
    }

    private func write(
        _ path: String, as part: Int, to file: FileDescriptor, _ key: BackupKey?
    ) throws(SystemError) -> BackupHeader.Part {
        let source = try FileSystem.openPlainFile(path)
        var writer = PartWriter(part, to: file, path: request.path, key)
        while true {
            let piece = try source.readFully(byteCount: BackupHeader.pieceByteCount, path: path)
            guard !piece.isEmpty else { break }
            try writer.append(piece)
        }
        return try writer.finish()
    }

    private func finish(_ draft: DraftFile, _ header: BackupHeader) throws(SystemError) {
        let bytes = header.bytes
        let count = uninterrupted { pwrite(draft.file.number, bytes, bytes.count, 0) }
        guard count == bytes.count, uninterrupted({ fsync(draft.file.number) }) == 0 else {
            throw SystemError("fsync", path: request.path)
        }
        try draft.place(at: request.path)
        try FileSystem.synchronizeFolder(FileSystem.parent(of: request.path))
    }
}

/// Writes one part of a backup, in pieces that are full except for the last.
private struct PartWriter {
    private let part: Int
    private let file: FileDescriptor
    private let path: String
    private let key: BackupKey?
    private let hash = HashStream("wsx-backup1")
    private var written = BackupHeader.Part()
    private var number: UInt64 = 0
    private var waiting: [UInt8] = []

    init(_ part: Int, to file: FileDescriptor, path: String, _ key: BackupKey?) {
        (self.part, self.file, self.path, self.key) = (part, file, path, key)
    }

    mutating func append(_ bytes: [UInt8]) throws(SystemError) {
        waiting += bytes
        var start = 0
        while waiting.count - start >= BackupHeader.pieceByteCount {
            let end = start + BackupHeader.pieceByteCount
            try write(Array(waiting[start..<end]))
            start = end
        }
        waiting.removeFirst(start)
    }

    mutating func finish() throws(SystemError) -> BackupHeader.Part {
        if !waiting.isEmpty { try write(waiting) }
        waiting = []
        written.hash = hash.finish()
        return written
    }

    private mutating func write(_ piece: [UInt8]) throws(SystemError) {
        let stored = key?.seal(piece, part: part, number: number) ?? piece
        hash.update(stored)
        try file.writeAll(stored, path: path)
        written.byteCount += UInt64(piece.count)
        written.storedByteCount += UInt64(stored.count)
        number += 1
    }
}

extension FileDescriptor {
    /// So many bytes, fewer only at the end of the file.
    func readFully(byteCount: Int, path: String) throws(SystemError) -> [UInt8] {
        var bytes = try readSome(byteCountMax: byteCount, path: path)
        while bytes.count < byteCount {
            let more = try readSome(byteCountMax: byteCount - bytes.count, path: path)
            if more.isEmpty { break }
            bytes += more
        }
        return bytes
    }
}

extension NodeError {
    static func backupExists(_ path: String) -> NodeError {
        NodeError(
            .duplicate, "\(quotedPath(path)) already exists, and is not overwritten",
            hint: "give another name", reason: "backup.exists",
            fields: [.init(name: "path", reason: "duplicate")])
    }

    /// Of the store, which a backup is made of, or which is taken out of one.
    static var noRoomForCopy: NodeError {
        NodeError(
            .storageFull, "there is not enough space in the home for a copy of the store",
            hint: "free some space on its disk", reason: "backup.full")
    }

    static func backup(_ what: String, _ error: SystemError) -> NodeError {
        error.isOutOfSpace
            ? what == "write"
                ? NodeError(
                    .storageFull, "there is not enough space for the backup",
                    hint: "give another folder", reason: "backup.full") : .noRoomForCopy
            : error.number == ENOENT && what == "read"
                ? NodeError(
                    .notFound, "there is no such backup", hint: "check the path",
                    reason: "backup.missing", fields: [.init(name: "path", reason: "not_found")])
                : error.number == EISDIR
                    ? NodeError(
                        .badRequest, "that is a folder, not a backup", hint: "name the file",
                        reason: "backup.damaged", fields: [.init(name: "path", reason: "form")])
                    : .badConfiguration("cannot \(what) the backup: \(error)")
    }
}
