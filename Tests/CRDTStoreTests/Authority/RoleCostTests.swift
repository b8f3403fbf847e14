import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import CRDTStore

/// What it costs to give a role to a member whose phrases stand in a line, and who has ended a device very
/// often by the last of them: each end counts under each role, in the place of each phrase before its own.
struct `A role that lists a line of phrases` {
    private static let phrases = 8
    private static let ends = 12

    /// Bob's phrases `words`, `p1` and so on, of which the last one has revoked `x` in words that know of no
    /// other.
    private struct Scene {
        var story = Story(admins: ["ann"])
        private(set) var heads: [OperationID] = []
        private(set) var devices: [DeviceID] = []
        /// By phrase the grant under which it writes.
        private var entries: [OperationID] = []

        init() {
            let invite = story.write(
                "root", after: story.heads, .invite(InviteTerms(role: .member)))
            let entry = story.write(
                "root", after: [invite],
                .admit(
                    invite: invite, member: story.member("bob"),
                    devices: [story.device("words"), story.device("bob")], request: nil))
            entries = [entry]
            for number in 1...phrases {
                entries.append(
                    story.write(
                        name(number - 1), under: entries[number - 1],
                        after: [entries[number - 1]],
                        .addDevices([story.device(name(number))]), takesPlace: true))
            }
            let link = story.write(
                "words", under: entry, after: [entries[phrases]],
                .addDevices([story.device("x")]))
            for _ in 0..<ends {
                _ = story.write(
                    name(phrases), under: entries[phrases], after: [link],
                    .removeDevice(story.device("x")))
            }
            heads = [link]
            devices = ((0...phrases).map(name) + ["x", "bob"]).map { story.device($0) }
        }

        private func name(_ number: Int) -> String { number == 0 ? "words" : "p\(number)" }

        /// Has an admin who knows of none of the ends give a role.
        mutating func give() -> OperationID {
            story.write(
                "ann", after: heads,
                .grant(RoleGrant(member: story.member("bob"), devices: devices, role: .member)))
        }

        /// The final end of each phrase but the last one, which names the next.
        mutating func replaceAll() {
            for number in 0..<phrases {
                _ = story.write(
                    name(number), under: entries[number], after: [entries[number + 1]],
                    .removeDevice(story.device(name(number))))
            }
        }
    }

    /// The looks that the last one of so many roles costs.
    private func cost(_ roles: Int) throws -> (placing: Int, judging: Int, further: Int) {
        var scene = Scene()
        var evaluator = AuthEvaluator()
        try evaluator.feed(scene.story.history.operations)
        var cost = (placing: 0, judging: 0, further: 0)
        for _ in 0..<roles {
            let role = scene.give()
            let before = (evaluator.verdicts.placed.looks, evaluator.verdicts.looks)
            let change = try evaluator.add(try #require(scene.story.history[role]))
            cost = (
                evaluator.verdicts.placed.looks - before.0, evaluator.verdicts.looks - before.1,
                change.furtherGrants
            )
        }
        return cost
    }

    @Test func `costs as much however many were given before`() throws {
        let costs = try [1, 8, 32].map(cost)
        for cost in costs {
            #expect(cost.further == Self.ends * (Self.phrases + 1))
            #expect(cost.placing == costs[0].placing && cost.judging == costs[0].judging)
            #expect(cost.placing >= FurtherEnds.looksPerRecord * cost.further)
            #expect(cost.placing <= (FurtherEnds.looksPerRecord + 3) * cost.further)
        }
    }

    /// What stands behind a phrase counts only once that has been replaced, and is not looked at until then.
    @Test func `has no end judged behind a phrase that nothing has ended`() throws {
        let cost = try cost(1)
        // Each record is found, and those in the place of the last phrase itself are judged.
        #expect(cost.judging <= cost.further + 4 * Self.ends)
    }

    @Test func `has all of them judged when the phrases have been replaced`() throws {
        var scene = Scene()
        let role = scene.give()
        scene.replaceAll()
        var generator = SeededGenerator(seed: 5)
        let definition = AuthDefinition(scene.story.history, visitingWith: &generator)
        let valid = definition.validOperations()
        for _ in 0..<4 {
            var evaluator = AuthEvaluator()
            try evaluator.feed(scene.story.history.shuffledCausally(with: &generator))
            #expect(Set(evaluator.validOperations) == valid)
            let grant = try #require(evaluator.indices[role])
            let end = try #require(
                evaluator.records.indices.first { index in
                    evaluator.records[index].aim == .device(scene.story.device("x"))
                })
            let under = evaluator.placed.everyRecord(of: end).filter {
                evaluator.records[$0].grant == grant
            }
            #expect(under.count == Self.phrases + 1)
            #expect(under.allSatisfy { evaluator.records[$0].isValid })
        }
    }

    /// The records of one place have one list of what they rest on, and one name of where they stand.
    @Test func `has its records share where they stand`() throws {
        var scene = Scene()
        _ = scene.give()
        var evaluator = AuthEvaluator()
        try evaluator.feed(scene.story.history.operations)
        let behind = evaluator.records.compactMap { $0.again.behind }
        #expect(behind.count == Self.ends * Self.phrases)
        #expect(Set(behind.map { ObjectIdentifier($0) }).count == Self.phrases)
    }
}
