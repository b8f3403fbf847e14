import Foundation
import Testing
import WorkspaceModel

@testable import PeerNode

/// What people read is plain English: you and your, active, short.
struct `Words that people read` {
    /// What nobody says to a colleague.
    static let stiff = [
        "[Ww]hoever", "[Oo]ne's", "[Oo]neself", "the own", "[Ff]or ever", "[Dd]o away with",
        "one is in", "is none of", "of theirs that", "comes? in by", "are out of",
    ]
    /// What sounds translated in a text of the program; a page may need it.
    static let translated = [
        "[Ww]hatever", "[Ww]herever", "of which", "what is known", "comes? in", "let in by",
        "[Hh]and(?:s|ed)? in", "told of", "[Ss]ay of", "take away", "nobody who", "[Aa]new",
        "said otherwise", "goes? on by itself", "for so long", "on purpose", "direct conversation",
        "no terminal to",
    ]
    /// The same words, meant.
    static let meant = ["whoever opens it becomes you", "this one's proof"]

    @Test func `sound like those of a colleague`() throws {
        let pattern =
            #"^(?!\s*//).*("[^"\n]*\b(?:"#
            + (Self.stiff + Self.translated).joined(separator: "|") + #")\b[^"\n]*")"#
        for file in try SourceTree.swiftFiles(under: "Sources") {
            let found = try file.places(of: pattern, inCode: false)
                .filter { place in !Self.meant.contains { place.contains($0) } }
            #expect(found.isEmpty, "\(found.joined(separator: "\n"))")
        }
    }

    @Test(arguments: Command.all.map(\.name))
    func `say in one line of help what a command does`(name: String) throws {
        let command = try #require(Command.all.first { $0.name == name })
        let sentence = command.summary.components(separatedBy: ". ")[0]
        #expect(sentence.count <= 70, "\(sentence.count): \(sentence)")
        let first = try #require(command.summary.first)
        #expect(first.isUppercase && command.summary.last == ".", "\(command.summary)")
    }
}
