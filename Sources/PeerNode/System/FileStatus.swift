private import Glibc

/// What the file system knows about a path, before anything is opened.
public struct FileStatus: Equatable, Sendable {
    /// The type of a file. Links are reported, not followed.
    public enum Kind: Equatable, Sendable {
        /// A plain file.
        case file
        /// A directory.
        case folder
        /// A symbolic link.
        case link
        /// A Unix socket, live or left behind.
        case socket
        /// A pipe or a device.
        case other
    }

    /// The type of the file.
    public let kind: Kind
    /// The user who owns it.
    public let owner: UInt32
    /// The permission bits, 0...0o7777.
    public let mode: UInt32
    /// Bytes of a file.
    public let byteCount: Int64
    /// With `inode`, which file it is.
    public let device: UInt64
    /// With `device`, which file it is.
    public let inode: UInt64

    /// Whether others than the owner may do anything with it.
    public var isOpenToOthers: Bool { mode & 0o077 != 0 }
}

extension FileSystem {
    /// The status of `path`, links not followed.
    ///
    /// - Throws: `SystemError`; `isMissingFile` says that nothing does.
    public static func status(of path: String) throws(SystemError) -> FileStatus {
        try checkPath(path)
        var status = stat()
        guard lstat(path, &status) == 0 else { throw SystemError("lstat", path: path) }
        return FileStatus(status)
    }

    /// The user this process acts as.
    public static var currentUser: UInt32 { geteuid() }

    /// Why a folder must not hold keys or the control socket, or `nil` if it may.
    public enum FolderFault: Error, Equatable, Sendable {
        /// It is a file, a link or something else.
        case notAFolder(path: String, isLink: Bool)
        /// Somebody else owns it, and could exchange what is in it.
        case foreign(path: String, owner: UInt32)
        /// Others may look or write.
        case loose(path: String, mode: UInt32)
        /// It could not be looked at; most often it is missing.
        case system(SystemError)
    }

    /// Checks that `path` is a folder of ours with mode 0700 and no link.
    public static func checkPrivateFolder(
        _ path: String, owner: UInt32 = currentUser
    ) throws(FolderFault) {
        let found: FileStatus
        do throws(SystemError) { found = try status(of: path) } catch { throw .system(error) }
        if found.kind != .folder { throw .notAFolder(path: path, isLink: found.kind == .link) }
        if found.owner != owner { throw .foreign(path: path, owner: found.owner) }
        if found.isOpenToOthers { throw .loose(path: path, mode: found.mode) }
    }
}

extension FileStatus {
    fileprivate init(_ status: stat) {
        kind =
            switch status.st_mode & S_IFMT {
            case S_IFREG: .file
            case S_IFDIR: .folder
            case S_IFLNK: .link
            case S_IFSOCK: .socket
            default: .other
            }
        owner = status.st_uid
        mode = status.st_mode & 0o7777
        byteCount = Int64(status.st_size)
        device = UInt64(status.st_dev)
        inode = UInt64(status.st_ino)
    }
}

extension FileSystem.FolderFault: CustomStringConvertible {
    /// One clause without a full stop.
    public var description: String {
        switch self {
        case .notAFolder(let path, true): "\(path) is a link, and links can be swapped"
        case .notAFolder(let path, false): "\(path) is not a folder"
        case .foreign(let path, let owner): "\(path) belongs to user \(owner)"
        case .loose(let path, let mode):
            "\(path) has mode \(String(mode, radix: 8)), and others must not get in (700)"
        case .system(let error): error.description
        }
    }
}
