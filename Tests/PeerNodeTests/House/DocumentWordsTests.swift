import Foundation
import Testing

/// The pages for people are in plain English: standard terms, short sentences. OPERATIONS.md is
/// excluded because it is generated from the table of commands.
struct `Words of the documents` {
    static let pages =
        [
            "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "Benchmarks/README.md",
            "docs/ARCHITECTURE.md", "docs/EDITORS.md", "docs/PROTOCOL.md", "docs/RELIABILITY.md",
            "docs/SCALE.md", "docs/SECURITY.md",
        ] + SourceTree.decisions

    /// A sentence should have 30 words at most. Beyond 40 nobody reads it once only. A specification,
    /// in which each word counts, keeps to 30.
    static func wordCountMax(on page: String) -> Int { page == "docs/PROTOCOL.md" ? 30 : 40 }

    /// What sounds translated in a page, besides what nobody says to a colleague.
    static let stiff =
        `Words that people read`.stiff + ["[Mm]ade anew", "h[au]ngs? on", "[Ww]homever"]

    /// Finds the lines with such words, also where a line ends between two of them.
    private static let pattern =
        #"^.*\b(?:"# + stiff.joined(separator: "|").replacingOccurrences(of: " ", with: #"\s+"#)
        + #")\b.*$"#

    @Test(arguments: pages)
    func `sound like those of a colleague on each page`(page: String) throws {
        let file = SourceTree.File(path: page, text: try Self.prose(of: page))
        let found = try file.places(of: Self.pattern, inCode: false)
        #expect(found.isEmpty, "\(found.joined(separator: "\n"))")
    }

    @Test func `sound like those of a colleague in the trial, too`() throws {
        let scenes = try SourceTree.all.get().filter {
            $0.path.hasPrefix("Tests/trial/") && $0.path.hasSuffix(".py")
        }
        #expect(scenes.count > 10)
        for scene in scenes {
            let found = try scene.places(of: Self.pattern, inCode: false)
            #expect(found.isEmpty, "\(found.joined(separator: "\n"))")
        }
    }

    @Test(arguments: pages)
    func `have sentences that are read only once`(page: String) throws {
        let sentences = Self.sentences(of: try Self.prose(of: page))
        #expect(sentences.count > 5)
        for sentence in sentences {
            let count = sentence.split(whereSeparator: \.isWhitespace).count
            #expect(
                count <= Self.wordCountMax(on: page), "\(page): \(count) words: \(sentence)")
        }
    }

    @Test func `are counted without tables, code and headings`() {
        let text = """
            # A heading

            One two `three four
            five` six. Seven (eight.) Nine

            | a | b |
                let code = 1
            - ten
              eleven
            1. twelve
            """
        let counts = Self.sentences(of: Self.withoutCode(text))
            .map { $0.split(whereSeparator: \.isWhitespace).count }
        #expect(counts == [4, 2, 1, 2, 1])
    }

    // MARK: Reading a page

    /// The text of a page without code, on the lines it is on. Of the changelog, the newest part.
    private static func prose(of page: String) throws -> String {
        let text = try SourceTree.text(page)
        guard page == "CHANGELOG.md" else { return withoutCode(text) }
        let parts = text.components(separatedBy: "\n## ")
        return withoutCode(parts.prefix(2).joined(separator: "\n## "))
    }

    /// The text with an `x` for each span of code and with empty lines for each block of it.
    private static func withoutCode(_ text: String) -> String {
        var isInBlock = false
        let lines = text.components(separatedBy: "\n").map { line in
            if line.hasPrefix("```") {
                isInBlock.toggle()
                return ""
            }
            return isInBlock ? "" : line
        }
        // Pieces with odd numbers stand between backticks, as in PagesTests.
        let pieces = lines.joined(separator: "\n").components(separatedBy: "`")
        return pieces.enumerated().map { offset, piece in
            offset.isMultiple(of: 2) ? piece : "x" + piece.filter { $0 == "\n" }
        }.joined()
    }

    /// How tables, headings and the lines that name tests begin.
    private static let notText = ["|", "#", "Tests: "]

    /// The sentences of paragraphs and of items of lists.
    private static func sentences(of prose: String) -> [String] {
        var paragraphs: [[String]] = [[]]
        for line in prose.components(separatedBy: "\n") {
            let words = line.trimmingCharacters(in: .whitespaces)
            let isText = !words.isEmpty && !Self.notText.contains { words.hasPrefix($0) }
            let isItem = words.hasPrefix("- ") || words.prefixMatch(of: #/[0-9]+\. /#) != nil
            let begins = paragraphs.last?.isEmpty == true
            if !isText || (begins && !isItem && line.hasPrefix("    ")) {
                paragraphs.append([])
            } else if isItem {
                paragraphs.append([item(words)])
            } else {
                paragraphs[paragraphs.count - 1].append(words)
            }
        }
        return paragraphs.flatMap { lines in
            lines.joined(separator: " ").split(separator: #/[.!?][)"*]*\s+/#).map(String.init)
        }
    }

    /// The words of an item of a list, without its mark.
    private static func item(_ words: String) -> String {
        words.split(separator: " ").dropFirst().joined(separator: " ")
    }
}
