private import CLinux
private import Glibc

/// The file system below one open folder.
///
/// The folder is held open, so renaming it does not redirect writes. A link as the last path
/// component is not followed.
public final class KernelDisk: BlobDisk {
    private let folder: Int32
    private var ahead = WriteAhead()

    /// The disk below the folder at `path`, which is created (0700) if missing.
    public init(folder path: String) throws(BlobError) {
        guard !path.utf8.contains(0) else { throw .badName }
        if mkdir(path, 0o700) != 0, errno != EEXIST { throw .last("mkdir") }
        folder = try Self.retried("open") {
            Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        }
    }

    deinit {
        ahead.closeAll()
        Glibc.close(folder)
    }

    /// `BlobDisk.open`.
    public func open(_ name: String, isNew: Bool) throws(BlobError) -> Int32 {
        let flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | (isNew ? O_CREAT | O_EXCL : 0)
        return try Self.retried("openat") { openat(folder, name, flags, 0o600) }
    }

    /// `BlobDisk.close`.
    public func close(_ file: Int32) { ahead.close(file) }

    /// `BlobDisk.read`.
    public func read(
        _ file: Int32, at offset: UInt64, byteCount: Int, after head: [UInt8]
    ) throws(BlobError) -> [UInt8] {
        try Self.readAll(file, at: offset, byteCount: byteCount, after: head)
    }

    /// The bytes at one place of an open file, behind `head`; fewer at its end.
    static func readAll(
        _ file: Int32, at offset: UInt64, byteCount: Int, after head: [UInt8] = []
    ) throws(BlobError) -> [UInt8] {
        var failed = false
        let wholeCount = head.count + byteCount
        let bytes = [UInt8](unsafeUninitializedCapacity: wholeCount) { memory, filled in
            filled = memory.initialize(fromContentsOf: head)
            while filled < wholeCount {
                let count = pread(
                    file, memory.baseAddress?.advanced(by: filled), wholeCount - filled,
                    off_t(clamping: offset + UInt64(filled - head.count)))
                if count < 0, errno == EINTR { continue }
                failed = count < 0
                guard count > 0 else { return }
                filled += count
            }
        }
        guard !failed else { throw .last("pread") }
        return bytes
    }

    /// Writes all of the bytes at one place of an open file.
    static func writeAll(
        _ bytes: ArraySlice<UInt8>, into file: Int32, at offset: UInt64
    ) throws(BlobError) {
        let isWritten = bytes.withUnsafeBytes { memory in
            var done = 0
            while done < memory.count {
                let count = pwrite(
                    file, memory.baseAddress?.advanced(by: done), memory.count - done,
                    off_t(clamping: offset + UInt64(done)))
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return false }
                done += count
            }
            return true
        }
        guard isWritten else { throw .last("pwrite") }
    }

    /// `BlobDisk.write`.
    public func write(
        _ file: Int32, at offset: UInt64, _ bytes: ArraySlice<UInt8>, staysCached: Bool
    ) throws(BlobError) {
        try Self.writeAll(bytes, into: file, at: offset)
        // Otherwise the next claim would write 64 MiB at once, and delay the COMMIT of a message.
        ahead.begin(file, at: offset, byteCount: bytes.count, staysCached: staysCached)
    }

    /// `BlobDisk.byteCount`.
    public func byteCount(_ file: Int32) throws(BlobError) -> UInt64 {
        var status = stat()
        guard fstat(file, &status) == 0 else { throw .last("fstat") }
        return UInt64(clamping: status.st_size)
    }

    /// `BlobDisk.synchronize`.
    public func synchronize(_ file: Int32) throws(BlobError) {
        try throwFailure()
        _ = try Self.retried("fdatasync") { fdatasync(file) }
    }

    /// `BlobDisk.synchronizeFolder`.
    public func synchronizeFolder(_ name: String) throws(BlobError) {
        let opened = try Self.retried("openat") {
            openat(folder, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        }
        defer { Glibc.close(opened) }
        _ = try Self.retried("fsync") { fsync(opened) }
    }

    /// `BlobDisk.synchronizeAll`.
    public func synchronizeAll() throws(BlobError) {
        try throwFailure()
        _ = try Self.retried("syncfs") { wsx_sync_file_system(folder) }
    }

    /// If some write was lost, nothing written since the last sync counts.
    private func throwFailure() throws(BlobError) {
        if let failure = ahead.takeFailure() { throw failure }
    }

    /// `BlobDisk.makeFolder`.
    public func makeFolder(_ name: String) throws(BlobError) {
        if mkdirat(folder, name, 0o700) != 0, errno != EEXIST { throw .last("mkdirat") }
    }

    /// `BlobDisk.rename`.
    public func rename(_ name: String, to other: String) throws(BlobError) {
        guard renameat(folder, name, folder, other) == 0 else { throw .last("renameat") }
    }

    /// `BlobDisk.remove`.
    public func remove(_ name: String) throws(BlobError) {
        ahead.closeAll()
        if unlinkat(folder, name, 0) != 0, errno != ENOENT { throw .last("unlinkat") }
    }

    /// `BlobDisk.names`.
    public func names(in name: String) throws(BlobError) -> [String] {
        let opened = openat(folder, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        if opened < 0, errno == ENOENT { return [] }
        guard opened >= 0 else { throw .last("openat") }
        guard let stream = fdopendir(opened) else {
            let error = BlobError.last("fdopendir")
            Glibc.close(opened)
            throw error
        }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                String(validating: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if let name, name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    /// `BlobDisk.freeByteCount`.
    public func freeByteCount() throws(BlobError) -> UInt64 {
        var status = statvfs()
        guard fstatvfs(folder, &status) == 0 else { throw .last("fstatvfs") }
        let bytes = UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize))
        return bytes.overflow ? .max : bytes.partialValue
    }

    /// The result of a call, repeated while a signal interrupts it.
    private static func retried(
        _ name: String, _ call: () -> Int32
    ) throws(BlobError) -> Int32 {
        while true {
            let result = call()
            if result >= 0 { return result }
            if errno != EINTR { throw .last(name) }
        }
    }
}

extension BlobError {
    /// The error of the call that has just failed.
    static func last(_ call: String) -> BlobError { system(call, errno) }

    /// Maps an errno to an error.
    static func system(_ call: String, _ number: Int32) -> BlobError {
        switch number {
        case ENOSPC, EDQUOT: .noSpace
        case ENOENT: .missing
        case EEXIST: .exists
        // A file above the limit of the process or the file system has no room, either.
        case EFBIG: .noSpace
        default: .disk(call: call, number: number)
        }
    }
}
