import SyncProtocol
import Testing
import WorkspaceModel

/// Operations that a node may not accept yet wait at their source, and are not
/// sent repeatedly (S-5).
struct `What is not taken` {
    /// Logs of the authority document of which a peer holds one operation each, and an answer with
    /// a part of them is under way.
    private struct Scene {
        var lone = LoneSession()
        var planner = PullPlanner()
        let tips = (0..<40).map { LoneSession.tip($0, document: 0) }

        init() { _ = lone.open(&planner) }

        mutating func announce() -> [PullRequest] {
            lone.give(.received(.tips(4, tips, final: true)), &planner).pulls
        }

        /// Answers with the first `count` logs that are asked for, of which nothing is stored.
        mutating func answer(_ pull: PullRequest, count: Int) -> [PullRequest] {
            let logs = pull.items.prefix(count).map(\.target.log)
            let effects = lone.give(
                .received(
                    .operations(
                        4, request: pull.request, logs.map { LoneSession.run($0) },
                        isComplete: count >= pull.items.count)), &planner)
            return effects.pulls
                + lone.give(.stored([], waiting: [], answering: pull.request), &planner).pulls
        }
    }

    @Test func `is brought once, however an answer is cut`() throws {
        var scene = Scene()
        var pulls = scene.announce()
        var brought = 0
        while let pull = pulls.first, brought < 1_000 {
            brought += min(7, pull.items.count)
            pulls = scene.answer(pull, count: 7)
        }
        #expect(brought == scene.tips.count)
    }

    @Test func `is asked for again by the next comparison`() throws {
        var scene = Scene()
        let pull = try #require(scene.announce().first)
        #expect(scene.answer(pull, count: 40).isEmpty)
        #expect(scene.announce().isEmpty)
        scene.lone.now = 30_000
        _ = scene.lone.give(.deadline, &scene.planner)
        _ = scene.lone.give(.received(LoneSession.opening(root: 0x99)), &scene.planner)
        let digest = SyncMessage.workspaceDigest(4, buckets: [UInt8](repeating: 0, count: 4_096))
        _ = scene.lone.give(.received(digest), &scene.planner)
        #expect(scene.announce().first?.items.count == 40)
    }

    @Test func `is not requested while it would be refused`() {
        var scene = Scene()
        scene.lone.replica.heldBack = Set(scene.tips.prefix(30).map(\.log))
        #expect(scene.announce().first?.items.count == 10)
    }

    @Test func `is asked for again as soon as something needs it`() throws {
        var scene = Scene()
        scene.lone.replica.heldBack = Set(scene.tips.map(\.log))
        #expect(scene.announce().isEmpty)
        scene.lone.replica.heldBack = []
        let needed = scene.tips.prefix(3).map(\.log) + [LoneSession.tip(77).log]
        let pulls = scene.lone.give(.needed(needed), &scene.planner).pulls
        #expect(pulls.first?.items.map(\.target) == Array(scene.tips.prefix(3)))
    }

    /// What came on another way meanwhile was not brought in vain.
    @Test func `but is here, does not end the asking for what lies behind it`() throws {
        var scene = Scene()
        let log = LoneSession.tip(90, document: 0).log
        let first = scene.lone.replica.write(log, behind: nil, payload: [1])
        let id = try #require(scene.lone.replica.branchTips(of: log).first?.id)
        scene.lone.replica.write(
            log, behind: OperationID(untrusted: id.bytes + id.bytes), payload: [2])
        let far = LogTip(log: log, sequence: 9, id: Identifier16([UInt8](repeating: 5, count: 16)))
        let asked = scene.lone.give(.received(.tips(4, [far], final: true)), &scene.planner)
        let request = try #require(asked.pulls.first).request
        _ = scene.lone.give(
            .received(.operations(4, request: request, [first], isComplete: false)), &scene.planner)
        let again = scene.lone.give(.stored([], waiting: [], answering: request), &scene.planner)
        #expect(again.pulls.count == 1)
    }
}
