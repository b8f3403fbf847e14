import CRDTStore
import WorkspaceModel

/// Messages to come back to: a star is private to its person's own devices.
extension OwnDocuments {
    /// The messages that the own person has starred.
    func stars(of workspace: Workspace) throws(StorageError) -> Set<MessageKey> {
        Set(try starRows(of: workspace).compactMap(\.key))
    }

    func starRows(of workspace: Workspace) throws(StorageError) -> [ViewStore.Register] {
        try store.view.keyedRegisters(.star, of: workspace.number, limit: Limits.ownMarksReadMax)
    }

    /// When the own person has starred a message, milliseconds since 1970; `nil` where they have not.
    func starredAt(
        _ message: MessageKey, in workspace: Workspace
    ) throws(StorageError) -> Int64? {
        let row = try store.view.register(
            .init(workspace: workspace.number, kind: .star, subject: message.bytes))
        guard let row, row.key != nil else { return nil }
        return Int64(row.timestamp.milliseconds)
    }

    /// Records that a message was starred, or is no longer.
    func tellStar(
        _ message: MessageKey, in workspace: Workspace, isBackfill: Bool
    ) throws(StorageError) {
        try turn.record(
            .starChanged, workspace: workspace.number,
            document: try store.view.message(message)?.document, extra: message.bytes,
            isBackfill: isBackfill)
    }

    /// `{id, channel, starred, starred_at}`, as it is when it is told.
    func starData(
        _ event: EventStore.StoredEvent, _ workspace: Workspace
    ) throws(StorageError) -> JSONValue {
        guard let id = event.extra.map({ "m_" + Base32.encode($0) }),
            let message = PublicID.messageKey(id)
        else { return .null }
        let at = try starredAt(message, in: workspace)
        return [
            "id": .string(id),
            "channel": JSONValue(
                orNull: core.queries.channel(event.document, in: workspace).map(\.publicID)),
            "starred": .bool(at != nil), "starred_at": JSONValue(orNull: at),
        ]
    }
}
