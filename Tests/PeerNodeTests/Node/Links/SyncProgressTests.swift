import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// The event `sync.progress`.
struct `How far a transfer has come` {
    /// Mina has written much while Joon was away, and each turn takes `milliseconds`.
    private func transfer(_ milliseconds: UInt64) throws -> [JSONValue] {
        let bench = CoreBench()
        let mina = try bench.node("Mina")
        let joon = try bench.guest("Joon", of: mina)
        bench.advance(5_000)
        try Presence.listen(joon, ["sync.progress"])
        bench.cut(mina, joon)
        mina.turn(
            (0..<600).map { number in
                .call(
                    CallID(connection: 9, number: number), method: "message.send",
                    arguments: [
                        "channel": "general",
                        "text": .string("\(number) " + String(repeating: "x", count: 12_000)),
                    ])
            })
        bench.settle()
        bench.turnMilliseconds = milliseconds
        bench.heal(mina, joon)
        bench.advance(5_000)
        bench.turnMilliseconds = 0
        #expect(try joon.digest() == mina.digest())
        return Presence.take(joon)
    }

    @Test func `is told while it lasts, and at its end`() throws {
        let told = try transfer(400)
        let behind = told.compactMap { $0["data"]?["behind"]?.integerValue }
        #expect(behind.count > 1, "\(behind)")
        #expect(behind == behind.sorted(by: >) && behind.last == 0)
        #expect(Set(behind).count == behind.count)
        for event in told {
            #expect(event["type"] == "sync.progress")
            #expect(event["data"]?["peer"]?.stringValue?.hasPrefix("d_") == true)
            #expect(event["workspace"] == event["data"]?["workspace"])
        }
        let times = told.dropLast().compactMap { $0["at"]?.integerValue }
        for (before, after) in zip(times, times.dropFirst()) {
            #expect(after - before >= Int64(Limits.progressMilliseconds))
        }
    }

    @Test func `is not reported for what is done in a moment`() throws {
        #expect(try transfer(0).isEmpty)
    }

    @Test func `is told at most twice a second, and ends once`() {
        let step = Limits.progressMilliseconds
        var progress = SyncProgress()
        let rows: [(behind: UInt64, at: UInt64, isNews: Bool)] = [
            (0, 0, false), (9, 0, false), (8, step - 1, false), (7, step, true),
            (6, step + 1, false), (7, 3 * step, false), (0, 3 * step, true), (0, 9 * step, false),
            // What comes after that is another transfer.
            (1, 9 * step, false), (0, 9 * step, false),
        ]
        for row in rows {
            let isNews = progress.isNews(row.behind, at: row.at)
            #expect(isNews == row.isNews, "\(row)")
        }
    }
}
