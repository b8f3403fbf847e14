import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

/// Phrases that name each other by their final ends, so that one stands behind another in many generations
/// (PROTOCOL.md, V-12): one member makes an end count hundreds of times with few operations.
@Suite struct `A ring of ends` {
    /// Bob has the phrase `words` and the computer `x`. The words put in some phrases apart, of which each
    /// names `a`, and `h`, which names `a` too and has revoked the computer some times.
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

    /// Each end counts once for each grant and generation. What that costs is a few looks for each, and no
    /// look for each pair of them.
    @Test func `costs some looks for each time that an end counts`() throws {
        for (phrases, ends) in [(8, 8), (20, 20)] {
            let ring = Ring(phrases: phrases, ends: ends)
            var evaluator = AuthEvaluator()
            try evaluator.feed(ring.story.history.operations.filter { $0.id != ring.closing })
            let before = evaluator.looks
            let change = try evaluator.add(try #require(ring.story.history[ring.closing]))
            let looks = evaluator.looks - before
            #expect(change.furtherGrants > 8 * phrases * ends)
            #expect(
                looks < 40 * change.furtherGrants,
                "\(looks) looks for \(change.furtherGrants) more times")
        }
    }
}
