import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

/// Who may invite under which policy, and the effect of requests.
struct `Inviting follows the policy` {
    private func invite(
        _ story: inout Story, _ name: String, after heads: [OperationID],
        citing policy: OperationID? = nil, role: Role = .member
    ) -> OperationID {
        var terms = InviteTerms(role: role)
        terms.policy = policy
        return story.write(name, after: heads, .invite(terms))
    }

    @Test func `a member invites while the latest policy that he knew allows it`() throws {
        var story = Story(admins: ["ann"], members: ["bob"])
        let open = story.write("ann", after: story.heads, .setWorkspace(mayInvite: .members))
        let allowed = invite(&story, "bob", after: [open], citing: open)
        let strong = invite(&story, "bob", after: [open], citing: open, role: .admin)
        let other = story.write("ann", after: [open], .setWorkspace(mayInvite: nil))
        let still = invite(&story, "bob", after: [other], citing: open)
        let closed = story.write("ann", after: [other], .setWorkspace(mayInvite: .admins))
        let late = invite(&story, "bob", after: [closed], citing: open)
        let unaware = invite(&story, "bob", after: [other], citing: open)
        try story.inEveryOrder { evaluator in
            #expect(evaluator.isValid(allowed) && evaluator.isValid(still))
            #expect(evaluator.isValid(unaware))
            #expect(evaluator.verdict(on: late) == .unsupported(by: closed))
            #expect(!evaluator.contains(strong))
        }
    }

    @Test func `a policy that loses its effect takes none from those who knew it`() throws {
        var story = Story(admins: ["ann"], members: ["bob"])
        let start = story.heads
        let open = story.write("root", after: start, .setWorkspace(mayInvite: .members))
        let closed = story.write("ann", after: [open], .setWorkspace(mayInvite: .admins))
        let late = invite(&story, "bob", after: [closed], citing: open)
        let admitted = story.admit("dan", on: late, by: "root", after: [late])
        // The owner has removed Ann without having heard of her policy.
        let removal = story.write("root", after: [open], .remove(member: story.member("ann")))
        try story.inEveryOrder { evaluator in
            #expect(evaluator.verdict(on: closed) == .revoked(by: removal))
            #expect(evaluator.isValid(late) && evaluator.isValid(admitted))
        }
        let before = story.history.operations.filter { $0.id != removal }
        let evaluator = try AuthEvaluator.evaluateFromScratch(before)
        #expect(!evaluator.isValid(late) && !evaluator.isValid(admitted))
    }

    @Test func `an owner keeps inviting to himself, and nobody binds those above him`() throws {
        var story = Story(admins: ["ann", "eve"])
        let eves = story.write("eve", after: story.heads, .setWorkspace(mayInvite: .owner))
        let anns = invite(&story, "ann", after: [eves])
        let own = story.write("root", after: [eves], .setWorkspace(mayInvite: .owner))
        let refused = [
            invite(&story, "ann", after: [own]), invite(&story, "eve", after: [own]),
        ]
        let roots = invite(&story, "root", after: [own], role: .admin)
        try story.inEveryOrder { evaluator in
            #expect(evaluator.isValid(anns) && evaluator.isValid(roots))
            for invite in refused {
                #expect(evaluator.verdict(on: invite) == .unsupported(by: own))
            }
        }
    }

    @Test func `a member may revoke their own invite, and no other`() throws {
        var story = Story(admins: ["ann"], members: ["bob", "cat"])
        let open = story.write("ann", after: story.heads, .setWorkspace(mayInvite: .members))
        let bobs = invite(&story, "bob", after: [open], citing: open)
        let foreign = story.write("cat", after: [bobs], .revokeInvite(bobs))
        let own = story.write("bob", after: [bobs], .revokeInvite(bobs))
        let late = story.admit("dan", on: bobs, by: "cat", after: [bobs])
        try story.inEveryOrder { evaluator in
            #expect(!evaluator.contains(foreign))
            #expect(evaluator.isValid(own))
            #expect(evaluator.verdict(on: late) == .revoked(by: own))
        }
    }

    @Test func `a rejection wins over a concurrent approval`()
        throws
    {
        var story = Story(admins: ["ann", "eve"], members: ["bob"])
        let open = story.write(
            "ann", after: story.heads,
            .invite(InviteTerms(role: .member, uses: 5, needsApproval: true)))
        let request = story.write(
            "bob", after: [open],
            .request(
                invite: open, member: story.member("dan"), devices: [story.device("dan")],
                answering: nil))
        let approval = story.admit("dan", on: open, by: "ann", after: [request], request: request)
        let rejection = story.write("eve", after: [request], .remove(member: story.member("dan")))
        try story.inEveryOrder { evaluator in
            #expect(evaluator.isValid(rejection))
            #expect(evaluator.bestGrant(of: story.device("dan")) == nil)
            #expect(evaluator.contentGrant(of: story.device("dan"), leastRole: .guest) == nil)
        }
        // An admin who knows of the rejection may still decide otherwise; a member may not.
        let again = story.write("eve", after: [approval, rejection], story.comeback("dan"))
        let byMember = story.admit(
            "dan", on: open, by: "bob", after: [rejection], request: request)
        let mind = story.admit("dan", on: open, by: "eve", after: [rejection], request: request)
        let evaluator = try AuthEvaluator.evaluateFromScratch(story.history.operations)
        // Both are readmissions; the earlier one is the stronger.
        let best = evaluator.bestGrant(of: story.device("dan"))
        #expect(best == mind && evaluator.isValid(again))
        #expect(!evaluator.contains(byMember) && evaluator.isValid(mind))
    }

    @Test func `an owner who gave the role away gets it back by a new grant`() throws {
        var story = Story(admins: ["ann"])
        let there = story.write(
            "root", after: story.heads, story.transfer(to: "ann", keeping: ["recovery", "root"]))
        let back = story.write(
            "ann", under: there, after: [there], story.transfer(to: "root", keeping: ["ann"]))
        let end = story.write("root", under: back, after: [back], .deleteWorkspace)
        let late = story.write("ann", under: there, after: [back], .deleteWorkspace)
        try story.inEveryOrder { evaluator in
            #expect(evaluator.isValid(end))
            #expect(evaluator.verdict(on: late) == .revoked(by: back))
            let roles = evaluator.members.map { ($0.member == story.member("root"), $0.role) }
            #expect(roles.first { $0.0 }?.1 == .owner)
            #expect(roles.first { !$0.0 }?.1 == .admin)
        }
    }

    @Test func `a stronger device undoes the transfer of a weaker one`() throws {
        var story = Story(admins: ["ann"])
        let there = story.write(
            "root", after: story.heads, story.transfer(to: "ann", keeping: ["root"]))
        let undone = story.write(
            "recovery", under: story.grant("root"), after: [there],
            .removeDevice(story.device("root")))
        // A grant that knows the transfer is not undone by a removal that knows it too.
        let unaware = story.write(
            "recovery", under: story.grant("root"), after: story.start,
            .removeDevice(story.device("root")))
        try story.inEveryOrder { evaluator in
            #expect(evaluator.isValid(undone) && evaluator.isValid(unaware))
            #expect(evaluator.verdict(on: there) == .revoked(by: unaware))
            #expect(evaluator.role(of: story.member("root")) == .owner)
        }
    }
}
