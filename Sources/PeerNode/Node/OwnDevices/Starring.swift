import CRDTStore
import WorkspaceModel

/// Messages to come back to: a star is private to its person's devices.
extension OwnDocuments {
    /// The messages that this person has starred.
    func stars(of workspace: Workspace) throws(StorageError) -> Set<MessageKey> {
        Set(try starRows(of: workspace).compactMap(\.key))
    }

    func starRows(of workspace: Workspace) throws(StorageError) -> [ViewStore.Register] {
        try store.view.own.keyedRegisters(
            .star, of: workspace.number, limit: Limits.ownMarksReadMax)
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
}
