import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// Calls that tests of notes make.
extension BenchNode {
    @discardableResult
    func makeNote(
        _ title: String, in channel: String = "general", saying text: String? = nil
    ) throws -> JSONValue {
        var given: JSONObject = ["channel": .string(channel), "title": .string(title)]
        if let text { given["text"] = .string(text) }
        return try ok("note.create", .object(given))
    }

    @discardableResult
    func edit(
        _ note: JSONValue, to text: String, base: JSONValue? = nil
    ) throws -> JSONValue {
        var given: JSONObject = ["note": note["id"] ?? .null, "text": .string(text)]
        given["base"] = base
        return try ok("note.edit", .object(given))
    }

    func show(_ note: JSONValue, _ more: JSONObject = [:]) throws -> JSONValue {
        var given = more
        given["note"] = note["id"]
        return try ok("note.get", .object(given))
    }

    func text(of note: JSONValue) throws -> String { try show(note).text("text") }

    /// Where a note is here.
    func place(of note: JSONValue) throws -> ViewStore.NotePlace {
        let core = try #require(host?.core)
        let key = try #require(PublicID.noteKey(try note.text("id")))
        return try #require(try core.notes.finding.place(of: key, in: try workspace()))
    }

    /// The same text, made anew of all edits.
    func textMadeAnew(of note: JSONValue) throws -> String {
        let core = try #require(host?.core)
        let place = try place(of: note)
        if let open = core.notes.texts.known(place) { core.notes.texts.drop(open) }
        try core.turn.store.begin()
        try core.turn.store.view.notes.removeNoteSnapshot(of: place)
        try core.turn.store.commit()
        return try text(of: note)
    }
}
