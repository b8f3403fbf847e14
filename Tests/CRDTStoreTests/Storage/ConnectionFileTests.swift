import Foundation
import Testing

@testable import CRDTStore

struct `A store on disk` {
    let folder: TemporaryFolder
    var path: String { folder.file("node.db") }

    init() throws { folder = try TemporaryFolder() }

    private func made(_ ids: [Int64] = []) throws -> Connection {
        let connection = try Connection(path: path, mode: .create)
        try connection.makeItems()
        if !ids.isEmpty { try connection.commit(ids) }
        return connection
    }

    static let settings: KeyValuePairs = [
        "page_size": "8192", "journal_mode": "wal", "synchronous": "2", "wal_autocheckpoint": "0",
        "trusted_schema": "0", "cell_size_check": "1", "secure_delete": "1", "temp_store": "2",
        "foreign_keys": "0", "application_id": "1465079886", "auto_vacuum": "0",
    ]

    @Test func `is opened with the settings that keep it safe`() throws {
        for mode in [Connection.Mode.create, .main] {
            let connection = try Connection(path: path, mode: mode)
            for (name, value) in Self.settings {
                let read = try connection.setting(name)
                #expect(read == value, "\(name), \(mode)")
            }
        }
    }

    @Test func `keeps what was committed when it is opened again`() throws {
        var connection: Connection? = try made([1, 2])
        #expect(connection?.loggedCommitCount == 3)
        connection = nil
        let again = try Connection(path: path, mode: .main)
        #expect(try again.ids() == [1, 2])
        #expect(again.commitCount == 0)
    }

    @Test func `counts one logged commit a turn, however much was written`() throws {
        let connection = try made()
        let before = connection.loggedCommitCount
        try connection.commit([Int64](1...1000))
        #expect(connection.loggedCommitCount == before + 1)
        try connection.commit([])
        #expect(connection.loggedCommitCount == before + 1)
    }

    // The files as they are in the middle of things are what a kill leaves.
    @Test func `holds the last COMMIT after a kill at any moment`() throws {
        let connection = try made()
        for id in Int64(1)...5 {
            try connection.begin()
            try connection.put(id)
            let before = try folder.killed()
            let old = try Connection(path: before.file("node.db"), mode: .main)
            #expect(try old.ids() == [Int64](1..<id))
            try connection.commit()
            let after = try folder.killed()
            let new = try Connection(path: after.file("node.db"), mode: .main)
            #expect(try new.ids() == [Int64](1...id))
            #expect(try new.integrityProblems() == [])
            if id == 3 { _ = try connection.checkpoint(.passive) }
        }
    }

    // D02: a log that was cut anywhere gives a whole prefix of the commits.
    @Test func `holds a prefix of the commits when the log is cut anywhere`() throws {
        let connection = try made()
        for id in Int64(1)...4 { try connection.commit([id]) }
        let log = try folder.bytes("node.db-wal")
        let database = try folder.bytes("node.db")
        var lengths: Set<Int> = []
        for count in stride(from: 0, through: log.count, by: 1_531) {
            let copy = try TemporaryFolder()
            try copy.put(database, "node.db")
            try copy.put([UInt8](log.prefix(count)), "node.db-wal")
            let cut = try Connection(path: copy.file("node.db"), mode: .main)
            #expect(try cut.integrityProblems() == [])
            guard let ids = try? cut.ids() else { continue }
            #expect(ids == [Int64](1...4).prefix(ids.count).map { $0 })
            lengths.insert(ids.count)
        }
        #expect(lengths.count > 2)
    }

    // MARK: Checkpoints

    @Test func `moves the log into the file between turns only`() throws {
        let connection = try made([1])
        #expect(connection.logFrameCount > 0)
        #expect(connection.logByteCount == connection.logFrameCount * 8192)
        try connection.begin()
        #expect(failure { _ = try connection.checkpoint(.passive) }?.kind == .misuse)
        try connection.commit()
        let passive = try connection.checkpoint(.passive)
        #expect(passive.frameCount > 0)
        #expect(passive.copiedFrameCount == passive.frameCount)
        #expect(!passive.isBlocked)
        let truncated = try connection.checkpoint(.truncate)
        #expect(truncated.frameCount == 0 && !truncated.isBlocked)
        #expect(try folder.bytes("node.db-wal").isEmpty)
        #expect(connection.logFrameCount == 0)
    }

    @Test func `says that a reader keeps it from emptying the log`() throws {
        let connection = try made([1])
        let reader = try Connection(path: path, mode: .readOnly)
        let select = try reader.statement("SELECT id FROM item")
        try select.forEachRow { (_) throws(StorageError) in
            try connection.commit([2])
            #expect(try connection.checkpoint(.truncate).isBlocked)
        }
        #expect(try !connection.checkpoint(.truncate).isBlocked)
        #expect(try reader.ids() == [1, 2])
    }

    @Test func `keeps one state in sight while a snapshot is held`() throws {
        let writer = try made([1])
        let reader = try Connection(path: path, mode: .readOnly)
        for _ in 0..<2 {
            let before = try writer.ids()
            try reader.holdSnapshot()
            try reader.holdSnapshot()
            try writer.commit([Int64(before.count) + 1])
            #expect(try reader.ids() == before)
            #expect(try writer.checkpoint(.truncate).isBlocked)
            reader.releaseSnapshot()
            #expect(try reader.ids() == before + [Int64(before.count) + 1])
            #expect(try !writer.checkpoint(.truncate).isBlocked)
        }
    }

    @Test func `holds a snapshot from the first statement on, if it is to`() throws {
        let writer = try made([1])
        let reader = try Connection(path: path, mode: .readOnly)
        for round in 2...3 as ClosedRange<Int64> {
            reader.holdSnapshotWhenRead()
            try writer.commit([round])
            #expect(try !writer.checkpoint(.truncate).isBlocked, "nothing was read yet")
            let before = try reader.ids()
            #expect(before.last == round)
            try writer.commit([round * 10])
            #expect(try reader.ids() == before)
            #expect(try writer.checkpoint(.truncate).isBlocked)
            reader.releaseSnapshot()
            #expect(try reader.ids() != before)
            #expect(try !writer.checkpoint(.truncate).isBlocked)
            try writer.begin()
            try writer.statement("DELETE FROM item WHERE id >= 10").run()
            try writer.commit()
        }
        // Neither who lets go of it before nor a transaction takes one.
        for _ in 0..<2 {
            reader.holdSnapshotWhenRead()
            reader.releaseSnapshot()
            #expect(try reader.ids() == [1, 2, 3])
            writer.holdSnapshotWhenRead()
            try writer.commit([])
            #expect(try !writer.checkpoint(.truncate).isBlocked)
        }
    }

    @Test func `writes as ever while it holds a snapshot`() throws {
        let connection = try made()
        try connection.holdSnapshot()
        #expect(!connection.isInTransaction)
        try connection.commit([1])
        #expect(try !connection.checkpoint(.truncate).isBlocked, "begin() let it go")
        try connection.begin()
        try connection.put(2)
        try connection.holdSnapshot()
        connection.rollback()
        #expect(try connection.ids() == [1])
        try connection.holdSnapshot()
        connection.rollback()
        #expect(try !connection.checkpoint(.truncate).isBlocked, "rollback() let it go")
    }

    @Test func `writes on the newest state, though its snapshot is an older one`() throws {
        let connection = try made([1])
        let other = try Connection(path: path, mode: .main)
        for round in 1...3 as ClosedRange<Int64> {
            try connection.holdSnapshot()
            try other.commit([10 * round])
            #expect(try connection.ids().last != 10 * round, "the snapshot is older")
            try connection.begin()
            #expect(try connection.ids().last == 10 * round, "and let go of")
            try connection.put(10 * round + 1)
            try connection.commit()
            #expect(try other.ids().suffix(2) == [10 * round, 10 * round + 1])
        }
        #expect(try !other.checkpoint(.truncate).isBlocked)
    }

    @Test func `begins no transaction where another one is under way, with or without a snapshot`()
        throws
    {
        let connection = try made([1])
        let other = try Connection(path: path, mode: .main)
        try other.begin()
        try other.put(2)
        for holds in [false, true] {
            if holds { try connection.holdSnapshot() }
            #expect(throws: StorageError.self) { try connection.begin() }
            #expect(!connection.isInTransaction)
        }
        try other.commit()
        #expect(try !other.checkpoint(.truncate).isBlocked, "no snapshot is left")
        try connection.commit([3])
        #expect(try other.ids() == [1, 2, 3])
    }

    @Test func `forgets deleted bytes after a checkpoint`() throws {
        let connection = try made()
        let secret = [UInt8]("the words that are to be forgotten".utf8)
        try connection.begin()
        try connection.put(1, nil, .blob(secret))
        try connection.commit()
        _ = try connection.checkpoint(.truncate)
        #expect(try folder.bytes("node.db").firstRange(of: secret) != nil)
        try connection.begin()
        try connection.statement("UPDATE item SET blob = NULL").run()
        try connection.commit()
        _ = try connection.checkpoint(.truncate)
        #expect(try folder.bytes("node.db").firstRange(of: secret) == nil)
    }

    @Test func `lets a reader read and not write`() throws {
        let connection = try made([1])
        let reader = try Connection(path: path, mode: .readOnly)
        #expect(try reader.ids() == [1])
        #expect(failure { try reader.execute("DELETE FROM item") }?.kind == .readOnly)
        try connection.commit([2])
        #expect(try reader.ids() == [1, 2])
    }

    // MARK: What is refused (D06, D07)

    @Test(arguments: [Connection.Mode.main, .readOnly])
    func `is never made in silence`(_ mode: Connection.Mode) throws {
        #expect(failure { _ = try Connection(path: path, mode: mode) }?.kind == .cannotOpen)
        try folder.put([], "node.db")
        #expect(failure { _ = try Connection(path: path, mode: mode) }?.kind == .empty)
        #expect(failure { _ = try Connection(path: folder.path, mode: mode) } != nil)
    }

    @Test func `is made only where nothing is`() throws {
        _ = try made([1])
        #expect(failure { _ = try Connection(path: path, mode: .create) }?.kind == .notOurs)
        #expect(try Connection(path: path, mode: .main).ids() == [1])
        let nowhere = folder.file("no/such/node.db")
        #expect(failure { _ = try Connection(path: nowhere, mode: .create) }?.kind == .cannotOpen)
    }

    @Test func `keeps its log when the file beside it is empty`() throws {
        let connection = try made([1])
        let copy = try folder.killed()
        try copy.put([], "node.db")
        let log = try copy.bytes("node.db-wal")
        let error = failure { _ = try Connection(path: copy.file("node.db"), mode: .main) }
        #expect(error?.kind == .empty)
        #expect(try copy.bytes("node.db-wal") == log)
        _ = connection
    }

    @Test(arguments: [2, 99, 100, 8192, 100_000])
    func `is not a file of other bytes`(_ count: Int) throws {
        try folder.put([UInt8](repeating: 0x61, count: count), "node.db")
        #expect(failure { _ = try Connection(path: path, mode: .main) }?.kind == .corrupt)
        #expect(failure { _ = try Connection(path: path, mode: .create) }?.kind == .notOurs)
    }

    @Test func `is not another program's database`() throws {
        _ = try Connection(path: folder.file("search.db"), mode: .disposable)
        let error = failure { _ = try Connection(path: folder.file("search.db"), mode: .main) }
        #expect(error?.kind == .notOurs)
        _ = try Connection(path: folder.file("search.db"), mode: .disposable)
    }

    @Test func `is found out when it was cut`() throws {
        var connection: Connection? = try made([Int64](1...3000))
        _ = try connection?.checkpoint(.truncate)
        connection = nil
        let whole = try folder.bytes("node.db")
        try #require(whole.count > 4 * 8192)
        for count in [100, 5_000, 8_192, whole.count / 2, whole.count - 8_192] {
            try folder.put([UInt8](whole.prefix(count)), "node.db")
            let error = failure {
                let cut = try Connection(path: path, mode: .main)
                let problems = try cut.integrityProblems()
                if let problem = problems.first { throw StorageError(.corrupt, problem) }
            }
            #expect(error?.kind == .corrupt, "cut at \(count): \(String(describing: error))")
        }
    }

    @Test func `loses only the newest commits without its log, and rebuilds a junk index`() throws {
        let connection = try made([1])
        _ = try connection.checkpoint(.truncate)
        try connection.commit([2])
        let copy = try folder.killed()
        try copy.put([UInt8](repeating: 0xa5, count: 40_000), "node.db-shm")
        #expect(try Connection(path: copy.file("node.db"), mode: .main).ids() == [1, 2])

        // The restore guard notices this one: it has seen more commits.
        let without = try folder.killed()
        try FileManager.default.removeItem(atPath: without.file("node.db-wal"))
        #expect(try Connection(path: without.file("node.db"), mode: .main).ids() == [1])
    }

    // SQLite replays any log that lies beside a file. The restore guard notices this one by the
    // store id; here it must only end in a clear error or a database that is whole.
    @Test func `comes to an error or to another whole store with another store's log`() throws {
        let other = try TemporaryFolder()
        let stranger = try Connection(path: other.file("node.db"), mode: .create)
        try stranger.makeItems()
        try stranger.commit([77])
        let connection = try made([1])
        _ = try connection.checkpoint(.truncate)
        let mixed = try folder.killed()
        try mixed.put(try other.bytes("node.db-wal"), "node.db-wal")
        let error = failure {
            let opened = try Connection(path: mixed.file("node.db"), mode: .main)
            #expect(try opened.integrityProblems() == [])
            #expect(try opened.ids() == [77])
        }
        #expect(error == nil || error?.kind == .corrupt)
    }

    @Test func `takes no path for a URI or a name with a zero byte`() throws {
        #expect(failure { _ = try Connection(path: "", mode: .create) }?.kind == .misuse)
        #expect(failure { _ = try Connection(path: "a\0b", mode: .create) }?.kind == .misuse)
        #expect(failure { _ = try Connection(path: "a", mode: .memory) }?.kind == .misuse)
        let error = failure { _ = try Connection(path: "file:x?mode=memory", mode: .main) }
        #expect(error?.kind == .cannotOpen)
    }

    // D03, with SQLite's own limit for the disk's.
    @Test func `goes on after the disk was full, for reading at once and for writing later`() throws
    {
        let connection = try made([1])
        let pages = try #require(try connection.statement("PRAGMA page_count").integer())
        try connection.execute("PRAGMA max_page_count = \(pages + 8)")
        try connection.begin()
        let error = failure {
            for id in Int64(10)..<1000 {
                try connection.put(id, nil, .blob([UInt8](repeating: 1, count: 4000)))
            }
        }
        #expect(error?.kind == .full)
        #expect(connection.writingStopped == nil)
        connection.rollback()
        #expect(try connection.ids() == [1])
        try connection.execute("PRAGMA max_page_count = 1000000")
        try connection.commit([2])
        #expect(try connection.ids() == [1, 2])
        #expect(try connection.integrityProblems() == [])
    }
}
