import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

/// Two concurrent operations that cannot both have effect, and the recovery from a lost last
/// device: small stories, delivered in every causal order.
struct `Authority settles what was done at the same time` {
    /// Judges the story in all its orders; they are few enough to test every one.
    private func inAllOrders(
        _ story: Story, at least: Int, _ check: (AuthEvaluator) throws -> Void
    ) throws {
        let orders = story.history.causalOrders(limit: 3_000).count
        #expect(orders >= least && orders < 3_000, "\(orders) orders")
        try story.inEveryOrder(check)
    }

    private func transfer(to name: String, in story: Story) -> AuthAction {
        story.transfer(to: name, keeping: ["recovery", "root"])
    }

    @Test func `two owners who remove each other leave the elder, and an admin cannot help`()
        throws
    {
        var story = Story(admins: ["ann", "bob"])
        let younger = story.promote("ann", to: .owner)
        let start = story.heads
        let first = story.write("root", after: start, .remove(member: story.member("ann")))
        let second = story.write(
            "ann", under: younger, after: start, .remove(member: story.member("root")))
        let third = story.write("bob", after: start, .remove(member: story.member("root")))
        let fourth = story.write("bob", after: start, .remove(member: story.member("ann")))
        try inAllOrders(story, at: 24) { evaluator in
            #expect(evaluator.isValid(first))
            #expect(evaluator.verdict(on: second) == .revoked(by: first))
            // Valid, and too weak against an owner, but the first one has already removed Ann.
            #expect(evaluator.isValid(third) && evaluator.isValid(fourth))
            #expect(evaluator.role(of: story.member("root")) == .owner)
            #expect(evaluator.role(of: story.member("ann")) == nil)
            #expect(evaluator.role(of: story.member("bob")) == .admin)
        }
    }

    @Test func `four admins who remove each other in a circle lose every second`() throws {
        let names = ["ann", "bob", "eve", "fay"]
        var story = Story(admins: names)
        let start = story.heads
        var removals: [OperationID] = []
        for (index, name) in names.enumerated() {
            let next = story.member(names[(index + 1) % names.count])
            removals.append(story.write(name, after: start, .remove(member: next)))
        }
        try inAllOrders(story, at: 24) { evaluator in
            #expect(removals.map { evaluator.isValid($0) } == [true, false, true, false])
            for (index, name) in names.enumerated() {
                let role = evaluator.role(of: story.member(name))
                #expect(role == (index.isMultiple(of: 2) ? .admin : nil), "\(name)")
            }
        }
    }

    @Test func `removing the heir does not undo the transfer to him`() throws {
        var story = Story(admins: ["ann", "bob"])
        let start = story.heads
        let given = story.write("root", after: start, transfer(to: "bob", in: story))
        let removal = story.write("ann", after: start, .remove(member: story.member("bob")))
        let asAdmin = story.write("bob", after: start, .rekey)
        let asOwner = story.write("bob", under: given, after: [given], .rekey)
        let left = story.write("root", under: given, after: [given], .leave)
        try inAllOrders(story, at: 20) { evaluator in
            #expect(evaluator.isValid(given) && evaluator.isValid(removal))
            #expect(evaluator.verdict(on: asAdmin) == .revoked(by: removal))
            #expect(evaluator.isValid(asOwner) && evaluator.isValid(left))
            #expect(evaluator.role(of: story.member("bob")) == .owner)
            #expect(evaluator.role(of: story.member("root")) == nil)
        }
    }

    /// The youngest admin is the former owner: the rank of what is kept dates from the transfer.
    @Test(arguments: ["ann", "bob"])
    func `who gave the workspace away is removed by the new owner, and by every admin before`(
        remover: String
    ) throws {
        var story = Story(admins: ["ann", "bob"])
        let start = story.heads
        let given = story.write("root", after: start, transfer(to: "ann", in: story))
        let removal = story.write(
            remover, under: remover == "ann" ? given : nil, after: [given],
            .remove(member: story.member("root")))
        let late = story.write("root", under: given, after: [given], .rekey)
        try inAllOrders(story, at: 2) { evaluator in
            #expect(evaluator.isValid(removal))
            #expect(evaluator.verdict(on: late) == .revoked(by: removal))
            #expect(evaluator.role(of: story.member("root")) == nil)
            #expect(evaluator.bestGrant(of: story.device("recovery")) == nil)
        }
    }

    @Test func `two admissions on one invite each count, the stronger first`() throws {
        var story = Story(admins: ["ann"])
        let invite = story.write(
            "ann", after: story.heads, .invite(InviteTerms(role: .member, uses: 2)))
        let devices = [story.device("dan")]
        let first = story.write(
            "root", after: [invite],
            .admit(invite: invite, member: story.member("dan"), devices: devices, request: nil))
        let second = story.write(
            "recovery", under: story.grant("root"), after: [invite],
            .admit(invite: invite, member: story.member("eve"), devices: devices, request: nil))
        let (stronger, weaker) = first < second ? (first, second) : (second, first)
        try inAllOrders(story, at: 2) { evaluator in
            #expect(evaluator.isValid(stronger) && evaluator.isValid(weaker))
            #expect(evaluator.members(everUsing: story.device("dan")).count == 2)
            #expect(evaluator.grants(of: story.device("dan")) == [stronger, weaker])
        }
    }

    @Test func `of two devices of an owner that give it to two people the stronger counts`() throws
    {
        var story = Story(admins: ["ann", "bob"])
        let start = story.heads
        let first = story.write(
            "recovery", under: story.grant("root"), after: start, transfer(to: "ann", in: story))
        let second = story.write("root", after: start, transfer(to: "bob", in: story))
        let unaware = story.write("root", after: start, .rekey)
        try inAllOrders(story, at: 6) { evaluator in
            #expect(evaluator.isValid(first))
            for weak in [second, unaware] {
                #expect(evaluator.verdict(on: weak) == .revoked(by: first))
            }
            #expect(evaluator.role(of: story.member("ann")) == .owner)
            #expect(evaluator.role(of: story.member("bob")) == .admin)
            #expect(evaluator.role(of: story.member("root")) == .admin)
        }
    }

    @Test func `who is taken back by one admin stays out by a removal that the other did not see`()
        throws
    {
        var story = Story(admins: ["ann", "eve"], members: ["bob"])
        let start = story.heads
        let first = story.write("ann", after: start, .remove(member: story.member("bob")))
        let second = story.write("eve", after: start, .remove(member: story.member("bob")))
        let back = story.write("eve", after: [second], story.comeback("bob"))
        let again = story.write(
            "ann", after: [first, back],
            .grant(
                RoleGrant(
                    member: story.member("bob"), devices: [story.device("bob")], role: .member)))
        let between = story.write("bob", under: back, after: [back], .createDocument)
        let after = story.write("bob", under: again, after: [again], .createDocument)
        try inAllOrders(story, at: 10) { evaluator in
            #expect(evaluator.isValid(back) && evaluator.isValid(again))
            #expect(evaluator.verdict(on: between) == .revoked(by: first))
            #expect(evaluator.isValid(after))
            #expect(evaluator.grants(of: story.device("bob")) == [again])
        }
    }

    @Test func `an admin who was made a guest while offline leaves nothing that needs more`()
        throws
    {
        var story = Story(admins: ["ann"], members: ["bob"])
        let start = story.heads
        let demotion = story.promote("ann", to: .guest, replacing: true)
        let invite = story.write("ann", after: start, .invite(InviteTerms(role: .member)))
        let admitted = story.admit("dan", on: invite, by: "ann", after: [invite])
        let removal = story.write("ann", after: [invite], .remove(member: story.member("bob")))
        let message = story.write("dan", under: admitted, after: [admitted], .createDocument)
        try inAllOrders(story, at: 15) { evaluator in
            #expect(evaluator.isValid(demotion))
            for lost in [invite, removal] {
                #expect(evaluator.verdict(on: lost) == .revoked(by: demotion))
            }
            #expect(!evaluator.isValid(admitted) && !evaluator.isValid(message))
            #expect(evaluator.role(of: story.member("bob")) == .member)
            #expect(evaluator.role(of: story.member("ann")) == .guest)
        }
    }

    /// The device has signed for both, and writes for each under that member's grant.
    @Test func `one invite admits the same device in two partitions, for two members`() throws {
        var story = Story(admins: ["ann"], members: ["bob"])
        let invite = story.write(
            "root", after: story.heads, .invite(InviteTerms(role: .member, uses: 2)))
        let devices = [story.device("dan")]
        let here = story.write(
            "ann", after: [invite],
            .admit(invite: invite, member: story.member("dan"), devices: devices, request: nil))
        let there = story.write(
            "bob", after: [invite],
            .admit(invite: invite, member: story.member("eve"), devices: devices, request: nil))
        let his = story.write("dan", under: here, after: [here], .createDocument)
        let hers = story.write("dan", under: there, after: [there], .createDocument)
        try inAllOrders(story, at: 6) { evaluator in
            for id in [here, his, there, hers] { #expect(evaluator.isValid(id)) }
            #expect(evaluator.author(of: his) == story.member("dan"))
            #expect(evaluator.author(of: hers) == story.member("eve"))
        }
    }

    @Test func `closing an invite reaches an owner's admission, and a weaker closing none`() throws
    {
        var story = Story(admins: ["ann", "eve"])
        let terms = InviteTerms(role: .member, uses: 5)
        let invite = story.write("ann", after: story.heads, .invite(terms))
        let admitted = story.admit("dan", on: invite, by: "root", after: [invite])
        let weak = story.write("eve", after: [invite], .revokeInvite(invite))
        let closing = story.write("ann", after: [invite], .revokeInvite(invite))
        let his = story.write("dan", under: admitted, after: [admitted], .createDocument)
        try inAllOrders(story, at: 12) { evaluator in
            #expect(!evaluator.contains(weak))
            #expect(evaluator.isValid(closing))
            #expect(evaluator.verdict(on: admitted) == .revoked(by: closing))
            #expect(evaluator.verdict(on: his) == .unsupported(by: admitted))
            #expect(evaluator.isClosed(invite: invite))
        }
    }

    @Test func `an owner's lost device is replaced by the recovery device, whatever a finder does`()
        throws
    {
        var story = Story(admins: ["ann"])
        let start = story.heads
        let root = story.grant("root")
        let renewed = story.write(
            "recovery", under: root, after: start, .addDevices([story.device("new")]))
        let lost = story.write(
            "recovery", under: root, after: [renewed], .removeDevice(story.device("root")))
        let planted = story.write("root", after: start, .addDevices([story.device("thief")]))
        let theft = story.write("thief", under: planted, after: [planted], .deleteWorkspace)
        let answer = story.write("root", after: start, .removeDevice(story.device("recovery")))
        let use = story.write("new", under: renewed, after: [renewed], .rekey)
        try inAllOrders(story, at: 60) { evaluator in
            #expect(evaluator.isValid(lost) && evaluator.isValid(renewed))
            #expect(evaluator.verdict(on: planted) == .revoked(by: lost))
            #expect(evaluator.verdict(on: theft) == .unsupported(by: planted))
            #expect(evaluator.verdict(on: answer) == .revoked(by: lost))
            #expect(evaluator.isValid(use))
            #expect(evaluator.role(of: story.member("root")) == .owner)
            #expect(evaluator.grants(of: story.device("root")) == [])
        }
    }

    @Test func `an owner without a recovery device is not replaced, and the workspace goes on`()
        throws
    {
        var story = Story(admins: ["ann"], members: ["bob"])
        let second = story.promote("ann", to: .owner, replacing: true)
        let start = story.heads
        // Root's devices are both lost. Ann is the younger owner: too weak to take them.
        let tried = story.write(
            "ann", under: second, after: start, .removeDevice(story.device("root")))
        let claimed = story.write(
            "ann", under: second, after: start,
            .grant(
                RoleGrant(
                    member: story.member("root"), devices: [story.device("new")], role: .owner)))
        let found = story.write("root", after: start, .rekey)
        let work = story.write(
            "ann", under: second, after: start, .setWorkspace(mayInvite: nil))
        try inAllOrders(story, at: 12) { evaluator in
            #expect(evaluator.isValid(tried) && evaluator.isValid(found))
            #expect(!evaluator.contains(claimed))
            #expect(evaluator.isValid(work))
            #expect(evaluator.bestGrant(of: story.device("root")) == story.grant("root"))
            #expect(evaluator.bestGrant(of: story.device("new")) == nil)
        }
    }
}
