private import CLinux
private import Glibc

/// A file that is written before it gets its name, in a folder where others may write too.
///
/// Where the file system supports it, the file has no name until then, and a crash leaves nothing
/// behind. Elsewhere, as on most memory sticks, it has a neutral temporary name.
struct DraftFile {
    let file: FileDescriptor
    /// `nil` while it has none.
    private let name: String?

    /// - Parameters:
    ///   - target: the name that it will get, on the same file system.
    ///   - isNameless: `false` for what a file system does that cannot have it so.
    init(for target: String, isNameless: Bool = true) throws(SystemError) {
        let folder = FileSystem.parent(of: target)
        try FileSystem.checkPath(folder)
        if isNameless {
            let unnamed = wsx_unnamed_file(folder)
            if unnamed >= 0 {
                (file, name) = (FileDescriptor(owning: unnamed), nil)
                return
            }
            guard [EOPNOTSUPP, EISDIR, EINVAL].contains(errno) else {
                throw SystemError("open", path: folder)
            }
        }
        var template = Array((folder + "/.wsx-backup.XXXXXX").utf8CString)
        let named = mkstemp(&template)
        guard named >= 0 else { throw SystemError("mkstemp", path: folder) }
        _ = fcntl(named, F_SETFD, FD_CLOEXEC)
        file = FileDescriptor(owning: named)
        name = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// Gives it its name, unless something has that: then `isExistingFile`.
    func place(at target: String) throws(SystemError) {
        try FileSystem.checkPath(target)
        if let name {
            try FileSystem.moveToFreeName(name, target)
        } else {
            guard wsx_name_file(file.number, target) == 0 else {
                throw SystemError("link", path: target)
            }
        }
        // Another user who may write into the folder may have put something else under the name.
        guard try isNamed(target) else { throw SystemError("link", path: target, number: EEXIST) }
    }

    /// Drops a file that got no name.
    func discard() {
        if let name, (try? isNamed(name)) == true { unlink(name) }
    }

    private func isNamed(_ path: String) throws(SystemError) -> Bool {
        var (own, found) = (stat(), stat())
        guard fstat(file.number, &own) == 0, lstat(path, &found) == 0 else {
            throw SystemError("stat", path: path)
        }
        return own.st_dev == found.st_dev && own.st_ino == found.st_ino
    }
}
