import CRDTStore
import WorkspaceModel

/// Erases the payloads of deleted operations: the author's own deletion at once, someone else's
/// after a day.
extension Integrity {
    /// When the next payload is erased, on the monotonic clock.
    var payloadErasureDue: UInt64? {
        guard mayWrite, let next = core.messages.nextPayloadErasure else { return nil }
        return time.monotonic &+ (next > time.wall ? next - time.wall : 0)
    }

    /// Reads what was left to erase when the store was closed.
    func loadRedactions() throws(StorageError) {
        core.messages.nextPayloadErasure = try store.view.redactions.nextErasure()
        core.messages.redactedDocuments = Set(try store.view.redactions.documentsWithRedactions())
        try core.messages.loadReviews()
        try core.channels.loadPendingAssertions()
    }

    /// Erases a slice of what is due; the rest has its turn after the next input.
    func eraseRedacted() throws(StorageError) {
        guard mayWrite, let next = core.messages.nextPayloadErasure, next <= time.wall else {
            return
        }
        let due = try store.view.redactions.erasures(
            until: time.wall, limit: Limits.erasedPayloadsPerTurnMax)
        if !due.isEmpty { try write() }
        for arrival in due { try store.operations.erasePayload(of: arrival) }
        try store.view.noteErased(due)
        hasErased = hasErased || !due.isEmpty
        core.messages.nextPayloadErasure = try store.view.redactions.nextErasure()
        if let next = core.messages.nextPayloadErasure, next <= time.wall {
            turn.hasMoreToDo = true
        }
    }
}
