import Foundation
import Testing

@testable import PeerNode

/// PROTOCOL.md names each of its rules; code, tests and pages cite them by these names.
struct `The rules of the protocol` {
    private static let page = "docs/PROTOCOL.md"

    /// The names in the order in which they are defined: at the head of an item, or of a row.
    private static func defined() throws -> [String] {
        try SourceTree.text(page).components(separatedBy: "\n").compactMap { line in
            let item = line.prefixMatch(of: #/\s*- \*\*([A-Z]-[0-9]+)\.\*\*/#)
            let row = line.prefixMatch(of: #/\| \*\*([A-Z]-[0-9]+)\*\* \|/#)
            return (item?.1 ?? row?.1).map { String($0) }
        }
    }

    /// Everything in which a rule may be cited.
    private static func citing() throws -> [SourceTree.File] {
        let pages = try ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"].map {
            SourceTree.File(path: $0, text: try SourceTree.text($0))
        }
        return try SourceTree.all.get() + SourceTree.files(under: "docs") + pages
    }

    // MARK: Names

    @Test func `have one name each`() throws {
        let names = try Self.defined()
        #expect(names.count > 400)
        let counts = Dictionary(grouping: names) { $0 }
        #expect(counts.filter { $0.value.count > 1 }.keys.sorted() == [])
    }

    @Test func `have names with a letter that the page explains`() throws {
        let text = try SourceTree.text(Self.page)
        let rows = text.components(separatedBy: "\n").filter {
            $0.prefixMatch(of: #/\| [A-Z](?:, [A-Z])* \| /#) != nil
        }
        let explained = rows.flatMap { row in
            row.components(separatedBy: " | ")[0].components(separatedBy: ", ")
                .compactMap { $0.last(where: \.isLetter).map { String($0) } }
        }
        let letters = Set(try Self.defined().map { String($0.prefix(1)) })
        #expect(letters.subtracting(explained).sorted() == [])
    }

    @Test(arguments: ["md", "py", "swift"])
    func `are there wherever one is cited`(ending: String) throws {
        let names = Set(try Self.defined())
        let letters = Set(names.map { $0.prefix(1) })
        // Curves of keys, which are called as a rule could be.
        let curves: Set = ["P-256", "P-384"]
        var count = 0
        for file in try Self.citing() where file.path.hasSuffix("." + ending) {
            for place in try file.places(of: #"\b([A-Z]-[1-9][0-9]*)\b"#, inCode: false) {
                let cited = place.components(separatedBy: " ").last ?? ""
                guard letters.contains(cited.prefix(1)), !curves.contains(cited) else { continue }
                count += 1
                #expect(names.contains(cited), "\(place)")
            }
        }
        #expect(count > 0)
    }

    // MARK: What is generated or copied

    /// The parts of examples, as hexadecimal: in a block that is marked so, one between empty lines.
    private static func examples() throws -> [String] {
        let blocks = try SourceTree.text(page).components(separatedBy: "\n```frozen\n").dropFirst()
        return blocks.flatMap { block in
            let lines = block.components(separatedBy: "\n```")[0].components(separatedBy: "\n")
                .map { line in
                    line.components(separatedBy: ";")[0].filter { !$0.isWhitespace }
                }
            return lines.split(separator: "").map { $0.joined() }
        }
    }

    @Test func `have examples with bytes that are frozen`() throws {
        let frozen = try SourceTree.text("Tests/Vectors/frozen.json")
        let examples = try Self.examples()
        #expect(examples.count > 5)
        for example in examples {
            #expect(frozen.contains("\"\(example)\""), "\(example)")
        }
    }

    @Test func `list the words of recovery phrases that the program has`() throws {
        let source = try SourceTree.text("Sources/WorkspaceCrypto/RecoveryWords.swift")
        let words = source.components(separatedBy: "\"\"\"").dropFirst().first?
            .split(whereSeparator: \.isWhitespace).map(String.init)
        let listed = try SourceTree.text("docs/RECOVERY-WORDS.md")
            .components(separatedBy: "```").dropFirst().first?
            .split(whereSeparator: \.isWhitespace).map(String.init)
            .filter { $0.allSatisfy(\.isLetter) }
        #expect(words?.count == 2_048)
        #expect(words == listed)
    }

    @Test func `list the codes with which links end`() throws {
        let text = try SourceTree.text(Self.page)
        let part = text.components(separatedBy: "\n## C ").last?.components(separatedBy: "\n## ")
        let rows = part?.first?.components(separatedBy: "\n").filter { $0.hasPrefix("| `") } ?? []
        let listed = rows.flatMap { row in
            row.components(separatedBy: " | ")[0].components(separatedBy: "`").enumerated()
                .filter { !$0.offset.isMultiple(of: 2) }.map(\.element)
        }
        let codes = LinkWords.table.keys.filter { $0.contains(".") || $0 == "removed" }
        #expect(listed.count == Set(listed).count)
        #expect(Set(listed).symmetricDifference(codes).sorted() == [])
    }

    // MARK: Limits

    /// What `Limits` says, by name, as it stands there.
    private static func expressions() throws -> [String: String] {
        var found: [String: String] = [:]
        let files = try SourceTree.swiftFiles(under: "Sources/WorkspaceModel/Rules")
        for line in files.flatMap(\.lines) {
            if let match = line.firstMatch(
                of: #/static let (\w+)(?:: U?Int(?:64)?)? = (.+)/#)
            {
                found[String(match.1)] = String(match.2)
            }
        }
        return found
    }

    /// A product of numbers and names, or a power of two.
    private static func value(_ expression: String, _ all: [String: String]) -> Int? {
        let parts = expression.components(separatedBy: " << ")
        if parts.count == 2, let base = Int(parts[0]), let places = Int(parts[1]) {
            return base << places
        }
        var product = 1
        for factor in expression.components(separatedBy: " * ") {
            let digits = factor.replacingOccurrences(of: "_", with: "")
            guard let number = Int(digits) ?? all[factor].flatMap({ value($0, all) }) else {
                return nil
            }
            product *= number
        }
        return product
    }

    @Test func `list the limits that the program has`() throws {
        let all = try Self.expressions()
        let text = try SourceTree.text(Self.page).components(separatedBy: "\n## A ").last ?? ""
        var count = 0
        for line in text.components(separatedBy: "\n") where line.hasPrefix("| `") {
            guard let row = line.prefixMatch(of: #/\| `([a-z]\w+)` \| ([0-9,]+) \|/#) else {
                continue
            }
            let name = String(row.1)
            let listed = Int(row.2.filter { $0 != "," })
            let value = all[name].flatMap { Self.value($0, all) }
            count += 1
            #expect(value != nil && value == listed, "\(name)")
        }
        #expect(count > 80)
    }
}
