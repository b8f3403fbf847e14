import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import CRDTStore

/// Phrases that name each other by their final ends (PROTOCOL.md, V-12). A device only ranks behind
/// phrases to which one line of operations leads from it, or a member could make each end count in
/// hundreds of places.
struct `A ring of ends` {
    /// Bob has the phrase `words` and the computer `x`. The phrase adds some phrases concurrently,
    /// each of which names `a`, and `h`, which also names `a` and has revoked the computer several
    /// times.
    private struct Ring {
        var story = Story(admins: [])
        /// The end of `a` that names `h`, which closes the ring.
        let closing: OperationID

        init(phrases: Int, ends: Int) {
            let invite = story.write(
                "root", after: story.heads, .invite(InviteTerms(role: .member)))
            let entry = story.write(
                "root", after: [invite],
                .admit(
                    invite: invite, member: story.member("bob"),
                    devices: [story.device("words"), story.device("x")], request: nil))
            var ring = Writer(story: story)
            let link = ring.add("y", by: "x", under: entry, after: entry, takesPlace: false)
            var first = entry
            for number in 0..<phrases {
                let phrase = "n\(number)"
                let added = ring.add(phrase, by: "words", under: entry, after: link)
                let next = ring.add("a", by: phrase, under: added, after: added)
                _ = ring.end(phrase, by: phrase, under: added, after: next)
                if number == 0 { first = next }
            }
            let added = ring.add("h", by: "words", under: entry, after: entry)
            let next = ring.add("a", by: "h", under: added, after: added)
            _ = ring.end("h", by: "h", under: added, after: next)
            for _ in 0..<ends { _ = ring.end("x", by: "h", under: added, after: added) }
            let back = ring.add("h", by: "a", under: first, after: first)
            closing = ring.end("a", by: "a", under: first, after: back)
            story = ring.story
        }
    }

    private struct Writer {
        var story: Story

        mutating func add(
            _ device: String, by author: String, under grant: OperationID, after head: OperationID,
            takesPlace: Bool = true
        ) -> OperationID {
            story.write(
                author, under: grant, after: [head], .addDevices([story.device(device)]),
                takesPlace: takesPlace)
        }

        mutating func end(
            _ device: String, by author: String, under grant: OperationID, after head: OperationID
        ) -> OperationID {
            story.write(
                author, under: grant, after: [head], .removeDevice(story.device(device)))
        }
    }

    @Test func `is judged as the definition says, in every order`() throws {
        let story = Ring(phrases: 2, ends: 1).story
        var generator = SeededGenerator(seed: 1)
        let valid = AuthDefinition(story.history, visitingWith: &generator).validOperations()
        var evaluator = AuthEvaluator()
        try evaluator.feed(story.history.operations)
        #expect(Set(evaluator.validOperations) == valid)
        let atOnce = try AuthEvaluator.evaluateFromScratch(story.history.operations)
        #expect(Set(atOnce.validOperations) == valid)
    }

    /// Each end counts once for each grant that lists its device or one before it in its line, and
    /// the end that closes the ring adds no other one.
    @Test func `lets no end count more often than there are grants before it`() throws {
        for (phrases, ends) in [(8, 8), (20, 20)] {
            let ring = Ring(phrases: phrases, ends: ends)
            var evaluator = AuthEvaluator()
            var further = 0
            for operation in ring.story.history.operations where operation.id != ring.closing {
                further += try evaluator.add(operation).furtherGrants
            }
            #expect(further <= ends + 4 * phrases, "\(further)")
            let before = evaluator.looks
            let change = try evaluator.add(try #require(ring.story.history[ring.closing]))
            let records = FurtherEnds.looksPerRecord * change.furtherGrants
            let looks = evaluator.looks - before - records
            #expect(change.furtherGrants <= phrases + Limits.phraseSuccessionsMax)
            #expect(
                looks < 40 * (change.furtherGrants + phrases),
                "\(looks) looks for \(change.furtherGrants) more times")
        }
    }

    /// Of two adddevs that put a phrase in others' places the first one decides behind which it
    /// stands.
    @Test func `ranks no phrase behind two that do not follow each other`() throws {
        var story = Story(admins: [])
        let invite = story.write("root", after: story.heads, .invite(InviteTerms(role: .member)))
        let entry = story.write(
            "root", after: [invite],
            .admit(
                invite: invite, member: story.member("bob"),
                devices: [story.device("words"), story.device("x")], request: nil))
        var ring = Writer(story: story)
        let other = ring.add("other", by: "words", under: entry, after: entry)
        let one = ring.add("new", by: "words", under: entry, after: entry)
        let two = ring.add("new", by: "other", under: other, after: other)
        story = ring.story
        let word = story.write(
            "new", under: one, after: [one, two], .removeDevice(story.device("x")))
        _ = story.write("words", under: entry, after: [one], .removeDevice(story.device("words")))
        // The owner knows neither of the new phrases.
        let devices = ["words", "x"].map { story.device($0) }
        let given = story.write(
            "root", after: [entry],
            .grant(RoleGrant(member: story.member("bob"), devices: devices, role: .admin)))
        let setting = story.write(
            "x", under: given, after: [given], .setWorkspace(mayInvite: .owner))
        var evaluator = AuthEvaluator()
        try evaluator.feed(story.history.operations.filter { $0.id != word })
        let change = try evaluator.add(try #require(story.history[word]))
        #expect(change.furtherGrants == 2)
        #expect(evaluator.verdict(on: setting) == .revoked(by: word))
        var generator = SeededGenerator(seed: 1)
        let valid = AuthDefinition(story.history, visitingWith: &generator).validOperations()
        try story.inEveryOrder { #expect(Set($0.validOperations) == valid) }
    }
}
