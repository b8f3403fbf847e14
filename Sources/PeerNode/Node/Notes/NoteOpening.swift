import CRDTStore
import NoteText
import WorkspaceModel

/// Builds the text of a note: from its snapshot and later edits, or from all of its edits.
extension NoteTexts {
    /// Edits that are read in one go.
    private static let readAtOnce = 1_024
    /// How many edits with the same short name are tried. An author who makes more, at some
    /// billions of hashes each, leaves the note incomplete.
    private static let namesakesMax = 8

    func load(
        _ place: ViewStore.NotePlace, in workspace: Workspace
    ) throws(StorageError) -> OpenNote {
        let note = try made(place, in: workspace)
        try room.drafts.takeUpDraft(into: note)
        return note
    }

    /// A note, built from its edits.
    private func made(
        _ place: ViewStore.NotePlace, in workspace: Workspace
    ) throws(StorageError) -> OpenNote {
        if let note = try restored(place) {
            if try replay(into: note, in: workspace) { return note }
            try store.begin()
            try store.view.notes.removeNoteSnapshot(of: place)
        }
        // Of two edits with the same short name the one with the smaller id counts. Which these are
        // shows while loading.
        var winners: [MessageKey: OperationID] = [:]
        for _ in 0..<Self.namesakesMax {
            let note = OpenNote(place)
            note.beginHistory()
            if try replay(into: note, in: workspace, &winners) { return note }
        }
        let note = OpenNote(place)
        note.isWhole = false
        return note
    }

    // MARK: Snapshots

    private func restored(_ place: ViewStore.NotePlace) throws(StorageError) -> OpenNote? {
        guard let home, let row = try store.view.notes.noteSnapshot(of: place),
            let page = home.open(row.page, name: Self.name("page", place, upTo: row.upTo)),
            let runs = home.open(row.runs, name: Self.name("runs", place, upTo: row.upTo)),
            let note = try? Note(NoteSnapshot(page: page, runs: runs))
        else { return nil }
        return OpenNote(place, note, row.sums, upTo: row.upTo)
    }

    /// Keeps the text of a note that is complete, where something can be written now.
    func save(_ note: OpenNote) throws(StorageError) {
        guard let home, core.mayTidy, note.isComplete, !note.isDropped,
            let snapshot = note.note.snapshot(verdictChanges: UInt64(max(note.last, 0)))
        else { return }
        try store.begin()
        try store.view.notes.setNoteSnapshot(
            .init(
                upTo: note.last, sums: note.sums,
                page: home.seal(
                    snapshot.page, name: Self.name("page", note.place, upTo: note.last),
                    using: environment.random),
                runs: home.seal(
                    snapshot.runs, name: Self.name("runs", note.place, upTo: note.last),
                    using: environment.random)),
            of: note.place)
        note.unsaved = 0
        note.weigh()
    }

    /// The associated data of a part of a snapshot, so that none is taken for another.
    private static func name(
        _ part: String, _ place: ViewStore.NotePlace, upTo last: Int64
    ) -> [UInt8] {
        Array("note.\(part)".utf8) + bigEndianBytes(of: UInt64(bitPattern: place.document))
            + place.key.bytes + bigEndianBytes(of: UInt64(bitPattern: last))
    }

    // MARK: Edits

    private func replay(
        into note: OpenNote, in workspace: Workspace
    ) throws(StorageError) -> Bool {
        var winners: [MessageKey: OperationID] = [:]
        return try replay(into: note, in: workspace, &winners)
    }

    /// Takes in the edits that a note does not have.
    ///
    /// - Parameter winners: of edits with one name the one that counts, as far as that has shown.
    /// - Returns: whether that was possible; otherwise the note is built again.
    private func replay(
        into note: OpenNote, in workspace: Workspace, _ winners: inout [MessageKey: OperationID]
    ) throws(StorageError) -> Bool {
        // An edit that somebody is about to make rests on one of the latest versions.
        let recent = try store.view.notes.latestNoteEdits(
            of: note.place, limit: Limits.noteVersionsMax
        ).last?.arrival
        var last = note.last
        while true {
            let rows = try store.view.notes.noteEdits(
                of: note.place, after: last, limit: Self.readAtOnce)
            last = rows.last?.arrival ?? last
            for row in rows {
                guard let stored = try store.operations.operation(row.arrival) else { continue }
                let isTold = row.arrival >= recent ?? 0
                guard try takeIn(stored, row, into: note, in: workspace, isTold, &winners) else {
                    return false
                }
            }
            if rows.count < Self.readAtOnce { break }
        }
        note.endHistory()
        try takeDeleted(into: note)
        note.weigh()
        return true
    }

    private func takeIn(
        _ stored: StoredOperation, _ row: ViewStore.NoteEditRow, into note: OpenNote,
        in workspace: Workspace, _ isTold: Bool, _ winners: inout [MessageKey: OperationID]
    ) throws(StorageError) -> Bool {
        let (id, key) = (stored.place.link.id, stored.messageKey)
        guard row.state != .erased else {
            guard let patches = note.erase(key, isTold: isTold).patches else { return false }
            note.took(id, row.state, at: row.arrival, isTold ? patches : nil)
            return true
        }
        guard let operation = try operation(stored, in: workspace) else {
            note.isWhole = false
            note.took(id, row.state, at: row.arrival, isTold ? ([], []) : nil)
            return true
        }
        if let winner = winners[key], winner != id {
            winners[key] = min(winner, id)
            note.took(id, row.state, at: row.arrival, isTold ? ([], []) : nil)
            return winner < id
        }
        let outcome = note.apply(operation, isValid: row.state == .valid, isTold: isTold)
        guard let patches = outcome.patches else {
            winners[key] = id
            return false
        }
        note.took(id, row.state, at: row.arrival, isTold ? patches : nil)
        return true
    }

    /// The edit of an operation; `nil` where it cannot be opened.
    func operation(
        _ stored: StoredOperation, in workspace: Workspace
    ) throws(StorageError) -> NoteOperation? {
        guard stored.entry.absent == nil,
            case .note(.edit(let body, _, _))? = try core.keys.content(of: stored, in: workspace),
            let edit = try? NoteEdit(decoding: body)
        else { return nil }
        return NoteOperation(stored, edit)
    }

    /// Some of the missing operations that others refer to may have been deleted before anybody
    /// could open them.
    func takeDeleted(into note: OpenNote) throws(StorageError) {
        guard !note.note.isComplete else { return }
        let missing = note.note.missing
        let deleted = try store.view.notes.deletedKeys(
            among: Set(missing), in: note.place.document)
        for key in missing where deleted.contains(key) { note.note.erase(key, isTold: false) }
    }
}

extension NoteOperation {
    init(_ stored: StoredOperation, _ edit: NoteEdit) {
        self.init(
            author: .init(device: stored.log.device, incarnation: stored.log.incarnation),
            sequence: stored.place.sequence, timestamp: stored.entry.timestamp,
            id: stored.place.link.id, edit: edit)
    }
}

extension StoredOperation {
    /// How messages and edits name it.
    var messageKey: MessageKey {
        MessageKey(timestamp: entry.timestamp, idPrefix: place.link.id.messagePrefix)
    }
}
