import CRDTStore
import WorkspaceModel

/// Erases a note: every operation about it is redacted, like a deleted message.
extension NoteHandler {
    func purge(_ aim: Aim) throws(NodeError) {
        let all = try stored { () throws(StorageError) in
            try core.notes.finding.arrivals(of: aim.place, limit: Limits.notePurgedPerCallMax + 1)
        }
        var (own, others): ([Int64], [Int64]) = ([], [])
        try stored { () throws(StorageError) in
            for arrival in all {
                guard let stored = try store.operations.operation(arrival, hasPayload: false),
                    try store.view.redactions.deletion(of: arrival) == nil
                else { continue }
                let author = aim.workspace.judged.subject(ofGrant: stored.entry.grant)
                if author == aim.workspace.member {
                    own.append(arrival)
                } else {
                    others.append(arrival)
                }
            }
        }
        guard others.isEmpty || aim.workspace.ownPower(in: aim.channel) != nil else {
            throw .forbidden(
                "others wrote in that note, so only its channel's owner can erase it",
                reason: "note.not_yours",
                hint: "without --purge it is hidden, and can come back")
        }
        guard all.count <= Limits.notePurgedPerCallMax else {
            throw NodeError(
                .tooMany, "that note has more than \(Limits.notePurgedPerCallMax) changes",
                hint: "without --purge it is hidden, and can come back", reason: "note.changes")
        }
        let isWritten = try stored { () throws(StorageError) in
            // The draft is erased as well, and nobody ever gets it.
            try core.notes.publishing.forgetDraft(at: aim.place)
            for (arrivals, isOwn) in [(others, false), (own, true)] where !arrivals.isEmpty {
                let references = try references(to: arrivals)
                guard
                    try core.messages.redact(
                        references, nil, in: aim.document, isOwn: isOwn, of: aim.workspace)
                else { return false }
                try core.messages.settleRedactions(of: references, inDocument: aim.place.document)
            }
            return true
        }
        guard isWritten else { throw core.membership.notAllowed(in: aim.workspace) }
    }
}
