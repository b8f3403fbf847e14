import Glibc
import WorkspaceModel

/// A proxy for a control socket that inserts hostile text into every text of the daemon's answers.
/// So every command can be tested with texts that no honest node would accept.
public final class PoisoningProxy: @unchecked Sendable {
    /// Where it listens.
    public let path: String
    private let target: String
    private let listener: Int32
    private let poison: [String]

    /// Values of these are words of the daemon itself, or references that a command goes on with.
    private static let kept: Set<String> = [
        "jsonrpc", "method", "id", "type", "cursor", "kind", "state", "role", "format", "notify",
        "history", "workspace", "channel", "thread", "version", "device", "socket", "home",
        "digest", "link", "next", "older", "newer", "qr_text", "level", "recovery",
    ]

    /// Listens until the process ends or `stop` is called.
    ///
    /// - Parameter poison: appended to the texts, all of them to each.
    public init?(_ path: String, to target: String, poison: [String]) {
        self.path = path
        self.target = target
        self.poison = poison
        listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard Self.withAddress(path, { bind(listener, $0, $1) }) == 0, listen(listener, 8) == 0
        else {
            close(listener)
            return nil
        }
        var thread = pthread_t()
        let owner = Unmanaged.passRetained(self)
        pthread_create(
            &thread, nil,
            { given in
                guard let given else { return nil }
                Unmanaged<PoisoningProxy>.fromOpaque(given).takeRetainedValue().serve()
                return nil
            }, owner.toOpaque())
        pthread_detach(thread)
    }

    /// Takes nobody more.
    public func stop() { shutdown(listener, Int32(SHUT_RDWR)) }

    private static func withAddress(
        _ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix(107)) }
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }

    private final class Pair {
        let proxy: PoisoningProxy
        let client: Int32
        init(_ proxy: PoisoningProxy, _ client: Int32) {
            self.proxy = proxy
            self.client = client
        }
    }

    private func serve() {
        while true {
            let client = accept(listener, nil, nil)
            guard client >= 0 else { break }
            var thread = pthread_t()
            pthread_create(
                &thread, nil,
                { given in
                    guard let given else { return nil }
                    let pair = Unmanaged<Pair>.fromOpaque(given).takeRetainedValue()
                    pair.proxy.pass(pair.client)
                    return nil
                }, Unmanaged.passRetained(Pair(self, client)).toOpaque())
            pthread_detach(thread)
        }
        close(listener)
    }

    /// Passes on what the two say to each other, until one of them goes.
    private func pass(_ client: Int32) {
        let daemon = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        defer {
            close(client)
            close(daemon)
        }
        guard Self.withAddress(target, { connect(daemon, $0, $1) }) == 0 else { return }
        var line: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 64 * 1024)
        while true {
            var waiting = [
                pollfd(fd: client, events: Int16(POLLIN), revents: 0),
                pollfd(fd: daemon, events: Int16(POLLIN), revents: 0),
            ]
            guard poll(&waiting, 2, -1) > 0 else { continue }
            if waiting[0].revents != 0 {
                let count = recv(client, &chunk, chunk.count, 0)
                guard count > 0, ControlSocket.send(chunk[..<count], to: daemon) else { return }
            }
            guard waiting[1].revents != 0 else { continue }
            let count = recv(daemon, &chunk, chunk.count, 0)
            guard count > 0 else { return }
            for byte in chunk[..<count] {
                guard byte == 0x0A else {
                    line.append(byte)
                    continue
                }
                let answer = (try? JSONValue(parsing: line)).map { poisoned($0, under: "") }
                line = []
                let bytes = (answer ?? .null).bytes + [0x0A]
                guard ControlSocket.send(bytes[...], to: client) else { return }
            }
        }
    }

    private func poisoned(_ value: JSONValue, under key: String) -> JSONValue {
        switch value {
        case .string(let text):
            // An id, wherever it stands, is what the next call is made with.
            let isReference = text.dropFirst().first == "_" && text.utf8.count == 28
            if Self.kept.contains(key) || isReference { return value }
            return .string(text + poison.joined(separator: "x"))
        case .array(let items): return .array(items.map { poisoned($0, under: key) })
        case .object(let object):
            var made = JSONObject()
            for member in object.members {
                made.append(member.key, poisoned(member.value, under: member.key))
            }
            return .object(made)
        default: return value
        }
    }
}
