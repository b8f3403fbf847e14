import CRDTStore
import WorkspaceModel

/// Which keys are missing, noted where something does not open and kept for the next start.
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
        // A guest opens nothing public, and lacks nothing of it.
        guard home != nil,
            let kind = store.operations.document(header.document, in: workspace.number)?.kind,
            // Where a document shows only what came after the own coming in, older keys are no loss.
            kind == .privateDocument
                ? workspace.sealed.documents[header.document]?.root?.history == .all
                : (kind == .channel || kind == .profile) && !workspace.secrets.keys.isEmpty,
            let member = workspace.judged.subject(ofGrant: header.grant),
            header.device != turn.session.ownDevice
        else { return }
        workspace.secrets.lacked.note(
            .init(key: key, document: header.document, device: header.device), by: member)
    }
}
