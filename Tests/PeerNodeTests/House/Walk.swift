import Foundation

/// A walk through the code, from a table of ARCHITECTURE.md.
struct Walk {
    /// The headings under which they stand.
    static let titles = [
        "The walk of one message", "The walk of a removal", "The walk of a private rekey",
    ]

    /// A row: functions of one file, each called by one before it.
    struct Step {
        /// Its number, or an arrow where it belongs to a row before.
        let label: String
        let path: String
        let functions: [String]
        /// As the table says it, with backticks.
        let reachedBy: String
        /// Counts up where the table says that another node goes on.
        let node: Int

        var isNumbered: Bool { Int(label) != nil }
        /// The number of the row that calls it, where that is not the one before.
        var caller: String? {
            Walk.words(of: reachedBy).firstMatch(of: /[0-9]+/).map { String($0.output) }
        }
        /// What the caller names instead of the function.
        var seams: [String] {
            Walk.names(in: reachedBy).filter { !$0.hasPrefix("Sources/") }
        }
        /// The file in between, which calls the function.
        var file: String? { Walk.names(in: reachedBy).first { $0.hasPrefix("Sources/") } }
        /// Whether bytes get there, and no call.
        var isOverWire: Bool { Walk.words(of: reachedBy).contains("the wire") }
        /// Whether the walk is in its room for the second time.
        var isAgain: Bool { Walk.words(of: reachedBy).contains("again") }
        /// The folder of the core; `nil` outside of it, and for what holds the rooms.
        var room: String? {
            let parts = path.components(separatedBy: "/PeerNode/Node/")
            guard parts.count == 2 else { return nil }
            return parts[1].components(separatedBy: "/").first.flatMap { $0 == "Core" ? nil : $0 }
        }
    }

    let steps: [Step]

    init(_ title: String, in page: String) {
        let section = page.components(separatedBy: "\n## ").first { $0.hasPrefix(title + "\n") }
        var steps: [Step] = []
        var node = 0
        for line in (section ?? "").components(separatedBy: "\n") {
            let cells = line.components(separatedBy: "|").map {
                $0.trimmingCharacters(in: .whitespaces)
            }
            guard cells.count >= 6 else { continue }
            if cells[2] == "*the other node*" { node += 1 }
            guard let path = Self.names(in: cells[2]).first else { continue }
            steps.append(
                Step(
                    label: cells[1].trimmingCharacters(in: ["*"]), path: path,
                    functions: Self.names(in: cells[3]), reachedBy: cells[4], node: node))
        }
        self.steps = steps
    }

    /// What stands between backticks.
    static func names(in text: String) -> [String] {
        text.components(separatedBy: "`").enumerated().filter { $0.offset % 2 == 1 }
            .map(\.element)
    }

    /// What does not.
    static func words(of text: String) -> String {
        text.components(separatedBy: "`").enumerated().filter { $0.offset % 2 == 0 }
            .map(\.element).joined(separator: " ")
    }

    /// The text of every function of that name, without comments; empty where there is none.
    static func text(of function: String, in file: SourceTree.File) -> String {
        let head = #"^ *(?:[\w@()]+ )*func \#(function)[(<]"#
        var found: [String] = []
        var end: String?
        for line in file.code {
            if let last = end {
                found.append(line)
                if line.hasPrefix(last) { end = nil }
                continue
            }
            guard line.contains("func \(function)"),
                line.range(of: head, options: .regularExpression) != nil
            else { continue }
            found.append(line)
            guard !(line.contains("{") && line.hasSuffix("}")) else { continue }
            end = String(line.prefix { $0 == " " }) + "}"
        }
        return found.joined(separator: "\n")
    }

    /// Whether a function of that name is called, by anybody's.
    static func calls(_ function: String, in text: String) -> Bool {
        let call = #"(?<!func )(?<!\w)\#(function)(?: \{|\s*\()"#
        return text.range(of: call, options: .regularExpression) != nil
    }
}
