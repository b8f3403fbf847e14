import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import CRDTStore

/// Which of an end's records are examined for the content it reaches: it has one under each grant
/// where it counts again, and others determine their number.
struct `The records of an end` {
    @Test(arguments: Seeds.explore(40))
    func `reach in total what the examined ones reach`(seed: UInt64) throws {
        var fuzzer = FoundDeviceFuzzer(seed: seed)
        fuzzer.run(steps: 32)
        var evaluator = AuthEvaluator()
        try evaluator.feed(fuzzer.history.shuffledCausally(with: &fuzzer.generator))
        var all: Set<OperationID> = []
        for operation in fuzzer.history.operations {
            let reached = evaluator.grants(reachedBy: operation.id)
            #expect(reached == everyRecordReaches(operation.id, evaluator), "WSX_SEED=\(seed)")
            all.formUnion(reached)
        }
        let ids = fuzzer.history.operations.map(\.id)
        #expect(evaluator.grants(reachedByAny: ids) == all, "WSX_SEED=\(seed)")
    }

    /// The same with each of the records examined.
    private func everyRecordReaches(_ id: OperationID, _ evaluator: AuthEvaluator) -> [OperationID]
    {
        guard var index = evaluator.indices[id] else { return [] }
        let records = evaluator.records
        if case .recut = records[index].operation.action {
            guard let widened = records[index].cited.reference else { return [] }
            index = widened
        }
        guard records[index].operation.action.isRevocation else { return [] }
        let grants = evaluator.given(aimedAtBy: index).filter { number in
            guard records[number].gives.role != nil,
                let grant = evaluator.indices[records[number].operation.id]
            else { return false }
            if records[index].givesUpRole, records[number].gives.subject == records[index].author {
                return true
            }
            return records[number].gives.devices.contains { device in
                guard let exposure = evaluator.verdicts.contentExposure(grant, device) else {
                    return false
                }
                let exposures = [exposure] + evaluator.standings(ofContent: exposure)
                return evaluator.placed.everyRecord(of: index).contains { record in
                    exposures.contains { evaluator.mayReach(record, $0) }
                }
            }
        }
        return Set(grants.map { records[$0].operation.id }).sorted()
    }

    @Test func `include two to examine per grant if the end undoes nothing`() throws {
        var scene = `A phrase that was replaced`.Scene()
        for _ in 0..<12 {
            _ = scene.give(.admin)
        }
        let end = scene.story.write(
            "words", under: scene.entry, after: scene.start,
            .removeDevice(scene.story.device("bob")))
        let evaluator = try AuthEvaluator.evaluateFromScratch(scene.story.history.operations)
        let index = try #require(evaluator.indices[end])
        #expect(evaluator.placed.everyRecord(of: index).count == 13)
        let reaching = ReachingRecords(of: index, evaluator.placed)
        for grant in evaluator.placed.grants(everTo: scene.story.member("bob")) {
            #expect(reaching.records(under: grant).count <= 2)
        }
    }
}
