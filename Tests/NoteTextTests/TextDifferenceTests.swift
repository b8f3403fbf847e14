import NoteText
import Testing
import WorkspaceTestKit

struct `The difference of two texts` {
    @Test(
        arguments: [
            ("", "", []), ("a", "a", []),
            ("", "abc", [NotePatch(at: 0, deleted: 0, inserted: "abc")]),
            ("abc", "", [NotePatch(at: 0, deleted: 3, inserted: "")]),
            ("one two", "one 2 two", [NotePatch(at: 4, deleted: 0, inserted: "2 ")]),
            ("日本語", "日語", [NotePatch(at: 1, deleted: 1, inserted: "")]),
            ("a\nb\nc", "a\nB\nc", [NotePatch(at: 2, deleted: 1, inserted: "B")]),
        ] as [(String, String, [NotePatch])])
    func `is what somebody changed`(old: String, new: String, patches: [NotePatch]) {
        #expect(TextDifference.patches(from: old, to: new) == patches)
    }

    @Test(arguments: Seeds.explore(300))
    func `makes one of the other, and is small`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let letters = Array("ab\né".unicodeScalars)
        var old = String.UnicodeScalarView()
        for _ in 0..<random.below(60) { old.append(letters[random.below(letters.count)]) }
        var new = Array(old)
        var changed = 0
        for _ in 0..<random.below(6) {
            let at = random.below(new.count + 1)
            let deleted = min(new.count - at, random.below(4))
            let inserted = (0..<random.below(4)).map { _ in letters[random.below(letters.count)] }
            new.replaceSubrange(at..<at + deleted, with: inserted)
            changed += deleted + inserted.count
        }
        var target = String.UnicodeScalarView()
        target.append(contentsOf: new)
        let patches = TextDifference.patches(from: String(old), to: String(target))
        #expect(NotePatch.apply(patches, to: String(old)) == String(target))
        let size = patches.reduce(0) { $0 + $1.deleted + $1.insertedCount }
        #expect(size <= changed, "the shortest way is not longer than the one that was taken")
    }

    @Test func `is bounded for texts that have nothing in common`() {
        let old = (0..<30_000).map { "line \($0)" }.joined(separator: "\n")
        let new = (0..<30_000).map { "zeile \($0 * 7 % 30_000)" }.joined(separator: "\n")
        let patches = TextDifference.patches(from: old, to: new)
        #expect(NotePatch.apply(patches, to: old) == new)
    }

    @Test func `finds two changes that are far apart`() {
        let lines = (0..<20_000).map { "line \($0)" }
        var changed = lines
        changed[3] = "another"
        changed[19_990] = "one more"
        let patches = TextDifference.patches(
            from: lines.joined(separator: "\n"), to: changed.joined(separator: "\n"))
        let size = patches.reduce(0) { $0 + $1.deleted + $1.insertedCount }
        #expect(size < 100)
    }

    @Test(arguments: [
        NotePatch(at: .max, deleted: .max, inserted: "x"),
        NotePatch(at: -1, deleted: 2, inserted: ""),
        NotePatch(at: 1, deleted: -2, inserted: ""),
    ])
    func `leaves alone what reaches nowhere`(patch: NotePatch) {
        #expect(patch.transformed(over: [NotePatch(at: 0, deleted: 0, inserted: "y")]) == [patch])
        #expect(NotePatch.apply([patch], to: "abc") == nil)
    }

    @Test(arguments: Seeds.explore(200))
    func `moves places as the text moves`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let text = "The quick brown fox"
        let count = text.unicodeScalars.count
        func patch() -> NotePatch {
            let at = random.below(count + 1)
            let deleted = random.below(min(5, count - at + 1))
            return NotePatch(at: at, deleted: deleted, inserted: ["", "x", "yz"][random.below(3)])
        }
        let theirs = patch()
        let mine = patch()
        let after = try #require(NotePatch.apply([theirs], to: text))
        let merged = try #require(NotePatch.apply(mine.transformed(over: [theirs]), to: after))
        // What both inserted is there once, what either deleted is not.
        #expect(
            merged.unicodeScalars.count { $0 == "x" }
                == 1 + [mine, theirs].count { $0.inserted == "x" }
                - [mine, theirs].contains { ($0.at..<$0.at + $0.deleted).contains(18) }.number)
        let kept = (0..<count).filter { place in
            ![mine, theirs].contains { ($0.at..<$0.at + $0.deleted).contains(place) }
        }
        let inserted = mine.insertedCount + theirs.insertedCount
        #expect(merged.unicodeScalars.count == kept.count + inserted)
        let place = random.below(count + 1)
        #expect((0...after.unicodeScalars.count).contains(theirs.moved(place)))
        #expect(theirs.moved(place) <= theirs.moved(place, keeping: .behind))
    }
}

extension Bool {
    fileprivate var number: Int { self ? 1 : 0 }
}
