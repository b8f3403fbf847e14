import CRDTStore
import WorkspaceModel

/// Attacks of many seeds, each judged by all goals.
public struct AttackCampaign<Judge: AuthJudge> {
    /// Which rules the signatures and the nodes keep; the judge's own are its maker's affair.
    public let rules: AuthRuleSet
    /// A judge that knows nothing; asked for once an attack, for judges that share something.
    public let makeMaker: () -> () -> Judge

    /// Attacks against judges of one kind.
    public init(rules: AuthRuleSet = .current, makeMaker: @escaping () -> () -> Judge) {
        self.rules = rules
        self.makeMaker = makeMaker
    }

    /// A goal that was reached, in as few operations as were found to do.
    public struct Breach: Sendable, CustomStringConvertible {
        /// The goal, as G7.
        public let goal: String
        /// What was reached.
        public let how: String
        /// The operations.
        public let story: String
        /// The seed of the attack.
        public let seed: UInt64

        /// All of it.
        public var description: String { "\(goal), seed \(seed): \(how)\n\(story)" }
    }

    /// One attack.
    public func attack(
        seed: UInt64, steps: Int = 28, goals: Set<String>? = nil, isShrinking: Bool = true
    ) -> Breach? {
        let world = AttackWorld(seed: seed, rules: rules, makeJudge: makeMaker())
        world.run(steps: steps)
        let first = AttackGoals(world.record, rules: rules, makeJudge: makeMaker())
        guard let reached = first.firstReached(of: goals) else { return nil }
        var (record, how) = (world.record, reached.how)
        if isShrinking { (record, how) = shrink(record, how, reached.goal) }
        let judge = AttackGoals(record, rules: rules, makeJudge: makeMaker())
        return Breach(
            goal: reached.goal, how: how, story: record.story(judgedBy: judge.all), seed: seed)
    }

    /// Whether it takes attackers to reach that.
    private func isAttackers(_ goal: String, _ record: AttackRecord) -> Bool {
        let goals = AttackGoals(record.honestly, rules: rules, makeJudge: makeMaker())
        return goals.firstReached(of: [goal]) == nil
    }

    /// Leaves out what the goal is reached without, from the last to the first, until nothing more
    /// can go.
    private func shrink(
        _ record: AttackRecord, _ how: String, _ goal: String
    ) -> (AttackRecord, String) {
        var (smallest, how) = (record, how)
        var hasChanged = true
        while hasChanged {
            hasChanged = false
            for index in smallest.written.indices.reversed().dropLast()
            where index < smallest.written.count {
                let candidate = smallest.dropping(index)
                let goals = AttackGoals(candidate, rules: rules, makeJudge: makeMaker())
                guard goals.isPlausible(like: smallest),
                    let reached = goals.firstReached(of: [goal]), isAttackers(goal, candidate)
                else { continue }
                (smallest, how, hasChanged) = (candidate, reached.how, true)
            }
        }
        return (smallest, how)
    }
}

extension AttackCampaign where Judge == DefinitionJudge {
    /// Attacks against the definition of the rules, with or without some of them.
    public static func onDefinition(_ rules: AuthRuleSet = .current) -> AttackCampaign {
        AttackCampaign(rules: rules) {
            let book = AuthDefinition(rules)
            return { DefinitionJudge(book) }
        }
    }
}

extension AttackCampaign where Judge == EvaluatorJudge {
    /// Attacks against the evaluator of the program.
    public static var onEvaluator: AttackCampaign { AttackCampaign { { EvaluatorJudge() } } }
}

extension AttackGoals {
    /// Whether all but one that was refused before are still not, and honest people cite nothing
    /// that is void: what was left out is missed by nobody.
    func isPlausible(like record: AttackRecord) -> Bool {
        for written in record.written where byID[written.operation.id] != nil {
            let id = written.operation.id
            if written.promise != nil, !all.contains(id) { continue }
            guard all.contains(id) else { return false }
            guard written.isHonest, written.promise != nil else { continue }
            let operation = byID[id]?.operation
            let judge = judge(of: history.pasts[id] ?? [])
            for cited in operation?.dependencies ?? [] where !judge.isValid(cited) { return false }
        }
        return true
    }
}
