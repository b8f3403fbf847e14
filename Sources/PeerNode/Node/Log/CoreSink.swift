import CRDTStore
import SyncProtocol
import WorkspaceCrypto
import WorkspaceModel

/// What lower rooms ask of rooms above them without knowing them.
protocol CoreSink: LogSink {
    // MARK: Messages

    /// Whether a redaction that counts names an operation.
    func isDeleted(_ arrival: Int64) throws(StorageError) -> Bool
    /// A channel's ruling about redactions may have changed.
    func reviewRedactions(
        of channel: Workspace.Channel?, since before: ChannelRuling?) throws(StorageError)
    /// Carries out redactions that were just written.
    func settleRedactions() throws(StorageError)
    /// Redacts what this node's member has said.
    ///
    /// - Returns: whether this device may write that.
    func redactOwn(
        _ targets: [OperationReference], in document: DocumentID, of workspace: Workspace
    ) throws(StorageError) -> Bool
    /// Folds an operation that can be opened by now.
    func fold(
        _ stored: StoredOperation, _ row: OperationStore.DocumentRow, in workspace: Workspace,
        from source: OperationSource) throws(StorageError)
    /// Folds content of a private document, all of it where `arrivals` is `nil`.
    func refoldPrivate(
        _ document: PrivateDocument, only arrivals: [Int64]?,
        at places: Set<PrivateDocument.LimitPlace>, in workspace: Workspace,
        from source: OperationSource) throws(StorageError)
    /// All of a document was removed from the view.
    func reindex(erasedDocument number: Int64)

    // MARK: Private documents

    /// An operation arrived that affects the judgement of a document.
    func judgeLater(
        _ document: DocumentID, in workspace: Workspace, from source: OperationSource)
    /// Takes a key of a private document.
    ///
    /// - Returns: whether it is new.
    func takePrivate(
        _ key: SymmetricKey, of document: DocumentID, in workspace: Workspace
    ) throws(StorageError) -> Bool
    /// Takes a mailbox notice that this node's member was removed from a document.
    ///
    /// - Returns: the document, if that is new.
    func takeNotice(
        _ operation: OperationID, of document: DocumentID, _ header: OperationHeader,
        in workspace: Workspace
    ) throws(StorageError) -> DocumentID?
    /// Answers a peer who asks for keys of a private document.
    func keysWanted(
        _ want: KeyWant, in workspace: Workspace, on link: PeerLink) throws(StorageError)
    /// Gives a key to a peer.
    func give(
        _ key: SymmetricKey, of document: DocumentID, to box: AgreementPublicKey,
        on link: PeerLink, _ sync: WorkspaceLink, from home: HomeIdentity)

    // MARK: Others

    /// Reports what has changed in a private document since the last report.
    func tell(
        _ document: PrivateDocument, in workspace: Workspace, from source: OperationSource
    ) throws(StorageError)
    /// A private document can be read that could not.
    func privateDocumentOpened(in workspace: Workspace) throws(StorageError)
    /// The first arrival that was not folded while the node was locked.
    func firstUnfolded() throws(StorageError) -> Int64?
    /// Folds some of what arrived while the node was locked.
    func foldArrived() throws(StorageError)
    /// The settings of this person's devices have to be read.
    func oweSettings(of workspace: Workspace) throws(StorageError)
    /// The presence that this node's member has chosen may have changed.
    func reviewPresence(of workspace: Workspace) throws(StorageError)
    /// Refuses to replace a verified address by another.
    func refuseEmailEdit(
        from before: String?, to after: String?, in workspace: Workspace) throws(NodeError)
    /// The member's own address was changed, removed or hidden.
    func emailEdited(
        from before: String?, to after: String?, in workspace: Workspace) throws(NodeError)
    /// Derives a key from the passphrase of a home that starts by a device link, beside the loop,
    /// and continues then.
    ///
    /// - Returns: whether that was started; `false` where there is nothing to seal.
    func sealsFirst(_ draft: JoinDraft, _ scope: CallScope) throws(NodeError) -> Bool
    /// The same of a home that begins with a recovery phrase.
    func sealsFirst(_ draft: RecoveryDraft, _ scope: CallScope) throws(NodeError) -> Bool
}
