import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

struct `The end of a membership` {
    @Test(arguments: Seeds.explore(40))
    func `is told alike of one member and of all`(seed: UInt64) throws {
        var fuzzer = AuthFuzzer(seed: seed)
        fuzzer.run(steps: 50)
        let evaluator = try AuthEvaluator.evaluateFromScratch(fuzzer.history.operations)
        let roles = Dictionary(
            uniqueKeysWithValues: evaluator.members.map { ($0.member, $0.role) })
        let everybody = Set(fuzzer.everything.compactMap { evaluator.subject(ofGrant: $0) })
        for member in everybody {
            #expect(evaluator.role(of: member) == roles[member])
            let ends = evaluator.revocations(ending: member)
            #expect(ends.allSatisfy { evaluator.isValid($0) })
            if roles[member] != nil { #expect(ends.isEmpty) }
        }
        for standing in evaluator.members {
            let ever = evaluator.devices(everOf: standing.member)
            #expect(Set(ever).isSuperset(of: standing.devices))
            for device in standing.devices {
                #expect(evaluator.revocations(ending: device).isEmpty)
                #expect(evaluator.members(everUsing: device).contains(standing.member))
            }
        }
        for end in evaluator.membershipEnds {
            #expect(evaluator.past(upTo: [end]) == fuzzer.history.closure(of: [end]))
        }
    }

    // Ann came in before Bob, so Bob is too weak for her first grant, but not for her present role.
    @Test func `ends what a higher role had written`() throws {
        var story = Story(admins: ["ann", "bob"])
        let demotion = story.promote("ann", to: .member, replacing: true)
        let removal = story.write(
            "bob", after: story.heads, .remove(member: story.member("ann")))
        try story.inEveryOrder { evaluator in
            let device = story.device("ann")
            #expect(evaluator.role(of: story.member("ann")) == nil)
            #expect(evaluator.contentGrant(of: device, leastRole: .member) == nil)
            let log = LogName(document: DocumentID.zero, device: device, incarnation: 1)
            for grant in [story.grant("ann"), demotion] {
                let limit = evaluator.contentLimit(grant: grant, log: log, leastRole: .member)
                #expect(limit == .nothing)
                let end = evaluator.revocation(
                    reachingContent: grant, of: device, leastRole: .member)
                #expect(end == removal)
            }
        }
    }

    @Test func `is no outcome of two who change a role at once`() throws {
        var story = Story(admins: ["ann"], members: ["wim"])
        let start = story.heads
        for (device, role) in [("root", Role.member), ("recovery", .admin)] {
            let grant = RoleGrant(
                member: story.member("wim"), devices: [story.device("wim")], role: role,
                replaces: true)
            _ = story.write(device, under: story.grant("root"), after: start, .grant(grant))
        }
        try story.inEveryOrder { evaluator in
            #expect(evaluator.role(of: story.member("wim")) == .admin)
        }
    }

    @Test func `names what ended it, and what came before that`() throws {
        var story = Story(admins: ["ann"], members: ["wim", "joe"])
        let start = story.heads
        let removal = story.write("ann", after: start, .remove(member: story.member("wim")))
        let left = story.write("joe", after: start, .leave)
        let later = story.write("ann", after: story.heads, .createDocument)
        try story.inEveryOrder { evaluator in
            #expect(evaluator.revocations(ending: story.device("wim")) == [removal])
            #expect(evaluator.revocations(ending: story.member("wim")) == [removal])
            #expect(evaluator.revocations(ending: story.member("joe")) == [left])
            #expect(evaluator.revocations(ending: story.member("ann")) == [])
            #expect(evaluator.membershipEnds.sorted() == [removal, left].sorted())
            let past = evaluator.past(upTo: [removal])
            #expect(past.contains(removal) && past.isSuperset(of: start))
            #expect(!past.contains(left) && !past.contains(later))
            #expect(
                evaluator.revocation(
                    reachingContent: story.grant("wim"), of: story.device("wim"),
                    leastRole: .member) == removal)
        }
    }

    @Test func `closes the invites of the removed, and of nobody else`() throws {
        var story = Story(admins: ["ann", "bob"])
        let start = story.heads
        let ofAnn = story.write("ann", after: start, .invite(InviteTerms(role: .member)))
        let ofBob = story.write("bob", after: start, .invite(InviteTerms(role: .member)))
        let ofRoot = story.write("root", after: start, .invite(InviteTerms(role: .member)))
        // Bob is weaker than Ann: his removal of her is valid and does not close her invite.
        let weak = story.write("bob", after: story.heads, .remove(member: story.member("ann")))
        try story.inEveryOrder { evaluator in
            #expect(evaluator.isValid(weak))
            for invite in [ofAnn, ofBob, ofRoot] {
                #expect(!evaluator.isClosed(invite: invite))
            }
        }
        let removal = story.write(
            "root", after: story.heads, .remove(member: story.member("bob")))
        let revoked = story.write("root", after: story.heads, .revokeInvite(ofRoot))
        let evaluator = try AuthEvaluator.evaluateFromScratch(story.history.operations)
        #expect(evaluator.isValid(removal) && evaluator.isValid(revoked))
        #expect(!evaluator.isClosed(invite: ofAnn))
        #expect(evaluator.isClosed(invite: ofBob))
        #expect(evaluator.isClosed(invite: ofRoot))
        #expect(evaluator.isClosed(invite: start[0]), "no invite at all")
    }

    @Test func `of content is the one that reaches it`() throws {
        var story = Story(admins: [], members: ["wim"])
        let promoted = story.promote("wim", to: .admin, replacing: true)
        var evaluator = try AuthEvaluator.evaluateFromScratch(story.history.operations)
        let grant = story.grant("wim")
        func revocation(_ evaluator: AuthEvaluator) -> OperationID? {
            evaluator.revocation(
                reachingContent: grant, of: story.device("wim"), leastRole: .member)
        }
        #expect(revocation(evaluator) == nil, "a better role takes nothing")
        #expect(evaluator.isValid(promoted))
        let demoted = story.promote("wim", to: .guest, replacing: true)
        evaluator = try AuthEvaluator.evaluateFromScratch(story.history.operations)
        #expect(revocation(evaluator) == demoted)
    }
}
