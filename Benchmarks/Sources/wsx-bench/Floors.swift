import CSQLite
import CSodium
import Glibc
import WorkspaceModel

/// What libsodium, SQLite and the kernel alone can do, measured in the same run.
enum Floors {
    // MARK: Memory

    /// Seconds for ids put into a table, and every citation looked up there: judging cannot do
    /// with less.
    static func citations(_ operations: [(id: OperationID, cited: [OperationID])]) -> Double {
        var found = 0
        let time = seconds {
            var table: [OperationID: Int] = [:]
            for (index, operation) in operations.enumerated() {
                table[operation.id] = index
                for id in operation.cited { found += table[id] ?? 0 }
            }
        }
        precondition(found > 0)
        return time
    }

    // MARK: Cryptography

    /// Signatures made and verified a second, of 32 bytes, by one thread.
    static func signatures() -> (sign: Double, verify: Double) {
        _ = sodium_init()
        var publicKey = [UInt8](repeating: 0, count: 32)
        var secretKey = [UInt8](repeating: 0, count: 64)
        crypto_sign_keypair(&publicKey, &secretKey)
        let message = [UInt8](repeating: 7, count: 32)
        var signature = [UInt8](repeating: 0, count: 64)
        let count = 5_000
        let signing = seconds {
            for _ in 0..<count {
                crypto_sign_detached(&signature, nil, message, 32, secretKey)
            }
        }
        let verifying = seconds {
            for _ in 0..<count {
                _ = crypto_sign_verify_detached(signature, message, 32, publicKey)
            }
        }
        return (Double(count) / signing, Double(count) / verifying)
    }

    // MARK: Disk

    /// The middle one of `count` fsyncs after appending 4 KiB, in seconds.
    static func fsync(in folder: String, count: Int = 200) throws -> Double {
        let path = folder + "/fsync"
        let file = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0o600)
        guard file >= 0 else { throw BenchError("cannot write \(path)") }
        defer {
            close(file)
            unlink(path)
        }
        let page = [UInt8](repeating: 1, count: 4_096)
        var times: [Double] = []
        for _ in 0..<count {
            guard write(file, page, page.count) == page.count else {
                throw BenchError("cannot write \(path)")
            }
            times.append(seconds { _ = Glibc.fsync(file) })
        }
        return Figures.quantile(0.5, of: times)
    }

    /// Rows of 200 bytes a second into SQLite (WAL, synchronous FULL), `batch` a transaction.
    static func inserts(_ count: Int, batch: Int, in folder: String) throws -> Double {
        let table = try RawTable(folder + "/floor.db")
        defer { table.close() }
        let body = [UInt8](repeating: 5, count: 200)
        let time = try seconds {
            for row in 0..<count {
                if row % batch == 0 { try table.execute("BEGIN") }
                try table.insert(log: 1, sequence: row, hash: [], body: body, signature: nil)
                if row % batch == batch - 1 || row == count - 1 { try table.execute("COMMIT") }
            }
        }
        return Double(count) / time
    }

    /// Chained hashes of messages of 200 bytes, one signature verified and one COMMIT for a
    /// thousand: what a first sync costs with libsodium and SQLite alone, messages a second.
    static func chainedIngest(_ count: Int, in folder: String) throws -> Double {
        let table = try RawTable(folder + "/floor.db")
        defer { table.close() }
        var publicKey = [UInt8](repeating: 0, count: 32)
        var secretKey = [UInt8](repeating: 0, count: 64)
        crypto_sign_keypair(&publicKey, &secretKey)
        var body = [UInt8](repeating: 5, count: 200)
        var signature = [UInt8](repeating: 0, count: 64)
        crypto_sign_detached(&signature, nil, body, 200, secretKey)
        let signed = body
        var link = [UInt8](repeating: 0, count: 64)
        var hash = [UInt8](repeating: 0, count: 32)
        let time = try seconds {
            for row in 0..<count {
                if row % 1_000 == 0 { try table.execute("BEGIN") }
                body[0] = UInt8(truncatingIfNeeded: row)
                crypto_generichash(&hash, 32, body, 200, nil, 0)
                link.replaceSubrange(32..., with: hash)
                crypto_generichash(&hash, 32, link, 64, nil, 0)
                link.replaceSubrange(..<32, with: hash)
                let isLast = row % 1_000 == 999 || row == count - 1
                try table.insert(
                    log: row % 8, sequence: row, hash: hash, body: body,
                    signature: isLast ? signature : nil)
                if isLast {
                    guard crypto_sign_verify_detached(signature, signed, 200, publicKey) == 0
                    else { throw BenchError("a signature does not verify") }
                    try table.execute("COMMIT")
                }
            }
        }
        return Double(count) / time
    }

    // MARK: Network

    /// Bytes a second through one TCP connection on loopback, in pieces of 64 KiB.
    static func loopbackRate(bytes total: Int = 1 << 30) throws -> Double {
        let (left, right) = try loopbackPair()
        defer {
            close(left)
            close(right)
        }
        let piece = 64 * 1024
        let child = fork(sending: total, piece: piece, to: left)
        var buffer = [UInt8](repeating: 0, count: piece)
        var received = 0
        let time = seconds {
            while received < total {
                let count = recv(right, &buffer, piece, 0)
                guard count > 0 else { return }
                received += count
            }
        }
        pthread_join(child, nil)
        return Double(received) / time
    }

    /// The middle one of `count` round trips of one byte over TCP on loopback, in seconds.
    static func loopbackRoundTrip(count: Int = 2_000) throws -> Double {
        let (left, right) = try loopbackPair()
        defer {
            close(left)
            close(right)
        }
        var echo = pthread_t()
        let box = Unmanaged.passRetained(Echo(descriptor: right, count: count))
        pthread_create(
            &echo, nil,
            { context in
                guard let context else { return nil }
                let echo = Unmanaged<Echo>.fromOpaque(context).takeRetainedValue()
                var byte: UInt8 = 0
                for _ in 0..<echo.count {
                    guard recv(echo.descriptor, &byte, 1, 0) == 1 else { return nil }
                    send(echo.descriptor, &byte, 1, 0)
                }
                return nil
            }, box.toOpaque())
        var byte: UInt8 = 1
        var times: [Double] = []
        for _ in 0..<count {
            times.append(
                seconds {
                    send(left, &byte, 1, 0)
                    recv(left, &byte, 1, 0)
                })
        }
        pthread_join(echo, nil)
        return Figures.quantile(0.5, of: times)
    }

    private final class Echo {
        let descriptor: Int32
        let count: Int

        init(descriptor: Int32, count: Int) {
            self.descriptor = descriptor
            self.count = count
        }
    }

    private static func fork(sending total: Int, piece: Int, to descriptor: Int32) -> pthread_t {
        var thread = pthread_t()
        let box = Unmanaged.passRetained(Echo(descriptor: descriptor, count: total / piece))
        pthread_create(
            &thread, nil,
            { context in
                guard let context else { return nil }
                let job = Unmanaged<Echo>.fromOpaque(context).takeRetainedValue()
                let bytes = [UInt8](repeating: 3, count: 64 * 1024)
                for _ in 0..<job.count {
                    var sent = 0
                    while sent < bytes.count {
                        let count = bytes.withUnsafeBytes {
                            send(
                                job.descriptor, $0.baseAddress?.advanced(by: sent),
                                $0.count - sent, 0)
                        }
                        guard count > 0 else { return nil }
                        sent += count
                    }
                }
                return nil
            }, box.toOpaque())
        return thread
    }

    /// Two ends of one TCP connection on loopback.
    static func loopbackPair() throws -> (Int32, Int32) {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(listener) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let client = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        let status = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(listener, address, length) | listen(listener, 1)
                    | getsockname(listener, address, &length) | connect(client, address, length)
            }
        }
        let server = accept(listener, nil, nil)
        guard status == 0, client >= 0, server >= 0 else { throw BenchError("no loopback TCP") }
        for descriptor in [client, server] {
            var on: Int32 = 1
            setsockopt(
                descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on,
                socklen_t(MemoryLayout<Int32>.size))
        }
        return (client, server)
    }
}

/// One table of messages in SQLite, written with nothing in between.
private struct RawTable {
    private let path: String
    private let database: OpaquePointer
    private let statement: OpaquePointer

    init(_ path: String) throws {
        self.path = path
        var database: OpaquePointer?
        guard sqlite3_open(path, &database) == SQLITE_OK, let database else {
            throw BenchError("cannot open \(path)")
        }
        self.database = database
        for sql in [
            "PRAGMA journal_mode = WAL", "PRAGMA synchronous = FULL",
            """
            CREATE TABLE m(id INTEGER PRIMARY KEY, log INTEGER NOT NULL, seq INTEGER NOT NULL,
                hash BLOB NOT NULL, body BLOB NOT NULL, sig BLOB, UNIQUE(log, seq))
            """,
        ] {
            guard sqlite3_exec(database, sql, nil, nil, nil) == SQLITE_OK else {
                throw BenchError("SQLite refuses: \(sql)")
            }
        }
        var statement: OpaquePointer?
        let sql = "INSERT INTO m(log, seq, hash, body, sig) VALUES(?, ?, ?, ?, ?)"
        sqlite3_prepare_v2(database, sql, -1, &statement, nil)
        guard let statement else { throw BenchError("SQLite refuses: \(sql)") }
        self.statement = statement
    }

    func execute(_ sql: String) throws {
        guard sqlite3_exec(database, sql, nil, nil, nil) == SQLITE_OK else {
            throw BenchError("SQLite refuses: \(sql)")
        }
    }

    func insert(
        log: Int, sequence: Int, hash: [UInt8], body: [UInt8], signature: [UInt8]?
    ) throws {
        sqlite3_bind_int64(statement, 1, Int64(log))
        sqlite3_bind_int64(statement, 2, Int64(sequence))
        bind(3, hash)
        bind(4, body)
        if let signature { bind(5, signature) } else { sqlite3_bind_null(statement, 5) }
        guard sqlite3_step(statement) == SQLITE_DONE else { throw BenchError("an insert failed") }
        sqlite3_reset(statement)
    }

    private func bind(_ parameter: Int32, _ bytes: [UInt8]) {
        _ = bytes.withUnsafeBytes {
            sqlite3_bind_blob(
                statement, parameter, $0.baseAddress, Int32($0.count), wsx_transient())
        }
    }

    func close() {
        sqlite3_finalize(statement)
        sqlite3_close(database)
        for suffix in ["", "-wal", "-shm"] { unlink(path + suffix) }
    }
}
