import CRDTStore
import WorkspaceCrypto
import WorkspaceModel

/// Writes redactions, in public and private documents.
extension Messages {
    /// Writes as many redactions as it takes to name all targets.
    ///
    /// - Returns: whether this device may.
    func redact(
        _ targets: [OperationReference], _ message: RedactedMessage?, in document: DocumentID,
        isOwn: Bool, of workspace: Workspace
    ) throws(StorageError) -> Bool {
        for start in stride(from: 0, to: targets.count, by: Limits.redactTargetsMax) {
            let ordered = targets[start...].prefix(Limits.redactTargetsMax)
                .sorted { $0.id < $1.id }
            let place = ordered.firstIndex { $0.id == message?.id }
            let messages = RedactedMessages(
                place.map { [.init(target: $0, thread: message?.thread)] } ?? [])
            let isWritten = try authorRedaction(
                in: document, asAdmin: !isOwn, of: workspace
            ) { draft, sealing, key in
                draft.signed(
                    redacting: ordered, messages, under: sealing, with: key,
                    using: environment.random)
            }
            guard isWritten else { return false }
        }
        return true
    }

    /// Signs and stores a redaction or undo.
    ///
    /// - Parameter asAdmin: under a grant that gives a right over what others wrote, if there is
    ///   one.
    func authorRedaction(
        in document: DocumentID, asAdmin: Bool, of workspace: Workspace,
        _ sign: (OperationDraft, (id: KeyID, key: SymmetricKey)?, SigningKey) -> SignedOperation
    ) throws(StorageError) -> Bool {
        guard let home else { return false }
        let known = workspace.sealed.documents[document]
        if known == nil { try core.keys.answerEnds(in: workspace) }
        func grant(_ role: Role) -> OperationID? {
            workspace.writingGrant(of: home.device, leastRole: role)
        }
        let least = known == nil ? Role.member : .guest
        guard let grant = (asAdmin ? grant(.admin) : nil) ?? grant(least) else { return false }
        var sealing = workspace.currentKey
        if let known {
            try core.privates.judgeNow(document, in: workspace)
            sealing =
                known.isIn(workspace.member)
                ? try core.privates.authoring.sealingKey(ofChanged: known, in: workspace)
                : core.privates.authoring.sealingKey(of: known, in: workspace)
        }
        try write()
        let draft = try core.log.contentDraft(.redact, document, in: workspace, grant, home.device)
        try core.log.acceptOwn(
            sign(draft, sealing, home.signing), in: workspace, document: document)
        return true
    }

    /// The message among the targets of a redaction.
    struct RedactedMessage {
        let id: OperationID
        /// What it replied to.
        let thread: MessageKey?
    }
}
