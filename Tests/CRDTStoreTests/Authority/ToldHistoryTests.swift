import CRDTStore
import Foundation
import Testing
import WorkspaceTestKit

/// Random histories for the second reader, which was written from PROTOCOL.md alone and so does not
/// share the mistakes of evaluator and definition. `make campaign-reader` writes and compares them.
struct `Histories for the second reader` {
    /// The folder for the histories.
    private static let folder = ProcessInfo.processInfo.environment["WSX_HISTORIES"]

    @Test(
        .enabled(if: folder != nil, "SKIPPED: WSX_HISTORIES names no folder for the histories"),
        arguments: Seeds.explore(20))
    func `are written with all that the evaluator says`(seed: UInt64) throws {
        let folder = URL(fileURLWithPath: try #require(Self.folder), isDirectory: true)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try fuzzed(seed).write(into: folder)
        try replaced(seed).write(into: folder)
        try attacked(seed).write(into: folder)
        try handed(seed).write(into: folder)
        try found(seed).write(into: folder)
    }

    /// The histories contain verdicts of all kinds, or agreement would mean little.
    @Test func `have something of everything`() throws {
        var verdicts: [String: Int] = [:]
        var ended = 0
        var isEnough: Bool {
            ["valid", "void", "fault"].allSatisfy { verdicts[$0, default: 0] > 20 } && ended > 20
        }
        for seed in UInt64(1)...10 where !isEnough {
            for told in [
                try fuzzed(seed), try replaced(seed), try attacked(seed), try handed(seed),
                try found(seed),
            ] {
                for operation in told.operations { verdicts[operation.verdict, default: 0] += 1 }
                ended += told.contents.count { $0.members?.isEmpty == false }
            }
        }
        #expect(isEnough, "\(verdicts), \(ended)")
    }

    /// Four replicas and forgers.
    private func fuzzed(_ seed: UInt64) throws -> ToldHistory {
        var fuzzer = AuthFuzzer(seed: seed)
        fuzzer.run(steps: 50)
        return try ToldHistory("fuzzed-\(seed)", fuzzer.history.operations)
    }

    /// The same, with people who replace their phrases.
    private func replaced(_ seed: UInt64) throws -> ToldHistory {
        var fuzzer = AuthFuzzer(seed: seed, replacesPhrases: true)
        fuzzer.run(steps: 50)
        return try ToldHistory("replaced-\(seed)", fuzzer.history.operations)
    }

    /// Attackers who recombine what they have seen.
    private func attacked(_ seed: UInt64) throws -> ToldHistory {
        let world = AttackWorld(seed: seed, rules: .current) { EvaluatorJudge() }
        world.run(steps: 28)
        return try ToldHistory("attacked-\(seed)", world.record.written.map(\.operation))
    }

    /// People who hand the workspace to each other.
    private func handed(_ seed: UInt64) throws -> ToldHistory {
        var fuzzer = HandoverFuzzer(seed: seed)
        fuzzer.run(steps: 60)
        return try ToldHistory("handed-\(seed)", fuzzer.history.operations)
    }

    /// A member whose devices were found by a thief.
    private func found(_ seed: UInt64) throws -> ToldHistory {
        var fuzzer = FoundDeviceFuzzer(seed: seed)
        fuzzer.run(steps: 40)
        fuzzer.writeUnderAll()
        return try ToldHistory("found-\(seed)", fuzzer.history.operations)
    }
}
