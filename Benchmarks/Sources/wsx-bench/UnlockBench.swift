import CRDTStore
import Glibc
import WorkspaceCrypto
import WorkspaceModel

/// How soon there is something to read once a passphrase is typed, with many messages stored:
/// after a start without it, and after a lock of a running node.
enum UnlockBench {
    private static let passphrase = "correct horse battery"

    static func run(_ options: Options) throws {
        var figures = Figures("wsx_unlock")
        figures.note("messages", options.messages)
        let folder = try TemporaryFolder(in: options.folder)
        let home: String
        do {
            let source = try BenchNode("A", in: folder, options: options, workspace: "acme")
            home = source.home
            try History.write(
                options.messages, authors: 1, to: source, in: folder, options: options)
            _ = try source.connect().call(
                "identity.passphrase.change", ["new": .string(passphrase)])
            source.stop()
        }
        for _ in 0..<options.runs {
            let argon = try pendingDerivation()
            let page = try readingPage(home)
            let start = ContinuousClock.now
            let process = try Spawning.start(
                [
                    options.node, "--home", home, "daemon", "run", "--listen", "127.0.0.1:0",
                    "--announce", "off",
                ])
            defer {
                kill(process, SIGTERM)
                _ = try? Spawning.wait(process)
            }
            let socket = try connect(home)
            figures.add("start_locked_ms", elapsed(since: start) * 1e3)
            let cold = try opening(socket)
            figures.add("cold_page_ms", elapsed(since: start) * 1e3)
            _ = try socket.call("lock.now")
            let warm = try opening(socket)
            figures.add("floor_argon2id_ms", argon * 1e3)
            figures.add("floor_page_ms", page * 1e3)
            figures.add("page_after_argon2id_after_start_ms", (cold - argon) * 1e3)
            figures.add("page_after_argon2id_after_lock_ms", (warm - argon) * 1e3)
            figures.add("ratio_start_to_floor", cold / (argon + page))
            figures.add("ratio_lock_to_floor", warm / (argon + page))
        }
        figures.print()
    }

    /// From the passphrase to the newest page of messages.
    private static func opening(_ socket: ControlSocket) throws -> Double {
        try seconds {
            _ = try socket.call("session.unlock", ["passphrase": .string(passphrase)])
            let page = try socket.call("message.history", ["channel": "general", "limit": 30])
            guard page["items"]?.arrayValue?.count == 30 else { throw BenchError("no page") }
        }
    }

    private static func connect(_ home: String) throws -> ControlSocket {
        for _ in 0..<5_000 {
            if let socket = try? ControlSocket(home + "/control.sock") { return socket }
            usleep(1_000)
        }
        throw BenchError("no daemon on \(home)")
    }

    /// Argon2id alone.
    private static func pendingDerivation() throws -> Double {
        let derivation = PassphraseVault.KeyDerivation(cost: .standard, using: SystemRandom())
        let secret = SecretBytes(copying: Array(passphrase.utf8))
        return try seconds { _ = try derivation.key(of: secret) }
    }

    /// SQLite alone: the database is opened, and one row of the newest message is read.
    private static func readingPage(_ home: String) throws -> Double {
        try seconds {
            let connection = try Connection(path: home + "/node.db", mode: .readOnly)
            _ = try connection.statement("SELECT payload FROM operation ORDER BY arr DESC LIMIT 1")
                .firstRow { $0.blob(0) }
        }
    }
}
