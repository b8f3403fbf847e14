private import Glibc

/// A user's file that is read once, from beginning to end.
///
/// It must be a regular file and must not change meanwhile: length and times are compared after the
/// last byte. Links, pipes and devices are refused without waiting for them.
public final class FileSource: ByteSource {
    /// The attributes that reveal a change.
    private struct Mark: Equatable {
        let byteCount: Int
        let modified: [Int]

        init(_ status: stat) {
            byteCount = Int(clamping: status.st_size)
            modified = [
                Int(status.st_mtim.tv_sec), Int(status.st_mtim.tv_nsec),
                Int(status.st_ctim.tv_sec), Int(status.st_ctim.tv_nsec),
            ]
        }
    }

    private let file: Int32
    private let mark: Mark
    private var offset = 0

    /// Opens the file at `path`.
    ///
    /// - Throws: `notRegular` for anything but a regular file, a link too; `missing`,
    ///   `badName`, `disk`.
    public init(path: String) throws(BlobError) {
        guard !path.isEmpty, !path.utf8.contains(0) else { throw .badName }
        let file = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW | O_CLOEXEC)
        guard file >= 0 else {
            // ENXIO means a socket, or a pipe without a writer; ELOOP a link.
            if [ELOOP, ENXIO, EISDIR, ENODEV].contains(errno) { throw .notRegular }
            throw .last("open")
        }
        var status = stat()
        guard fstat(file, &status) == 0 else {
            let error = BlobError.last("fstat")
            close(file)
            throw error
        }
        guard status.st_mode & S_IFMT == S_IFREG else {
            close(file)
            throw .notRegular
        }
        self.file = file
        mark = Mark(status)
    }

    deinit { close(file) }

    /// The file's length when it was opened.
    public var byteCount: UInt64 { UInt64(clamping: mark.byteCount) }

    /// The next bytes.
    ///
    /// - Throws: `changed` if the file got shorter or, at its end, was modified.
    public func read(_ byteCountMax: Int) throws(BlobError) -> [UInt8] {
        let wanted = min(max(0, byteCountMax), mark.byteCount - offset)
        guard wanted > 0 else {
            try checkUnchanged()
            return []
        }
        let bytes = try KernelDisk.readAll(file, at: UInt64(clamping: offset), byteCount: wanted)
        guard bytes.count == wanted else { throw .changed }
        offset += bytes.count
        return bytes
    }

    private func checkUnchanged() throws(BlobError) {
        var status = stat()
        guard fstat(file, &status) == 0 else { throw .last("fstat") }
        guard Mark(status) == mark else { throw .changed }
    }
}
