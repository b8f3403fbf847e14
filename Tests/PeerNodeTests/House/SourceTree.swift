import Foundation
import WorkspaceTestKit

/// The files of this checkout, as text.
enum SourceTree {
    /// The folder with Package.swift in it.
    static let root: URL = {
        var folder = URL(fileURLWithPath: #filePath)
        while folder.path != "/" {
            folder.deleteLastPathComponent()
            let manifest = folder.appendingPathComponent("Package.swift")
            if FileManager.default.fileExists(atPath: manifest.path) { return folder }
        }
        return folder
    }()

    /// One file.
    struct File: Sendable {
        /// Its path below the root.
        let path: String
        /// Its lines, as they are.
        let lines: [String]
        /// Its lines without comments and without what stands inside of string literals.
        let code: [String]
        /// Both as one text.
        private let text: String
        private let codeText: String

        init(path: String, text: String) {
            self.path = path
            self.text = text
            lines = text.components(separatedBy: "\n")
            let isSwift = path.hasSuffix(".swift")
            code = isSwift ? SourceTree.code(lines) : lines
            codeText = isSwift ? code.joined(separator: "\n") : text
        }

        /// The folder it is in, below the root.
        var folder: String { path.split(separator: "/").dropLast().joined(separator: "/") }
        /// Its name without folder and ending.
        var name: String {
            String(path.split(separator: "/").last?.split(separator: ".").first ?? "")
        }

        /// Where `pattern` is found: `path:line: text`. `^` and `$` are ends of lines.
        func places(of pattern: String, inCode: Bool = true) throws -> [String] {
            let text = (inCode ? codeText : self.text) as NSString
            let expression = try SourceTree.expression(pattern)
            let all = NSRange(location: 0, length: text.length)
            let matches = expression.matches(in: text as String, range: all)
            guard !matches.isEmpty else { return [] }
            let units = Array((text as String).utf16)
            var (number, counted) = (1, 0)
            return matches.map { match in
                number += units[counted..<match.range.location].count { $0 == SourceTree.newline }
                counted = match.range.location
                let group = match.range(at: match.numberOfRanges - 1)
                return "\(path):\(number): \(text.substring(with: group))"
            }
        }
    }

    private static let lock = NSLock()
    nonisolated(unsafe) private static var expressions: [String: NSRegularExpression] = [:]

    /// Each is looked for in some thousand files, and made once.
    private static func expression(_ pattern: String) throws -> NSRegularExpression {
        if let known = lock.withLock({ expressions[pattern] }) { return known }
        let made = try NSRegularExpression(pattern: pattern, options: .anchorsMatchLines)
        lock.withLock { expressions[pattern] = made }
        return made
    }

    /// The text of a file below the root.
    static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
    }

    /// All Swift files below a folder, in order.
    static func swiftFiles(under folder: String) throws -> [File] {
        try all.get().filter { $0.path.hasPrefix(folder + "/") && $0.path.hasSuffix(".swift") }
    }

    /// Program and tests, read once. What fuzzers made up is no text of anybody.
    static let all = Result {
        try (files(under: "Sources") + files(under: "Tests")).filter {
            !$0.path.hasPrefix("Tests/corpora/")
        }
    }

    /// The pages that each explain one decision, in order.
    static let decisions: [String] =
        (try? files(under: "docs/decisions").map(\.path)) ?? []

    /// All text files below a folder, in order. What is built or downloaded has a dot in front.
    static func files(under folder: String) throws -> [File] {
        let base = root.appendingPathComponent(folder)
        let options: FileManager.DirectoryEnumerationOptions = [.skipsHiddenFiles]
        guard
            let walk = FileManager.default.enumerator(
                at: base, includingPropertiesForKeys: [.isRegularFileKey], options: options)
        else { return [] }
        var files: [File] = []
        for case let url as URL in walk {
            guard try url.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile == true,
                let text = try? String(contentsOf: url, encoding: .utf8)
            else { continue }
            files.append(
                File(path: String(url.path.dropFirst(root.path.count + 1)), text: text))
        }
        return files.sorted { $0.path < $1.path }
    }

    /// Lines of Swift without comments and without the insides of strings.
    static func code(_ lines: [String]) -> [String] { SourceText.code(lines) }

    private static let newline = UInt16(UInt8(ascii: "\n"))
}
