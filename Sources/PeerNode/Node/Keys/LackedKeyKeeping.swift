import CRDTStore
import WorkspaceModel

/// Records missing keys where something does not open, and stores them for the next start.
extension KeySchedule {
    private static func lackedName(_ workspace: Workspace) -> String {
        "keys.lacked.\(workspace.number)"
    }

    /// Takes up what was missing when the node ran last.
    func loadLackedKeys(of workspace: Workspace) throws(StorageError) {
        guard let bytes = try store.registry.value(Self.lackedName(workspace)) else { return }
        workspace.secrets.lacked = LackedKeys(stored: bytes)
    }

    /// Writes what is missing now, where that is something else than before.
    func storeLackedKeys() throws(StorageError) {
        guard mayWrite, home != nil else { return }
        for workspace in workspaces.values.sorted(by: { $0.number < $1.number })
        where workspace.secrets.lacked.isChanged {
            try write()
            let bytes = workspace.secrets.lacked.takeStoredForm()
            try store.registry.setValue(
                bytes.isEmpty ? nil : bytes, of: Self.lackedName(workspace))
        }
    }

    /// Notes content that does not open because its key is not here.
    func noteLacked(_ header: OperationHeader, _ key: KeyID, in workspace: Workspace) {
        guard home != nil,
            let row = store.operations.document(header.document, in: workspace.number),
            lacks(row, in: workspace),
            let member = workspace.judged.subject(ofGrant: header.grant),
            header.device != turn.session.ownDevice
        else { return }
        workspace.secrets.lacked.note(
            .init(key: key, document: header.document, device: header.device), by: member)
    }

    /// Whether something is missing where content of a document does not open.
    private func lacks(_ row: OperationStore.DocumentRow, in workspace: Workspace) -> Bool {
        switch row.kind.access {
        // A guest opens nothing public, and lacks nothing of it.
        case .workspace: !workspace.secrets.keys.isEmpty
        // Where a document shows only what came after this member joined, older keys are no loss.
        case .insiders: workspace.sealed.documents[row.id]?.root?.history == .all
        case .unsealed, .boxes, .undecided: false
        }
    }
}
