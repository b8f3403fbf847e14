private import CLinux
private import Glibc
public import WorkspaceCrypto

/// Saves a file into a folder of the user's, never outside of it and never over an existing file.
///
/// The folder is held open, so changes to its path do not matter. The bytes go into a draft beside
/// the final name; renaming it is one atomic step that fails if the name is taken.
public final class FileSaver {
    /// The final name.
    public let name: String
    private let folder: Int32
    private let draft: String
    private var file: Int32
    private var offset: UInt64 = 0
    private var ahead = WriteAhead()
    private var isOver = false

    /// Creates the draft.
    ///
    /// - Parameters:
    ///   - folder: a path that the user named.
    ///   - name: one path component. Names from others must pass `SafeFileName` first.
    ///   - random: for the name of the draft.
    /// - Throws: `exists` if the name is taken already, `badName`, `missing`, `disk`.
    public init(
        folder path: String, name: String, random: any RandomSource
    ) throws(BlobError) {
        let bytes = [UInt8](name.utf8)
        guard (1...BlobLimits.fileNameBytesMax).contains(bytes.count), !bytes.contains(0x2f),
            !bytes.contains(0), name != ".", name != "..", !path.isEmpty, !path.utf8.contains(0)
        else { throw .badName }
        let folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { throw errno == ENOTDIR ? .badName : .last("open") }
        var status = stat()
        if fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 {
            close(folder)
            throw .exists
        }
        let draft = ".wsx-" + String(random.number(), radix: 36) + ".part"
        let file = openat(
            folder, draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard file >= 0 else {
            let error = BlobError.last("openat")
            close(folder)
            throw error
        }
        self.name = name
        self.folder = folder
        self.draft = draft
        self.file = file
    }

    deinit {
        abandon()
        close(folder)
    }

    /// Appends bytes.
    ///
    /// - Throws: `noSpace` and `disk`; the draft is removed then.
    public func write(_ bytes: ArraySlice<UInt8>) throws(BlobError) {
        guard !isOver else { throw .closed }
        do throws(BlobError) {
            try KernelDisk.writeAll(bytes, into: file, at: offset)
        } catch {
            abandon()
            throw error
        }
        ahead.begin(file, at: offset, byteCount: bytes.count)
        offset += UInt64(bytes.count)
    }

    /// Renames the draft, once all of it is on disk.
    ///
    /// - Throws: `exists` if the name is taken by now; the draft is removed then.
    public func finish() throws(BlobError) {
        guard !isOver else { throw .closed }
        defer { abandon() }
        if let failure = ahead.takeFailure() { throw failure }
        guard fdatasync(file) == 0 else { throw .last("fdatasync") }
        if wsx_rename_new_at(folder, draft, name) == 0 {
            isOver = true
        } else {
            // Some file systems do not support renaming without replacement.
            guard errno == EINVAL || errno == ENOSYS else { throw .last("renameat2") }
            guard linkat(folder, draft, folder, name, 0) == 0 else { throw .last("linkat") }
        }
        guard fsync(folder) == 0 else { throw .last("fsync") }
    }

    /// Removes the draft, if there is one.
    public func abandon() {
        if !isOver { unlinkat(folder, draft, 0) }
        isOver = true
        if file >= 0 { close(file) }
        file = -1
    }
}
