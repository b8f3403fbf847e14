import Testing
import WorkspaceModel
import WorkspaceTestKit

struct `A part of a text` {
    @Test(arguments: [
        ("", "", true), ("", "a", false), ("abc", "", true), ("abc", "abc", true),
        ("abc", "abcd", false), ("aab", "ab", true), ("abab", "ba", true), ("abc", "cb", false),
        ("Größe", "öß", true), ("a\u{0}b", "\u{0}b", true),
        // Bytes count, and not what they look like.
        ("e\u{301}", "\u{e9}", false), ("e\u{301}", "e", true),
    ])
    func `is found by its bytes`(_ text: String, _ part: String, _ holds: Bool) {
        #expect(text.holds(part) == holds)
        #expect(Substring(text).holds(Substring(part)) == holds)
    }

    @Test(arguments: Seeds.explore(20))
    func `is found wherever it was put`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let letters = (0..<Int.random(in: 0...40, using: &random)).map { _ in
            Character(["a", "b", "ü"].randomElement(using: &random) ?? "a")
        }
        let text = String(letters)
        let start = Int.random(in: 0...letters.count, using: &random)
        let end = Int.random(in: start...letters.count, using: &random)
        #expect(text.holds(String(letters[start..<end])))
        #expect(!text.holds(text + "a"))
    }
}
