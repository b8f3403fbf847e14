import Glibc
import PeerNode
import WorkspaceModel

/// The user's text editor.
enum TextEditor {
    /// `VISUAL`, then `EDITOR`, then `vi`, which every system has.
    static func command(_ environment: [String: String]) -> String {
        for name in ["VISUAL", "EDITOR"] {
            if let command = environment[name], !command.isEmpty { return command }
        }
        return "vi"
    }

    /// The folder for texts being edited: `TMPDIR`, otherwise `/tmp`.
    static func folder(_ environment: [String: String]) -> String {
        environment["TMPDIR"].flatMap { $0.isEmpty ? nil : $0 } ?? "/tmp"
    }

    /// Runs a shell command on this process's terminal, with a path as its last argument.
    ///
    /// - Returns: its exit status, 128 and more for a signal; `nil` if it could not be run.
    static func run(_ command: String, _ path: String) -> Int32? {
        // The interrupt key is for the editor. If it ended us, nobody would save the text.
        let former = [SIGINT, SIGQUIT].map { (number: $0, handler: signal($0, SIG_IGN)) }
        defer { for (number, handler) in former { signal(number, handler) } }
        return ShellProcess.run("\(command) \(NodeError.shellWord(path))", input: nil)
    }
}

/// A text in a temporary file, being edited.
struct EditedFile {
    /// The text written into the file, without the final line break.
    let text: String
    let folder: String
    let path: String
    private let io: any ProgramIO

    /// Writes a text to a file that only this account can read.
    ///
    /// - Parameter name: of the file; editors detect the file type by its extension.
    init(
        _ text: String, name: String, _ environment: [String: String], _ io: any ProgramIO
    ) throws(NodeError) {
        self.text = text
        self.io = io
        folder = try io.makePrivateFolder(in: TextEditor.folder(environment))
        path = folder + "/" + name
        do throws(NodeError) {
            try io.replaceFile(path, with: Array((text.isEmpty ? "" : text + "\n").utf8))
        } catch {
            io.removePrivateFolder(folder)
            throw error
        }
    }

    /// The file's current text; `nil` if it is unchanged or gone.
    ///
    /// - Parameter limit: bytes.
    /// - Throws: `too_large`, a usage error, or a failure to read, each through
    ///   `kept`; the file remains.
    func changed(limit: Int) throws(NodeError) -> String? {
        let found: [UInt8]?
        do throws(NodeError) { found = try io.readFile(path, limit: limit) } catch {
            throw kept(error)
        }
        guard let bytes = found else { return nil }
        guard bytes.count <= limit else { throw kept(.noteTooLarge) }
        guard let written = String(validating: bytes, as: UTF8.self) else {
            throw kept(.usage("the text is not UTF-8"))
        }
        var now = written.replacing("\r\n") { _, _ in "\n" }
        if now.utf8.last == UInt8(ascii: "\n") { now = String(now.unicodeScalars.dropLast()) }
        return now.utf8.elementsEqual(text.utf8) ? nil : now
    }

    /// A failure that names the file with the text.
    func kept(_ error: NodeError) -> NodeError {
        var error = error
        let place = "your text is in \(NodeError.shellWord(path))"
        error.hint = error.hint.map { "\(place); \($0)" } ?? place
        return error
    }

    func remove() { io.removePrivateFolder(folder) }
}

/// The differences between two texts, line by line.
enum LineChanges {
    /// Longer parts are only counted.
    private static let comparedMax = 2_000
    private static let shownMax = 40

    /// Removed lines, each behind `- `, and added lines, each behind `+ `.
    static func lines(from old: String, to new: String) -> [String] {
        var (before, after) = (parts(old), parts(new))
        while let first = before.first, first == after.first {
            before.removeFirst()
            after.removeFirst()
        }
        while let last = before.last, last == after.last {
            before.removeLast()
            after.removeLast()
        }
        guard before.count + after.count <= comparedMax else {
            return ["\(before.count) lines became \(after.count)"]
        }
        let changes = changes(Array(before), Array(after))
        guard changes.count > shownMax else { return changes }
        return changes.prefix(shownMax) + ["... and \(changes.count - shownMax) more lines"]
    }

    private static func parts(_ text: String) -> ArraySlice<Substring> {
        text.isEmpty ? [] : text.split(separator: "\n", omittingEmptySubsequences: false)[...]
    }

    private static func changes(_ before: [Substring], _ after: [Substring]) -> [String] {
        let difference = after.difference(from: before)
        var gone: Set<Int> = []
        var come: Set<Int> = []
        for change in difference {
            switch change {
            case .remove(let place, _, _): gone.insert(place)
            case .insert(let place, _, _): come.insert(place)
            }
        }
        var lines: [String] = []
        var (old, new) = (0, 0)
        while old < before.count || new < after.count {
            if old < before.count, gone.contains(old) {
                lines.append("- " + before[old])
                old += 1
            } else if new < after.count, come.contains(new) {
                lines.append("+ " + after[new])
                new += 1
            } else {
                old += 1
                new += 1
            }
        }
        return lines
    }
}
