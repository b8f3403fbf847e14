import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import CRDTStore

/// The cost of granting a role to a member with a line of phrases, who has ended a device very
/// often by the last of them: each end counts under each role, in the place of each earlier phrase.
struct `A role that lists a line of phrases` {
    private static let phrases = 8
    private static let ends = 12

    /// Bob's phrases `words`, `p1` and so on, of which the last one has revoked `x` in concurrent
    /// operations.
    private struct Scene {
        var story = Story(admins: ["ann"])
        private(set) var heads: [OperationID] = []
        private(set) var devices: [DeviceID] = []
        /// For each phrase the grant under which it writes.
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

        /// Lets an admin who knows none of the ends give a role.
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

    /// The looks that the last of so many roles costs.
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

    @Test func `costs the same however many roles were given before`() throws {
        let costs = try [1, 8, 32].map(cost)
        for cost in costs {
            #expect(cost.further == Self.ends * (Self.phrases + 1))
            #expect(cost.placing == costs[0].placing && cost.judging == costs[0].judging)
            #expect(cost.placing >= FurtherEnds.looksPerRecord * cost.further)
            #expect(cost.placing <= (FurtherEnds.looksPerRecord + 3) * cost.further)
        }
    }

    /// An end behind a phrase counts only once that phrase is replaced, and is not examined until
    /// then.
    @Test func `judges no end behind a phrase that nothing has ended`() throws {
        let cost = try cost(1)
        // Each record is made, and only those in the place of the last phrase itself are judged.
        #expect(cost.judging <= cost.further + 4 * Self.ends)
    }

    @Test func `judges all of them once the phrases are replaced`() throws {
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

    // MARK: Memory

    /// The records of one place share one list of what they rest on, and one description of the
    /// place.
    @Test func `has its records share where they stand`() throws {
        var scene = Scene()
        _ = scene.give()
        var evaluator = AuthEvaluator()
        try evaluator.feed(scene.story.history.operations)
        let behind = evaluator.records.compactMap { $0.again.behind }
        #expect(behind.count == Self.ends * Self.phrases)
        #expect(Set(behind.map { ObjectIdentifier($0) }).count == Self.phrases)
    }

    /// In either order of arrival of ends and roles.
    @Test(arguments: Seeds.explore(6))
    func `shares the content and the position of each end among its records`(
        seed: UInt64
    ) throws {
        var scene = Scene()
        let roles = (0..<3).map { _ in scene.give() }
        scene.replaceAll()
        var generator = SeededGenerator(seed: seed)
        var evaluator = AuthEvaluator()
        try evaluator.feed(scene.story.history.shuffledCausally(with: &generator))
        let records = evaluator.records
        var standings: [AuthPosition: SharedValue<AuthStanding>] = [:]
        var counts: [AuthPosition: Int] = [:]
        for record in records {
            guard let end = record.again.original, let grant = record.grant,
                let standing = record.elsewhere
            else { continue }
            #expect(record.facts.isSame(as: records[end].facts))
            let position = AuthPosition(
                grant: grant, listed: record.again.behind?.root ?? record.operation.device,
                generation: record.again.behind?.generation ?? 0)
            #expect(standings[position, default: standing].isSame(as: standing))
            standings[position] = standing
            counts[position, default: 0] += 1
        }
        #expect(evaluator.placed.further.standings.mapValues(\.count) == counts)
        for role in roles {
            let grant = try #require(evaluator.indices[role])
            // One for each generation before each phrase that has ended something.
            #expect(
                counts.keys.count { $0.grant == grant } <= (Self.phrases + 1) * (Self.phrases + 2)
                    / 2)
        }
    }

    /// How many numbers and values are in the tables that grow with a role.
    private func entries(_ evaluator: AuthEvaluator) -> (found: Int, standings: Int, lists: Int) {
        let placed = evaluator.placed
        let lists = placed.records.reduce(0) { $0 + $1.dependants.count }
        return (
            placed.reach.exposed.values.reduce(0) { $0 + $1.count },
            placed.further.standings.count,
            lists + placed.further.endsAgain.values.reduce(0) { $0 + $1.count }
                + placed.further.behind.values.reduce(0) { $0 + $1.count }
        )
    }

    @Test func `adds no more for each end and place than a small record and three numbers`()
        throws
    {
        #expect(MemoryLayout<AuthRecord>.stride <= 56)
        var scene = Scene()
        var evaluator = AuthEvaluator()
        try evaluator.feed(scene.story.history.operations)
        for _ in 0..<3 {
            let before = (entries: entries(evaluator), records: evaluator.records.count)
            let role = scene.give()
            let further = try evaluator.add(try #require(scene.story.history[role])).furtherGrants
            let after = entries(evaluator)
            #expect(further == Self.ends * (Self.phrases + 1))
            #expect(evaluator.records.count == before.records + further + 1)
            // The role itself is by an admin, and rests on that admin's grant.
            #expect(after.found - before.entries.found == 2)
            #expect(after.standings - before.entries.standings == Self.phrases + 1)
            #expect(after.lists - before.entries.lists <= 3 * further + 1)
        }
    }

    /// A void role is taken back with all its records.
    @Test(arguments: Seeds.explore(20))
    func `leaves nothing behind when it is withdrawn`(seed: UInt64) throws {
        var fuzzer = FoundDeviceFuzzer(seed: seed)
        fuzzer.run(steps: 40)
        var evaluator = AuthEvaluator()
        for operation in fuzzer.history.shuffledCausally(with: &fuzzer.generator) {
            let before = evaluator.placed
            try evaluator.add(operation)
            guard evaluator.withdraw(operation.id) else { continue }
            let after = evaluator.placed
            #expect(after.records.count == before.records.count)
            #expect(after.reach.exposed == before.reach.exposed, "WSX_SEED=\(seed)")
            #expect(
                after.further.standings.mapValues(\.count)
                    == before.further.standings.mapValues(\.count), "WSX_SEED=\(seed)")
            try evaluator.add(operation)
        }
    }
}
