import Testing
import WorkspaceTestKit

@testable import CRDTStore

/// One bit of a write-ahead log flips, and later commits are not lost.
struct `A write-ahead log with a flipped bit` {
    private static let frameBytes = 24 + 8_192
    private static let commits = 12

    /// A log of some commits, and the file that it belongs to.
    private func written(in folder: TemporaryFolder) throws -> (store: [UInt8], log: [UInt8]) {
        let connection = try Connection(path: folder.file("node.db"), mode: .create)
        try connection.makeItems()
        for number in 1...Self.commits { try connection.commit([Int64(number)]) }
        connection.leaveLog()
        return (try folder.bytes("node.db"), try folder.bytes("node.db-wal"))
    }

    /// What SQLite reads of a store with this log.
    private func ids(_ store: [UInt8], _ log: [UInt8]) throws -> [Int64] {
        let folder = try TemporaryFolder()
        try folder.put(store, "node.db")
        try folder.put(log, "node.db-wal")
        return try Connection(path: folder.file("node.db"), mode: .main).ids()
    }

    @Test func `is as it was where nothing is wrong, and where too much is`() throws {
        let (store, log) = try written(in: TemporaryFolder())
        #expect(try ids(store, log) == (1...Int64(Self.commits)).map { $0 })
        #expect(LogMending.mended(log) == nil)
        #expect(LogMending.mended([]) == nil)
        #expect(LogMending.mended(Array(log.prefix(40))) == nil)
        var torn = log
        for place in 32 + Self.frameBytes + 100..<32 + Self.frameBytes + 612 { torn[place] = 0xa5 }
        #expect(LogMending.mended(torn) == nil)
    }

    @Test(arguments: Seeds.explore(40))
    func `gives everything that was committed`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let (store, log) = try written(in: TemporaryFolder())
        let place = random.below(log.count)
        let bit = random.below(8)
        var wrong = log
        wrong[place] ^= 1 << UInt8(bit)
        let mended = LogMending.mended(wrong) ?? wrong
        let offset = place - 32
        let inFrame = offset % Self.frameBytes
        // The highest bits of a word are alike in many words.
        let isHigh = place % 4 == 3 || place % 4 == 2 && bit >= 4
        switch (offset < 0, inFrame) {
        case (false, 0..<8) where isHigh, (false, 16..<24): break
        case (false, 24...) where isHigh:
            // It is left as it is where that may be in the number of the page; or the page keeps its
            // bit, and what is behind it counts.
            let isLeft = mended == wrong
            let isBehind = mended == log || mended[place] == wrong[place]
            #expect(isLeft || isBehind, "\(place) \(bit)")
        case (true, _) where isHigh: break
        default:
            let isMended = mended == log
            #expect(isMended, "\(place) \(bit)")
            #expect(try ids(store, mended) == (1...Int64(Self.commits)).map { $0 })
        }
    }
}
