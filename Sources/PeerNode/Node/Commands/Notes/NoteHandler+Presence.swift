import CRDTStore
import NoteText
import WorkspaceModel

/// Cursors in a note, and waiting for each other.
extension NoteHandler {
    func select(
        _ note: NoteReference, _ selection: NoteSelectionRequest, _ scope: CallScope
    ) throws(NodeError) {
        let aim = try aim(note, scope)
        let open = try opened(aim)
        guard
            let steps = selection.base.map({ open.past.steps(since: $0, now: open.version) }) ?? []
        else { throw .noteUnknownBase(aim.place) }
        let others = steps.flatMap(\.patches)
        let count = others.reduce(open.note.scalarCount) { $0 + $1.deleted - $1.insertedCount }
        guard selection.at <= count, selection.length <= count - selection.at else {
            throw NodeError(
                .badRequest, "the cursor is beyond the text of the note",
                hint: "places count Unicode characters of the version in 'base'",
                reason: "note.range", fields: [.init(name: "at", reason: "range")])
        }
        let start = others.reduce(selection.at) { $1.moved($0) }
        let end = others.reduce(selection.at + selection.length) { $1.moved($0) }
        core.notes.attendance.select((start, max(0, end - start)), in: aim.place)
    }

    func lock(_ note: NoteReference, _ scope: CallScope) throws(NodeError) -> NoteObject {
        let aim = try aimToWrite(note, scope)
        try refuseDeleted(aim)
        try refuseLocked(aim)
        guard
            core.notes.attendance.watched.contains(aim.place)
                || core.notes.attendance.presence.own.count < Limits.noteClaimsMax
        else {
            throw NodeError(
                .tooMany, "too many notes are locked here", hint: "wait a few seconds",
                reason: "note.locks")
        }
        core.notes.attendance.claim(aim.place)
        return try locked(aim)
    }

    func unlock(_ note: NoteReference, _ scope: CallScope) throws(NodeError) -> NoteObject {
        let aim = try aim(note, scope)
        core.notes.attendance.release(aim.place)
        return try locked(aim)
    }

    private func locked(_ aim: Aim) throws(NodeError) -> NoteObject {
        var object = try object(of: aim)
        object.lock = core.notes.presenceSender.lockObject(of: aim.place, in: aim.workspace)
        return object
    }

    /// Refuses to write while somebody else asks others to wait: for who wants to heed that.
    func refuseLocked(_ aim: Aim) throws(NodeError) {
        guard let claimant = core.notes.attendance.claimant(of: aim.place),
            claimant.device != home?.device
        else { return }
        let name = aim.workspace.displayName(of: claimant.member ?? aim.workspace.member)
        throw NodeError(
            .conflict, "\(NodeError.quoted(name)) is writing in that note, and asks others to wait",
            hint: "try again in a few seconds, or write without --strict", reason: "note.locked")
    }
}
