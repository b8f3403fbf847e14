import NoteText
public import WorkspaceModel

/// The text of a note between the node and an editor, which both change without waiting for each
/// other (docs/EDITORS.md).
///
/// The editor says how many lines of the other side it has applied, and ignores those that were
/// written before its own last line arrived. So it never transforms a change over another; this
/// type does. It does no I/O: its owner reads and writes both ends, and sends what the calls
/// return.
public struct AttachedText {
    /// The node's text as it was last reported, and its version.
    var text: [Unicode.Scalar]
    var version: String
    /// The editor's text: after `taken` of our lines and `received` of its own.
    var shown: [Unicode.Scalar] = []
    var taken = 0
    private(set) var received = 0
    /// Lines that the editor may not have taken, the first behind `taken`.
    var unseen: [Line] = []
    /// The editor's changes that the node does not have yet.
    var writing: Writing?
    /// Whether events may still report changes that were read already.
    var isBehind = true
    /// Lines for the editor.
    private var said: [JSONValue] = []
    /// The last reported cursors of others, by device.
    var others: [String: JSONValue] = [:]
    var hasNewOthers = false
    /// Where the editor's cursor is in the text as the editor has it, where that is new.
    var cursor: (at: Int, length: Int)?

    /// Changes of one line, and whose they are.
    struct Line {
        var patches: [NotePatch]
        var author = JSONValue.null
    }

    /// Changes on their way to the node.
    struct Writing {
        /// The changes that the node was asked to make, relative to the text of `version`; empty
        /// where nothing was asked.
        var asked: [NotePatch] = []
        /// What to ask the node next, relative to the text after that.
        var rest: [NotePatch] = []
        /// Changes by others, relative to the editor's text.
        var theirs: [NotePatch] = []
        /// The authors of these changes.
        var authors: [JSONValue] = []
        /// The steps that the node reported since it was asked.
        var steps: [Step] = []
        /// The versions before and after the editor's change, once the node has answered.
        var answer: (from: String, to: String)?
    }

    /// One step of the node's text.
    struct Step {
        let from: String
        let to: String
        let line: Line
    }

    /// A note that was just read. The editor begins with an empty text, and the first line fills it.
    ///
    /// - Parameters:
    ///   - text: all of it.
    ///   - version: what names it, `v_…`.
    public init(text: String, version: String) {
        self.text = Array(text.unicodeScalars)
        self.version = version
        let patches = text.isEmpty ? [] : [NotePatch(at: 0, deleted: 0, inserted: text)]
        say(patches, by: [], always: true)
    }

    /// Whether everything that the editor wrote is at the node.
    public var isSettled: Bool { writing == nil }

    /// The lines for the editor; each is returned once.
    public mutating func takeLines() -> [JSONValue] {
        if let line = cursorLine() { said.append(line) }
        defer { said = [] }
        return said
    }

    // MARK: From the editor

    /// Takes a line of the editor.
    ///
    /// - Parameter line: `{version: [node, editor], patch: [[at, deleted, inserted]…]}`. One without
    ///   `patch` is not counted.
    /// - Throws: `bad_request` for an invalid line, `conflict` where too much has changed since.
    public mutating func take(_ line: JSONValue) throws(NodeError) {
        let line = try AttachedLine(line)
        guard line.editor == received else {
            throw .attached("the line counts \(line.editor) lines of the editor, not \(received)")
        }
        guard line.node <= taken + unseen.count else {
            throw .attached("the line counts more lines of the node than there were")
        }
        guard line.node >= taken else { throw .noteTooFarApart }
        while taken < line.node { see() }
        var count = shown.count
        for patch in line.patches {
            guard NoteStep.patch(patch).fits(&count) else {
                throw .attached("a change reaches beyond the text of the editor")
            }
        }
        if let cursor = line.cursor {
            guard cursor.at <= count, cursor.length <= count - cursor.at else {
                throw .attached("the cursor is beyond the text of the editor")
            }
        }
        cursor = line.cursor
        guard line.hasPatch else { return }
        // Earlier changes are sent again, even if nothing was changed: the editor has ignored them.
        var new = writing ?? Writing(authors: unseen.map(\.author))
        if writing == nil { new.theirs = unseen.flatMap(\.patches) }
        guard let met = NotePatch.carried(line.patches, past: new.theirs) else {
            throw .noteTooFarApart
        }
        (new.rest, new.theirs) = (new.rest + met.ours, met.theirs)
        unseen = []
        Self.apply(line.patches, to: &shown)
        received += 1
        writing = new
    }

    /// The editor has taken one more of our lines.
    private mutating func see() {
        guard !unseen.isEmpty else { return }
        Self.apply(unseen.removeFirst().patches, to: &shown)
        taken += 1
    }

    // MARK: To the node

    /// What to ask the node now: `base` and `ops` of `note.edit`; `nil` for nothing.
    public mutating func takeEdit() -> JSONObject? {
        guard var new = writing, new.asked.isEmpty else { return nil }
        guard !new.rest.isEmpty else {
            // Others have done the same.
            finish(new)
            return nil
        }
        var (count, bytes) = (0, 0)
        while count < min(new.rest.count, Limits.noteChangesPerCallMax),
            bytes < Limits.noteEditBytesMax
        {
            bytes += new.rest[count].inserted.utf8.count
            count += 1
        }
        new.asked = Array(new.rest.prefix(count))
        new.rest.removeFirst(count)
        writing = new
        let changes: [JSONValue] = new.asked.map { patch in
            let at = JSONValue.integer(Int64(patch.at))
            return patch.deleted > 0
                ? ["delete": ["at": at, "length": .integer(Int64(patch.deleted))]]
                : ["insert": ["at": at, "text": .string(patch.inserted)]]
        }
        return ["base": .string(version), "ops": .array(changes)]
    }

    /// The node takes nothing of what it was asked: what the editor wrote goes again there.
    ///
    /// - Parameter error: why, which the editor is told.
    public mutating func refused(_ error: NodeError) {
        for step in writing?.steps ?? [] {
            Self.apply(step.line.patches, to: &text)
            version = step.to
        }
        (writing, unseen) = (nil, [])
        say(Self.difference(from: shown, to: text), by: [], because: error)
    }

    // MARK: To the editor

    /// The editor's changes are at the node. The editor is told what others changed.
    mutating func finish(_ done: Writing) {
        writing = nil
        say(done.theirs, by: done.authors)
    }

    mutating func say(
        _ patches: [NotePatch], by authors: [JSONValue], because error: NodeError? = nil,
        always: Bool = false
    ) {
        guard always || !patches.isEmpty || error != nil else { return }
        let isOne = authors.allSatisfy { $0 == authors.first }
        let author = isOne ? authors.first ?? .null : .null
        var line: JSONObject = [
            "version": [.integer(Int64(taken + unseen.count)), .integer(Int64(received))],
            "patch": NotePatch.json(patches), "by": author,
        ]
        if let error { line["error"] = error.json }
        said.append(.object(line))
        unseen.append(Line(patches: patches, author: author))
        // An editor that only reads sends nothing, and has applied all of that long ago.
        var bytes = unseen.reduce(0) { $0 + Self.bytes(of: $1.patches) }
        while unseen.count > 1,
            unseen.count > Limits.noteVersionsMax || bytes > Limits.noteVersionBytesMax
        {
            bytes -= Self.bytes(of: unseen[0].patches)
            see()
        }
    }

    // MARK: Texts

    /// - Precondition: each fits what those before it have left.
    static func apply(_ patches: [NotePatch], to text: inout [Unicode.Scalar]) {
        for patch in patches {
            let range = (patch.at..<patch.at + patch.deleted).clamped(to: 0..<text.count)
            text.replaceSubrange(range, with: patch.inserted.unicodeScalars)
        }
    }

    static func difference(
        from old: [Unicode.Scalar], to new: [Unicode.Scalar]
    ) -> [NotePatch] {
        func string(_ text: [Unicode.Scalar]) -> String {
            var view = String.UnicodeScalarView()
            view.append(contentsOf: text)
            return String(view)
        }
        return TextDifference.patches(from: string(old), to: string(new))
    }

    private static func bytes(of patches: [NotePatch]) -> Int {
        patches.reduce(64) { $0 + 64 + $1.inserted.utf8.count }
    }
}
