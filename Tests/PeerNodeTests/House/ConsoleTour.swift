import Foundation

/// A page's `console` blocks: commands behind a prompt, and what they print.
///
/// ```console
/// mina$ wsx-node send general 'hello'
/// m_…  held by 1 device
/// ```
/// The prompt names the home. In the output `…` stands for anything within a line, and a line with
/// only that for any lines. Runs of blanks count as one. A link that ends in `…` in a command
/// stands for the last one printed.
struct ConsoleTour {
    /// One command with its output as the page has it.
    struct Step: Sendable {
        /// Whose home, such as `mina`.
        let person: String
        let command: String
        let output: [String]
    }

    /// The steps of a page in order.
    static func steps(of page: String) -> [Step] {
        var steps: [Step] = []
        var isInside = false
        for line in page.components(separatedBy: "\n") {
            if line.hasPrefix("```") {
                isInside = line == "```console"
            } else if isInside, let match = line.wholeMatch(of: /([a-z]+)\$ (.*)/) {
                steps.append(
                    Step(person: String(match.1), command: String(match.2), output: []))
            } else if isInside, let last = steps.popLast() {
                steps.append(
                    Step(
                        person: last.person, command: last.command, output: last.output + [line]))
            }
        }
        return steps
    }

    /// Whether a command may run again until its output is as it should be: it only looks.
    static func onlyLooks(_ command: String) -> Bool {
        command.contains(
            /^wsx-node (?:log|search|status|doctor|(?:peer|member|channel) list|net status|sync status)\b/
        )
    }

    /// Whether `printed` is what the page shows.
    static func fits(_ printed: [String], _ shown: [String]) -> Bool {
        let text = normal(printed).joined(separator: "\n")
        let pattern = normal(shown).map { line in
            line == "…"
                ? "(?:.*\n)*?.*"
                : line.components(separatedBy: "…").map(NSRegularExpression.escapedPattern)
                    .joined(separator: ".*?")
        }.joined(separator: "\n")
        guard let expression = try? NSRegularExpression(pattern: "^\(pattern)$") else {
            return false
        }
        let all = NSRange(text.startIndex..., in: text)
        return expression.firstMatch(in: text, range: all)?.range == all
    }

    /// Without lines that name a day, which may change under the reader's eyes, and with blanks
    /// counted once.
    private static func normal(_ lines: [String]) -> [String] {
        lines.filter { !($0.hasPrefix("-- ") && $0.hasSuffix(" --")) }
            .map { $0.split(separator: " ").joined(separator: " ") }
            .filter { !$0.isEmpty }
    }

    // MARK: Running

    /// A folder that is home to everybody on the page.
    let folder: URL
    /// The folder of the program.
    private let binaries: String

    /// The folder in which this build put its products: that of the running test itself.
    static var binaryFolder: String {
        let own = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
        return URL(fileURLWithPath: own ?? "/").deletingLastPathComponent().path
    }

    init() throws {
        let base = FileManager.default.temporaryDirectory
        folder = base.appendingPathComponent("wsx-\(UInt32.random(in: 0 ... .max))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        binaries = Self.binaryFolder
    }

    /// The homes that there are by now.
    var homes: [String] {
        let all = folder.appendingPathComponent("wsx-tour").path
        let names = (try? FileManager.default.contentsOfDirectory(atPath: all)) ?? []
        return names.sorted().map { all + "/" + $0 }
    }

    /// Runs one command as the person, and returns its lines and its status.
    func run(_ command: String, as person: String) throws -> (lines: [String], status: Int32) {
        let process = Process()
        let pipe = Pipe()
        process.executableURL = URL(fileURLWithPath: "/bin/bash")
        process.arguments = ["-c", "exec 2>&1; set -o pipefail; \(command)"]
        process.currentDirectoryURL = folder
        process.environment = [
            "HOME": folder.path, "PATH": "\(binaries):/usr/bin:/bin", "TZ": "UTC",
            "WSX_NODE_HOME": folder.appendingPathComponent("wsx-tour/\(person)").path,
        ]
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = pipe
        try process.run()
        let data = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        var lines = String(decoding: data, as: UTF8.self).components(separatedBy: "\n")
        if lines.last?.isEmpty == true { lines.removeLast() }
        return (lines, process.terminationStatus)
    }

    /// Ends every node of the folder, and removes it.
    func end(_ people: Set<String>) {
        for person in people.sorted() { _ = try? run("wsx-node down", as: person) }
        try? FileManager.default.removeItem(at: folder)
    }
}
