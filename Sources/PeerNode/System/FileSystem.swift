private import CLinux
private import Glibc

/// The node's files and folders: private to their owner, and replaced atomically.
///
/// Calls block, some for as long as the disk takes. Paths go to the kernel unchanged; one with a
/// NUL in it is refused, since C would see only what precedes it.
public enum FileSystem {
    /// Creates `path` and its missing parents, each accessible only to its owner (0700). An
    /// existing folder is left unchanged.
    public static func makeFolder(_ path: String) throws(SystemError) {
        try checkPath(path)
        // Empty parts come from "/" at the start or doubled, which name nothing new.
        var made = path.utf8.first == UInt8(ascii: "/") ? "/" : ""
        for part in path.split(separator: "/", omittingEmptySubsequences: true) {
            made += made.isEmpty || made == "/" ? String(part) : "/" + part
            if mkdir(made, 0o700) == 0 { continue }
            let error = SystemError("mkdir", path: made)
            // Some systems say EROFS or EACCES of a folder that exists.
            guard let found = try? status(of: made), found.kind == .folder else { throw error }
        }
    }

    /// The names in a folder, ascending, without `.` and `..`; those that are no UTF-8 are left
    /// out.
    public static func names(in path: String) throws(SystemError) -> [String] {
        try checkPath(path)
        guard let folder = opendir(path) else { throw SystemError("opendir", path: path) }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                String(validating: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            guard let name, name != ".", name != ".." else { continue }
            names.append(name)
        }
        return names.sorted()
    }

    /// All bytes of a file.
    ///
    /// - Parameter byteCountMax: a longer file throws EFBIG and is not read.
    public static func read(_ path: String, byteCountMax: Int) throws(SystemError) -> [UInt8] {
        try read(try openFile(path, O_RDONLY), path, byteCountMax: byteCountMax)
    }

    /// The same of a plain file, and of nothing else: see `openPlainFile`.
    static func readPlain(_ path: String, byteCountMax: Int) throws(SystemError) -> [UInt8] {
        try read(try openPlainFile(path), path, byteCountMax: byteCountMax)
    }

    private static func read(
        _ file: FileDescriptor, _ path: String, byteCountMax: Int
    ) throws(SystemError) -> [UInt8] {
        var bytes: [UInt8] = []
        while true {
            let step = min(64 * 1024, byteCountMax - bytes.count + 1)
            let chunk = try file.readSome(byteCountMax: step, path: path)
            if chunk.isEmpty { return bytes }
            bytes += chunk
            if bytes.count > byteCountMax { throw SystemError("read", path: path, number: EFBIG) }
        }
    }

    /// Replaces the file at `path` (mode 0600) as a whole. After a crash at any moment it holds the
    /// old bytes or the new ones, and once this returns the new ones.
    public static func replace(_ path: String, with bytes: [UInt8]) throws(SystemError) {
        try write(bytes, to: path) { (draft) throws(SystemError) in
            guard rename(draft, path) == 0 else { throw SystemError("rename", path: path) }
        }
    }

    /// Creates a new file (mode 0600) atomically: it is never visible half written.
    ///
    /// - Throws: `SystemError`; `isExistingFile` says that there is one, which was left alone.
    public static func create(_ path: String, with bytes: [UInt8]) throws(SystemError) {
        try write(bytes, to: path) { (draft) throws(SystemError) in
            try moveToFreeName(draft, path)
        }
    }

    /// Writes a draft beside `path`, syncs it, and has `place` give it the name. Nothing is left of
    /// it when that fails.
    private static func write(
        _ bytes: [UInt8], to path: String, place: (String) throws(SystemError) -> Void
    ) throws(SystemError) {
        let draft = path + ".new"
        // One left by a crash, or a link that somebody put there.
        if unlink(draft) != 0 && errno != ENOENT { throw SystemError("unlink", path: draft) }
        do throws(SystemError) {
            let file = try openFile(draft, O_WRONLY | O_CREAT | O_EXCL)
            try file.writeAll(bytes, path: draft)
            try synchronize(file, path: draft)
            try place(draft)
        } catch {
            unlink(draft)
            throw error
        }
        try synchronizeFolder(parent(of: path))
    }

    /// Zeroes the content of an open file, if it has no name any more. Best effort: a disk that
    /// moves its blocks, and a copy-on-write file system, keep the old bytes nevertheless.
    static func overwriteNameless(_ file: FileDescriptor) {
        var found = stat()
        // Another name is a copy that somebody wants.
        guard fstat(file.number, &found) == 0, found.st_nlink == 0 else { return }
        let zeros = [UInt8](repeating: 0, count: Int(clamping: min(found.st_size, 1 << 20)))
        _ = uninterrupted { pwrite(file.number, zeros, zeros.count, 0) }
        _ = uninterrupted { fsync(file.number) }
    }

    /// Writes over the beginning of a file, and syncs it.
    static func overwriteStart(of path: String, with bytes: [UInt8]) throws(SystemError) {
        let file = try openFile(path, O_WRONLY | O_NOFOLLOW)
        let count = uninterrupted { pwrite(file.number, bytes, bytes.count, 0) }
        guard count == bytes.count else {
            throw SystemError("write", path: path, number: count < 0 ? errno : EIO)
        }
        try synchronize(file, path: path)
    }

    /// Gives a file another name, unless something has it: then `isExistingFile`.
    static func moveToFreeName(_ path: String, _ other: String) throws(SystemError) {
        try checkPath(path)
        try checkPath(other)
        if wsx_rename_new(path, other) == 0 { return }
        // Some file systems know no renaming that refuses; others, as that of most sticks, no
        // second names.
        guard errno == EINVAL || errno == ENOSYS else { throw SystemError("rename", path: other) }
        guard Glibc.link(path, other) == 0 else { throw SystemError("link", path: other) }
        unlink(path)
    }

    /// Gives a file a second name, which is free.
    static func link(_ path: String, as other: String) throws(SystemError) {
        try checkPath(path)
        guard Glibc.link(path, other) == 0 else { throw SystemError("link", path: other) }
    }

    /// Gives a file, whose bytes are synced, the name of another one, in one step that survives a
    /// power cut.
    static func moveSynced(_ path: String, to other: String) throws(SystemError) {
        try checkPath(path)
        guard rename(path, other) == 0 else { throw SystemError("rename", path: other) }
        try synchronizeFolder(parent(of: other))
    }

    /// Removes a file. A missing one is not an error.
    ///
    /// - Returns: whether there was one.
    @discardableResult
    public static func remove(_ path: String) throws(SystemError) -> Bool {
        try checkPath(path)
        if unlink(path) == 0 { return true }
        if errno == ENOENT { return false }
        throw SystemError("unlink", path: path)
    }

    /// Makes sure that names made or removed in a folder survive a power cut.
    public static func synchronizeFolder(_ path: String) throws(SystemError) {
        try synchronize(openFile(path, O_RDONLY | O_DIRECTORY), path: path)
    }

    /// Bytes that we may still write to the file system that holds `path`.
    public static func freeByteCount(at path: String) throws(SystemError) -> UInt64 {
        try byteCount(at: path) { $0.f_bavail }
    }

    /// All bytes of the file system that holds `path`.
    public static func byteCount(at path: String) throws(SystemError) -> UInt64 {
        try byteCount(at: path) { $0.f_blocks }
    }

    private static func byteCount(
        at path: String, _ blocks: (statvfs) -> fsblkcnt_t
    ) throws(SystemError) -> UInt64 {
        try checkPath(path)
        var status = statvfs()
        guard uninterrupted({ statvfs(path, &status) }) == 0 else {
            throw SystemError("statvfs", path: path)
        }
        let bytes = UInt64(blocks(status)).multipliedReportingOverflow(by: UInt64(status.f_frsize))
        return bytes.overflow ? .max : bytes.partialValue
    }

    /// When the file was made, in nanoseconds since 1970, or `nil` where the file system does not
    /// say. A copy of a folder has other birth times than the folder.
    public static func birthNanoseconds(of path: String) throws(SystemError) -> Int64? {
        try checkPath(path)
        var seconds: Int64 = 0
        var nanoseconds: UInt32 = 0
        guard wsx_birth_time(path, &seconds, &nanoseconds) == 0 else {
            if errno == ENOTSUP || errno == ENOSYS { return nil }
            throw SystemError("statx", path: path)
        }
        return seconds &* 1_000_000_000 &+ Int64(nanoseconds)
    }

    /// The folder that contains `path`: the part before the last slash.
    public static func parent(of path: String) -> String {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// Opens a file, made with mode 0600 if `flags` ask for one, and closed on exec.
    static func openFile(_ path: String, _ flags: Int32) throws(SystemError) -> FileDescriptor {
        try checkPath(path)
        return try .result(of: "open", path: path) { open(path, flags | O_CLOEXEC, 0o600) }
    }

    /// Opens a regular file for reading, whatever a path from outside names: it never waits for a
    /// pipe or a device.
    ///
    /// - Throws: `SystemError`; EINVAL for anything but a regular file.
    static func openPlainFile(_ path: String) throws(SystemError) -> FileDescriptor {
        let file = try openFile(path, O_RDONLY | O_NONBLOCK | O_NOCTTY)
        var status = stat()
        guard fstat(file.number, &status) == 0 else { throw SystemError("fstat", path: path) }
        switch status.st_mode & S_IFMT {
        case S_IFREG: return file
        case S_IFDIR: throw SystemError("open", path: path, number: EISDIR)
        default: throw SystemError("open", path: path, number: EINVAL)
        }
    }

    /// Makes a folder that nobody else has made, for the owner alone.
    ///
    /// - Parameter prefix: how its path begins.
    public static func makeOwnFolder(at prefix: String) throws(SystemError) -> String {
        try checkPath(prefix)
        var template = Array((prefix + ".XXXXXX").utf8CString)
        guard mkdtemp(&template) != nil else { throw SystemError("mkdtemp", path: prefix) }
        return String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    private static func synchronize(
        _ file: FileDescriptor, path: String
    ) throws(SystemError) {
        guard uninterrupted({ fsync(file.number) }) == 0 else {
            throw SystemError("fsync", path: path)
        }
    }

    static func checkPath(_ path: String) throws(SystemError) {
        if path.utf8.contains(0) { throw SystemError("path", path: path, number: EINVAL) }
    }
}

extension FileDescriptor {
    /// How long the file is, in bytes.
    func byteCount(path: String) throws(SystemError) -> Int64 {
        var status = stat()
        guard fstat(number, &status) == 0 else { throw SystemError("fstat", path: path) }
        return Int64(status.st_size)
    }

    /// The bytes of the next `read`, empty at the end of the file.
    func readSome(byteCountMax: Int, path: String? = nil) throws(SystemError) -> [UInt8] {
        var count = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: byteCountMax) { buffer, filled in
            count = uninterrupted { read(number, buffer.baseAddress, buffer.count) }
            filled = max(0, count)
        }
        if count < 0 { throw SystemError("read", path: path) }
        return bytes
    }
}
