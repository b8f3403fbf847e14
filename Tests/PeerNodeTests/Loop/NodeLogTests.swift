import Foundation
import Testing

@testable import PeerNode

struct `The node's log` {
    private func lines(_ path: String) throws -> [String] {
        let bytes = try FileSystem.read(path, byteCountMax: 1 << 20)
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    private func withLog(
        level: LogLevel = .info, byteCountMax: Int64 = 1 << 20,
        _ body: (String, NodeLog) throws -> Void
    ) throws {
        try withTemporaryFolder { root in
            let path = root + "/daemon.log"
            let file = try DetachedProcess.openLog(path)
            let log = NodeLog(
                level: level, path: path, byteCountMax: byteCountMax, output: file.number)
            try body(path, log)
            withExtendedLifetime(file) {}
        }
    }

    @Test func `has one line an event, with time and level`() throws {
        try withLog { path, log in
            log.write(.info, "net.listening address=[::1]:5")
            log.write(.debug, "left out")
            log.write(.error, "two\nlines\u{1b}")
            let lines = try lines(path)
            try #require(lines.count == 2)
            #expect(lines[0].hasSuffix("Z info net.listening address=[::1]:5"))
            #expect(lines[0].utf8.count == 24 + 1 + "info net.listening address=[::1]:5".utf8.count)
            #expect(lines[1].hasSuffix("Z error two lines "))
        }
    }

    @Test(
        arguments: [
            (0, "1970-01-01T00:00:00.000Z"), (951_782_400_007, "2000-02-29T00:00:00.007Z"),
            (1_795_150_800_123, "2026-11-20T05:00:00.123Z"),
            (253_402_300_799_999, "9999-12-31T23:59:59.999Z"),
        ] as [(UInt64, String)])
    func `spells a time in UTC`(_ milliseconds: UInt64, _ expected: String) {
        #expect(UTCText.of(milliseconds) == expected)
    }

    @Test func `leaves the time to a service manager`() throws {
        let (reading, writing) = try makePipe()
        var own = stat()
        #expect(fstat(writing.number, &own) == 0)
        let journal = "\(own.st_dev):\(own.st_ino)"
        NodeLog(journal: journal, output: writing.number).write(.warning, "a=b")
        #expect(try reading.readSome(byteCountMax: 100) == [UInt8]("<4>a=b\n".utf8))
        NodeLog(journal: "1:2", output: writing.number).write(.warning, "a=b")
        #expect(try reading.readSome(byteCountMax: 100).first == UInt8(ascii: "2"))
    }

    @Test func `goes on in a new file when its file was moved away or is long`() throws {
        try withLog(byteCountMax: 100) { path, log in
            log.write(.info, "first")
            #expect(rename(path, path + ".moved") == 0)
            log.reopen()
            log.write(.info, "second")
            let second = try lines(path)
            #expect(second.count == 1)
            #expect(second.last?.hasSuffix("second") == true)
            for number in 0..<4 { log.write(.info, "number \(number)") }
            let (old, current) = try (lines(path + ".1"), lines(path))
            #expect(old.count >= 2)
            #expect(current.count < 4)
        }
    }

    @Test func `waits for nobody who does not read it, and survives who is gone`() throws {
        let (reading, writing) = try makePipe()
        let log = NodeLog(output: writing.number)
        // More than a pipe holds: a write that blocks would end this test never.
        for _ in 0..<2_000 { log.write(.info, String(repeating: "x", count: 100)) }
        withExtendedLifetime(reading) {}
        signal(SIGPIPE, SIG_IGN)
        let left = try makePipe().writing
        NodeLog(output: left.number).write(.info, "nobody")
        NodeLog(output: 9_999).write(.info, "nowhere")
    }
}
