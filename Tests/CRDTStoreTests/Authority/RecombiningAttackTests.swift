import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

/// Attackers who share every key and every byte ever seen reach none of the goals G1 to G16, as far
/// as operations decide about them. A failure prints the smallest history found and its seed;
/// `WSX_SEED` repeats it, `make campaign-attack` runs 100,000.
struct `No recombination of what was seen` {
    @Test(arguments: Seeds.explore(30))
    func `deceives the definition of the rules`(seed: UInt64) {
        let breach = AttackCampaign<DefinitionJudge>.onDefinition().attack(seed: seed)
        #expect(breach == nil, "\(breach.map { "\($0)" } ?? "")")
    }

    @Test(arguments: Seeds.explore(100))
    func `deceives the evaluator`(seed: UInt64) {
        let breach = AttackCampaign<EvaluatorJudge>.onEvaluator.attack(seed: seed)
        #expect(breach == nil, "\(breach.map { "\($0)" } ?? "")")
    }
}

/// The attackers find former holes, and the hole that each removed rule opens.
struct `The recombining attackers` {
    private func finds(
        _ goals: Set<String>?, under rules: AuthRuleSet, within seeds: UInt64
    ) -> AttackCampaign<DefinitionJudge>.Breach? {
        let campaign = AttackCampaign<DefinitionJudge>.onDefinition(rules)
        return (1...seeds).lazy.compactMap {
            campaign.attack(seed: $0, goals: goals, isShrinking: false)
        }.first
    }

    /// G1 is a join under the owner's name by recombined entries, G3 a void transfer that a plain
    /// member cites, G12 a demotion undone by an admission written once more.
    @Test(arguments: ["G1", "G2", "G3", "G12", "G16"])
    func `reach their goals under the first version of the rules`(goal: String) {
        #expect(finds([goal], under: .builtBefore, within: 2_000) != nil)
    }
}

/// The holes that a model of the rules found, each separately: open before, closed now.
struct `The holes of the rules as they were built first` {
    private func valid(_ story: Story, _ rules: AuthRuleSet) -> Set<OperationID> {
        var generator = SeededGenerator(seed: 1)
        return AuthDefinition(story.history, rules: rules, visitingWith: &generator)
            .validOperations()
    }

    @Test func `a void transfer that a plain member cites makes an owner less`() {
        var story = Story(admins: ["ann"], members: ["eve"])
        let start = story.heads
        let lost = story.write(
            "recovery", under: story.grant("root"), after: start,
            .removeDevice(story.device("root")))
        let stolen = story.write("root", after: start, story.transfer(to: "ann", keeping: ["root"]))
        let smuggled = story.write("eve", after: [lost, stolen], .createDocument)
        let ruling = story.write(
            "recovery", under: story.grant("root"), after: [smuggled], .deleteWorkspace)
        #expect(valid(story, .current).contains(ruling))
        #expect(!valid(story, .builtBefore).contains(ruling))
    }

    @Test func `the only owner leaves, for the founder was another`() {
        var story = Story(admins: ["ann"])
        let given = story.write(
            "root", after: story.heads, story.transfer(to: "ann", keeping: ["root", "recovery"]))
        let leaving = story.write("ann", under: given, after: [given], .leave)
        #expect(!valid(story, .current).contains(leaving))
        #expect(valid(story, .builtBefore).contains(leaving))
    }

    @Test func `a friend undoes a demotion by the admission once more, in another past`() {
        var story = Story(admins: [], members: ["bob", "eve"])
        let open = story.write(
            "root", after: story.heads, .invite(InviteTerms(role: .member, uses: 9)))
        let admitted = story.admit("new", on: open, by: "root", after: [open])
        let demoted = story.write(
            "root", after: [admitted],
            .grant(
                RoleGrant(
                    member: story.member("new"), devices: [story.device("new")], role: .guest,
                    replaces: true)))
        let copy = story.admit("new", on: open, by: "eve", after: [open])
        let acting = story.write("new", under: copy, after: [copy, demoted], .createDocument)
        #expect(!valid(story, .current).contains(acting))
        #expect(valid(story, .builtBefore).contains(acting))
        #expect(valid(story, .without(.replacesAdmit)).contains(acting))
    }
}
