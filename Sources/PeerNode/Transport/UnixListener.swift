private import CLinux
private import Glibc

/// A stream to a local client.
public typealias UnixLink = StreamLink

/// The socket through which this machine's user reaches the node.
///
/// A connected client has all rights, so both the folder and the peer's user are checked.
///
/// - Not thread-safe: it belongs to the loop's thread.
public final class UnixListener {
    /// Why there is no socket at a path.
    public enum Failure: Error, Equatable, Sendable {
        /// More bytes than a socket's address holds (107).
        case pathTooLong(path: String, byteCount: Int)
        /// The folder is not ours alone.
        case folder(FileSystem.FolderFault)
        /// Another node answers there.
        case inUse(path: String)
        /// Something other than a socket, or a symbolic link, has this path. It is left alone.
        case inTheWay(path: String, kind: FileStatus.Kind)
        /// A socket of somebody else.
        case foreign(path: String, owner: UInt32)
        /// The system refused.
        case system(SystemError)
    }

    /// The longest path: 108 bytes with the NUL.
    public static let pathByteCountMax = 107

    /// Where it listens.
    public let path: String
    private var queue: AcceptQueue
    private let place: FileStatus

    /// Listens at `path`, whose folder must exist, be ours, be mode 0700 and no link.
    ///
    /// A socket of ours that nobody answers at is a dead node's, and is replaced. The caller holds
    /// the home's `FileLock`, so that no two do this at once.
    public init(path: String) throws(Failure) {
        let bytes = [UInt8](path.utf8)
        if bytes.count > Self.pathByteCountMax {
            throw .pathTooLong(path: path, byteCount: bytes.count)
        }
        do throws(FileSystem.FolderFault) {
            try FileSystem.checkPrivateFolder(FileSystem.parent(of: path))
        } catch { throw .folder(error) }
        try Self.removeStale(path)
        do throws(SystemError) {
            try FileSystem.checkPath(path)
            let descriptor = try FileDescriptor.socket(AF_UNIX, SOCK_STREAM)
            // The file gets the socket's own mode less the umask. So it is 0600 from its first
            // moment, and the umask, which belongs to all threads, is left alone.
            guard fchmod(descriptor.number, 0o600) == 0 else { throw SystemError("fchmod") }
            try descriptor.bind(RawSocketAddress(unixPath: bytes), path: path)
            try descriptor.listen(backlog: AcceptQueue.backlog, path: path)
            place = try FileSystem.status(of: path)
            queue = AcceptQueue(descriptor)
        } catch {
            throw error.isAddressTaken ? .inUse(path: path) : .system(error)
        }
        self.path = path
    }

    /// The socket, for the poller.
    public var descriptor: FileDescriptor { queue.descriptor }

    /// What the poller should watch for now. Ask after every `accept`.
    public var interest: Poller.Interest { queue.interest }

    /// When to call `accept` again although nothing is reported. See `TCPListener`.
    public var pausedUntil: UInt64? { queue.pausedUntil }

    /// A client that was let in.
    public struct Client {
        /// The stream to it.
        public let link: UnixLink
        /// The user at the other end.
        public let credentials: PeerCredentials
    }

    /// Accepts waiting clients, at most `countMax`. Those of another user are closed without a
    /// reply.
    ///
    /// - Parameters:
    ///   - allowRoot: whether root is let in where the node is not root's.
    ///   - now: milliseconds of the caller's monotonic clock.
    /// - Returns: the clients, how many were refused, and why accepting pauses, if it does.
    public func accept(
        countMax: Int, allowRoot: Bool, now: UInt64
    ) -> (clients: [Client], refused: [PeerCredentials], problem: SystemError?) {
        let (accepted, problem) = queue.accept(countMax: countMax, now: now)
        var clients: [Client] = []
        var refused: [PeerCredentials] = []
        for (descriptor, _) in accepted {
            guard let credentials = PeerCredentials(of: descriptor) else { continue }
            if credentials.mayControl(nodeOf: FileSystem.currentUser, allowRoot: allowRoot) {
                let link = UnixLink(descriptor, remoteAddress: nil)
                clients.append(Client(link: link, credentials: credentials))
            } else {
                refused.append(credentials)
            }
        }
        return (clients, refused, problem)
    }

    /// Removes the socket's file, unless another one has replaced it.
    public func removeFile() throws(SystemError) {
        guard let found = try? FileSystem.status(of: path), found.device == place.device,
            found.inode == place.inode
        else { return }
        try FileSystem.remove(path)
    }

    private static func removeStale(_ path: String) throws(Failure) {
        let found: FileStatus
        do throws(SystemError) {
            found = try FileSystem.status(of: path)
        } catch {
            if error.isMissingFile { return }
            throw .system(error)
        }
        if found.kind != .socket { throw .inTheWay(path: path, kind: found.kind) }
        if found.owner != FileSystem.currentUser { throw .foreign(path: path, owner: found.owner) }
        do throws(SystemError) {
            if try isAnswered(path) { throw SystemError("connect", path: path, number: EADDRINUSE) }
            try FileSystem.remove(path)
        } catch {
            throw error.isAddressTaken ? .inUse(path: path) : .system(error)
        }
    }

    /// Whether somebody listens at a socket. One whose queue is full listens too.
    private static func isAnswered(_ path: String) throws(SystemError) -> Bool {
        let probe = try FileDescriptor.socket(AF_UNIX, SOCK_STREAM)
        let raw = RawSocketAddress(unixPath: [UInt8](path.utf8))
        let result = raw.withPointer { connect(probe.number, $0, $1) }
        return result == 0 || (errno != ECONNREFUSED && errno != ENOENT)
    }
}

/// The user at the other end of a Unix socket, as the kernel recorded it when the connection was
/// made.
public struct PeerCredentials: Equatable, Sendable {
    /// The process that connected. It may have ended since.
    public let process: Int32
    /// Its effective user.
    public let user: UInt32
    /// Its effective group.
    public let group: UInt32

    /// Credentials with these numbers.
    public init(process: Int32, user: UInt32, group: UInt32) {
        self.process = process
        self.user = user
        self.group = group
    }

    /// Asks the kernel; `nil` if `descriptor` is not a connected Unix socket.
    init?(of descriptor: FileDescriptor) {
        var (process, user, group): (Int32, UInt32, UInt32) = (0, 0, 0)
        guard wsx_peercred(descriptor.number, &process, &user, &group) == 0 else { return nil }
        self.init(process: process, user: user, group: group)
    }

    /// Whether this peer may command a node of the user `owner`: the same user, or root where that
    /// was allowed.
    public func mayControl(nodeOf owner: UInt32, allowRoot: Bool) -> Bool {
        user == owner || (user == 0 && allowRoot)
    }
}

extension UnixListener.Failure: CustomStringConvertible {
    /// One clause without a full stop.
    public var description: String {
        switch self {
        case .pathTooLong(let path, let count):
            "\(path) has \(count) bytes, and a socket's path has at most "
                + "\(UnixListener.pathByteCountMax)"
        case .folder(let fault): fault.description
        case .inUse(let path): "another node is already running (socket \(path))"
        case .inTheWay(let path, _): "\(path) is in the way and is not a socket"
        case .foreign(let path, let owner): "the socket \(path) belongs to user \(owner)"
        case .system(let error): error.description
        }
    }
}
