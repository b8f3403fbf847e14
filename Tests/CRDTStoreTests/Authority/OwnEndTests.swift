import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import CRDTStore

/// A member who has left still has their key, and may write as if before. What the device that
/// left, or revoked itself, writes so has no effect: it cannot be older content, which the end knew
/// (4.0.2, the rank of an end).
struct `A member who ended their own membership` {
    private var story = Story(admins: ["ann"], members: ["bob"])

    /// Whether some operations are valid, by the evaluator in every order and by the definition.
    private func expect(
        _ operations: [OperationID], areValid: Bool, without missing: Set<AuthRule> = [],
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        var rules = AuthRuleSet.current
        rules.missing = missing
        var generator = SeededGenerator(seed: 1)
        let valid = AuthDefinition(story.history, rules: rules, visitingWith: &generator)
            .validOperations()
        for (number, id) in operations.enumerated() {
            #expect(valid.contains(id) == areValid, "\(number)", sourceLocation: sourceLocation)
        }
        guard missing.isEmpty else { return }
        try story.inEveryOrder { evaluator in
            for (number, id) in operations.enumerated() {
                #expect(
                    evaluator.isValid(id) == areValid, "\(number)", sourceLocation: sourceLocation)
            }
        }
    }

    @Test(arguments: [false, true])
    mutating func `lets nobody in by a backdated operation`(isRevoked: Bool) throws {
        let open = story.write("root", after: story.heads, .invite(InviteTerms(role: .member)))
        let start = [open]
        let last = story.write("ann", after: start, .createDocument)
        _ = story.write(
            "ann", after: [last], isRevoked ? .removeDevice(story.device("ann")) : .leave)
        let invite = story.write("ann", after: start, .invite(InviteTerms(role: .member)))
        let own = story.admit("eve", on: invite, by: "ann", after: [invite])
        let carried = story.admit("kim", on: invite, by: "bob", after: [invite])
        let others = story.admit("joe", on: open, by: "ann", after: start)
        try expect([invite, own, carried, others], areValid: false)
        try expect([invite, carried, others], areValid: true, without: [.ownEnd])
        // What the end knew stays.
        try expect([open, last], areValid: true)
    }

    /// A member who has left ends the same membership again, in an older past: that would take back
    /// their removals and admissions.
    @Test(arguments: [false, true])
    mutating func `cannot end it again once somebody stronger has answered`(
        isRevoked: Bool
    ) throws {
        let start = story.heads
        let invite = story.write("ann", after: start, .invite(InviteTerms(role: .member)))
        let admission = story.admit("eve", on: invite, by: "root", after: [invite])
        let removal = story.write(
            "ann", after: [admission], .remove(member: story.member("bob")))
        let end: AuthAction = isRevoked ? .removeDevice(story.device("ann")) : .leave
        let last = story.write("ann", after: [removal], end)
        let answer = story.write("root", after: [last], .confirm([last]))
        // Neither the same kind of end again nor the other one.
        let again = [AuthAction.leave, .removeDevice(story.device("ann"))].map {
            story.write("ann", after: start, $0)
        }
        try expect([admission, removal, last, answer], areValid: true)
        try expect(again, areValid: false)
        try expect([admission, removal], areValid: false, without: [.answeredEnd])
    }

    /// An answer by a weaker member does not count, nor one that knows the other end too: then the
    /// strongest end counts.
    @Test(arguments: [false, true])
    mutating func `is answered by somebody stronger, who does not know the other end`(
        knowsBoth: Bool
    ) throws {
        story = Story(admins: ["ann", "kim"], members: ["bob"])
        let start = story.heads
        let removal = story.write("ann", after: start, .remove(member: story.member("bob")))
        let last = story.write("ann", after: [removal], .leave)
        let early = story.write("ann", after: start, .leave)
        let answer = story.write(
            knowsBoth ? "root" : "kim", after: knowsBoth ? [last, early] : [last],
            .confirm([last]))
        try expect([early, answer], areValid: true)
        try expect([removal, last], areValid: false)
    }

    /// A member who came back leaves again, although an earlier end, which had no effect, was
    /// answered.
    @Test mutating func `can leave again after coming back`() throws {
        let start = story.heads
        let futile = story.write("bob", after: start, .leave)
        let removal = story.write("root", after: start, .remove(member: story.member("bob")))
        let back = story.write(
            "root", after: [removal],
            .grant(
                RoleGrant(
                    member: story.member("bob"), devices: [story.device("bob")], role: .member)))
        _ = story.write("ann", after: [futile], .confirm([futile]))
        let last = story.write("bob", under: back, after: [back], .leave)
        try expect([last], areValid: true)
        try expect([futile], areValid: false)
    }

    /// A stolen phone has left for its person, and was revoked by a laptop that had not heard of
    /// that. The person is in, and leaves later on the laptop, knowing what an admin's device had
    /// answered meanwhile.
    @Test mutating func `can leave by an end that knows the first`() throws {
        let start = story.heads
        let linked = story.write("bob", after: start, .addDevices([story.device("phone")]))
        let theft = story.write("phone", under: linked, after: [linked], .leave)
        let answer = story.write("root", after: [theft], .confirm([theft]))
        let end = story.write("bob", after: [linked], .removeDevice(story.device("phone")))
        let last = story.write("bob", after: [answer, end], .leave)
        try expect([last, end], areValid: true)
        try expect([theft], areValid: false)
    }

    /// A weak device leaves for the person, and takes nothing from a strong one (4.0.3).
    @Test mutating func `takes nothing from a stronger device that did not know`() throws {
        let start = story.heads
        let phone = story.write("ann", after: start, .addDevices([story.device("phone")]))
        _ = story.write("phone", under: phone, after: [phone], .leave)
        let invite = story.write("ann", after: [phone], .invite(InviteTerms(role: .member)))
        let admission = story.admit("eve", on: invite, by: "ann", after: [invite])
        try expect([invite, admission], areValid: true)
    }
}
