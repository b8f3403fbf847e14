import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

/// Realistic situations, each delivered in every order (or the first 3,000).
struct `Authority ends people's quarrels the same way everywhere` {
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
            // Weaker than its target: valid, and without effect on it.
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
            story.transfer(to: "zoe", keeping: ["ann"]))
        try story.inEveryOrder { evaluator in
            #expect(evaluator.isValid(removal))
            #expect(evaluator.verdict(on: transfer) == .revoked(by: removal))
            #expect(evaluator.bestGrant(of: story.device("zoe")) == story.grant("zoe"))
        }
    }

    @Test func `a transfer makes one owner of another, and an admin of the first (A-20)`() throws {
        var story = Story(admins: ["ann"])
        let start = story.heads
        let own = ["recovery", "root"]
        let transfer = story.write("root", after: start, story.transfer(to: "ann", keeping: own))
        let late = story.write("root", after: [transfer], .deleteWorkspace)
        let tried = story.write("root", under: transfer, after: [transfer], .deleteWorkspace)
        let owners = story.write(
            "root", under: transfer, after: [transfer], .invite(InviteTerms(role: .admin)))
        let admins = story.write(
            "root", under: transfer, after: [transfer], .invite(InviteTerms(role: .member)))
        let taken = story.write(
            "ann", under: transfer, after: [transfer],
            .grant(
                RoleGrant(
                    member: story.member("root"), devices: [story.device("root")], role: .member,
                    replaces: true)))
        let behindBack = story.write("recovery", under: story.grant("root"), after: start, .rekey)
        try story.inEveryOrder { evaluator in
            #expect(evaluator.bestGrant(of: story.device("ann")) == transfer)
            #expect(evaluator.verdict(on: late) == .revoked(by: transfer))
            #expect(!evaluator.contains(tried) && !evaluator.contains(owners))
            #expect(evaluator.role(ofGrant: transfer, device: story.device("root")) == .admin)
            #expect(
                evaluator.subject(ofGrant: transfer, device: story.device("root"))
                    == story.member("root"))
            // The new owner is stronger now, and the former owner's recovery device was stronger
            // before.
            #expect(evaluator.verdict(on: admins) == .revoked(by: taken))
            #expect(evaluator.isValid(behindBack) && evaluator.isValid(taken))
        }
        #expect(story.brokenRule(of: tried) == "4.0.2" && story.brokenRule(of: owners) == "A-8")
    }

    @Test func `a transfer names an heir who is in, and own devices (A-20)`() throws {
        var story = Story(admins: ["ann"], members: ["bob"])
        let guest = story.promote("bob", to: .guest, replacing: true)
        let start = story.heads
        let stranger = story.write(
            "root", after: start, story.transfer(to: "zoe", keeping: ["root"]))
        let nothing = story.write("root", after: start, story.transfer(to: "ann", keeping: []))
        let foreign = story.write("root", after: start, story.transfer(to: "bob", keeping: ["ann"]))
        let byAdmin = story.write("ann", after: start, story.transfer(to: "bob", keeping: ["ann"]))
        let good = story.write("root", after: start, story.transfer(to: "bob", keeping: ["root"]))
        try story.inEveryOrder { evaluator in
            for id in [stranger, nothing, foreign, byAdmin] { #expect(!evaluator.contains(id)) }
            #expect(evaluator.isValid(good) && evaluator.isValid(guest))
        }
        #expect(story.brokenRule(of: stranger) == "A-19", "nothing binds her device")
        for id in [nothing, foreign] { #expect(story.brokenRule(of: id) == "A-20") }
        #expect(story.brokenRule(of: byAdmin) == "A-19", "an owner is stronger than an admin")
    }

    @Test func `an admin takes a removed person back by a grant, and nobody admits again (A-13)`()
        throws
    {
        var story = Story(admins: ["ann"], members: ["bob", "cat"])
        let open = story.write("ann", after: story.heads, .invite(InviteTerms(role: .member)))
        let removal = story.write("ann", after: [open], .remove(member: story.member("bob")))
        let refused = story.admit("bob", on: open, by: "cat", after: [removal])
        let admitted = story.admit("bob", on: open, by: "ann", after: [removal])
        let given = story.write("cat", after: [removal], story.comeback("bob"))
        let allowed = story.write("ann", after: [removal], story.comeback("bob"))
        let message = story.write("bob", under: allowed, after: [allowed], .createDocument)
        try story.inEveryOrder { evaluator in
            for id in [refused, admitted, given] { #expect(!evaluator.contains(id)) }
            #expect(evaluator.isValid(allowed) && evaluator.isValid(message))
            #expect(evaluator.grants(of: story.device("bob")) == [allowed])
        }
        #expect(story.brokenRule(of: refused) == "A-13")
        #expect(story.brokenRule(of: admitted) == "A-13")
        #expect(story.brokenRule(of: given) == "A-19")
    }

    @Test func `who was removed asks to come back with own devices that are not barred (A-12)`()
        throws
    {
        var story = Story(admins: ["ann"], members: ["bob", "cat"])
        let open = story.write("ann", after: story.heads, .invite(InviteTerms(role: .member)))
        let second = story.write("bob", after: [open], .addDevices([story.device("bob2")]))
        let barred = story.write("bob", after: [second], .removeDevice(story.device("bob2")))
        let removal = story.write("ann", after: [barred], .remove(member: story.member("bob")))
        func ask(_ devices: [String], _ end: OperationID) -> AuthAction {
            .request(
                invite: open, member: story.member("bob"),
                devices: devices.map { story.device($0) },
                answering: end)
        }
        let good = story.write("cat", after: [removal], ask(["bob"], removal))
        let refused = [
            story.write("cat", after: [removal], ask(["bob2"], removal)),
            story.write("cat", after: [removal], ask(["bob", "cat"], removal)),
            story.write("cat", after: [removal], ask(["new"], removal)),
            story.write("cat", after: [removal], ask(["bob"], barred)),
        ]
        let again = story.write(
            "ann", after: [removal],
            .grant(
                RoleGrant(
                    member: story.member("bob"), devices: [story.device("bob2")], role: .member)))
        let evaluator = try AuthEvaluator.evaluateFromScratch(story.history.operations)
        #expect(evaluator.isValid(good))
        for id in refused {
            #expect(!evaluator.contains(id) && story.brokenRule(of: id) == "A-12")
        }
        #expect(!evaluator.contains(again) && story.brokenRule(of: again) == "A-19")
    }

    @Test func `a device that its person gave up comes back for nobody (A-19)`() throws {
        var story = Story(admins: [], members: ["yan"])
        let start = story.heads
        let linked = story.write("root", after: start, .addDevices([story.device("lost")]))
        let given = story.write("root", after: [linked], .removeDevice(story.device("lost")))
        let second = story.write("root", after: [given], .addDevices([story.device("root2")]))
        // A thief with the lost key and another member's key binds the device to that member in an
        // old past.
        let taken = story.write("yan", after: start, .addDevices([story.device("lost")]))
        let back = story.write(
            "root2", under: second, after: [second, taken],
            .grant(
                RoleGrant(
                    member: story.member("yan"),
                    devices: [story.device("lost"), story.device("yan")], role: .admin,
                    replaces: true)))
        let evaluator = try AuthEvaluator.evaluateFromScratch(story.history.operations)
        #expect(evaluator.contains(taken) && evaluator.contains(second))
        #expect(!evaluator.contains(back))
        #expect(story.brokenRule(of: back) == "A-19")
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
            #expect(!evaluator.contains(late))
        }
        #expect(story.brokenRule(of: late) == "A-13")
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

    @Test func `somebody who left is out with all devices until admitted again`() throws {
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

    @Test
    func `somebody who left does not let himself in again, by a stronger device either (V-4)`()
        throws
    {
        var story = Story(admins: ["ann"], members: ["bob"])
        let second = story.write("bob", after: story.heads, .addDevices([story.device("bob2")]))
        let leaving = story.write("bob2", under: second, after: [second], .leave)
        let hidden = story.write("bob", after: [second], .addDevices([story.device("hidden")]))
        let open = story.write("bob", after: [leaving], .addDevices([story.device("open")]))
        let acts = [("hidden", hidden), ("open", open)].map { name, grant in
            story.write(name, under: grant, after: [grant, leaving], .createDocument)
        }
        try story.inEveryOrder { evaluator in
            #expect(evaluator.isValid(leaving))
            #expect(evaluator.role(of: story.member("bob")) == nil)
            for name in ["bob", "bob2", "hidden", "open"] {
                let device = story.device(name)
                #expect(evaluator.bestGrant(of: device) == nil, "\(name)")
                #expect(evaluator.contentGrant(of: device, leastRole: .guest) == nil, "\(name)")
            }
            for act in acts { #expect(evaluator.verdict(on: act) == .revoked(by: leaving)) }
        }
        // A member admitted by others is in, and adds devices as before.
        let back = story.write("ann", after: story.heads, story.comeback("bob"))
        let phone = story.write(
            "bob", under: back, after: [back], .addDevices([story.device("phone")]))
        let evaluator = try AuthEvaluator.evaluateFromScratch(story.history.operations)
        #expect(evaluator.isValid(back) && evaluator.isValid(phone))
        #expect(evaluator.bestGrant(of: story.device("bob")) == back)
        #expect(evaluator.bestGrant(of: story.device("phone")) == phone)
        #expect(evaluator.bestGrant(of: story.device("open")) == nil)
    }

    @Test func `a leave under a weaker grant leaves what the stronger gives (V-4)`() throws {
        var story = Story(admins: [], members: ["bob"])
        let given = story.promote("bob", to: .owner)
        let leaving = story.write("bob", after: [given], .leave)
        let asOwner = story.write("bob", under: given, after: [given], .leave)
        try story.inEveryOrder { evaluator in
            #expect(evaluator.isValid(leaving) && !evaluator.contains(asOwner))
            #expect(evaluator.bestGrant(of: story.device("bob")) == given)
        }
        #expect(story.brokenRule(of: asOwner) == "A-23")
    }

    @Test func `an owner leaves only after having handed over (A-23)`() throws {
        var story = Story(admins: ["ann"])
        let start = story.heads
        let given = story.promote("ann", to: .owner)
        let early = story.write("root", after: start, .leave)
        let second = story.write("recovery", under: story.grant("root"), after: [given], .leave)
        let transfer = story.write(
            "root", after: [given], story.transfer(to: "ann", keeping: ["root", "recovery"]))
        let leaving = story.write("root", under: transfer, after: [transfer], .leave)
        try story.inEveryOrder { evaluator in
            #expect(!evaluator.contains(early) && !evaluator.contains(second))
            #expect(evaluator.isValid(transfer) && evaluator.isValid(leaving))
            #expect(evaluator.role(of: story.member("root")) == nil)
            #expect(evaluator.role(of: story.member("ann")) == .owner)
        }
        for id in [early, second] { #expect(story.brokenRule(of: id) == "A-23") }
    }

    @Test func `a void transfer that others cite takes nothing from its author's member`() throws {
        var story = Story(admins: ["ann"], members: ["bob"])
        let start = story.heads
        let lost = story.write(
            "recovery", under: story.grant("root"), after: start,
            .removeDevice(story.device("root")))
        let stolen = story.write("root", after: start, story.transfer(to: "bob", keeping: ["root"]))
        let smuggled = story.write("bob", after: [lost, stolen], .createDocument)
        let ruling = story.write(
            "recovery", under: story.grant("root"), after: [smuggled], .deleteWorkspace)
        try story.inEveryOrder { evaluator in
            #expect(evaluator.verdict(on: stolen) == .revoked(by: lost))
            #expect(evaluator.isValid(smuggled) && evaluator.isValid(ruling))
            #expect(evaluator.role(of: story.member("root")) == .owner)
        }
    }

    @Test func `a device that an older one removed never comes back (A-17)`() throws {
        var story = Story(admins: ["ann"], members: ["bob"])
        let second = story.write("bob", after: story.heads, .addDevices([story.device("bob2")]))
        let younger = story.write(
            "bob2", under: second, after: [second], .removeDevice(story.device("bob")))
        let lost = story.write("bob", after: [second], .removeDevice(story.device("bob2")))
        let again = story.write("bob", after: [lost], .addDevices([story.device("bob2")]))
        let given = story.write(
            "ann", after: [younger], story.comeback("bob"))
        try story.inEveryOrder { evaluator in
            #expect(evaluator.isValid(lost) && !evaluator.contains(again))
            #expect(evaluator.verdict(on: younger) == .revoked(by: lost))
            #expect(evaluator.isValid(given), "a younger device bars no older one")
        }
        #expect(story.brokenRule(of: again) == "A-17")
    }

    @Test func `what only a void operation stands on can be taken back (S-2)`() throws {
        var story = Story(admins: ["ann"], members: ["bob"])
        let removal = story.write(
            "ann", after: story.heads, .remove(member: story.member("bob")))
        let late = story.write("bob", after: story.start, .createDocument)
        var evaluator = try AuthEvaluator.evaluateFromScratch(story.history.operations.dropLast())
        let before = (evaluator.count, evaluator.heads, evaluator.frontier)
        _ = try evaluator.add(try #require(story.history[late]))
        let withdrawn = [removal, late, late].map { evaluator.withdraw($0) }
        #expect(withdrawn == [false, true, false])
        #expect((evaluator.count, evaluator.heads, evaluator.frontier) == before)
        #expect(!evaluator.contains(late))
        #expect(try evaluator.add(try #require(story.history[late])).isEmpty)
    }

    @Test func `nothing counts behind a feature that is unknown, and nobody sees a void one (A-6)`()
        throws
    {
        var story = Story(admins: ["ann", "eve"], members: ["bob"])
        let start = story.heads
        let owning = story.promote("eve", to: .owner)
        let removal = story.write("root", after: [owning], .remove(member: story.member("eve")))
        let void = story.write("eve", under: owning, after: [owning], .feature(isKnown: false))
        let behind = story.write("eve", under: owning, after: [void], .unknown)
        let deaf = story.write("bob", after: [void], .createDocument)
        let stranger = story.write("bob", under: story.grant("ann"), after: [void], .unknown)
        let unknown = story.write("bob", after: start, .unknown)
        try story.inEveryOrder { evaluator in
            #expect(evaluator.isValid(removal) && !evaluator.isValid(void))
            for id in [behind, deaf] { #expect(evaluator.contains(id) && !evaluator.isValid(id)) }
            #expect(!evaluator.contains(stranger) && !evaluator.contains(unknown))
        }
        #expect(story.brokenRule(of: stranger) == "A-5" && story.brokenRule(of: unknown) == "A-7")
    }

    @Test func `a lost last device cannot be replaced by others; its holder needs a new invite`()
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
        let invite = story.write("ann", after: [lost], .invite(InviteTerms(role: .member)))
        let anew = story.admit("bob2", on: invite, by: "ann", after: [invite])
        try story.inEveryOrder { evaluator in
            #expect(evaluator.verdict(on: thief) == .revoked(by: lost))
            #expect(!evaluator.contains(renewed))
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
