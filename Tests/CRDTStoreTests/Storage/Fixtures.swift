import CRDTStore
import Foundation

/// A folder that is removed with the test, for stores on a real disk.
final class TemporaryFolder {
    let path: String

    init() throws {
        let url = FileManager.default.temporaryDirectory
            .appendingPathComponent("wsx-store-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        path = url.path
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func file(_ name: String) -> String { path + "/" + name }

    func bytes(_ name: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: URL(fileURLWithPath: file(name))))
    }

    func put(_ bytes: [UInt8], _ name: String) throws {
        try Data(bytes).write(to: URL(fileURLWithPath: file(name)))
    }

    /// The store's three files as they are now, which is what a kill would leave.
    func killed(_ name: String = "node.db") throws -> TemporaryFolder {
        let copy = try TemporaryFolder()
        for suffix in ["", "-wal", "-shm"] {
            guard FileManager.default.fileExists(atPath: file(name + suffix)) else { continue }
            try copy.put(try bytes(name + suffix), name + suffix)
        }
        return copy
    }
}

extension Connection {
    /// One table, `item(id, text, blob)`, and a counter of commits in `meta`.
    func makeItems() throws {
        try execute(
            """
            CREATE TABLE item(id INTEGER PRIMARY KEY, text, blob);
            CREATE TABLE meta(name TEXT PRIMARY KEY, value BLOB) STRICT, WITHOUT ROWID;
            """)
    }

    func put(_ id: Int64, _ text: SQLValue = nil, _ blob: SQLValue = nil) throws(StorageError) {
        try statement("INSERT INTO item VALUES (?1, ?2, ?3)").run(.integer(id), text, blob)
    }

    func ids() throws(StorageError) -> [Int64] {
        try statement("SELECT id FROM item ORDER BY id").rows { $0.integer(0) }
    }

    /// A transaction that puts these ids.
    func commit(_ ids: [Int64]) throws(StorageError) {
        try begin()
        for id in ids { try put(id) }
        try commit()
    }

    /// A store in memory with the tables above.
    static func inMemory() throws -> Connection {
        let connection = try Connection()
        try connection.makeItems()
        return connection
    }
}

/// The error of a call, or `nil` when there was none.
func failure(_ body: () throws -> Void) -> StorageError? {
    do {
        try body()
        return nil
    } catch { return error as? StorageError }
}
