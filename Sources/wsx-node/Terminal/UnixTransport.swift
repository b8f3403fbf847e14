import Glibc
import PeerNode
import WorkspaceModel

/// A blocking connection to a Unix socket.
final class UnixTransport: ControlTransport {
    private let socketNumber: Int32

    var descriptor: Int32? { socketNumber }

    /// - Parameter path: at most 107 bytes; `Paths` has checked that.
    init(_ path: String) throws(NodeError) {
        socketNumber = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard socketNumber >= 0 else { throw Self.failure("cannot create a socket") }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        guard bytes.count < MemoryLayout.size(ofValue: address.sun_path), !bytes.contains(0) else {
            close(socketNumber)
            throw .badConfiguration("the path of the control socket is too long")
        }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let length = socklen_t(MemoryLayout<sockaddr_un>.size)
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(socketNumber, $0, length)
            }
        }
        guard result == 0 else {
            let code = errno
            close(socketNumber)
            if code == ENOENT || code == ECONNREFUSED || code == ENOTDIR {
                throw .notRunning(socket: path)
            }
            let isForbidden = code == EACCES || code == EPERM
            throw NodeError(
                isForbidden ? .forbidden : .notRunning,
                "cannot connect to the daemon: \(String(cString: strerror(code)))",
                hint: isForbidden ? "only the account that started it can connect" : "wsx-node up",
                reason: "control.connect")
        }
        // Otherwise the daemon, running as another user, would close the connection silently.
        if let owner = (try? FileSystem.status(of: path))?.owner, owner != geteuid() {
            close(socketNumber)
            throw NodeError(
                .forbidden, "the daemon at \(NodeError.quotedPath(path)) belongs to user \(owner)",
                hint: "only the account that started it can use it", reason: "control.foreign")
        }
    }

    deinit { close(socketNumber) }

    func send(_ bytes: [UInt8]) throws(NodeError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Glibc.send(socketNumber, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw Self.failure("the daemon closed the connection") }
            rest = rest.dropFirst(count)
        }
    }

    func receive(within milliseconds: Int64?) throws(NodeError) -> [UInt8] {
        var waiting = pollfd(fd: socketNumber, events: Int16(POLLIN), revents: 0)
        let limit = milliseconds.map { Int32(clamping: $0) } ?? -1
        var ready = poll(&waiting, 1, limit)
        while ready < 0, errno == EINTR { ready = poll(&waiting, 1, limit) }
        guard ready != 0 else {
            throw NodeError(
                .timeout, "the daemon did not answer in time", hint: "wsx-node status",
                reason: "control.timeout")
        }
        var chunk = [UInt8](repeating: 0, count: 64 * 1024)
        var count = recv(socketNumber, &chunk, chunk.count, 0)
        while count < 0, errno == EINTR { count = recv(socketNumber, &chunk, chunk.count, 0) }
        return count > 0 ? Array(chunk[..<count]) : []
    }

    private static func failure(_ what: String) -> NodeError {
        NodeError(
            .stopping, what, hint: "wsx-node up", reason: KnownReason.endedConnection.rawValue)
    }
}
