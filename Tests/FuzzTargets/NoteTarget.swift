import NoteText
import WorkspaceModel

@testable import PeerNode

/// What members write in notes, and what editors say to them.
extension FuzzTarget {
    static let notes = FuzzTarget(
        "notes", "edits, what is laid over a text, snapshots, and lines of editors, on one note"
    ) { bytes in
        guard let kind = bytes.first else { return }
        let body = Array(bytes.dropFirst())
        switch kind % 3 {
        case 0: try edit(body)
        case 1: try snapshot(body)
        default: try line(body)
        }
    }

    /// The operation that fuzzed edits can refer to: 16 bytes of ones.
    private static let base = NoteOperation(
        author: .init(device: .zero, incarnation: 1), sequence: 1,
        timestamp: HybridTimestamp(rawValue: 0x0101_0101_0101_0101),
        id: OperationID(words: (0x0101_0101_0101_0101, 0, 0, 0)),
        edit: NoteEdit(
            sources: [], changes: [.insert(left: nil, right: nil, text: "some text\nof two lines")])
    )

    private static func edit(_ bytes: [UInt8]) throws {
        guard let edit = try? NoteEdit(decoding: bytes) else { return }
        try hold(edit.encoded == bytes, "two spellings of one edit")
        var note = Note()
        note.apply(base)
        let before = note.text
        if let overlay = note.overlay(of: edit) {
            try hold(
                NotePatch.apply(overlay.patches, to: before) != nil, "an overlay beyond the text")
        }
        try hold(note.text == before, "an overlay that changes the text")
        let operation = NoteOperation(
            author: .init(device: .zero, incarnation: 2), sequence: 1,
            timestamp: HybridTimestamp(rawValue: 0x0202_0202_0202_0202),
            id: OperationID(words: (0x0202_0202_0202_0202, 0, 0, 0)), edit: edit)
        if case .applied(let changes) = note.apply(operation) {
            let patches = changes.flatMap(\.patches)
            try hold(NotePatch.apply(patches, to: before) == note.text, "another text than told")
        }
        try hold(note.lines().map(\.text).joined(separator: "\n") == note.text, "other lines")
    }

    private static func snapshot(_ bytes: [UInt8]) throws {
        var input = FuzzBytes(bytes)
        let page = input.field()
        guard let read = try? NotePage(decoding: page) else { return }
        _ = read.lines
        guard var note = try? Note(NoteSnapshot(page: page, runs: input.all())) else { return }
        let count = note.scalarCount
        _ = try? note.edit(NotePatch(at: count, deleted: 0, inserted: "x"), as: base.author)
        try hold(note.scalarCount <= count + 1, "more than was written")
    }

    private static func line(_ bytes: [UInt8]) throws {
        var attached = AttachedText(text: "some text", version: "v_1")
        for part in bytes.split(separator: UInt8(ascii: "\n")) {
            if let line = try? JSONValue(parsing: Array(part)) {
                attached.hearCursor(line)
                attached.hearParticipants(line["participants"])
            }
            _ = try? attached.take(line: Array(part))
            if let edit = attached.takeEdit() {
                try hold(
                    (try? NoteChanges.steps(edit["ops"] ?? .null)) != nil, "no edit of a note")
                attached.refused(.noteBadText)
            }
            _ = attached.takeCursor()
            _ = attached.takeLines()
        }
    }
}
