import Testing
import WorkspaceModel

@testable import PeerNode

struct `Names that were folded` {
    @Test(arguments: ["Sea", " SEA ", "seа", "", "\u{202E}x", String(repeating: "x", count: 5_000)])
    func `are folded alike the second time`(name: String) {
        var names = FoldedNames()
        for _ in 0..<2 {
            #expect(names.key(of: name) == NameFolding.key(of: name))
            #expect(names.skeleton(of: name) == NameLikeness.skeleton(of: name))
        }
        #expect(names.count == 2)
    }

    /// They are equal as strings, and may look alike to other letters.
    @Test func `are told apart where an accent is written another way`() {
        var names = FoldedNames()
        for name in ["Zo\u{EB}", "Zoe\u{308}"] {
            #expect(
                names.skeleton(of: name).utf8.elementsEqual(NameLikeness.skeleton(of: name).utf8))
        }
        #expect(names.count == 2)
    }

    @Test func `are so many at most, and right beyond that`() {
        var names = FoldedNames()
        for number in 0...Limits.foldedNamesMax {
            _ = names.key(of: "n\(number)")
            _ = names.skeleton(of: "n\(number)")
        }
        #expect(names.count == 2)
        for number in [0, 1, Limits.foldedNamesMax] {
            #expect(names.key(of: "N\(number)") == "n\(number)")
        }
    }
}
