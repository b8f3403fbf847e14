import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

/// Removing a single rule of PROTOCOL.md, 4, lets the attackers reach a goal, in the
/// world of the listed seed.
///
/// Where a second rule protects the same goal, both are removed, and the goal is not reached
/// in as many worlds with only the second removed: an unknown device in a list is excluded by
/// a second binding of a member twice by A-13, somebody else's device by A-22 and
/// by the row of rmdev.
///
/// A change of the attackers or of the goals changes the seeds. `make campaign-mutants` finds new
/// ones and prints the table.
struct `A rule that is taken away` {
    /// Rules that are left out, the goal that is reached then, and where.
    struct Mutant: Sendable, CustomTestStringConvertible {
        let missing: [AuthRule]
        let goal: String
        let seed: UInt64

        init(_ missing: AuthRule..., reaches goal: String, at seed: UInt64) {
            (self.missing, self.goal, self.seed) = (missing, goal, seed)
        }

        var testDescription: String { "\(missing.map(\.rawValue).joined(separator: " and "))" }
    }

    static let mutants: [Mutant] = [
        Mutant(.a1Context, reaches: "G2", at: 1),
        Mutant(.a1Answerer, reaches: "G2", at: 1),
        Mutant(.a1Member, reaches: "G2", at: 9),
        Mutant(.a1List, reaches: "G2", at: 84),
        Mutant(.a1List, .a2, reaches: "G1", at: 67),
        Mutant(.a3, reaches: "G1", at: 50),
        Mutant(.a4, reaches: "G8", at: 1),
        Mutant(.a6, reaches: "G14", at: 211),
        Mutant(.a7, reaches: "G14", at: 6),
        Mutant(.a8Role, reaches: "G17", at: 4),
        Mutant(.a8Weaker, reaches: "G17", at: 11),
        Mutant(.a9Role, reaches: "G17", at: 37),
        Mutant(.a9Policy, reaches: "G17", at: 59),
        Mutant(.a9Weaker, reaches: "G17", at: 19),
        Mutant(.a10Role, reaches: "G17", at: 14),
        Mutant(.a10Count, reaches: "G11", at: 66),
        Mutant(.a12End, reaches: "G17", at: 43),
        Mutant(.a12Barred, reaches: "G7", at: 22),
        Mutant(.a13Role, reaches: "G17", at: 19),
        Mutant(.a13Member, .a13Device, reaches: "G5", at: 87),
        Mutant(.a13Device, reaches: "G5", at: 1612),
        Mutant(.a13Uses, reaches: "G8", at: 6),
        Mutant(.a13Removed, reaches: "G5", at: 34),
        Mutant(.a15Admin, reaches: "G17", at: 8),
        Mutant(.a15Request, reaches: "G8", at: 34),
        Mutant(.a15Time, reaches: "G8", at: 19),
        Mutant(.a16, reaches: "G8", at: 19),
        Mutant(.a17Barred, reaches: "G5", at: 194),
        Mutant(.a17Count, reaches: "G11", at: 1),
        Mutant(.a17Older, reaches: "G7", at: 840),
        Mutant(.a18, reaches: "G13", at: 15),
        Mutant(.a19Role, reaches: "G17", at: 11),
        Mutant(.a19Own, reaches: "G3", at: 289),
        Mutant(.a19Weaker, reaches: "G17", at: 22),
        Mutant(.a19Bound, reaches: "G1", at: 710),
        Mutant(.a19Barred, reaches: "G5", at: 266),
        Mutant(.a20Gives, reaches: "G3", at: 92),
        Mutant(.a20Heir, reaches: "G3", at: 17),
        Mutant(.a20Empty, reaches: "G3", at: 277),
        Mutant(.a20Bound, reaches: "G1", at: 9),
        Mutant(.a20Barred, reaches: "G5", at: 2),
        Mutant(.a21Role, reaches: "G17", at: 3),
        Mutant(.a21Own, reaches: "G3", at: 36),
        Mutant(.a22Bound, reaches: "G8", at: 43),
        Mutant(.a22Whose, reaches: "G17", at: 3),
        Mutant(.a22Whose, .rmdevWhose, reaches: "G6", at: 1_022),
        Mutant(.a23, reaches: "G3", at: 42),
        Mutant(.a24Role, reaches: "G17", at: 80),
        Mutant(.a24Rank, reaches: "G17", at: 50),
        Mutant(.a25, reaches: "G17", at: 167),
        Mutant(.channelRole, reaches: "G17", at: 29),
        Mutant(.settingsRole, reaches: "G17", at: 6),
        Mutant(.wsdelRole, reaches: "G17", at: 7),
        Mutant(.stronger, reaches: "G9", at: 49),
        Mutant(.known, reaches: "G7", at: 1),
        Mutant(.removeMember, reaches: "G5", at: 1),
        Mutant(.removeInvites, reaches: "G5", at: 8),
        Mutant(.removeExempt, reaches: "G7", at: 12),
        Mutant(.authorStronger, reaches: "G8", at: 1_310_534_934),
        Mutant(.rmdev, reaches: "G5", at: 1),
        Mutant(.rmdevExempt, reaches: "G7", at: 11),
        Mutant(.leave, reaches: "G5", at: 1),
        Mutant(.leaveChain, reaches: "G5", at: 5),
        Mutant(.rvinv, reaches: "G5", at: 49),
        Mutant(.replaces, reaches: "G12", at: 1),
        Mutant(.replacesAdmit, reaches: "G12", at: 1_789),
        Mutant(.drops, reaches: "G12", at: 332),
        Mutant(.v1Grant, reaches: "G12", at: 31),
        Mutant(.v1Policy, reaches: "G17", at: 865),
        Mutant(.v1Allowed, reaches: "G17", at: 1),
        Mutant(.v3, reaches: "G12", at: 199),
        Mutant(.v4, reaches: "G5", at: 5),
        Mutant(.s2, reaches: "G11", at: 1),
        Mutant(.s7, reaches: "G7", at: 687),
    ]

    /// Rules whose absence opens no goal, alone or together with the rule that doubles them, and
    /// why.
    static let redundant: [AuthRule: String] = [
        .a1Type: """
        The context of each type is another: an invite, an end, or zeros, and for create the
        workspace is zeros too.
        """,
        .a1Workspace: """
        An invite and an end are of one workspace, and so is the name of a member (A-3).
        """,
        .a14: """
        List, member and answerer are signed (A-1); an admin who lies about the time may.
        """,
        .a17Taken: """
        A device is in for everybody who has its key, each under a grant of their own (4.0.3).
        """,
        .a20Acts: "Only an owner gives owner (A-19), and a transfer gives nothing else (A-20).",
    ]

    /// Rules whose absence single histories detect: those here, of `What a transfer takes (V-3)`,
    /// of `What is confirmed (V-6)`, of `A member who ended their own membership`, of `A phrase that
    /// was replaced`, of `A device that its person revoked`, of `What a revoked device had linked`,
    /// of `Replaced recovery phrases`, of `Ends that were confirmed concurrently`, and of
    /// `A phrase that a role lists without its predecessor`.
    static let inHistories: Set<AuthRule> = [
        .ownEnd, .answeredEnd, .answeredBefore, .countsOthers, .v6Final, .v6Displaced, .v12Gone,
        .v3Strength, .v3Recovery, .v4Device, .v5Stronger, .a11, .a30Role, .v1Invite, .v6,
        .v6Stronger, .v6Invite, .v6Chain, .v10, .v10Own, .v10Answer,
        .v11, .v11Stronger, .v11Unlisted, .v11Together, .v11Admits, .v12, .v6Again,
        .v7Chosen, .v13, .v13Confirmed, .v13Others,
        .countsAdmits, .countsLinks, .countsConfirmed, .countsUnended, .barsKnown, .a12Bound,
        .a12Tied,
    ]

    @Test func `is missed where it lets somebody in by an invite that has no effect`() {
        var story = Story(admins: ["ann"])
        let policy = story.write("root", after: story.heads, .setWorkspace(mayInvite: .owner))
        let invite = story.write("ann", after: [policy], .invite(InviteTerms(role: .member)))
        let admission = story.admit("new", on: invite, by: "root", after: [invite])
        for (rules, isValid) in [(AuthRuleSet.current, false), (.without(.v1Invite), true)] {
            var generator = SeededGenerator(seed: 1)
            let definition = AuthDefinition(
                story.history, rules: rules, visitingWith: &generator)
            #expect(!definition.validOperations().contains(invite))
            #expect(definition.validOperations().contains(admission) == isValid)
        }
    }

    @Test func `is missed where somebody asks who is there already`() {
        var story = Story(admins: ["ann"], members: ["bob"])
        let invite = story.write(
            "root", after: story.heads, .invite(InviteTerms(role: .member, uses: 9)))
        let request = story.write(
            "ann", after: [invite],
            .request(
                invite: invite, member: story.member("bob"), devices: [story.device("bob")]))
        for (rules, isRefused) in [(AuthRuleSet.current, true), (.without(.a11), false)] {
            var generator = SeededGenerator(seed: 1)
            let definition = AuthDefinition(
                story.history, rules: rules, visitingWith: &generator)
            #expect((definition.refusals[request] == .fault("A-11")) == isRefused)
        }
    }

    /// A device that is bound to nobody is also refused as one that is not tied to its member
    ///
    @Test func `is missed where somebody comes back with a device that another one has, too`() {
        var story = Story(admins: ["ann"], members: ["bob"])
        let tablet = story.device("tablet")
        let links = ["ann", "bob"].map {
            story.write($0, after: story.start, .addDevices([tablet]))
        }
        let end = story.write("root", after: links, .remove(member: story.member("bob")))
        let invite = story.write(
            "root", after: [end], .invite(InviteTerms(role: .member, uses: 9)))
        let request = story.write(
            "ann", after: [invite],
            .request(
                invite: invite, member: story.member("bob"), devices: [tablet], answering: end))
        for (rules, isRefused) in [(AuthRuleSet.current, true), (.without(.a12Bound), false)] {
            var generator = SeededGenerator(seed: 1)
            let definition = AuthDefinition(
                story.history, rules: rules, visitingWith: &generator)
            #expect((definition.refusals[request] == .fault("A-12")) == isRefused)
            #expect((definition.refusals[request] == nil) != isRefused)
        }
    }

    @Test(arguments: mutants) func `is missed`(mutant: Mutant) {
        var rules = AuthRuleSet.current
        rules.missing = Set(mutant.missing)
        let breach = AttackCampaign<DefinitionJudge>.onDefinition(rules)
            .attack(seed: mutant.seed, goals: [mutant.goal], isShrinking: false)
        #expect(breach != nil)
    }

    @Test func `is in the table, or said to be redundant`() {
        let told = Set(Self.mutants.flatMap(\.missing)).union(Self.redundant.keys)
            .union(Self.inHistories)
        #expect(told == Set(AuthRule.allCases))
    }

    /// In a campaign: the first world in which the absence of each rule is detected.
    @Test(.enabled(if: Seeds.isCampaign), arguments: AuthRule.allCases.map { [$0] } + pairs)
    func `is looked for`(missing: [AuthRule]) {
        var rules = AuthRuleSet.current
        rules.missing = Set(missing)
        // One rule of a pair is detected alone by another goal.
        let goals = Self.mutants.first { $0.missing == missing && missing.count > 1 }
            .map { Set([$0.goal]) }
        let campaign = AttackCampaign<DefinitionJudge>.onDefinition(rules)
        let worlds = UInt64(Seeds.explore(1).count)
        let found = (1...worlds).lazy.compactMap {
            campaign.attack(seed: $0, goals: goals, isShrinking: false)
        }.first
        let names = missing.map { ".\($0)" }.joined(separator: ", ")
        print(
            found.map { "Mutant(\(names), reaches: \"\($0.goal)\", at: \($0.seed))," }
                ?? "// \(names): nothing in \(worlds) worlds")
    }

    private static var pairs: [[AuthRule]] { mutants.map(\.missing).filter { $0.count > 1 } }
}
