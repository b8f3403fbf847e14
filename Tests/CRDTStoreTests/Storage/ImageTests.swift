import CRDTStore
import Testing

struct `A store in memory` {
    @Test func `comes back from a crash as of the last COMMIT`() throws {
        var connection = try Connection.inMemory()
        for id in Int64(1)...5 {
            try connection.commit([id])
            try connection.begin()
            try connection.put(100 + id)
            #expect(failure { _ = try connection.serialized() }?.kind == .misuse)
            connection.rollback()
            connection = try Connection(image: try connection.serialized())
            #expect(try connection.ids() == [Int64](1...id))
            #expect(try connection.integrityProblems(thorough: true) == [])
        }
    }

    @Test func `gives the same bytes for the same writes`() throws {
        let images = try (0..<2).map { _ in
            let connection = try Connection.inMemory()
            try connection.commit([Int64](1...500))
            return try connection.serialized()
        }
        #expect(images[0] == images[1])
    }

    @Test func `grows after it came back`() throws {
        let first = try Connection.inMemory()
        let second = try Connection(image: try first.serialized())
        try second.begin()
        for id in Int64(1)...200 {
            try second.put(id, nil, .blob([UInt8](repeating: 3, count: 5_000)))
        }
        try second.commit()
        #expect(try second.ids().count == 200)
        #expect(second.loggedCommitCount == 0)
        #expect(second.commitCount == 1)
    }

    @Test func `has an image before anything is written`() throws {
        let image = try Connection().serialized()
        let again = try Connection(image: image)
        try again.makeItems()
        #expect(try again.ids() == [])
    }

    @Test func `opens the image of a file`() throws {
        let folder = try TemporaryFolder()
        let onDisk = try Connection(path: folder.file("node.db"), mode: .create)
        try onDisk.makeItems()
        try onDisk.commit([1, 2, 3])
        #expect(try Connection(image: try onDisk.serialized()).ids() == [1, 2, 3])
        _ = try onDisk.checkpoint(.truncate)
        #expect(try Connection(image: try folder.bytes("node.db")).ids() == [1, 2, 3])
    }

    @Test func `has the version that the schema gave it`() throws {
        let connection = try Connection.inMemory()
        #expect(try connection.schemaVersion() == 0)
        try connection.begin()
        try connection.setSchemaVersion(3)
        connection.rollback()
        #expect(try connection.schemaVersion() == 0)
        try connection.begin()
        try connection.setSchemaVersion(4)
        try connection.commit()
        let again = try Connection(image: try connection.serialized())
        #expect(try again.schemaVersion() == 4)
    }

    @Test(arguments: [1, 15, 16, 99, 100, 8192])
    func `is no image of other bytes`(_ count: Int) {
        let bytes = [UInt8](repeating: 0x53, count: count)
        #expect(failure { _ = try Connection(image: bytes) }?.kind == .corrupt)
        let signed = [UInt8]("SQLite format 3\0".utf8) + bytes
        let error = failure {
            let connection = try Connection(image: signed)
            _ = try connection.statement("SELECT * FROM sqlite_schema").rows { $0.integer(0) }
        }
        #expect(error != nil)
    }

    // D05 at this level: damage ends in an error or in rows, never in a trap, and the check finds
    // what breaks the structure. Damage inside a value is found by the hash of the operation.
    @Test(arguments: Array(0..<300 as Range<UInt64>))
    func `never traps on damaged pages`(_ round: UInt64) throws {
        let image = try Self.damagedImage(round)
        let error = failure {
            let connection = try Connection(image: image)
            _ = try connection.integrityProblems()
            let select = try connection.statement("SELECT id, text, blob FROM item ORDER BY id")
            _ = try select.rows { (row) throws(StorageError) in
                (row.integer(0), try row.optionalText(1), row.blob(2))
            }
            _ = try connection.statement("SELECT id FROM item WHERE text > 'm'").rows {
                $0.integer(0)
            }
            try connection.begin()
            try connection.statement("UPDATE item SET text = 'new' WHERE id % 7 = 0").run()
            try connection.commit()
        }
        if let error {
            #expect([.corrupt, .misuse, .constraint].contains(error.kind), "\(error)")
        }
    }

    @Test func `finds a page that was overwritten`() throws {
        var image = try Self.image.get()
        for index in 8192..<2 * 8192 { image[index] = 0xff }
        let connection = try Connection(image: image)
        #expect(try !connection.integrityProblems().isEmpty)
        #expect(failure { _ = try connection.ids() }?.kind == .corrupt)
    }

    /// Made once: 300 rounds damage it.
    private static let image = Result { try makeImage() }

    private static func makeImage() throws -> [UInt8] {
        let connection = try Connection.inMemory()
        try connection.execute("CREATE INDEX byText ON item(text)")
        try connection.begin()
        for id in Int64(1)...300 {
            let blob = [UInt8](
                repeating: UInt8(truncatingIfNeeded: id), count: Int(id) * 37 % 9_000)
            try connection.put(id, .text("text \(id * 7919 % 300)"), .blob(blob))
        }
        try connection.commit()
        return try connection.serialized()
    }

    /// Up to 40 bytes changed at places that the round decides, most of them where structure is:
    /// in the first bytes of a page.
    private static func damagedImage(_ round: UInt64) throws -> [UInt8] {
        var image = try image.get()
        var state = round &* 0x9e37_79b9_7f4a_7c15 | 1
        func next(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % bound
        }
        for _ in 0...next(40) {
            let page = next(image.count / 8192) * 8192
            let place = next(3) == 0 ? next(8192) : next(64)
            // Not the 16 bytes that say what the file is.
            guard page + place >= 16 else { continue }
            image[page + place] = UInt8(next(256))
        }
        return image
    }
}
