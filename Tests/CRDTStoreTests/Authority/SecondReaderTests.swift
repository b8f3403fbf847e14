import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

/// Findings of `make campaign-reader`: where the evaluator differed from PROTOCOL.md, each in the
/// smallest known history.
struct `What the second reader found` {
    private func limits(
        _ story: Story, _ grant: OperationID, _ name: String
    ) throws -> Set<ContentLimit> {
        var found: Set<ContentLimit> = []
        let log = LogName(document: .zero, device: story.device(name), incarnation: 1)
        try story.inEveryOrder { evaluator in
            found.insert(evaluator.contentLimit(grant: grant, log: log, leastRole: .member))
        }
        return found
    }

    // V-3, V-5: what is written under a grant that a transfer took ranks as what the transfer keeps,
    // and so with the place that the device has there.

    /// A member who has handed the workspace over revokes a phone that was lost later.
    @Test func `the content of a phone ends with it, when its person revokes it`() throws {
        var story = Story(admins: ["ann"])
        let phone = story.write("root", after: story.heads, .addDevices([story.device("phone")]))
        let given = story.write(
            "root", after: [phone], story.transfer(to: "ann", keeping: ["root", "phone"]))
        let lost = story.write(
            "root", under: given, after: [given], .removeDevice(story.device("phone")))
        try story.inEveryOrder { evaluator in
            #expect(evaluator.isValid(lost))
            #expect(evaluator.bestGrant(of: story.device("phone")) == nil)
        }
        let limits = try limits(story, phone, "phone")
        #expect(limits == [.nothing])
    }

    /// An heir with two devices precedes what is kept, and so the phrase ranks behind the place
    /// that the computer has in the root.
    @Test func `the content of a computer ends with it, when the phrase revokes it`() throws {
        var story = Story(admins: ["ann"])
        let second = story.write(
            "ann", after: story.heads, .addDevices([story.device("tablet")]))
        let given = story.write(
            "root", after: [second],
            .grant(
                RoleGrant(
                    member: story.member("ann"),
                    devices: [story.device("ann"), story.device("tablet")], role: .owner,
                    drops: [story.device("recovery"), story.device("root")])))
        let lost = story.write(
            "recovery", under: given, after: [given], .removeDevice(story.device("root")))
        try story.inEveryOrder { evaluator in
            #expect(evaluator.isValid(lost))
            #expect(evaluator.bestGrant(of: story.device("root")) == nil)
        }
        let limits = try limits(story, story.grant("root"), "root")
        #expect(limits == [.nothing])
    }

    /// Behind the last device that it lists, as in V-5.
    @Test func `a device that a transfer does not list is put out by those that it lists`() throws {
        var story = Story(admins: ["ann"])
        let start = story.heads
        let phone = story.write(
            "recovery", under: story.grant("root"), after: start,
            .addDevices([story.device("phone")]))
        let given = story.write(
            "root", after: start, story.transfer(to: "ann", keeping: ["recovery", "root"]))
        let lost = story.write(
            "recovery", under: given, after: [phone, given], .removeDevice(story.device("phone")))
        var isIn: Set<Bool> = []
        try story.inEveryOrder { evaluator in
            #expect(evaluator.isValid(phone) && evaluator.isValid(lost))
            isIn.insert(evaluator.bestGrant(of: story.device("phone")) != nil)
        }
        #expect(isIn == [false])
    }

    /// V-2: two grants that one transfer took, and that came before it, have the same rank.
    @Test func `which of two grants is the strongest hangs on no order of arrival`() throws {
        var story = Story(admins: ["ann"])
        let start = story.heads
        let root = story.grant("root")
        for _ in 0..<2 {
            _ = story.write(
                "recovery", under: root, after: start, .addDevices([story.device("phone")]))
        }
        let before = story.write("root", after: start, .createDocument)
        _ = story.write(
            "root", after: [before], story.transfer(to: "ann", keeping: ["recovery", "root"]))
        var named: Set<OperationID?> = []
        try story.inEveryOrder { named.insert($0.bestGrant(of: story.device("phone"))) }
        #expect(named.count == 1)
    }

    /// after an unknown feature it is only judged whether the grant lists the device; a
    /// transfer lists what its author keeps.
    @Test func `what a transfer keeps is a grant behind an unknown feature`() throws {
        var story = Story(admins: ["ann"])
        let feature = story.write("root", after: story.heads, .feature(isKnown: false))
        let given = story.write(
            "root", after: [feature], story.transfer(to: "ann", keeping: ["recovery", "root"]))
        let later = story.write("root", under: given, after: [given], .createDocument)
        #expect(story.brokenRule(of: later) == nil)
        var isTaken: Set<Bool> = []
        try story.inEveryOrder { evaluator in
            #expect(evaluator.contains(given))
            isTaken.insert(evaluator.contains(later))
        }
        #expect(isTaken == [true])
    }
}
