import Foundation
import PeerNode
import WorkspaceModel
import WorkspaceTestKit

/// The shell commands in help and pages that handle other people's text: arguments of `--exec` and
/// `notify command`, and lines with a variable from them.
struct ShellExamples {
    /// Where it was found, and the script.
    struct Example: Sendable, CustomStringConvertible {
        let place: String
        let script: String
        var description: String { "\(place): \(script)" }
    }

    /// All of them, each once.
    static let all = Result { try find() }

    private static func find() throws -> [Example] {
        var texts = Manual.topics.map { (place: "help \($0.word)", text: $0.text) }
        for command in Command.all {
            texts += (command.line?.examples ?? []).map {
                (place: "help \(command.name)", text: $0)
            }
        }
        for page in [
            "README.md", "docs/ARCHITECTURE.md", "docs/OPERATIONS.md", "docs/PROTOCOL.md",
            "docs/SECURITY.md", "CHANGELOG.md",
        ] {
            texts.append((place: page, text: try SourceTree.text(page)))
        }
        var examples: [Example] = []
        for (place, text) in texts {
            for script in scripts(in: text) where !examples.contains(where: { $0.script == script })
            {
                examples.append(Example(place: place, script: script))
            }
        }
        return examples
    }

    /// The scripts of one text.
    static func scripts(in text: String) -> [String] {
        var found: [String] = []
        var rest = text
        for head in ["--exec '", "notify command '"] {
            for part in text.components(separatedBy: head).dropFirst() {
                guard let end = part.firstIndex(of: "'") else { continue }
                found.append(String(part[..<end]))
                rest = rest.replacingOccurrences(of: head + part[...end], with: "")
            }
        }
        found += rest.components(separatedBy: "\n")
            .map { $0.trimmingCharacters(in: .whitespaces) }
            .filter { $0.contains("$WSX_") || $0.contains("${WSX_") }
        return found.filter { !$0.isEmpty }
    }

    // MARK: Running

    private let folder: String
    /// Stands for the programs of the examples: shows its arguments and what it reads, as a
    /// notice would be shown or a message sent, and takes an option for one as they do.
    private static let program = """
        #!/bin/sh
        for word in "$@"; do
            case $word in
            --) break ;;
            -|--thread|--key) ;;
            -*) exit 64 ;;
            esac
        done
        printf '%s\\n' "$@"
        [ -t 0 ] || cat
        """

    /// Makes a folder with programs to run instead of those that the examples name.
    init() throws {
        folder =
            FileManager.default.temporaryDirectory
            .appendingPathComponent("wsx-\(UInt32.random(in: 0 ... .max))").path
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true)
        for name in ["wsx-node", "notify-send", "uptime"] {
            let path = folder + "/" + name
            try Self.program.write(toFile: path, atomically: true, encoding: .utf8)
            try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: path)
        }
    }

    /// Removes the folder.
    func remove() { try? FileManager.default.removeItem(atPath: folder) }

    /// Runs a script under a shell, with nothing to read.
    func run(
        _ script: String, under shell: String, _ variables: [String: String]
    ) -> TemporaryNode.Outcome {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: shell)
        process.arguments = ["-c", script]
        process.environment = variables.merging(["PATH": folder + ":/usr/bin:/bin"]) { $1 }
        return TemporaryNode.finish(process)
    }

    /// What a terminal would obey in what was printed: all controls but the ends of lines, and
    /// what turns a line around.
    static func dangers(in outcome: TemporaryNode.Outcome) -> [String] {
        (outcome.output + outcome.errors).unicodeScalars
            .filter { scalar in
                scalar != "\n"
                    && (scalar == "\t"
                        || TerminalText.escaped(String(scalar), for: .body) != String(scalar))
            }
            .map { "U+" + String($0.value, radix: 16) }
    }
}
