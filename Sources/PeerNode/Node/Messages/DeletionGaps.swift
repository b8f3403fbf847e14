import CRDTStore
import WorkspaceModel

/// Where a deleted message is displayed: as the valid redaction says, so that nodes with its
/// payload and nodes that never get it agree (PROTOCOL.md, 4.6).
extension Messages {
    /// What stays visible of a deleted operation.
    enum DeletionGap: Equatable {
        /// It is not a message, according to the redaction.
        case nowhere
        /// A message in a thread, or outside any.
        case message(thread: MessageKey?)
        /// There is no redaction, or it cannot be read: what was displayed stays, if allowed.
        case unknown
    }

    /// What a redaction says about its target.
    func gap(
        of target: StoredOperation, by redaction: StoredOperation, in workspace: Workspace
    ) throws(StorageError) -> DeletionGap {
        guard let redaction = try store.operations.operation(redaction.place.arrival),
            case .erase(let targets, let sealed)? = redaction.redaction
        else { return .unknown }
        guard let sealed else { return .nowhere }
        guard holdsKey(of: redaction, in: workspace) else { return .unknown }
        guard let place = targets.firstIndex(where: { $0.id == target.place.link.id }),
            let plaintext = try opened(sealed, of: redaction, in: workspace),
            let messages = try? RedactedMessages(decoding: plaintext),
            let entry = messages.entries.first(where: { $0.target == place })
        else { return .nowhere }
        return .message(thread: entry.thread)
    }

    /// Puts a message into its place, as far as that is known, or takes it away.
    func showGap(
        of stored: StoredOperation, _ gap: DeletionGap, in workspace: Workspace
    ) throws(StorageError) {
        guard judgesOthers(in: stored.log.document, workspace) else { return }
        let position = ViewStore.Position(sort: stored.place.sort, arrival: stored.place.arrival)
        let known = try store.view.stored(at: position, in: stored.document)
        switch gap {
        case .nowhere:
            guard known != nil else { return }
            try write()
            try store.view.remove(at: position, in: stored.document)
        case .message(let thread):
            let visibility = try core.privates.visibility(of: stored, in: workspace)
            if let known, known.row.thread == thread, known.visibility == visibility { return }
            try write()
            var row = row(of: stored, in: thread)
            row.isMention = known?.row.isMention ?? false
            try store.view.fold(row, as: visibility)
            try core.own.noteLate(row, in: workspace)
        case .unknown:
            let visibility = try core.privates.visibility(of: stored, in: workspace)
            guard stored.entry.absent != nil, let known, known.visibility != visibility else {
                return
            }
            try write()
            try store.view.setVisibility(visibility, of: [position], in: stored.document)
        }
    }

    /// Displays a restored operation at its own place.
    func showAgain(
        _ stored: StoredOperation, in workspace: Workspace
    ) throws(StorageError) {
        guard stored.entry.absent == nil, judgesOthers(in: stored.log.document, workspace) else {
            return try showGap(of: stored, .unknown, in: workspace)
        }
        guard let content = try core.keys.content(of: stored, in: workspace) else { return }
        let position = ViewStore.Position(sort: stored.place.sort, arrival: stored.place.arrival)
        let known = try store.view.stored(at: position, in: stored.document)
        guard case .message(let message) = content else {
            guard known != nil else { return }
            return try store.view.remove(at: position, in: stored.document)
        }
        let visibility = try core.privates.visibility(of: stored, in: workspace)
        guard known?.row.thread != message.thread || known?.visibility != visibility else { return }
        var row = row(of: stored, in: message.thread)
        row.isMention = known?.row.isMention ?? false
        try store.view.fold(row, as: visibility)
        try core.own.noteLate(row, in: workspace)
    }

    private func row(
        of stored: StoredOperation, in thread: MessageKey?
    ) -> ViewStore.MessageRow {
        ViewStore.MessageRow(
            document: stored.document,
            position: .init(sort: stored.place.sort, arrival: stored.place.arrival),
            key: MessageKey(
                timestamp: stored.entry.timestamp, idPrefix: stored.place.link.id.messagePrefix),
            grant: stored.grantNumber, thread: thread)
    }
}
