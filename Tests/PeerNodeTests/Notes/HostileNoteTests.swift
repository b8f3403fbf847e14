import CRDTStore
import NoteText
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// Signed edits and calls that no note accepts.
struct `Bad input to a note` {
    private let bench: CoreBench
    private let ada: BenchNode
    private let bob: BenchNode
    private let note: JSONValue
    private let key: MessageKey

    init() throws {
        let table = try `Private channels`.Table()
        (bench, ada, bob) = (table.bench, table.ada, table.bob)
        note = try ada.makeNote("Plan", saying: "hello world")
        key = try #require(PublicID.noteKey(try note.text("id")))
        bench.advance(5_000)
    }

    private func general() throws -> DocumentID {
        let workspace = try bob.workspace()
        return try #require(workspace.channelIndex.all.first { $0.isDefault }).id
    }

    /// Lets Bob sign an edit that his own commands would not make.
    private func write(_ body: [UInt8], of key: MessageKey? = nil) throws {
        try bob.write(
            .note(.edit(body, of: key ?? self.key, mentions: .none)), to: try general())
        bench.advance(5_000)
    }

    @Test func `that others signed has no effect, and everybody keeps one text`() throws {
        let far = NoteEdit.Reference(source: 1, offset: 5_000)
        let unknown = MessageKey(timestamp: HybridTimestamp(rawValue: 77), idPrefix: 5)
        let first = try #require(
            try ada.host?.core.turn.store.view.notes.latestNoteEdits(
                of: ada.place(of: note), limit: 1
            )
            .first)
        let stored = try #require(try ada.host?.core.turn.store.operations.operation(first.arrival))
        let bodies: [[UInt8]] = [
            [0], [0xff, 0xff], [UInt8](repeating: 0x82, count: 4_000),
            NoteEdit(sources: [], changes: []).encoded,
            NoteEdit(
                sources: [stored.messageKey],
                changes: [.insert(left: far, right: nil, text: "beyond")]
            ).encoded,
            NoteEdit(
                sources: [stored.messageKey], changes: [.delete(far, count: 60_000)]
            ).encoded,
            NoteEdit(
                sources: [stored.messageKey], changes: [.mark(from: far, to: nil, .bold(true))]
            ).encoded,
            NoteEdit(
                sources: [key], changes: [.insert(left: nil, right: nil, text: "of the note")]
            ).encoded,
            NoteEdit(
                sources: [unknown],
                changes: [
                    .insert(left: .init(source: 1, offset: 0), right: nil, text: "waits endlessly")
                ]
            ).encoded,
        ]
        for body in bodies { try write(body) }
        // Of a note that is not there, and of one that is something else.
        try write(
            NoteEdit(sources: [], changes: [.insert(left: nil, right: nil, text: "x")]).encoded,
            of: unknown)
        for node in [ada, bob] {
            let shown = try node.show(note)
            #expect(shown["complete"] == false, "\(node.name)")
            #expect(try shown.text("text").contains("hello world"), "\(node.name)")
            #expect(try !shown.text("text").contains("beyond"), "\(node.name)")
            #expect(try node.textMadeAnew(of: note) == shown.text("text"))
            #expect(try node.ok("note.list").items.count == 1)
            #expect(try node.ok("node.check")["problem_count"] == 0)
        }
        #expect(try ada.text(of: note) == bob.text(of: note))
        // It goes on all the same.
        try ada.edit(note, to: "hello, world")
        bench.advance(5_000)
        #expect(try bob.text(of: note) == "hello, world")
    }

    @Test func `takes nothing of another note`() throws {
        let other = try ada.makeNote("Other", saying: "abc")
        bench.advance(5_000)
        let view = try #require(ada.host?.core.turn.store.view)
        let edit = try #require(
            try view.notes.latestNoteEdits(of: ada.place(of: other), limit: 1).first)
        let stored = try #require(try ada.host?.core.turn.store.operations.operation(edit.arrival))
        let place = NoteEdit.Reference(source: 1, offset: 0)
        try write(
            NoteEdit(
                sources: [stored.messageKey],
                changes: [
                    .insert(left: place, right: nil, text: "taken"), .delete(place, count: 3),
                ]
            ).encoded)
        for node in [ada, bob] {
            let shown = try node.show(note)
            #expect(shown["text"] == "hello world" && shown["complete"] == false)
            #expect(try node.text(of: other) == "abc")
            #expect(try node.textMadeAnew(of: note) == "hello world")
        }
    }

    @Test func `of somebody without a right counts for nobody`() throws {
        try ada.ok("channel.create", ["name": "board", "private": true])
        let board = try ada.makeNote("Money", in: "board", saying: "42")
        let place = try ada.place(of: board)
        let document = try #require(
            ada.host?.core.turn.store.operations.document(numbered: place.document)
        ).id
        // He has no key to it, so what he signs there is under another one.
        try bob.write(.note(.title("Bob's", of: place.key)), to: document)
        bench.advance(5_000)
        #expect(try ada.show(board)["title"] == "Money")
    }

    @Test(
        arguments: [
            (["insert": ["at": 12, "text": "x"]], "note.range"),
            (["insert": ["at": -1, "text": "x"]], "note.ops"),
            (["insert": ["at": 0, "text": ""]], "note.ops"),
            (["insert": ["at": 0, "text": "a\u{1B}[31m"]], "bad_text"),
            (["insert": ["at": 0, "text": "\u{0}"]], "bad_text"),
            (["delete": ["at": 5, "length": 7]], "note.range"),
            (["delete": ["at": 0, "length": 9_000_000_000_000]], "note.ops"),
            (["format": ["at": 0, "length": 12, "mark": "bold", "value": true]], "note.range"),
            (["format": ["at": 0, "length": 1, "mark": "shout", "value": true]], "note.ops"),
            (["format": ["at": 0, "length": 1, "mark": "link", "value": "a b"]], "note.link"),
            (["line": ["at": 12, "kind": "quote"]], "note.range"),
            (["line": ["at": 0, "kind": "verse"]], "note.ops"),
            (["jump": ["at": 0]], "note.ops"),
            ([:], "note.ops"), (7, "note.ops"),
        ] as [(JSONValue, String)])
    func `that a caller gives is refused, and nothing is written`(
        _ change: JSONValue, _ reason: String
    ) throws {
        let count = try ada.rowCount("operation")
        let refused = try ada.refused(
            "note.edit",
            ["note": note["id"] ?? .null, "ops": [["insert": ["at": 0, "text": ""]], change]])
        #expect(refused.kind == .badRequest)
        let alone = try ada.refused(
            "note.edit", ["note": note["id"] ?? .null, "ops": [change]])
        #expect(alone.kind == .badRequest && alone.reason == reason, "\(alone)")
        #expect(try ada.rowCount("operation") == count)
        #expect(try ada.text(of: note) == "hello world")
    }

    @Test func `is refused where a text or a title is none`() throws {
        for text in ["a\u{7}", "\u{FFFE}", "\u{9B}31m"] {
            let refused = try ada.refused(
                "note.edit", ["note": note["id"] ?? .null, "text": .string(text)])
            #expect(refused.kind == .badRequest && refused.reason == "bad_text")
        }
        for title in [" ", "n_01hx9t4c", "a\nb", "\u{200B}"] {
            let refused = try ada.refused(
                "note.create", ["channel": "general", "title": .string(title)])
            #expect(refused.kind == .badRequest && refused.reason == "bad_name", "\(title)")
        }
        let both = try ada.refused(
            "note.edit", ["note": note["id"] ?? .null, "text": "x", "ops": []])
        #expect(both.kind == .badRequest)
        #expect(try ada.refused("note.get", ["note": "nothing"]).kind == .notFound)
        #expect(
            try ada.refused("note.get", ["note": note["id"] ?? .null, "cursor": "x"]).kind
                == .badRequest)
    }

    @Test func `keeps no more open than is allowed, and forgets no text by that`() throws {
        var notes: [JSONValue] = []
        for number in 0..<Limits.notesOpenMax + 4 {
            notes.append(try ada.makeNote("Note \(number)", saying: "text \(number)"))
        }
        let core = try #require(ada.host?.core)
        #expect(core.notes.texts.open.count <= Limits.notesOpenMax)
        for (number, note) in notes.enumerated() {
            #expect(try ada.text(of: note) == "text \(number)")
        }
        #expect(core.notes.texts.open.count <= Limits.notesOpenMax)
    }

    /// Somebody who writes very much by single letters makes nobody wait who opens it later.
    @Test func `in very many pieces is kept as a snapshot on the way`() throws {
        let edit = NoteEdit(
            sources: [], changes: [.insert(left: nil, right: nil, text: "x")]
        ).encoded
        let document = try general()
        ada.host?.core.notes.forgetWorkspaces()
        for _ in 0..<4 {
            try bob.inTurn { core, workspace in
                for _ in 0..<Limits.noteTailMax / 3 {
                    _ = try core.privates.authorContent(
                        .note(.edit(edit, of: key, mentions: .none)), to: document, in: workspace)
                }
            }
            bench.advance(60_000)
        }
        #expect(try ada.rowCount("note_snapshot") == 1)
        let text = try ada.text(of: note)
        #expect(text.unicodeScalars.count == 11 + Limits.noteTailMax / 3 * 4)
        #expect(try ada.textMadeAnew(of: note) == text)
    }

    @Test func `does not change what a paste of many edits says`() throws {
        let long = (0..<40_000).map { "line \($0)" }.joined(separator: "\n")
        try ada.edit(note, to: long)
        bench.advance(60_000)
        let core = try #require(bob.host?.core)
        let open = try bob.inTurn { _, workspace in
            try core.notes.texts.opened(try bob.place(of: note), in: workspace)
        }
        #expect(open.note.text == long)
        #expect(try ada.rowCount("note_edit") > 3)
        // It comes in parts that each fit into an answer.
        var (text, cursor): (String, JSONValue?) = ("", nil)
        repeat {
            let part = try bob.show(note, cursor.map { ["cursor": $0] } ?? [:])
            text += try part.text("text")
            cursor = part["next"].flatMap { $0.isNull ? nil : $0 }
        } while cursor != nil
        #expect(text == long)
    }
}
