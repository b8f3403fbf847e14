import Foundation
import Testing
import WorkspaceTestKit

@testable import PeerNode

struct `A line of the log` {
    /// What one write puts into a pipe.
    private func written(
        _ level: LogLevel, _ text: String, at limit: LogLevel = .debug
    ) throws -> [UInt8] {
        let (reading, writing) = try makePipe()
        NodeLog(level: limit, output: writing.number).write(level, text)
        // A pipe that nothing was written to would keep the reader waiting.
        #expect(write(writing.number, "|", 1) == 1)
        return [UInt8](try reading.readSome(byteCountMax: 10_000).dropLast())
    }

    static let levels: [LogLevel] = [.error, .warning, .info, .debug]

    @Test(arguments: levels)
    func `is left out below the level that was asked for`(_ limit: LogLevel) throws {
        for (rank, level) in Self.levels.enumerated() {
            let isWritten = try !written(level, "a", at: limit).isEmpty
            let limitRank = try #require(Self.levels.firstIndex(of: limit))
            #expect(isWritten == (rank <= limitRank))
        }
    }

    @Test func `names its level, which is read back by the same word`() {
        #expect(Self.levels.map(\.word) == ["error", "warn", "info", "debug"])
        for level in Self.levels { #expect(LogLevel(word: level.word) == level) }
        #expect(LogLevel(word: "warning") == .warning)
        for word in ["", "Info", "INFO", " info", "trace", "0"] {
            #expect(LogLevel(word: word) == nil, "\(word)")
        }
    }

    @Test func `has the service manager's number for each level`() throws {
        for (level, number) in zip(Self.levels, [3, 4, 6, 7]) {
            let (reading, writing) = try makePipe()
            var own = stat()
            #expect(fstat(writing.number, &own) == 0)
            let log = NodeLog(
                level: .debug, journal: "\(own.st_dev):\(own.st_ino)", output: writing.number)
            log.write(level, "x")
            #expect(
                try reading.readSome(byteCountMax: 99) == [UInt8]("<\(number)>x\n".utf8))
        }
    }

    /// What stands in a line must not make another one, whatever a peer sent.
    @Test(arguments: Seeds.explore(15))
    func `stays one line without control characters, of at most 4 096 bytes`(
        _ seed: UInt64
    ) throws {
        var random = SeededGenerator(seed: seed)
        let count = [10, 200, 4_000, 4_071, 4_072, 6_000][random.below(6)]
        let text = String(
            decoding: random.bytes(count).map { $0 & 0x7F }, as: UTF8.self)
        let line = try written(.info, text)
        #expect(line.last == 0x0A, "WSX_SEED=\(seed)")
        #expect(line.count { $0 == 0x0A } == 1, "WSX_SEED=\(seed)")
        #expect(line.dropLast().allSatisfy { $0 >= 0x20 }, "WSX_SEED=\(seed)")
        #expect(line.count <= 4_096)
        #expect(line.count == min(4_096, 24 + 6 + count + 1), "WSX_SEED=\(seed)")
    }

    @Test func `moves to a new file at the first byte above the bound`() throws {
        try withTemporaryFolder { root in
            let path = root + "/daemon.log"
            let file = try DetachedProcess.openLog(path)
            // Time, level and text: 24 + 1 + 5 + 9 and the end.
            let log = NodeLog(path: path, byteCountMax: 80, output: file.number)
            log.write(.info, "123456789")
            log.write(.info, "123456789")
            #expect(try FileSystem.status(of: path).byteCount == 80)
            #expect((try? FileSystem.status(of: path + ".1")) == nil)
            log.write(.info, "1")
            #expect(try FileSystem.status(of: path + ".1").byteCount == 112)
            #expect(try FileSystem.status(of: path).byteCount == 0)
            for _ in 0..<3 { log.write(.info, "123456789") }
            #expect(try FileSystem.status(of: path + ".1").byteCount == 120, "one old file")
            #expect(try FileSystem.status(of: path).mode == 0o600)
            #expect(
                try FileManager.default.contentsOfDirectory(atPath: root).sorted()
                    == ["daemon.log", "daemon.log.1"])
        }
    }

    @Test func `counts what its file had before`() throws {
        try withTemporaryFolder { root in
            let path = root + "/daemon.log"
            try FileSystem.replace(path, with: [UInt8](repeating: 0x78, count: 100))
            let file = try DetachedProcess.openLog(path)
            let log = NodeLog(path: path, byteCountMax: 120, output: file.number)
            log.write(.info, "x")
            #expect(try FileSystem.status(of: path).byteCount == 0)
            #expect(try FileSystem.status(of: path + ".1").byteCount == 132)
        }
    }

    @Test func `is never moved when standard error is another file`() throws {
        try withTemporaryFolder { root in
            let path = root + "/daemon.log"
            let other = try DetachedProcess.openLog(root + "/other")
            try FileSystem.replace(path, with: [1])
            let log = NodeLog(path: path, byteCountMax: 10, output: other.number)
            for _ in 0..<5 { log.write(.info, "x") }
            log.reopen()
            log.write(.info, "x")
            #expect(try FileSystem.read(path, byteCountMax: 9) == [1])
            #expect((try? FileSystem.status(of: path + ".1")) == nil)
            #expect(try FileSystem.status(of: root + "/other").byteCount == 6 * 32)
        }
    }

    @Test func `is written through no link`() throws {
        try withTemporaryFolder { root in
            try FileSystem.replace(root + "/victim", with: [1])
            #expect(symlink(root + "/victim", root + "/daemon.log") == 0)
            #expect(throws: SystemError.self) {
                _ = try DetachedProcess.openLog(root + "/daemon.log")
            }
        }
    }
}

struct `The pace of a node` {
    /// What comes in is never less than one frame and never more than a burst.
    @Test(arguments: Seeds.explore(15))
    func `stays within its bounds and reacts at once`(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var budget = TurnBudget()
        for _ in 0..<300 {
            let before = budget.byteCount
            let received = random.below(before + 1)
            let isSlow = random.oneIn(2)
            budget.didRun(
                received: received,
                milliseconds: isSlow ? 9 + UInt64(random.below(100)) : UInt64(random.below(9)))
            let after = budget.byteCount
            #expect((TurnBudget.byteCountMin...TurnBudget.byteCountMax).contains(after))
            if received == 0 {
                #expect(after == before, "WSX_SEED=\(seed)")
            } else if isSlow {
                #expect(after == max(TurnBudget.byteCountMin, received / 2), "WSX_SEED=\(seed)")
            } else {
                #expect(after == min(TurnBudget.byteCountMax, before * 2), "WSX_SEED=\(seed)")
            }
        }
    }

    /// A growing log is copied once for each 4 MiB, and emptied 5 s after its last byte.
    @Test(arguments: Seeds.explore(15))
    func `copies its log as it grows and empties it when it is quiet`(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var schedule = CheckpointSchedule()
        var length = 0
        var now: UInt64 = 0
        var lastWrite: UInt64?
        var sinceCopy = 0
        for turn in 0..<400 {
            now += UInt64(random.below(2_000))
            if random.oneIn(3) {
                let grown = random.below(3 * 1_048_576) + 1
                length += grown
                sinceCopy += grown
                lastWrite = now
            }
            // The first turn counts as a write.
            if turn == 0 { lastWrite = now }
            let copies = schedule.didTurn(logByteCount: length, now: now)
            #expect(copies == (sinceCopy >= CheckpointSchedule.growthByteCount))
            if copies { sinceCopy = 0 }
            let due = lastWrite.map { $0 + CheckpointSchedule.quietMilliseconds }
            #expect(schedule.quietDeadline == due, "WSX_SEED=\(seed)")
            let isQuiet = schedule.takeQuiet(now: now)
            #expect(isQuiet == (due.map { $0 <= now } ?? false), "WSX_SEED=\(seed)")
            guard isQuiet else { continue }
            // The log is emptied; the next turn sees it short.
            lastWrite = nil
            (length, sinceCopy) = (0, 0)
            _ = schedule.didTurn(logByteCount: 0, now: now)
        }
    }
}
