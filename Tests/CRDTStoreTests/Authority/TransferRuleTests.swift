import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import CRDTStore

/// V-3 of PROTOCOL.md: what a transfer takes from its author's devices, checked in every order
/// against the evaluator and the definition.
struct `What a transfer takes (V-3)` {
    /// `root` with its phrase, a phone that it linked, and an heir.
    private struct Hand {
        var story = Story(admins: ["ann"], members: ["bob"])
        let phone: OperationID

        init() {
            phone = story.write(
                "root", after: story.heads, .addDevices([story.device("phone")]))
        }

        /// A transfer by the phone, which then leaves in the role that it keeps.
        mutating func steal(keeping own: [String]) -> (given: OperationID, left: OperationID) {
            let given = story.write(
                "phone", under: phone, after: story.heads, story.transfer(to: "ann", keeping: own))
            return (given, story.write("phone", under: given, after: [given], .leave))
        }

        /// The role of each device of the owner; `nil` for one that is not in.
        func expect(
            _ expected: [String: Role?], without missing: Set<AuthRule> = [],
            sourceLocation: SourceLocation = #_sourceLocation
        ) throws {
            var generator = SeededGenerator(seed: 1)
            var rules = AuthRuleSet.current
            rules.missing = missing
            let definition = AuthDefinition(
                story.history, rules: rules, visitingWith: &generator)
            let valid = definition.validOperations()
            for (name, role) in expected {
                let said = definition.standing(of: story.device(name), among: valid)?.role
                #expect(said == role, "\(name)", sourceLocation: sourceLocation)
            }
            guard missing.isEmpty else { return }
            try story.inEveryOrder { evaluator in
                for (name, role) in expected {
                    let grant = evaluator.bestGrant(of: story.device(name))
                    let said = grant.flatMap {
                        evaluator.standing(ofGrant: $0, device: story.device(name))?.level
                    }
                    #expect(
                        said == role.map { Int8($0.rawValue) }, "\(name)",
                        sourceLocation: sourceLocation)
                }
            }
        }
    }

    @Test(arguments: [["phone"], ["phone", "root"], ["phone", "recovery", "root"]])
    func `a weak device takes nothing from strong ones`(keeping own: [String]) throws {
        var hand = Hand()
        _ = hand.steal(keeping: own)
        let kept: [String: Role?] = ["root": .owner, "recovery": .owner, "phone": nil]
        try hand.expect(kept)
        guard own.contains("root") else { return }
        try hand.expect(["root": nil], without: [.v3Strength])
    }

    /// An admission ranks as its invite, but revocations aimed at its author are compared with the
    /// author (V-9).
    @Test func `a weaker device takes back no admission by a strong one on its invite`()
        throws
    {
        var hand = Hand()
        let invite = hand.story.write(
            "phone", under: hand.phone, after: hand.story.heads,
            .invite(InviteTerms(role: .member)))
        let given = hand.story.write(
            "phone", under: hand.phone, after: [invite],
            hand.story.transfer(to: "ann", keeping: ["phone", "root"]))
        let admission = hand.story.admit("new", on: invite, by: "root", after: [given])
        try hand.story.inEveryOrder { evaluator in
            #expect(evaluator.isValid(admission))
        }
        for (rules, isIn) in [(AuthRuleSet.current, true), (.without(.authorStronger), false)] {
            var generator = SeededGenerator(seed: 1)
            let definition = AuthDefinition(
                hand.story.history, rules: rules, visitingWith: &generator)
            #expect(definition.validOperations().contains(admission) == isIn)
        }
    }

    @Test func `a stronger device takes back what was stolen`() throws {
        var hand = Hand()
        let (_, left) = hand.steal(keeping: ["phone", "recovery", "root"])
        let demoted = hand.story.write(
            "root", after: [left],
            .grant(
                RoleGrant(
                    member: hand.story.member("ann"), devices: [hand.story.device("ann")],
                    role: .member, replaces: true)))
        _ = hand.story.write(
            "root", after: [demoted], .removeDevice(hand.story.device("phone")))
        try hand.expect(["root": .owner, "recovery": .owner, "phone": nil, "ann": .member])
    }

    @Test func `the phrase is transferred with the strongest everyday device`() throws {
        var hand = Hand()
        let given = hand.story.write(
            "root", after: hand.story.heads,
            hand.story.transfer(to: "ann", keeping: ["root", "recovery", "phone"]))
        let all: [String: Role?] = [
            "root": .admin, "recovery": .admin, "phone": .admin, "ann": .owner,
        ]
        try hand.expect(all)
        try hand.expect(["recovery": .owner], without: [.v3Recovery])
        // The drawer's phrase does not keep the role after a transfer, nor the membership after a
        // leave.
        _ = hand.story.write("root", under: given, after: [given], .leave)
        try hand.expect(["root": nil, "recovery": nil, "phone": nil])
        try hand.expect(["recovery": .owner], without: [.v3Recovery])
    }

    @Test func `a device that is out withstands nothing`() throws {
        var hand = Hand()
        _ = hand.story.write(
            "recovery", under: hand.story.grant("root"), after: hand.story.heads,
            .removeDevice(hand.story.device("root")))
        _ = hand.story.write(
            "phone", under: hand.phone, after: hand.story.heads,
            hand.story.transfer(to: "ann", keeping: ["phone", "recovery"]))
        try hand.expect(["root": nil, "recovery": .admin, "phone": .admin])
    }

    @Test func `two who hand over apart: the stronger device's counts`() throws {
        var hand = Hand()
        let before = hand.story.heads
        _ = hand.story.write(
            "phone", under: hand.phone, after: before,
            hand.story.transfer(to: "bob", keeping: ["phone", "root"]))
        _ = hand.story.write(
            "root", after: before,
            hand.story.transfer(to: "ann", keeping: ["root", "recovery", "phone"]))
        try hand.expect(
            ["root": .admin, "recovery": .admin, "phone": .admin, "ann": .owner, "bob": .member])
    }

    // MARK: Content

    /// The ends that hit the content of a device under the founder's grant, by both.
    private func expect(
        _ ends: [OperationID], ofContentBy device: String, in story: Story,
        without missing: Set<AuthRule> = [], sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        var generator = SeededGenerator(seed: 1)
        var rules = AuthRuleSet.current
        rules.missing = missing
        let definition = AuthDefinition(story.history, rules: rules, visitingWith: &generator)
        let said = definition.revocationsOfContent(
            under: story.grant("root"), by: story.device(device))
        #expect(said == ends.sorted(), sourceLocation: sourceLocation)
        guard missing.isEmpty else { return }
        try story.inEveryOrder { evaluator in
            let found = evaluator.revocation(
                reachingContent: story.grant("root"), of: story.device(device), leastRole: .member)
            #expect(found == ends.first, sourceLocation: sourceLocation)
        }
    }

    /// Two operations of an admin, each valid and weaker than the owner.
    @Test(arguments: [Role.member, .guest])
    func `an admin's word replaces nothing of the owner's (V-5)`(role: Role) throws {
        var story = Story(admins: ["ann"], members: ["bob"])
        let given = story.write(
            "ann", after: story.heads,
            .grant(
                RoleGrant(
                    member: story.member("root"),
                    devices: [story.device("root"), story.device("recovery")], role: role,
                    replaces: true)))
        let removal = story.write("ann", after: [given], .remove(member: story.member("root")))
        try expect([], ofContentBy: "root", in: story)
        try expect([removal], ofContentBy: "root", in: story, without: [.v5Stronger])
    }

    /// The phone leaves in the role that an old transfer had left to it; the owner has the
    /// workspace again.
    @Test func `a leave takes nothing from a device that is an owner by another grant (V-4)`()
        throws
    {
        var hand = Hand()
        let given = hand.story.write(
            "root", after: hand.story.heads,
            hand.story.transfer(to: "ann", keeping: ["root", "recovery", "phone"]))
        let back = hand.story.write(
            "ann", under: given, after: [given],
            .grant(
                RoleGrant(
                    member: hand.story.member("root"), devices: [hand.story.device("root")],
                    role: .owner, drops: [hand.story.device("ann")])))
        let left = hand.story.write("phone", under: given, after: [back], .leave)
        try hand.expect(["root": .owner, "phone": nil])
        try expect([], ofContentBy: "root", in: hand.story)
        try expect([left], ofContentBy: "root", in: hand.story, without: [.v4Device])
    }
}
