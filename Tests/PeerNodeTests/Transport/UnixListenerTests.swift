import Foundation
import Glibc
import PeerNode
import Testing
import WorkspaceTestKit

struct `A Unix listener` {
    /// A client of its own making, so that the listener is not tested against itself.
    static func makeClient(_ path: String) throws -> UnixLink {
        let number = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        let descriptor = FileDescriptor(owning: number)
        var raw = sockaddr_un()
        raw.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &raw.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
        let size = socklen_t(MemoryLayout<sockaddr_un>.size)
        let result = withUnsafePointer(to: &raw) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(number, $0, size)
            }
        }
        if result != 0 { throw SystemError("connect", path: path) }
        _ = fcntl(number, F_SETFL, O_NONBLOCK)
        return UnixLink(descriptor, remoteAddress: nil)
    }

    private func failure(_ path: String) -> UnixListener.Failure? {
        do throws(UnixListener.Failure) { _ = try UnixListener(path: path) } catch { return error }
        return nil
    }

    @Test func `lets its own user in, and tells who it is`() throws {
        try withTemporaryFolder { root in
            let listener = try UnixListener(path: root + "/s")
            let status = try FileSystem.status(of: root + "/s")
            #expect(status.kind == .socket)
            #expect(status.mode == 0o600)
            let client = try Self.makeClient(root + "/s")
            client.write([1, 2], now: 0)
            client.finishWriting(now: 0)
            let (clients, refused, problem) = listener.accept(
                countMax: 8, allowRoot: false, now: 0)
            #expect(clients.map(\.credentials.user) == [geteuid()])
            #expect(clients.map(\.credentials.process) == [getpid()])
            #expect(refused.isEmpty && problem == nil)
            let link = try #require(clients.first).link
            #expect(try link.receiveAll(ReadBuffer()).bytes == [1, 2])
            // A client that said all it has to say is still answered.
            link.write([3], now: 0)
            #expect(link.flush(now: 0) == nil)
            link.finishWriting(now: 0)
            #expect(try client.receiveAll(ReadBuffer()).bytes == [3])
        }
    }

    @Test func `survives a client that leaves before its answer`() throws {
        try withTemporaryFolder { root in
            let listener = try UnixListener(path: root + "/s")
            for _ in 0..<200 {
                _ = try Self.makeClient(root + "/s")
                let clients = listener.accept(countMax: 8, allowRoot: false, now: 0).clients
                let link = try #require(clients.first).link
                // What a child process holds of the other end until it becomes another program
                // keeps that open for a moment.
                var error: SystemError?
                let isClosed = eventually {
                    link.write([1], now: 0)
                    if case .failed(let found) = link.flush(now: 0) { error = found }
                    return error != nil
                }
                #expect(isClosed && error?.number == EPIPE)
            }
        }
    }

    /// Case K11.
    @Test func `replaces only a dead socket of its own user`() throws {
        try withTemporaryFolder { root in
            let path = root + "/s"
            var first: UnixListener? = try UnixListener(path: path)
            #expect(failure(path) == .inUse(path: path))
            #expect(first?.path == path)
            first = nil
            // Its file is still there, and nobody answers.
            #expect(try FileSystem.status(of: path).kind == .socket)
            #expect(failure(path) == nil)

            try FileSystem.remove(path)
            try FileSystem.replace(path, with: [1])
            #expect(failure(path) == .inTheWay(path: path, kind: .file))
            #expect(try FileSystem.read(path, byteCountMax: 9) == [1])

            try FileSystem.remove(path)
            #expect(symlink(root + "/elsewhere", path) == 0)
            #expect(failure(path) == .inTheWay(path: path, kind: .link))

            try FileSystem.remove(path)
            try FileSystem.makeFolder(path)
            #expect(failure(path) == .inTheWay(path: path, kind: .folder))
        }
    }

    /// Case K11: 107 bytes fit, 108 do not.
    @Test func `refuses a path that is too long, by one byte`() throws {
        try withTemporaryFolder { root in
            let longest = root + "/" + String(repeating: "s", count: 106 - root.utf8.count)
            #expect(longest.utf8.count == 107)
            let listener = try UnixListener(path: longest)
            withExtendedLifetime(try Self.makeClient(longest)) {}
            #expect(listener.accept(countMax: 2, allowRoot: false, now: 0).clients.count == 1)
            let long = longest + "s"
            #expect(failure(long) == .pathTooLong(path: long, byteCount: 108))
        }
    }

    /// Case K10.
    @Test func `refuses a folder that others can enter, a link to one, and none at all`() throws {
        try withTemporaryFolder { root in
            let folder = root + "/d"
            try FileSystem.makeFolder(folder)
            chmod(folder, 0o755)
            #expect(failure(folder + "/s") == .folder(.loose(path: folder, mode: 0o755)))
            chmod(folder, 0o700)
            #expect(symlink(folder, root + "/l") == 0)
            let link = root + "/l"
            #expect(failure(link + "/s") == .folder(.notAFolder(path: link, isLink: true)))
            let missing = SystemError("lstat", path: root + "/x", number: ENOENT)
            #expect(failure(root + "/x/s") == .folder(.system(missing)))
            #expect(failure(folder + "/s") == nil)
        }
    }

    @Test func `removes its file, but not the file of a successor`() throws {
        try withTemporaryFolder { root in
            let path = root + "/s"
            let first = try UnixListener(path: path)
            try FileSystem.remove(path)
            let second = try UnixListener(path: path)
            try first.removeFile()
            withExtendedLifetime(try Self.makeClient(path)) {}
            try second.removeFile()
            #expect(try !FileSystem.remove(path))
            try second.removeFile()
        }
    }

    /// Case K10.
    @Test func `is private from its first moment whatever the umask`() async {
        await #expect(processExitsWith: .success) {
            umask(0)
            let mode = try withTemporaryFolder { root in
                let listener = try UnixListener(path: root + "/s")
                return try FileSystem.status(of: listener.path).mode
            }
            exit(mode == 0o600 ? 0 : 1)
        }
    }

    /// A file made private afterwards was open for a moment. The kernel reports each change of a
    /// mode to watchers of the folder.
    @Test func `never changes the mode of its file, for it was right at first`() throws {
        try withTemporaryFolder { root in
            let watch = FileDescriptor(owning: inotify_init1(Int32(IN_NONBLOCK)))
            let wanted = UInt32(IN_CREATE) | UInt32(IN_ATTRIB)
            try #require(inotify_add_watch(watch.number, root, wanted) >= 0)
            func seen() -> [UInt32] {
                var buffer = [UInt8](repeating: 0, count: 4_096)
                let count = max(0, Glibc.read(watch.number, &buffer, buffer.count))
                var masks: [UInt32] = []
                var start = 0
                while start + 16 <= count {
                    func number(_ offset: Int) -> UInt32 {
                        buffer[start + offset..<start + offset + 4].reversed()
                            .reduce(0) { $0 << 8 | UInt32($1) }
                    }
                    masks.append(number(4))
                    start += 16 + Int(number(12))
                }
                return masks
            }
            let listener = try UnixListener(path: root + "/s")
            #expect(seen() == [UInt32(IN_CREATE)])
            // It would be seen.
            try #require(chmod(listener.path, 0o600) == 0)
            #expect(seen() == [UInt32(IN_ATTRIB)])
        }
    }

    /// Case K10: needs root, to be somebody else for a moment.
    @Test(.enabled(if: isRoot, "only root can act as another user"))
    func `refuses another user, and root unless that was allowed`() async {
        await #expect(processExitsWith: .success) {
            let path: String = try withTemporaryFolder { root in
                let path = root + "/s"
                guard chown(root, 65_534, 65_534) == 0, seteuid(65_534) == 0 else { exit(1) }
                let listener = try UnixListener(path: path)
                guard seteuid(0) == 0 else { exit(2) }
                let first = try `A Unix listener`.makeClient(path)
                let second = try `A Unix listener`.makeClient(path)
                guard seteuid(65_534) == 0 else { exit(3) }
                let closed = listener.accept(countMax: 1, allowRoot: false, now: 0)
                guard closed.clients.isEmpty, closed.refused.map(\.user) == [0] else { exit(4) }
                let open = listener.accept(countMax: 1, allowRoot: true, now: 0)
                guard open.clients.count == 1, open.refused.isEmpty else { exit(5) }
                // The refused one was closed without a word.
                guard first.receive(byteCountMax: 9, into: ReadBuffer()).end == .finished,
                    second.receive(byteCountMax: 9, into: ReadBuffer()).end == nil
                else { exit(6) }
                guard seteuid(0) == 0 else { exit(7) }
                return path
            }
            exit(path.isEmpty ? 8 : 0)
        }
    }

    @Test func `judges a peer by its user alone`() {
        let rows: [(user: UInt32, owner: UInt32, allowRoot: Bool, isLetIn: Bool)] = [
            (1_000, 1_000, false, true), (1_001, 1_000, false, false), (1_001, 1_000, true, false),
            (0, 1_000, false, false), (0, 1_000, true, true), (0, 0, false, true),
            (1_000, 0, true, false),
        ]
        for row in rows {
            let peer = PeerCredentials(process: 1, user: row.user, group: row.owner)
            #expect(peer.mayControl(nodeOf: row.owner, allowRoot: row.allowRoot) == row.isLetIn)
        }
    }
}
