import CRDTStore
import WorkspaceModel

/// The edits of a message, which repeat its text and are erased with it.
extension Messages {
    /// The arrival numbers of the operations by which the author of a message changed it, as far
    /// as they are known.
    func saidAbout(
        _ message: ViewStore.MessageRow, in workspace: Workspace
    ) throws(StorageError) -> [Int64] {
        guard let author = core.membership.author(ofGrant: message.grant, in: workspace) else {
            return []
        }
        let register = ViewStore.Annotation.Register(
            document: message.document, target: message.key, .edit, of: author)
        return try store.view.arrivals(in: register, limit: Limits.editsErasedMax)
    }

    /// Annotations of a deleted message that the local member could delete and that still stand: no
    /// redaction names them, or only one that erases nothing yet.
    func leftOver(
        of message: ViewStore.MessageRow, isOwn: Bool, in workspace: Workspace
    ) throws(StorageError) -> [Int64] {
        var left: [Int64] = []
        for arrival in try saidAbout(message, in: workspace) {
            guard let deletion = try store.view.redactions.deletion(of: arrival) else {
                left.append(arrival)
                continue
            }
            guard isOwn, deletion.due != nil, try !isOurs(deletion, in: workspace) else { continue }
            left.append(arrival)
        }
        return left
    }

    private func isOurs(
        _ deletion: ViewStore.Deletion, in workspace: Workspace
    ) throws(StorageError) -> Bool {
        guard let redaction = try store.operations.operation(deletion.by, hasPayload: false) else {
            return false
        }
        return workspace.judged.subject(ofGrant: redaction.entry.grant)
            == workspace.member
    }

    /// Whether a deletion by the local member would have an effect.
    func mayDelete(isOwn: Bool, in channel: Workspace.Channel, of workspace: Workspace) -> Bool {
        isOwn || workspace.ownPower(in: channel) != nil
    }

    // MARK: Later words

    /// An annotation of a deleted message, or a value of a hidden field of the member's own
    /// profile.
    struct LateAssertion: Hashable {
        let workspace: Int64
        let arrival: Int64
        /// Whether the local member wrote it.
        let isOwn: Bool
    }

    /// Called when an annotation was folded. If its message is deleted already, the member who
    /// deleted the message deletes the annotation too, so that relays erase it.
    ///
    /// - Parameter late: an edit that came, or was opened, after the message was deleted.
    func noteSaid(
        _ late: Int64, about message: ViewStore.MessageRow, in workspace: Workspace
    ) throws(StorageError) {
        guard let deletion = try store.view.redactions.deletion(of: message.position.arrival),
            try isOurs(deletion, in: workspace)
        else { return }
        try noteLate([late], about: message, in: workspace)
    }

    /// Called when a message turns out to be deleted by the local member. Annotations may have
    /// arrived before that was known; the redaction names only those that its author had seen.
    func noteDeleted(
        _ message: ViewStore.MessageRow, _ deletion: ViewStore.Deletion, in workspace: Workspace
    ) throws(StorageError) {
        guard home != nil, try isOurs(deletion, in: workspace) else { return }
        try noteLate(try saidAbout(message, in: workspace), about: message, in: workspace)
    }

    private func noteLate(
        _ arrivals: [Int64], about message: ViewStore.MessageRow, in workspace: Workspace
    ) throws(StorageError) {
        guard home != nil, mayWrite, !arrivals.isEmpty,
            let channel = workspace.channel(numbered: message.document)
        else { return }
        let isOwn =
            core.membership.author(ofGrant: message.grant, in: workspace) == workspace.member
        // A member who has lost the right would write an operation in vain for each annotation.
        guard mayDelete(isOwn: isOwn, in: channel, of: workspace) else { return }
        for arrival in arrivals {
            lateAssertions.append(
                LateAssertion(workspace: workspace.number, arrival: arrival, isOwn: isOwn))
        }
    }

    /// Deletes what was gathered, as many words in one redaction as it takes.
    ///
    /// - Returns: whether there was anything.
    func redactLateAssertions() throws(StorageError) -> Bool {
        for (number, arrival) in try core.profiles.takeHidden() {
            lateAssertions.append(LateAssertion(workspace: number, arrival: arrival, isOwn: true))
        }
        guard !lateAssertions.isEmpty else { return false }
        let words = lateAssertions
        lateAssertions = []
        var seen: Set<LateAssertion> = []
        var targets: [LatePlace: [OperationReference]] = [:]
        for word in words where seen.insert(word).inserted {
            guard let workspace = core.workspaces[word.workspace],
                let stored = try store.operations.operation(word.arrival, hasPayload: false),
                try store.view.redactions.deletion(of: word.arrival) == nil,
                try !isNamed(stored, in: workspace)
            else { continue }
            targets[
                LatePlace(
                    workspace: word.workspace, number: stored.document,
                    document: stored.log.document, isOwn: word.isOwn), default: []
            ].append(stored.reference)
        }
        for (place, references) in targets.sorted(by: { $0.key.order < $1.key.order }) {
            guard let workspace = core.workspaces[place.workspace] else { continue }
            _ = try redact(
                references, nil, in: place.document, isOwn: place.isOwn, of: workspace)
        }
        return true
    }

    private struct LatePlace: Hashable {
        let workspace: Int64
        let number: Int64
        let document: DocumentID
        let isOwn: Bool

        var order: (Int64, Int64, Int) { (workspace, number, isOwn ? 0 : 1) }
    }

    /// Whether a redaction by the local member names an operation, with or without effect.
    private func isNamed(
        _ stored: StoredOperation, in workspace: Workspace
    ) throws(StorageError) -> Bool {
        for naming in try store.view.redactions.namings(
            of: stored.place.link.id, in: stored.document)
        where core.membership.author(ofGrant: naming.grant, in: workspace) == workspace.member {
            return true
        }
        return false
    }
}
