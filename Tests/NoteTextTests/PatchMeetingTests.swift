import Testing
import WorkspaceTestKit

@testable import NoteText

/// Two concurrent lists of changes of one text.
struct `Changes that meet` {
    private static func change(
        of text: String, letter: String, with random: inout SeededGenerator
    ) -> NotePatch {
        let count = text.unicodeScalars.count
        let at = random.below(count + 1)
        let deleted = random.below(min(4, count - at) + 1)
        let inserted = String(repeating: letter, count: random.below(3))
        return NotePatch(at: at, deleted: deleted, inserted: inserted)
    }

    private static func changes(
        of text: String, letters: [String], with random: inout SeededGenerator
    ) throws -> [NotePatch] {
        var text = text
        var patches: [NotePatch] = []
        for letter in letters.prefix(random.below(letters.count + 1)) {
            let patch = change(of: text, letter: letter, with: &random)
            text = try #require(NotePatch.apply([patch], to: text))
            patches.append(patch)
        }
        return patches
    }

    @Test(arguments: Seeds.explore(400))
    func `end in one text, no matter which come first`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let text = String("abcdefghijklmn".prefix(random.below(15)))
        let ours = try Self.changes(of: text, letters: ["1", "2", "3", "4"], with: &random)
        let theirs = try Self.changes(of: text, letters: ["X", "Y", "Z", "É"], with: &random)
        let met = try #require(NotePatch.carried(ours, past: theirs))
        let one = NotePatch.apply(ours + met.theirs, to: text)
        let other = NotePatch.apply(theirs + met.ours, to: text)
        #expect(one != nil && one == other, "WSX_SEED=\(seed) \(text) \(ours) \(theirs)")
    }

    @Test func `keep what was written, ours before theirs at one place`() throws {
        let met = try #require(
            NotePatch.carried(
                [NotePatch(at: 2, deleted: 0, inserted: "our")],
                past: [NotePatch(at: 2, deleted: 0, inserted: "their")]))
        #expect(met.ours == [NotePatch(at: 2, deleted: 0, inserted: "our")])
        #expect(met.theirs == [NotePatch(at: 5, deleted: 0, inserted: "their")])
    }

    @Test func `delete around what the others wrote inside`() throws {
        let met = try #require(
            NotePatch.carried(
                [NotePatch(at: 1, deleted: 4, inserted: "")],
                past: [NotePatch(at: 3, deleted: 0, inserted: "new")]))
        #expect(
            NotePatch.apply(
                [NotePatch(at: 3, deleted: 0, inserted: "new")] + met.ours, to: "abcdef") == "anewf"
        )
    }

    @Test func `are refused where a place is none, and where they are too many`() {
        let bad = [
            NotePatch(at: -1, deleted: 0, inserted: "a"),
            NotePatch(at: 0, deleted: -1, inserted: ""),
            NotePatch(at: .max, deleted: .max, inserted: ""),
        ]
        for patch in bad { #expect(NotePatch.carried([patch], past: []) == nil) }
        let many = [NotePatch](repeating: NotePatch(at: 0, deleted: 0, inserted: "a"), count: 20)
        #expect(NotePatch.carried(many, past: many, steps: 399) == nil)
        #expect(NotePatch.carried(many, past: many, steps: 400) != nil)
    }
}
