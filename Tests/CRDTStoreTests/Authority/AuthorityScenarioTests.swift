import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

/// Situations that people get into, each delivered in every order (or the first 3,000).
@Suite struct `Authority ends people's quarrels the same way everywhere` {
    @Test func `two admins who remove each other leave exactly the elder one`() throws {
        var story = Story(admins: ["ann", "bob"])
        let start = story.heads
        let first = story.write("ann", after: start, .remove(member: story.member("bob")))
        let second = story.write("bob", after: start, .remove(member: story.member("ann")))
        try story.inEveryOrder { evaluator in
            #expect(evaluator.isValid(first))
            #expect(evaluator.verdict(on: second) == .revoked(by: first))
            #expect(evaluator.members.map(\.member).contains(story.member("ann")))
            #expect(!evaluator.members.map(\.member).contains(story.member("bob")))
        }
    }

    @Test func `three admins who remove each other in a circle leave the eldest and the last`()
        throws
    {
        var story = Story(admins: ["ann", "bob", "eve"])
        let start = story.heads
        let first = story.write("ann", after: start, .remove(member: story.member("bob")))
        let second = story.write("bob", after: start, .remove(member: story.member("eve")))
        let third = story.write("eve", after: start, .remove(member: story.member("ann")))
        try story.inEveryOrder { evaluator in
            #expect(evaluator.isValid(first))
            #expect(!evaluator.isValid(second))
            // Weaker than what it is aimed at: valid, and without effect.
            #expect(evaluator.isValid(third))
            #expect(evaluator.bestGrant(of: story.device("ann")) != nil)
            #expect(evaluator.bestGrant(of: story.device("bob")) == nil)
            #expect(evaluator.bestGrant(of: story.device("eve")) != nil)
        }
    }

    @Test func `an owner's removal beats a transfer by the removed owner`() throws {
        var story = Story(admins: ["ann"], members: ["zoe"])
        let second = story.promote("ann", to: .owner)
        let start = story.heads
        let removal = story.write("root", after: start, .remove(member: story.member("ann")))
        let transfer = story.write(
            "ann", under: second, after: start,
            .grant(
                RoleGrant(
                    member: story.member("zoe"), devices: [story.device("zoe")], role: .owner,
                    drops: [story.device("root")])))
        try story.inEveryOrder { evaluator in
            #expect(evaluator.isValid(removal))
            #expect(evaluator.verdict(on: transfer) == .revoked(by: removal))
            #expect(evaluator.bestGrant(of: story.device("zoe")) == story.grant("zoe"))
        }
    }

    @Test func `a transfer makes one owner of another, and an admin of the first`() throws {
        var story = Story(admins: ["ann"])
        let transfer = story.write(
            "root", after: story.heads,
            .grant(
                RoleGrant(
                    member: story.member("ann"), devices: [story.device("ann")], role: .owner,
                    drops: [story.device("root")])))
        let late = story.write("root", after: [transfer], .deleteWorkspace)
        let owners = story.write(
            "root", after: [transfer], .invite(InviteTerms(role: .admin)))
        let admins = story.write("root", after: [transfer], .invite(InviteTerms(role: .member)))
        let phone = story.write("root", after: [transfer], .addDevices([story.device("phone")]))
        let phones = story.write("phone", under: phone, after: [phone], .deleteWorkspace)
        let taken = story.write(
            "ann", under: transfer, after: [transfer],
            .grant(
                RoleGrant(
                    member: story.member("root"), devices: [story.device("root")], role: .member,
                    replaces: true)))
        let behindBack = story.write(
            "recovery", under: story.grant("root"), after: story.start, .rekey)
        try story.inEveryOrder { evaluator in
            #expect(evaluator.bestGrant(of: story.device("ann")) == transfer)
            for weak in [late, owners, phones] {
                let verdict = evaluator.verdict(on: weak)
                #expect(verdict == .faulty(weak == owners ? .roleTooStrong : .roleTooWeak))
            }
            // The new owner is stronger now, and the old one's recovery device was already.
            #expect(evaluator.verdict(on: admins) == .revoked(by: taken))
            #expect(evaluator.isValid(behindBack))
            #expect(evaluator.isValid(taken))
            let writing = evaluator.contentGrant(of: story.device("root"), leastRole: .member)
            #expect(writing == story.grant("root"))
        }
    }

    @Test func `an admin takes a removed person back, a member cannot`() throws {
        var story = Story(admins: ["ann"], members: ["bob", "cat"])
        let open = story.write("ann", after: story.heads, .invite(InviteTerms(role: .member)))
        let removal = story.write(
            "ann", after: story.heads, .remove(member: story.member("bob")))
        let admission = AuthAction.admit(
            invite: open, member: story.member("bob"), devices: [story.device("bob")], request: nil)
        let refused = story.write("cat", after: [removal], admission)
        let allowed = story.write("ann", after: [removal], admission)
        let message = story.write("bob", under: allowed, after: [allowed], .createDocument)
        try story.inEveryOrder { evaluator in
            #expect(evaluator.verdict(on: refused) == .faulty(.returnNeedsAdmin))
            #expect(evaluator.isValid(allowed) && evaluator.isValid(message))
            #expect(evaluator.grants(of: story.device("bob")) == [allowed])
        }
    }

    @Test func `what a demoted admin did offline is void, what he did before is not`() throws {
        var story = Story(admins: ["ann"])
        let before = story.write("ann", after: story.heads, .invite(InviteTerms(role: .member)))
        let demotion = story.promote("ann", to: .member, replacing: true)
        let offline = story.write("ann", after: [before], .invite(InviteTerms(role: .member)))
        let admitted = story.admit("dan", on: offline, by: "root", after: [offline, demotion])
        let fitting = story.write("ann", under: demotion, after: [demotion], .createDocument)
        try story.inEveryOrder { evaluator in
            #expect(evaluator.isValid(before) && evaluator.isValid(fitting))
            #expect(evaluator.verdict(on: offline) == .revoked(by: demotion))
            #expect(evaluator.verdict(on: admitted) == .unsupported(by: offline))
            #expect(evaluator.bestGrant(of: story.device("ann")) == demotion)
        }
    }

    @Test func `an invite used in two partitions lets both in, and nobody after they met`() throws {
        var story = Story(admins: ["ann"], members: ["bob"])
        let invite = story.write("ann", after: story.heads, .invite(InviteTerms(role: .member)))
        let here = story.admit("dan", on: invite, by: "ann", after: [invite])
        let there = story.admit("eve", on: invite, by: "bob", after: [invite])
        let late = story.admit("fay", on: invite, by: "ann", after: [here, there])
        try story.inEveryOrder { evaluator in
            #expect(evaluator.isValid(here) && evaluator.isValid(there))
            #expect(evaluator.verdict(on: late) == .faulty(.inviteUsedUp))
        }
    }

    @Test func `closing an invite voids admissions that it has not seen`() throws {
        var story = Story(admins: ["ann"], members: ["bob"])
        let invite = story.write(
            "ann", after: story.heads, .invite(InviteTerms(role: .member, uses: 5)))
        let seen = story.admit("dan", on: invite, by: "bob", after: [invite])
        let closing = story.write("ann", after: [seen], .revokeInvite(invite))
        let unseen = story.admit("eve", on: invite, by: "bob", after: [seen])
        let late = story.admit("fay", on: invite, by: "bob", after: [closing])
        try story.inEveryOrder { evaluator in
            #expect(evaluator.isValid(seen))
            #expect(evaluator.verdict(on: unseen) == .revoked(by: closing))
            #expect(evaluator.verdict(on: late) == .revoked(by: closing))
        }
    }

    @Test func `a removed admin's open invite admits nobody`() throws {
        var story = Story(admins: ["ann"], members: ["bob"])
        let invite = story.write(
            "ann", after: story.heads, .invite(InviteTerms(role: .member, uses: 5)))
        let seen = story.admit("dan", on: invite, by: "bob", after: [invite])
        let removal = story.write("root", after: [seen], .remove(member: story.member("ann")))
        let late = story.admit("eve", on: invite, by: "bob", after: [removal])
        try story.inEveryOrder { evaluator in
            #expect(evaluator.isValid(seen) && evaluator.isValid(invite))
            #expect(evaluator.verdict(on: late) == .revoked(by: removal))
        }
    }

    @Test func `somebody who left is gone with all devices until let in again`() throws {
        var story = Story(admins: ["ann"], members: ["bob"])
        let second = story.write("bob", after: story.heads, .addDevices([story.device("bob2")]))
        let leaving = story.write("bob", after: [second], .leave)
        let late = story.write("bob2", under: second, after: [second], .createDocument)
        try story.inEveryOrder { evaluator in
            #expect(evaluator.isValid(leaving) && evaluator.isValid(second))
            #expect(evaluator.verdict(on: late) == .revoked(by: leaving))
            #expect(evaluator.bestGrant(of: story.device("bob")) == nil)
            #expect(evaluator.bestGrant(of: story.device("bob2")) == nil)
        }
    }

    @Test func `somebody who left does not let himself in again, by a stronger device either`()
        throws
    {
        var story = Story(admins: ["ann"])
        let given = story.promote("ann", to: .owner)
        let leaving = story.write("root", after: [given], .leave)
        let hidden = story.write(
            "recovery", under: story.grant("root"), after: [given],
            .addDevices([story.device("hidden")]))
        let open = story.write(
            "recovery", under: story.grant("root"), after: [leaving],
            .addDevices([story.device("open")]))
        let acts = [("hidden", hidden), ("open", open)].map { name, grant in
            story.write(name, under: grant, after: [grant, leaving], .createDocument)
        }
        try story.inEveryOrder { evaluator in
            #expect(evaluator.isValid(leaving))
            #expect(evaluator.role(of: story.member("root")) == nil)
            for name in ["root", "recovery", "hidden", "open"] {
                let device = story.device(name)
                #expect(evaluator.bestGrant(of: device) == nil, "\(name)")
                #expect(evaluator.contentGrant(of: device, leastRole: .guest) == nil, "\(name)")
            }
            for act in acts { #expect(evaluator.verdict(on: act) == .revoked(by: leaving)) }
        }
        // Whoever is let in by others is in, and adds devices as before.
        let invite = story.write(
            "ann", after: story.heads, .invite(InviteTerms(role: .member)))
        let back = story.admit("root", on: invite, by: "ann", after: [invite])
        let phone = story.write(
            "root", under: back, after: [back], .addDevices([story.device("phone")]))
        let evaluator = try AuthEvaluator.evaluateFromScratch(story.history.operations)
        #expect(evaluator.isValid(back) && evaluator.isValid(phone))
        #expect(evaluator.bestGrant(of: story.device("root")) == back)
        #expect(evaluator.bestGrant(of: story.device("phone")) == phone)
        #expect(evaluator.bestGrant(of: story.device("open")) == nil)
    }

    @Test func `an owner leaves only where there is another`() throws {
        var story = Story(admins: ["ann"])
        let early = story.write("root", after: story.heads, .leave)
        let given = story.promote("ann", to: .owner)
        let leaving = story.write("recovery", under: story.grant("root"), after: [given], .leave)
        try story.inEveryOrder { evaluator in
            #expect(!evaluator.contains(early), "A-23")
            #expect(!evaluator.contains(leaving), "A-23")
        }
    }

    @Test func `a lost last device cannot be replaced by others, only its holder invited anew`()
        throws
    {
        var story = Story(admins: ["ann"], members: ["bob"])
        let lost = story.write(
            "ann", after: story.heads, .removeDevice(story.device("bob")))
        let thief = story.write("bob", after: story.start, .addDevices([story.device("thief")]))
        let renewed = story.write(
            "ann", after: [lost],
            .grant(
                RoleGrant(
                    member: story.member("bob"), devices: [story.device("bob2")], role: .member)))
        let invite = story.write("ann", after: [renewed], .invite(InviteTerms(role: .member)))
        let anew = story.admit("bob2", on: invite, by: "ann", after: [invite])
        try story.inEveryOrder { evaluator in
            #expect(evaluator.verdict(on: thief) == .revoked(by: lost))
            #expect(evaluator.verdict(on: renewed) == .faulty(.foreignDevice))
            #expect(!evaluator.members.contains { $0.member == story.member("bob") })
            #expect(evaluator.bestGrant(of: story.device("bob2")) == anew)
        }
    }

    @Test func `the first device of a grant outranks the others, so recovery answers theft`()
        throws
    {
        var story = Story(admins: ["ann"])
        let start = story.heads
        let theft = story.write("root", after: start, .removeDevice(story.device("recovery")))
        let answer = story.write(
            "recovery", under: story.grant("root"), after: start,
            .removeDevice(story.device("root")))
        try story.inEveryOrder { evaluator in
            #expect(evaluator.isValid(answer))
            #expect(evaluator.verdict(on: theft) == .revoked(by: answer))
        }
    }
}
