import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

/// Attackers who share every key and every byte that was ever seen reach none of the goals G1 to
/// G16, as far as operations decide about them. A failure prints the smallest history found and its
/// seed; `WSX_SEED` repeats it, `make campaign-attack` runs 100,000.
@Suite struct `No recombination of what was seen` {
    @Test(arguments: Seeds.explore(60))
    func `deceives the definition of the rules`(seed: UInt64) {
        let breach = AttackCampaign.onDefinition().attack(seed: seed)
        #expect(breach == nil, "\(breach.map { "\($0)" } ?? "")")
    }

    @Test(arguments: Seeds.explore(200))
    func `deceives the evaluator`(seed: UInt64) {
        let breach = AttackCampaign.onEvaluator.attack(seed: seed)
        #expect(breach == nil, "\(breach.map { "\($0)" } ?? "")")
    }
}

/// The attackers find what was open before, and what opens when a rule is gone.
@Suite struct `The recombining attackers` {
    private func finds(
        _ goals: Set<String>?, under rules: AuthRuleSet, within seeds: UInt64
    ) -> AttackCampaign<DefinitionJudge>.Breach? {
        let campaign = AttackCampaign.onDefinition(rules)
        return (1...seeds).lazy.compactMap {
            campaign.attack(seed: $0, goals: goals, isShrinking: false)
        }.first
    }

    /// G1 is a join under the owner's name by recombined entries, G3 a void transfer that a plain
    /// member cites, G12 a demotion undone by an admission written once more.
    @Test(arguments: ["G1", "G2", "G3", "G12", "G16"])
    func `reach under the rules as they were built first`(goal: String) {
        #expect(finds([goal], under: .builtBefore, within: 300) != nil)
    }

    /// In a campaign: which rules are missed when they are gone, and by which goal.
    @Test(.enabled(if: Seeds.isCampaign), arguments: AuthRule.allCases)
    func `miss a rule`(rule: AuthRule) {
        let breach = finds(nil, under: .without(rule), within: 400)
        print("without \(rule):", breach.map { "\($0.goal), seed \($0.seed), \($0.how)" } ?? "-")
    }
}
