import CRDTStore
import SyncProtocol
import WorkspaceCrypto
import WorkspaceModel

/// What lower rooms ask of rooms above them.
extension Derivation: CoreSink {
    // MARK: Messages

    func isDeleted(_ arrival: Int64) throws(StorageError) -> Bool {
        try core.messages.isDeleted(arrival)
    }

    func reviewRedactions(
        of channel: Workspace.Channel?, since before: ChannelRuling?
    ) throws(StorageError) {
        try core.messages.reviewRedactions(of: channel, since: before)
    }

    func settleRedactions() throws(StorageError) { try core.messages.settleRedactions() }

    func redactOwn(
        _ targets: [OperationReference], in document: DocumentID, of workspace: Workspace
    ) throws(StorageError) -> Bool {
        try core.messages.redact(targets, nil, in: document, isOwn: true, of: workspace)
    }

    func fold(
        _ stored: StoredOperation, _ row: OperationStore.DocumentRow, in workspace: Workspace,
        from source: OperationSource
    ) throws(StorageError) {
        try core.messages.fold(stored, row, in: workspace, from: source)
    }

    func refoldPrivate(
        _ document: PrivateDocument, only arrivals: [Int64]?,
        at places: Set<PrivateDocument.LimitPlace>, in workspace: Workspace,
        from source: OperationSource
    ) throws(StorageError) {
        try core.messages.sealed.refoldPrivate(
            document, only: arrivals, at: places, in: workspace, from: source)
    }

    func reindex(erasedDocument number: Int64) { core.queries.reindex(erasedDocument: number) }

    // MARK: Private documents

    func judgeLater(
        _ document: DocumentID, in workspace: Workspace, from source: OperationSource
    ) {
        core.privates.judgeLater(document, in: workspace, from: source)
    }

    func takePrivate(
        _ key: SymmetricKey, of document: DocumentID, in workspace: Workspace
    ) throws(StorageError) -> Bool {
        try core.privates.takePrivate(key, of: document, in: workspace)
    }

    func takeNotice(
        _ operation: OperationID, of document: DocumentID, _ header: OperationHeader,
        in workspace: Workspace
    ) throws(StorageError) -> DocumentID? {
        try core.privates.notices.takeNotice(operation, of: document, header, in: workspace)
    }

    func keysWanted(
        _ want: KeyWant, in workspace: Workspace, on link: PeerLink
    ) throws(StorageError) {
        try core.privates.asking.keysWanted(want, in: workspace, on: link)
    }

    func give(
        _ key: SymmetricKey, of document: DocumentID, to box: AgreementPublicKey,
        on link: PeerLink, _ sync: WorkspaceLink, from home: HomeIdentity
    ) {
        core.privates.asking.give(key, of: document, to: box, on: link, sync, from: home)
    }

    // MARK: Others

    func tell(
        _ document: PrivateDocument, in workspace: Workspace, from source: OperationSource
    ) throws(StorageError) {
        try core.channels.tell(document, in: workspace, from: source)
    }

    func privateDocumentOpened(in workspace: Workspace) throws(StorageError) {
        if core.enrolment.isJoining(workspace) { try core.enrolment.endSyncedJoin(of: workspace) }
    }

    func firstUnfolded() throws(StorageError) -> Int64? { try core.session.firstUnfolded() }

    func foldArrived() throws(StorageError) { try core.session.foldArrived() }

    func oweSettings(of workspace: Workspace) throws(StorageError) {
        try core.own.oweSettings(of: workspace)
    }

    func reviewPresence(of workspace: Workspace) throws(StorageError) {
        try core.presence.reviewPresence(of: workspace)
    }

    func refuseEmailEdit(
        from before: String?, to after: String?, in workspace: Workspace
    ) throws(NodeError) {
        try core.proofs.refuseEdit(from: before, to: after, in: workspace)
    }

    func emailEdited(
        from before: String?, to after: String?, in workspace: Workspace
    ) throws(NodeError) {
        try core.proofs.emailEdited(from: before, to: after, in: workspace)
    }

    func sealsFirst(_ draft: JoinDraft, _ scope: CallScope) throws(NodeError) -> Bool {
        try core.session.sealsFirst(draft.passphrase, scope) { .link(draft, $0, scope) }
    }

    func sealsFirst(_ draft: RecoveryDraft, _ scope: CallScope) throws(NodeError) -> Bool {
        try core.session.sealsFirst(draft.passphrase, scope) { .recover(draft, $0, scope) }
    }
}
