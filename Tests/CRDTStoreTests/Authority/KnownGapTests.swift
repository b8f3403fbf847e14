import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

/// What the rules of PROTOCOL.md, 4, allow against a goal of the design, each in the smallest known
/// history. Closing a gap changes its test.
struct `Known gaps of the rules` {
    private func definition(_ story: Story) -> (AuthDefinition, valid: Set<OperationID>) {
        var generator = SeededGenerator(seed: 1)
        let definition = AuthDefinition(story.history, visitingWith: &generator)
        return (definition, definition.validOperations())
    }

    /// G4, kept by A-20: no transfer leaves the workspace to an owner without listed devices.
    @Test func `a transfer to no device is refused (A-20)`() {
        var story = Story(admins: ["ann"])
        let given = story.write(
            "root", after: story.heads,
            .grant(
                RoleGrant(
                    member: story.member("ann"), devices: [], role: .owner,
                    drops: [story.device("root"), story.device("recovery")])))
        #expect(story.brokenRule(of: given) == "A-20")
    }

    /// G7, G8: an rmdev without fault in the past bars, valid or not, unless what bars its author
    /// does not know it.
    @Test func `a void rmdev by a device that its person revoked bars nobody`() {
        var story = Story(admins: ["ann"], members: ["eve"])
        let laptop = story.write(
            "recovery", under: story.grant("root"), after: story.heads,
            .addDevices([story.device("laptop")]))
        let lost = story.write(
            "recovery", under: story.grant("root"), after: [laptop],
            .removeDevice(story.device("root")))
        let void = story.write("root", after: [laptop], .removeDevice(story.device("laptop")))
        let smuggled = story.write("eve", after: [lost, void], .createDocument)
        let handing = story.write(
            "recovery", under: story.grant("root"), after: [smuggled],
            story.transfer(to: "ann", keeping: ["recovery", "laptop"]))
        let (_, valid) = definition(story)
        #expect(valid.isSuperset(of: [lost, smuggled]) && !valid.contains(void))
        #expect(story.brokenRule(of: handing) == nil)
    }

    /// An admin's revocation bars no device, so whatever it does not know still bars.
    @Test func `a void rmdev by a device that an admin revoked bars a younger one`() {
        var story = Story(admins: ["ann"], members: ["eve"])
        let laptop = story.write(
            "ann", after: story.heads, .addDevices([story.device("laptop")]))
        let lost = story.write("root", after: [laptop], .removeDevice(story.device("ann")))
        let void = story.write("ann", after: [laptop], .removeDevice(story.device("laptop")))
        let smuggled = story.write("eve", after: [lost, void], .createDocument)
        let given = story.write(
            "root", after: [smuggled],
            .grant(
                RoleGrant(
                    member: story.member("ann"), devices: [story.device("laptop")], role: .member)))
        let (_, valid) = definition(story)
        #expect(valid.isSuperset(of: [lost, smuggled]) && !valid.contains(void))
        #expect(story.brokenRule(of: given) == "A-19")
    }

    /// G8: an admit without fault in the past binds, valid or not, and everybody can read requests.
    @Test func `a void admit of somebody who asks keeps them out, when somebody cites it`() {
        var story = Story(admins: ["ann", "yan"], members: ["eve"])
        let open = story.write(
            "ann", after: story.heads, .invite(InviteTerms(role: .member, needsApproval: true)))
        let removal = story.write("ann", after: [open], .remove(member: story.member("yan")))
        let request = story.write(
            "ann", after: [removal],
            .request(
                invite: open, member: story.member("new"), devices: [story.device("new")],
                answering: nil))
        let void = story.admit("new", on: open, by: "yan", after: [request], request: request)
        let smuggled = story.write("eve", after: [void], .createDocument)
        let approved = story.admit("new", on: open, by: "ann", after: [smuggled], request: request)
        let given = story.write("ann", after: [smuggled], story.comeback("new"))
        let (definition, valid) = definition(story)
        #expect(valid.contains(smuggled) && !valid.contains(void))
        #expect(story.brokenRule(of: approved) == "A-13")
        #expect(valid.contains(given), "a grant lets in whom a void admit has bound")
        #expect(definition.standing(of: story.device("new"), among: valid)?.grant == given)
    }

    /// V-3 takes a transfer by the strongest everyday device as the person's own: the phrase loses
    /// the role too, whether it is listed or not. But what it writes under its first grant is an
    /// owner's.
    @Test func `the phrase is an admin after a transfer by the strongest stolen device (V-3)`() {
        var story = Story(admins: ["ann"])
        let given = story.write(
            "root", after: story.heads, story.transfer(to: "ann", keeping: ["root"]))
        let revoked = story.write(
            "recovery", under: story.grant("root"), after: [given],
            .removeDevice(story.device("root")))
        let demoted = story.write(
            "recovery", under: story.grant("root"), after: [revoked],
            .grant(
                RoleGrant(
                    member: story.member("ann"), devices: [story.device("ann")], role: .member,
                    replaces: true)))
        let (definition, valid) = definition(story)
        #expect(valid.isSuperset(of: [given, revoked, demoted]))
        let standing = definition.standing(of: story.device("recovery"), among: valid)
        #expect(standing?.role == .admin)
        #expect(definition.standing(of: story.device("ann"), among: valid)?.role == .member)
    }

    /// G5: a leave hits only what is weaker, so a stronger device of the leaver stays in.
    @Test func `a leave by a younger device leaves authority to the older one`() {
        var story = Story(admins: ["ann"], members: ["bob"])
        let second = story.write("bob", after: story.heads, .addDevices([story.device("bob2")]))
        let leaving = story.write("bob2", under: second, after: [second], .leave)
        let late = story.write("bob", after: [leaving], .createDocument)
        let (definition, valid) = definition(story)
        #expect(valid.isSuperset(of: [leaving, late]))
        #expect(definition.standing(of: story.device("bob"), among: valid) == nil)
    }

    /// By V-3 what was left of the old role ranks as young as the transfer.
    @Test func `an admin ends what a former owner is, and the content under the old grant`() {
        var story = Story(admins: ["ann", "bob"])
        let given = story.write(
            "root", after: story.heads,
            story.transfer(to: "ann", keeping: ["root", "recovery"]))
        let removal = story.write("bob", after: [given], .remove(member: story.member("root")))
        let (definition, valid) = definition(story)
        #expect(definition.standing(of: story.device("root"), among: valid) == nil)
        let reached = definition.revocationsOfContent(
            under: story.grant("root"), by: story.device("root"))
        #expect(reached == [removal])
    }

    /// G5: of two admissions the one with the smaller lam is the stronger grant, and a leave is as
    /// strong as the grant under which it was written. Queries about now still treat the member as
    /// out.
    @Test func `who left signs on by a friend's admission in an older past`() {
        var story = Story(admins: [], members: ["eve"])
        let open = story.write(
            "root", after: story.heads, .invite(InviteTerms(role: .member, uses: 9)))
        let busy = story.write("root", after: [open], .createDocument)
        let admitted = story.admit("vic", on: open, by: "root", after: [busy])
        let leaving = story.write("vic", under: admitted, after: [admitted], .leave)
        let copy = story.admit("vic", on: open, by: "eve", after: [open])
        let late = story.write("vic", under: copy, after: [leaving, copy], .createDocument)
        let (definition, valid) = definition(story)
        #expect(valid.isSuperset(of: [leaving, copy, late]))
        #expect(definition.standing(of: story.device("vic"), among: valid) == nil)
    }
}
