import Foundation

/// How well the folders of a module are separated, judging by its text without a compiler: which
/// folder names types of which other one, and the size of types.
struct HouseRooms: Sendable {
    /// One folder names types that another one declares.
    struct Arrow: Hashable, Comparable, Sendable {
        let from: String
        let to: String

        var back: Arrow { Arrow(from: to, to: from) }

        static func < (left: Arrow, right: Arrow) -> Bool {
            (left.from, left.to) < (right.from, right.to)
        }
    }

    /// Where the types of an arrow are named, and which.
    struct Naming: Sendable {
        var files: Set<String> = []
        var types: Set<String> = []
    }

    /// A type with all its extensions.
    struct Kind: Sendable {
        var lineCount = 0
        var storedFieldCount = 0
        /// In the order of their paths.
        var files: [String] = []
        /// By name, the files with a function of that name which other files can call.
        var functions: [String: Set<String>] = [:]
    }

    private(set) var kinds: [String: Kind] = [:]
    private(set) var arrows: [Arrow: Naming] = [:]
    /// By path, the code without comments and strings.
    private var texts: [String: String] = [:]
    /// By type, the folders that declare it for others.
    private var homes: [String: Set<String>] = [:]
    /// By what the core calls it, the type of a room: who asks `core.links` names that type.
    private var rooms: [String: String] = [:]

    /// - Parameter root: a folder; its folders are named by what stands behind it.
    init(_ files: [SourceTree.File], under root: String) throws {
        func folder(_ file: SourceTree.File) -> String {
            String(file.folder.dropFirst(root.count + 1))
        }
        let made = try NSRegularExpression(pattern: #"lazy var (\w+) = [A-Z]\w*\((?:self|core)\)"#)
        let type = try NSRegularExpression(
            pattern: #"lazy var \w+ = ([A-Z]\w*)\((?:self|core)\)"#)
        for file in files {
            texts[file.path] = file.code.joined(separator: "\n")
            read(file, in: folder(file))
            for line in file.code where line.contains("lazy var ") {
                guard let name = Self.words(made, in: line).first else { continue }
                rooms[name] = Self.words(type, in: line).first
            }
        }
        let name = try NSRegularExpression(pattern: #"\b[A-Z]\w+"#)
        let room = try NSRegularExpression(pattern: #"\bcore\.([a-z]\w*)\b"#)
        for file in files {
            let here = folder(file)
            let text = texts[file.path] ?? ""
            let asked = Self.words(room, in: text).compactMap { rooms[$0] }
            for word in Self.words(name, in: text).union(asked) {
                // What two folders call the same is nobody's in particular.
                guard let home = homes[word], home.count == 1, let there = home.first,
                    there != here
                else { continue }
                arrows[Arrow(from: here, to: there), default: Naming()].files.insert(file.path)
                arrows[Arrow(from: here, to: there), default: Naming()].types.insert(word)
            }
        }
    }

    private mutating func read(_ file: SourceTree.File, in folder: String) {
        var current: String?
        var isExtension = false
        for line in file.code {
            if let found = DeclarationLine(line, indent: 0), found.isType, !found.name.isEmpty {
                current = found.name
                isExtension = found.keyword == "extension"
                if kinds[found.name]?.files.contains(file.path) != true {
                    kinds[found.name, default: Kind()].files.append(file.path)
                }
                if !isExtension, !found.isPrivate { homes[found.name, default: []].insert(folder) }
            }
            guard let type = current else { continue }
            kinds[type, default: Kind()].lineCount += 1
            if let member = DeclarationLine(line, indent: 4) {
                if member.keyword == "func", !member.isPrivate, !member.name.isEmpty {
                    kinds[type, default: Kind()].functions[member.name, default: []]
                        .insert(file.path)
                } else if member.isStoredField, !isExtension {
                    kinds[type, default: Kind()].storedFieldCount += 1
                }
            }
            if line.hasPrefix("}") { current = nil }
        }
    }

    /// Folders that name each other's types, the arrow from the one that comes first by name.
    var pairs: [Arrow] {
        arrows.keys.filter { $0.from < $0.to && arrows[$0.back] != nil }.sorted()
    }

    /// How many files of a type are in the largest set of which each reaches each other one by calls of
    /// its functions; 1 where there is no such set.
    func largestCircle(of name: String) throws -> Int {
        guard let kind = kinds[name] else { return 0 }
        // A name that several files have says nothing of where a call leads.
        let homes = kind.functions.compactMapValues { $0.count == 1 ? $0.first : nil }
        let call = try NSRegularExpression(
            pattern: #"(?<![\w.])(?:self\.|core\.|node\.)?([a-z]\w*)\s*\("#)
        var calls: [String: Set<String>] = [:]
        for path in kind.files {
            let called = Self.words(call, in: texts[path] ?? "")
            calls[path] = Set(called.compactMap { homes[$0] }).subtracting([path])
        }
        var reach: [String: Set<String>] = [:]
        for path in kind.files { reach[path] = Self.reached(from: path, by: calls) }
        return reach.reduce(1) { largest, item in
            max(largest, item.value.count { reach[$0]?.contains(item.key) == true })
        }
    }

    private static func reached(
        from path: String, by calls: [String: Set<String>]
    ) -> Set<String> {
        var seen: Set<String> = []
        var next = [path]
        while let last = next.popLast() {
            for other in calls[last] ?? [] where seen.insert(other).inserted { next.append(other) }
        }
        return seen
    }

    private static func words(_ expression: NSRegularExpression, in text: String) -> Set<String> {
        let whole = text as NSString
        let all = NSRange(location: 0, length: whole.length)
        return Set(
            expression.matches(in: text, range: all).map {
                whole.substring(with: $0.range(at: $0.numberOfRanges - 1))
            })
    }

    // MARK: For people

    /// Every arrow, with how many files and types it stands for.
    var table: String {
        arrows.sorted { $0.key < $1.key }.map { arrow, naming in
            let isBothWays = arrows[arrow.back] != nil
            return "\(arrow.from) -> \(arrow.to): \(naming.files.count) files, "
                + "\(naming.types.count) types\(isBothWays ? ", and back" : "")"
        }.joined(separator: "\n")
    }

    /// What an arrow stands for, as far as somebody needs it to take it away.
    func reason(for arrow: Arrow) -> String {
        let naming = arrows[arrow] ?? Naming()
        return "\(arrow.from) names \(naming.types.sorted().prefix(6)) "
            + "in \(naming.files.sorted().prefix(4))"
    }
}

/// A line that begins the declaration of a type, or of a member of one.
private struct DeclarationLine {
    /// `struct`, `func`, `let` and so on, or what else stands there.
    let keyword: String
    /// Empty for operators and for several names at once.
    let name: String
    private let modifiers: [String]
    private let line: String

    private static let modifierWords: Set = [
        "public", "package", "private", "fileprivate", "final", "indirect", "nonisolated", "static",
        "mutating", "lazy", "weak", "unowned", "private(set)", "fileprivate(set)", "override",
    ]

    /// - Returns: `nil` where another number of spaces stands in front, or fewer than two words.
    init?(_ line: String, indent: Int) {
        let spaceCount = line.utf8.prefix(while: { $0 == UInt8(ascii: " ") }).count
        guard spaceCount == indent else { return nil }
        let words = line.split(separator: " ").map(String.init)
        let rest = words.drop {
            Self.modifierWords.contains($0) || $0.hasPrefix("@") || (indent > 0 && $0 == "class")
        }
        guard let keyword = rest.first, let second = rest.dropFirst().first else { return nil }
        self.line = line
        self.keyword = keyword
        modifiers = Array(words.prefix(words.count - rest.count))
        name = String(second.prefix { $0.isLetter || $0.isNumber || $0 == "_" })
    }

    var isType: Bool {
        ["struct", "enum", "class", "actor", "protocol", "extension"].contains(keyword)
    }

    var isPrivate: Bool { modifiers.contains("private") || modifiers.contains("fileprivate") }

    /// Whether an instance holds it. What follows the name tells it from what is computed, which
    /// opens a brace; only observers (`didSet`) do so too.
    var isStoredField: Bool {
        guard keyword == "var" || keyword == "let", !modifiers.contains("static") else {
            return false
        }
        let head = line.prefix { $0 != "=" }
        let end = head.reversed().drop { $0 == " " }.first
        let body = String(head).components(separatedBy: "{ ").dropFirst().first
        return end != "{" && body?.hasPrefix("didSet") != false
    }
}
