import CRDTStore
import WorkspaceModel

/// Keeps notices that arrive before what they are about.
extension PrivateNotices {
    private static func name(in workspace: Workspace) -> String {
        "private.notices.early.\(workspace.number)"
    }

    private func earlyNotices(in workspace: Workspace) throws(StorageError) -> EarlyNotices {
        if let known = workspace.sealed.earlyNotices { return known }
        let stored = try store.registry.value(Self.name(in: workspace))
        let notices = EarlyNotices(stored ?? [])
        workspace.sealed.earlyNotices = notices
        return notices
    }

    private func keep(
        _ notices: EarlyNotices, in workspace: Workspace
    ) throws(StorageError) {
        workspace.sealed.earlyNotices = notices
        try write()
    }

    /// Once a turn, in which there may be very many.
    func storeEarlyNotices() throws(StorageError) {
        guard mayWrite else { return }
        for workspace in workspaces.values.sorted(by: { $0.number < $1.number }) {
            guard workspace.sealed.earlyNotices?.isChanged == true,
                let bytes = workspace.sealed.earlyNotices?.takeStoredForm()
            else { continue }
            try write()
            try store.registry.setValue(
                bytes.isEmpty ? nil : bytes, of: Self.name(in: workspace))
        }
    }

    /// Keeps a notice until its document can be judged.
    func keepEarly(
        _ notice: PrivateNotice, of document: DocumentID, in workspace: Workspace
    ) throws(StorageError) {
        var notices = try earlyNotices(in: workspace)
        let isOwn = notice.sender == workspace.member
        let entry = EarlyNotices.Entry(document: document, notice: notice)
        guard notices.take(entry, isHandedOn: isOwn) else { return }
        try keep(notices, in: workspace)
    }

    /// Takes up what came too early for a document that was judged.
    func adoptNotices(
        of document: PrivateDocument, in workspace: Workspace
    ) throws(StorageError) {
        var notices = try earlyNotices(in: workspace)
        let given = notices.give(of: document.id, by: document.everIn)
        guard !given.isEmpty else { return }
        try keep(notices, in: workspace)
        for notice in given where document.take(notice, to: workspace.member) {
            core.privates.handover.passOn(notice, of: document, in: workspace)
        }
        try store(noticesOf: document)
    }
}
