import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import NoteText

/// Somebody else's unpublished changes, overlaid on the text.
struct `What another writes and has not published` {
    @Test(arguments: Seeds.explore(60))
    func `is shown where it will be, to who has the same operations`(seed: UInt64) throws {
        var history = try `Notes of several writers`.History(seed: seed, rounds: 12)
        var writer = NoteWriter(77)
        for operation in history.operations { writer.note.apply(operation) }
        var reader = writer.note
        let before = reader.text
        for _ in 0..<8 { try writer.scribble(using: &history.random) }
        guard let draft = writer.note.draft else { return }
        let found = reader.overlay(of: try draft.edit.coded)
        let overlay = try #require(found)
        guard overlay.patches.count < NoteLimits.overlayPatchesMax else { return }
        #expect(
            NotePatch.apply(overlay.patches, to: before) == writer.note.text, "WSX_SEED=\(seed)")
        for _ in 0..<20 {
            let place = history.random.below(writer.note.scalarCount + 1)
            let anchor = writer.note.anchor(at: place)
            let there = reader.position(of: anchor, in: overlay)
            #expect(there == place, "WSX_SEED=\(seed)")
        }
        // It was laid over, and not taken in.
        #expect(reader.text == before && reader.draft == nil)
        #expect(reader.operationCount == history.operations.count)
    }

    @Test(arguments: Seeds.explore(20))
    func `keeps within the text of who has written more meanwhile`(seed: UInt64) throws {
        var history = try `Notes of several writers`.History(seed: seed, rounds: 12)
        var writer = NoteWriter(77)
        for operation in history.operations { writer.note.apply(operation) }
        var reader = NoteWriter(78)
        reader.note = writer.note
        for _ in 0..<6 { try writer.scribble(using: &history.random) }
        for _ in 0..<6 { try reader.scribble(using: &history.random) }
        guard let draft = writer.note.draft else { return }
        let found = reader.note.overlay(of: try draft.edit.coded)
        let overlay = try #require(found)
        let shown = try #require(NotePatch.apply(overlay.patches, to: reader.note.text))
        for place in 0...writer.note.scalarCount {
            let anchor = writer.note.anchor(at: place)
            guard let there = reader.note.position(of: anchor, in: overlay) else { continue }
            #expect((0...shown.unicodeScalars.count).contains(there), "WSX_SEED=\(seed)")
        }
    }

    @Test func `is not shown where it refers to what is not here`() throws {
        var random = SeededGenerator(seed: 3)
        var writer = NoteWriter(1)
        _ = try writer.write("one", at: 0, using: &random)
        try writer.note.edit(NotePatch(at: 3, deleted: 0, inserted: "!"), as: writer.author)
        var reader = Note()
        let draft = try #require(writer.note.draft)
        let found = reader.overlay(of: draft.edit)
        #expect(found == nil)
        for place in [2, 4] {
            let anchor = writer.note.anchor(at: place)
            let there = reader.position(of: anchor, in: NoteOverlay())
            #expect(there == nil)
        }
        let (first, last) = (writer.note.anchor(at: 0), reader.anchor(at: 7))
        #expect(first == .beginning && last == .beginning)
    }

    @Test func `has a bound on what is shown and on what is looked at`() throws {
        var random = SeededGenerator(seed: 3)
        var writer = NoteWriter(1)
        let all = try writer.write(
            String(repeating: "ab", count: 30_000), at: 0, using: &random)
        // Every other letter goes, so that the text is many runs.
        for index in 0..<3_000 {
            try writer.note.edit(
                NotePatch(at: index + 1, deleted: 1, inserted: ""), as: writer.author)
        }
        _ = try writer.publish(using: &random)
        let changes = (0..<700).map { _ in
            NoteEdit.Change.delete(.init(source: 1, offset: 0), count: 60_000)
        }
        let edit = try NoteEdit(sources: [all.key], changes: changes).coded
        let found = writer.note.overlay(of: edit)
        let overlay = try #require(found)
        #expect(overlay.patches.count <= NoteLimits.overlayPatchesMax)
        #expect(overlay.lookedAt <= NoteLimits.overlayRunsMax)
        #expect(NotePatch.apply(overlay.patches, to: writer.note.text) != nil)
    }
}
