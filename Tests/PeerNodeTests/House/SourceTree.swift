import Foundation

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

        init(path: String, text: String) {
            self.path = path
            lines = text.components(separatedBy: "\n")
            code = path.hasSuffix(".swift") ? SourceTree.code(lines) : lines
        }

        /// The folder it is in, below the root.
        var folder: String { path.split(separator: "/").dropLast().joined(separator: "/") }
        /// Its name without folder and ending.
        var name: String {
            String(path.split(separator: "/").last?.split(separator: ".").first ?? "")
        }

        /// Where `pattern` is found: `path:line: text`. `^` and `$` are ends of lines.
        func places(of pattern: String, inCode: Bool = true) throws -> [String] {
            let text = (inCode ? code : lines).joined(separator: "\n") as NSString
            let expression = try NSRegularExpression(pattern: pattern, options: .anchorsMatchLines)
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

    /// Lines of Swift without comments and without the insides of strings. Nested comments and
    /// code inside of an interpolation are not looked at: the format has no block comments, and
    /// nobody hides a clock in an interpolation.
    ///
    /// By bytes: all lines of the tree are read so, and characters took most of that.
    static func code(_ lines: [String]) -> [String] {
        var isInLongString = false
        return lines.map { line in
            if line.utf8.contains(quote), line.components(separatedBy: "\"\"\"").count % 2 == 0 {
                defer { isInLongString.toggle() }
                return isInLongString ? "" : String(line.prefix { $0 != "\"" })
            }
            return isInLongString ? "" : codeOutsideStrings(line)
        }
    }

    private static let newline = UInt16(UInt8(ascii: "\n"))
    private static let quote = UInt8(ascii: "\"")
    private static let slash = UInt8(ascii: "/")
    private static let escape = UInt8(ascii: "\\")

    private static func codeOutsideStrings(_ line: String) -> String {
        guard line.utf8.contains(where: { $0 == quote || $0 == slash }) else { return line }
        var code: [UInt8] = []
        var isInString = false
        var isEscaped = false
        var previous = UInt8(ascii: " ")
        for letter in line.utf8 {
            if isInString {
                if !isEscaped, letter == quote { isInString = false }
                isEscaped = !isEscaped && letter == escape
                continue
            }
            if letter == slash, previous == slash {
                return String(decoding: code.dropLast(), as: UTF8.self)
            }
            if letter == quote { isInString = true }
            code.append(letter)
            previous = letter
        }
        return String(decoding: code, as: UTF8.self)
    }
}
