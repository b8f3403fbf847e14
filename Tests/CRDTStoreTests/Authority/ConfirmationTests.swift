import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

/// An operation that others have built on stays valid when its author gives up the device that
/// wrote it, or leaves, by an operation that does not know it, if somebody stronger has confirmed
/// it (V-6): each history in every order.
struct `What is confirmed (V-6)` {
    /// Bob, a member or an admin, and what he knows when he gives everything up.
    private struct Case {
        var story: Story
        let invite: OperationID
        /// What the end knows.
        let before: [OperationID]
        /// What he did after that: so the end is stronger.
        let later: [OperationID]

        init(admins: [String] = ["ann"], members: [String] = ["bob", "eve"]) {
            story = Story(admins: admins, members: members)
            invite = story.write(
                "root", after: story.heads, .invite(InviteTerms(role: .member, uses: 9)))
            before = [invite]
            later = [story.write("root", after: before, .cutPart)]
        }
    }

    enum End: String, CaseIterable {
        case leave, rmdev

        /// The end by which a member gives up their device or membership.
        func write(_ story: inout Story, _ name: String = "bob", after heads: [OperationID])
            -> OperationID
        {
            let device = story.device(name)
            return story.write(
                name, after: heads, self == .leave ? .leave : .removeDevice(device))
        }
    }

    @Test(arguments: End.allCases) func `lets newcomers stay`(end: End) throws {
        var its = Case()
        let admission = its.story.admit("new", on: its.invite, by: "bob", after: its.later)
        let channel = its.story.write("bob", after: [admission], .createDocument)
        let said = its.story.write("ann", after: [channel], .confirm([admission, channel]))
        let theirs = its.story.write("new", under: admission, after: [said], .createDocument)
        let gone = end.write(&its.story, after: its.before)
        try its.story.inEveryOrder { evaluator in
            #expect([gone, said, admission, channel, theirs].allSatisfy(evaluator.isValid))
            #expect(evaluator.role(of: its.story.member("new")) == .member)
            #expect(evaluator.role(of: its.story.member("bob")) == nil)
        }
    }

    /// An admin who has removed somebody, and then gives up the device that did it, does not let
    /// that person in again.
    @Test(arguments: End.allCases) func `removes and revokes permanently`(end: End) throws {
        var its = Case(admins: ["ann", "bob"], members: ["eve", "kim"])
        let made: [AuthAction] = [
            .remove(member: its.story.member("eve")),
            .removeDevice(its.story.device("kim")), .setWorkspace(mayInvite: .members), .rekey,
            .grant(
                RoleGrant(
                    member: its.story.member("kim"), devices: [its.story.device("kim")],
                    role: .guest, replaces: true)),
        ]
        var said = its.later
        for action in made { said.append(its.story.write("bob", after: said.suffix(1), action)) }
        let all = Array(said.dropFirst())
        let answer = its.story.write("ann", after: all.suffix(1), .confirm(all))
        let gone = end.write(&its.story, after: its.before)
        try its.story.inEveryOrder { evaluator in
            #expect((all + [answer, gone]).allSatisfy(evaluator.isValid))
            #expect(evaluator.role(of: its.story.member("eve")) == nil)
        }
    }

    @Test(arguments: End.allCases) func `does not include what is only cited`(end: End) throws {
        var its = Case()
        let admission = its.story.admit("new", on: its.invite, by: "bob", after: its.later)
        let said = its.story.write("ann", after: [admission], .cutPart)
        let gone = end.write(&its.story, after: its.before)
        try its.story.inEveryOrder { evaluator in
            #expect(evaluator.isValid(gone) && evaluator.isValid(said))
            #expect(evaluator.verdict(on: admission) == .revoked(by: gone))
        }
    }

    @Test func `is nothing that only weaker ones confirm`() throws {
        var its = Case(admins: ["bob", "ann"], members: [])
        let admission = its.story.admit("new", on: its.invite, by: "bob", after: its.later)
        let said = its.story.write("ann", after: [admission], .confirm([admission]))
        let gone = End.leave.write(&its.story, after: its.before)
        try its.story.inEveryOrder { evaluator in
            #expect(evaluator.isValid(gone) && evaluator.isValid(said))
            #expect(evaluator.verdict(on: admission) == .revoked(by: gone))
        }
    }

    @Test(arguments: End.allCases) func `is nothing that is void`(end: End) throws {
        var its = Case()
        let admission = its.story.admit("new", on: its.invite, by: "bob", after: its.later)
        let said = its.story.write("ann", after: [admission], .confirm([admission]))
        let gone = end.write(&its.story, after: its.before)
        let removal = its.story.write(
            "root", after: its.before, .remove(member: its.story.member("ann")))
        try its.story.inEveryOrder { evaluator in
            #expect(evaluator.isValid(removal))
            #expect(evaluator.verdict(on: said) == .revoked(by: removal))
            #expect(evaluator.verdict(on: admission) == .revoked(by: gone))
            // The admission is unconfirmed again, but only valid operations are listed; the end is
            // listed, too.
            #expect(
                evaluator.unconfirmed(for: its.story.device("root"), under: its.story.grant("root"))
                    == [gone])
        }
    }

    @Test func `is undone by an end that somebody else writes for its author`() throws {
        let names = Story(admins: [])
        for action in [
            AuthAction.remove(member: names.member("bob")), .removeDevice(names.device("bob")),
        ] {
            var its = Case()
            let admission = its.story.admit("new", on: its.invite, by: "bob", after: its.later)
            let said = its.story.write("ann", after: [admission], .confirm([admission]))
            let ended = its.story.write("root", after: its.before, action)
            try its.story.inEveryOrder { evaluator in
                #expect(evaluator.isValid(said) && evaluator.isValid(ended))
                #expect(evaluator.verdict(on: admission) == .revoked(by: ended))
            }
        }
    }

    /// An invite that Bob may write by a policy, and what he knew before.
    private struct Door {
        var story = Story(admins: ["ann"], members: ["bob", "eve"])
        let policy: OperationID
        let invite: OperationID

        init() {
            policy = story.write(
                "root", after: story.heads, .setWorkspace(mayInvite: .members))
            let later = story.write("root", after: [policy], .cutPart)
            invite = story.write(
                "bob", after: [later],
                .invite(InviteTerms(role: .member, uses: 9, policy: policy)))
        }
    }

    @Test(arguments: End.allCases) func `leaves an invite to those who came by it`(end: End) throws
    {
        var its = Door()
        let invite = its.invite
        let early = its.story.admit("early", on: invite, by: "eve", after: [invite])
        let said = its.story.write("ann", after: [early], .confirm([invite, early]))
        let late = its.story.admit("late", on: invite, by: "eve", after: [said])
        let gone = end.write(&its.story, after: [its.policy])
        try its.story.inEveryOrder { evaluator in
            #expect([gone, said, invite, early].allSatisfy(evaluator.isValid))
            // It admits nobody any longer: the thief of the device has the link.
            #expect(evaluator.verdict(on: late) == .unsupported(by: invite))
            #expect(evaluator.isClosed(invite: invite))
        }
    }

    /// Bob answers on a laptop that his phone has linked, and gives up the phone.
    @Test(arguments: End.allCases) func `may be by a linked device that loses effect`(end: End)
        throws
    {
        var its = Case()
        let laptop = its.story.write(
            "bob", after: its.later, .addDevices([its.story.device("laptop")]))
        let tablet = its.story.write(
            "laptop", under: laptop, after: [laptop], .addDevices([its.story.device("tablet")]))
        let admission = its.story.write(
            "tablet", under: tablet, after: [tablet],
            .admit(
                invite: its.invite, member: its.story.member("new"),
                devices: [its.story.device("new")]))
        let said = its.story.write("ann", after: [admission], .confirm([admission]))
        let other = its.story.write("tablet", under: tablet, after: [said], .createDocument)
        let gone = end.write(&its.story, after: its.before)
        try its.story.inEveryOrder { evaluator in
            #expect([gone, said, admission].allSatisfy(evaluator.isValid))
            #expect(![laptop, tablet, other].contains(where: evaluator.isValid))
            #expect(evaluator.role(of: its.story.member("new")) == .member)
            #expect(evaluator.bestGrant(of: its.story.device("tablet")) == nil)
        }
        _ = its.story.write(
            "root", after: its.before, .remove(member: its.story.member("bob")))
        try its.story.inEveryOrder { evaluator in
            #expect(!evaluator.isValid(admission))
        }
        #expect(!isValid(admission, in: its.story))
    }

    @Test(arguments: [false, true]) func `is not undone when its author revokes the invite`(
        byAdmin: Bool
    ) throws {
        var its = Door()
        let invite = its.invite
        let early = its.story.admit("early", on: invite, by: "eve", after: [invite])
        let said = its.story.write("ann", after: [early], .confirm([invite, early]))
        let late = its.story.admit("late", on: invite, by: "eve", after: [said])
        let ended = its.story.write(
            byAdmin ? "root" : "bob", after: [invite], .revokeInvite(invite))
        try its.story.inEveryOrder { evaluator in
            #expect(evaluator.isValid(ended) && evaluator.isValid(invite))
            #expect(evaluator.isValid(early) == !byAdmin)
            #expect(evaluator.verdict(on: late) == .revoked(by: ended))
        }
    }

    @Test func `is not asked of an invite whose author knew it`() throws {
        var its = Door()
        let gone = End.leave.write(&its.story, after: [its.invite])
        let late = its.story.admit("late", on: its.invite, by: "eve", after: [its.invite])
        try its.story.inEveryOrder { evaluator in
            #expect([gone, its.invite, late].allSatisfy(evaluator.isValid))
            #expect(!evaluator.isClosed(invite: its.invite))
        }
    }

    @Test func `keeps a channel and its name, and nothing else that its author did`() throws {
        var its = Case()
        let channel = its.story.write("bob", after: its.later, .createDocument)
        let name = its.story.write("bob", after: [channel], .setDocument)
        let said = its.story.write("ann", after: [name], .confirm([channel, name]))
        let deletion = its.story.write("bob", after: [said], .deleteDocument)
        let linked = its.story.write(
            "bob", after: [deletion], .addDevices([its.story.device("phone")]))
        let gone = End.leave.write(&its.story, after: its.before)
        try its.story.inEveryOrder { evaluator in
            #expect([channel, name].allSatisfy(evaluator.isValid))
            #expect(evaluator.verdict(on: deletion) == .revoked(by: gone))
            #expect(evaluator.verdict(on: linked) == .revoked(by: gone))
        }
    }

    @Test func `has a fault unless an admin names what others build on, once (A-30)`() throws {
        var its = Case()
        let admission = its.story.admit("new", on: its.invite, by: "bob", after: its.later)
        let far = its.story.write("root", after: its.before, .createDocument)
        let at = [admission]
        let many = [OperationID](repeating: admission, count: Limits.confirmedMax + 1)
        let faulty = [
            its.story.write("bob", after: at, .confirm([admission])),
            its.story.write("ann", after: at, .confirm([])),
            its.story.write("ann", after: at, .confirm([admission, admission])),
            its.story.write("ann", after: at, .confirm(many)),
            its.story.write("ann", after: at, .confirm([admission, far])),
            its.story.write("ann", after: at, .confirm(its.later)),
        ]
        for id in faulty { #expect(its.story.brokenRule(of: id) == "A-30") }
        let good = its.story.write("ann", after: at, .confirm([its.invite, admission]))
        let evaluator = try AuthEvaluator.evaluateFromScratch(its.story.history.operations)
        #expect(!faulty.contains(where: evaluator.contains))
        #expect(evaluator.isValid(good))
    }

    /// Giving up a device, or confirming, very often must not make nodes judge everything again.
    @Test func `costs no more for words that change nothing`() throws {
        var its = Case(admins: ["ann", "weak"], members: ["bob", "eve"])
        var made: [OperationID] = []
        for _ in 0..<40 {
            made.append(
                its.story.write("bob", after: made.suffix(1) + its.later, .createDocument))
        }
        let said = its.story.write("ann", after: made.suffix(1), .confirm(made))
        var evaluator = try AuthEvaluator.evaluateFromScratch(its.story.history.operations)
        var costs: [Int] = []
        for _ in 0..<40 {
            _ = its.story.write(
                "bob", after: its.before, .removeDevice(its.story.device("bob")))
            _ = its.story.write("weak", after: [said], .confirm(made))
            let before = evaluator.looks
            for operation in its.story.history.operations.suffix(2) {
                _ = try evaluator.add(operation)
            }
            costs.append(evaluator.looks - before)
        }
        #expect(made.allSatisfy(evaluator.isValid))
        #expect((costs.last ?? 0) <= 2 * costs[1] + 80, "\(costs)")
    }

    @Test func `is people before channels`() throws {
        var its = Case()
        let channel = its.story.write("bob", after: its.later, .createDocument)
        let admission = its.story.admit("new", on: its.invite, by: "bob", after: [channel])
        let evaluator = try AuthEvaluator.evaluateFromScratch(its.story.history.operations)
        let found = evaluator.unconfirmed(
            for: its.story.device("ann"), under: its.story.grant("ann"))
        #expect(found == [admission, channel])
    }

    @Test func `is reported to everyone who may confirm it, until one has`() throws {
        var its = Case()
        let admission = its.story.admit("new", on: its.invite, by: "bob", after: its.later)
        func open(_ name: String) throws -> [OperationID] {
            try AuthEvaluator.evaluateFromScratch(its.story.history.operations)
                .unconfirmed(for: its.story.device(name), under: its.story.grant(name))
        }
        #expect(try open("ann") == [admission])
        #expect(try open("root") == [admission])
        #expect(try open("bob").isEmpty)
        let said = its.story.write("ann", after: [admission], .confirm([admission]))
        #expect(try open("ann").isEmpty)
        // A confirmation by an admin is itself confirmed by an owner.
        #expect(try open("root") == [said])
        _ = its.story.write("root", after: [said], .confirm([said]))
        #expect(try open("root").isEmpty)
    }

    /// The definition's verdict on an operation when a part of the rule is left out.
    private func isValid(
        _ id: OperationID, in story: Story, without missing: AuthRule? = nil
    ) -> Bool {
        var generator = SeededGenerator(seed: 1)
        return AuthDefinition(
            story.history, rules: missing.map { .without($0) } ?? .current,
            visitingWith: &generator
        ).validOperations().contains(id)
    }

    @Test func `is missed where a part of the rule is taken away`() throws {
        var its = Case()
        let admission = its.story.admit("new", on: its.invite, by: "bob", after: its.later)
        _ = its.story.write("ann", after: [admission], .confirm([admission]))
        _ = End.leave.write(&its.story, after: its.before)
        #expect(isValid(admission, in: its.story))
        #expect(!isValid(admission, in: its.story, without: .v6))

        // Eve came before Bob, and is not an admin.
        var members = Case(members: ["eve", "bob"])
        let third = members.story.admit("new", on: members.invite, by: "bob", after: members.later)
        _ = members.story.write("eve", after: [third], .confirm([third]))
        _ = End.leave.write(&members.story, after: members.before)
        #expect(!isValid(third, in: members.story))
        #expect(isValid(third, in: members.story, without: .a30Role))

        var weak = Case(admins: ["bob", "ann"], members: [])
        let other = weak.story.admit("new", on: weak.invite, by: "bob", after: weak.later)
        _ = weak.story.write("ann", after: [other], .confirm([other]))
        _ = End.leave.write(&weak.story, after: weak.before)
        #expect(!isValid(other, in: weak.story))
        #expect(isValid(other, in: weak.story, without: .v6Stronger))

        var linked = Case()
        let laptop = linked.story.write(
            "bob", after: linked.later, .addDevices([linked.story.device("laptop")]))
        let channel = linked.story.write(
            "laptop", under: laptop, after: [laptop], .createDocument)
        _ = linked.story.write("ann", after: [channel], .confirm([channel]))
        _ = End.leave.write(&linked.story, after: linked.before)
        #expect(isValid(channel, in: linked.story))
        #expect(!isValid(channel, in: linked.story, without: .v6Chain))

        var its2 = Door()
        let said = its2.story.write("ann", after: [its2.invite], .confirm([its2.invite]))
        let late = its2.story.admit("late", on: its2.invite, by: "eve", after: [said])
        _ = End.leave.write(&its2.story, after: [its2.policy])
        #expect(!isValid(late, in: its2.story))
        #expect(isValid(late, in: its2.story, without: .v6Invite))
    }
}
