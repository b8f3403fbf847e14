import CRDTStore
import WorkspaceModel

/// Documents that have to be refolded as a whole, at most once a turn however many operations ask
/// for it: a removal may name thousands of places as its ends, and each may arrive separately.
struct WholeFolds {
    /// Private documents in which something came that a removal leaves, and who brought it.
    fileprivate var documents: [WorkspaceDocument: OperationSource] = [:]
    /// Private documents that lost membership operations.
    fileprivate var reloads: Set<WorkspaceDocument> = []

    var isEmpty: Bool { documents.isEmpty && reloads.isEmpty }
}

/// A document of one workspace.
struct WorkspaceDocument: Hashable, Comparable {
    let workspace: Int64
    let document: DocumentID

    static func < (left: Self, right: Self) -> Bool {
        (left.workspace, left.document) < (right.workspace, right.document)
    }
}

extension PrivateDocuments {
    /// Refolds a private document: content that a removal keeps was judged as void while the
    /// operation it ends at was not here.
    func refoldLater(
        _ document: PrivateDocument, in workspace: Workspace, from source: OperationSource
    ) throws(StorageError) {
        // The rest of the same call depends on it.
        if source == .ourselves { return try refold(document, in: workspace, from: source) }
        wholeFolds.documents[.init(workspace: workspace.number, document: document.id)] = source
    }

    /// Reloads a private document that has lost membership operations with a branch.
    func reloadPrivateLater(_ id: DocumentID, in workspace: Workspace) {
        wholeFolds.reloads.insert(.init(workspace: workspace.number, document: id))
    }

    /// Does that before anything rests on the document.
    func reloadPrivateWhereDue(
        _ id: DocumentID, in workspace: Workspace
    ) throws(StorageError) {
        let place = WorkspaceDocument(workspace: workspace.number, document: id)
        guard wholeFolds.reloads.remove(place) != nil else { return }
        // A reloaded document is also refolded.
        wholeFolds.documents[place] = nil
        try reloadPrivate(
            id, in: workspace, from: .released(source: 0, isBackfill: false))
    }

    /// Reloads the documents that this turn has scheduled.
    func reloadDue() throws(StorageError) {
        for place in wholeFolds.reloads.sorted() {
            guard let workspace = core.workspaces[place.workspace] else { continue }
            try reloadPrivateWhereDue(place.document, in: workspace)
        }
    }

    /// Refolds the documents that this turn has scheduled.
    func refoldDue() throws(StorageError) {
        let due = wholeFolds
        wholeFolds = WholeFolds()
        for (place, source) in due.documents.sorted(by: { $0.key < $1.key }) {
            guard let workspace = core.workspaces[place.workspace],
                let document = workspace.sealed.documents[place.document]
            else { continue }
            try refold(document, in: workspace, from: source)
        }
    }

    private func refold(
        _ document: PrivateDocument, in workspace: Workspace, from source: OperationSource
    ) throws(StorageError) {
        try core.sink.reviewRedactions(inDocument: document.number)
        try core.sink.refoldPrivate(document, only: nil, at: [], in: workspace, from: source)
    }
}
