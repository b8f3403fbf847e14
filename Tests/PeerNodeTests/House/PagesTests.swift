import Foundation
import PeerNode
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import wsx_node

/// What the written pages claim about the code and the tests.
struct `The pages` {
    private static let pages =
        [
            "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "docs/ARCHITECTURE.md",
            "docs/EDITORS.md", "docs/OPERATIONS.md", "docs/PROTOCOL.md", "docs/RELIABILITY.md",
            "docs/SECURITY.md",
        ] + SourceTree.decisions

    /// What stands between backticks.
    private static func names(in text: String) -> [String] {
        text.components(separatedBy: "`").enumerated().filter { $0.offset % 2 == 1 }
            .map(\.element)
    }

    // MARK: Sections

    /// The numbers by which the code cites the protocol.
    @Test func `number each section once, and cite none that is not there`() throws {
        let text = try SourceTree.text("docs/PROTOCOL.md")
        let numbers = text.components(separatedBy: "\n").filter { $0.hasPrefix("##") }
            .compactMap { $0.components(separatedBy: " ").dropFirst().first }
        #expect(numbers.count > 30)
        #expect(Set(numbers).count == numbers.count, "\(numbers)")
        for file in try SourceTree.swiftFiles(under: "Sources") {
            for line in file.lines where ByteSearch.finds("PROTOCOL.md, ", in: line) {
                for cited in line.matches(of: /PROTOCOL\.md, ([0-9]+(?:\.[0-9]+)*)/) {
                    #expect(numbers.contains(String(cited.1)), "\(file.path) cites \(cited.1)")
                }
            }
        }
    }

    // MARK: Links and files

    @Test(arguments: pages)
    func `link to what is there`(page: String) throws {
        let text = try SourceTree.text(page)
        let folder = SourceTree.root.appendingPathComponent(page).deletingLastPathComponent()
        for match in text.matches(of: /\]\(([^)#:]*)(#[^)]*)?\)/) {
            let target = String(match.1)
            let url =
                target.isEmpty
                ? SourceTree.root.appendingPathComponent(page)
                : folder.appendingPathComponent(target)
            guard let linked = try? String(contentsOf: url, encoding: .utf8) else {
                Issue.record("\(page) links to \(target), which is not there")
                continue
            }
            guard let anchor = match.2.map({ String($0.dropFirst()) }) else { continue }
            let anchors = linked.components(separatedBy: "\n").filter { $0.hasPrefix("#") }
                .map(Self.anchor)
            #expect(anchors.contains(anchor), "\(page) links to \(target)#\(anchor)")
        }
    }

    /// The anchor that a heading gets: its words in lower case, joined by hyphens.
    private static func anchor(_ heading: String) -> String {
        let words = heading.drop { $0 == "#" || $0 == " " }.lowercased()
        return words.filter { $0.isLetter || $0.isNumber || $0 == " " || $0 == "-" }
            .replacingOccurrences(of: " ", with: "-")
    }

    @Test(arguments: pages)
    func `name files that are there`(page: String) throws {
        for name in Self.names(in: try SourceTree.text(page)) {
            guard !name.contains("…"), !name.contains("\n"), let known = Self.path(of: name)
            else { continue }
            let path = SourceTree.root.appendingPathComponent(known).path
            #expect(FileManager.default.fileExists(atPath: path), "\(page) names \(name)")
        }
    }

    /// Where a file is that a page names, below the root; `nil` where it names none. Files of the node
    /// may be named as from `Sources/PeerNode`.
    private static func path(of name: String) -> String? {
        if name.hasPrefix("Sources/") || name.hasPrefix("Tests/") { return name }
        let folder = name.components(separatedBy: "/").first ?? ""
        let isOfNode = ["Control", "Loop", "Node", "Peers", "Search", "Tokens", "Transport"]
            .contains(folder)
        return isOfNode && name.hasSuffix(".swift") ? "Sources/PeerNode/\(name)" : nil
    }

    // MARK: Promises

    @Test func `name tests that are there, for every promise`() throws {
        var tests: Set<String> = []
        for file in try SourceTree.swiftFiles(under: "Tests") {
            for line in file.lines
            where ByteSearch.finds("func `", in: line) || ByteSearch.finds("struct `", in: line) {
                for match in line.matches(of: /(?:struct|func) `([^`]+)`/) {
                    tests.insert(String(match.1))
                }
            }
        }
        let text = try SourceTree.text("docs/SECURITY.md")
        var count = 0
        for line in text.components(separatedBy: "\n") {
            guard let start = line.range(of: "Tests: ") else { continue }
            for name in Self.names(in: String(line[start.upperBound...])) {
                count += 1
                #expect(tests.contains(name), "no test is called \(name)")
            }
        }
        #expect(count > 40)
        // Each bullet under "Promised:" has a line of tests before the next one.
        for section in text.components(separatedBy: "\nPromised:").dropFirst() {
            let promises = section.components(separatedBy: "\nNot promised")[0]
            for bullet in promises.components(separatedBy: "\n- ").dropFirst() {
                let words = bullet.prefix(60)
                #expect(bullet.contains("\n  Tests: `"), "nothing holds this promise: \(words)")
            }
        }
    }

    // MARK: Commands

    @Test(arguments: pages)
    func `name commands that are there`(page: String) throws {
        for name in Self.names(in: try SourceTree.text(page)) where name.hasPrefix("wsx-node ") {
            let words = name.split(separator: " ").dropFirst().map(String.init)
            #expect(throws: Never.self, "\(page): \(name)") {
                let scan = try ArgumentScanner.scan(words, against: Command.all)
                try #require(scan.command != nil)
            }
        }
    }
}
