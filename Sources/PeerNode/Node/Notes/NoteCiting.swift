import CRDTStore
import NoteText
import WorkspaceModel

/// What an edit cites of what it refers to. An operation that loses its effect is retained
/// everywhere only if a valid one cites it, and an edit cannot be placed without the operations it
/// refers to.
final class NoteCiting: NotePart {
    /// The last place of each log that an edit written here has cited since the start.
    private var cited: [LogName: UInt64] = [:]

    func forget() { cited = [:] }

    /// The last operation of each other log that an edit refers to, unless this device has cited it, or a
    /// later one of that log, before.
    func citations(
        of edit: NoteEdit, in note: OpenNote, of document: DocumentID, _ workspace: Workspace
    ) throws(StorageError) -> [OperationReference] {
        var last: [LogName: (sequence: UInt64, key: MessageKey)] = [:]
        for place in note.note.places(of: edit.sources) where place.author != ownAuthor {
            let log = LogName(
                document: document, device: place.author.device,
                incarnation: place.author.incarnation)
            guard place.sequence > last[log]?.sequence ?? 0 || last[log] == nil else { continue }
            last[log] = (place.sequence, place.key)
        }
        var references: [OperationReference] = []
        let ordered = last.sorted {
            ($0.key.device, $0.key.incarnation) < ($1.key.device, $1.key.incarnation)
        }
        for (log, source) in ordered where cited[log].map({ $0 < source.sequence }) ?? true {
            guard references.count < Limits.noteCitationsMax,
                let reference = try reference(to: source, in: log, of: workspace)
            else { continue }
            references.append(reference)
        }
        return references
    }

    /// Records what an edit has cited. Earlier operations of the same log are retained with it.
    func noteCited(_ references: [OperationReference], in document: DocumentID) {
        if cited.count >= Limits.noteCitedLogsMax { cited = [:] }
        for reference in references {
            let log = LogName(
                document: document, device: reference.device, incarnation: reference.incarnation)
            cited[log] = max(cited[log] ?? 0, reference.sequence)
        }
    }

    /// The log that this device writes.
    private var ownAuthor: NoteOperation.Author? {
        guard let home, let identity = storeIdentity else { return nil }
        return .init(device: home.device, incarnation: identity.incarnation)
    }

    private func reference(
        to source: (sequence: UInt64, key: MessageKey), in log: LogName, of workspace: Workspace
    ) throws(StorageError) -> OperationReference? {
        for branch in store.operations.branches(of: log, in: workspace.number) {
            guard let place = try store.operations.place(in: branch.number, at: source.sequence),
                place.link.id.messagePrefix == source.key.idPrefix
            else { continue }
            return OperationReference(
                device: log.device, incarnation: log.incarnation, sequence: source.sequence,
                id: place.link.id)
        }
        return nil
    }
}
