import CRDTStore
import WorkspaceModel

/// Watches the text of a note.
extension NoteHandler {
    func watch(
        _ note: NoteReference, _ scope: CallScope
    ) throws(NodeError) -> NoteWatchObject {
        let aim = try aim(note, scope)
        let count = core.events.subscriptions.subscriptions(of: scope.call.connection).count
        guard count < Limits.controlSubscriptionsMax,
            core.notes.attendance.watched.contains(aim.place)
                || core.notes.attendance.watched.count < Limits.notesWatchedMax
        else {
            throw NodeError(
                .tooMany, "too many notes are being watched", hint: "stop watching another one",
                reason: "note.watched")
        }
        let open = try opened(aim)
        core.notes.attendance.setWatched(core.notes.attendance.watched.union([aim.place]))
        let start = store.events.newest
        let id = core.events.subscriptions.open(
            on: scope.call.connection,
            EventFilter(
                types: ["note.*"], workspace: aim.workspace.number, documents: [],
                note: aim.place), after: start, keepalive: nil, isEphemeral: true,
            now: time.monotonic)
        return NoteWatchObject(
            subscription: id, cursor: core.events.cursor(start),
            id: PublicID.note(aim.place.key), version: open.version.text)
    }
}
