import CRDTStore
import WorkspaceCrypto
import WorkspaceModel

/// Writes content, into a private document or one that everybody reads.
extension PrivateDocuments {
    /// Seals, signs and stores a content operation.
    ///
    /// - Parameter overwritten: what it takes the place of, and therefore cites.
    /// - Returns: where it is stored, or `nil` when this device may not write there.
    func authorContent(
        _ content: ContentPayload, to document: DocumentID, in workspace: Workspace,
        overwriting overwritten: [OperationReference] = []
    ) throws(StorageError) -> (id: OperationID, arrival: Int64)? {
        if let document = workspace.sealed.documents[document] {
            return try authoring.authorPrivateContent(
                content, to: document, in: workspace, overwriting: overwritten)
        }
        try core.keys.answerEnds(in: workspace)
        guard let home,
            let grant = workspace.writingGrant(of: home.device, leastRole: .member),
            let current = workspace.currentKey
        else { return nil }
        return try authorContent(
            content, to: document, in: workspace, under: current, grant: grant,
            with: home.signing, overwriting: overwritten)
    }

    func authorContent(
        _ content: ContentPayload, to document: DocumentID, in workspace: Workspace,
        under current: (id: KeyID, key: SymmetricKey), grant: OperationID,
        with signing: SigningKey, overwriting overwritten: [OperationReference] = []
    ) throws(StorageError) -> (id: OperationID, arrival: Int64)? {
        try write()
        let draft = try core.log.contentDraft(
            .content, document, in: workspace, grant, signing.device, overwriting: overwritten)
        let signed = draft.sealedAndSigned(
            plaintext: content.encoded, under: current.key, keyID: current.id,
            with: signing, using: environment.random)
        core.keys.fresh.noteWritten(content, as: signed.payload)
        try core.log.acceptOwn(signed, in: workspace, document: document)
        let reference = OperationReference(
            device: signing.device, incarnation: draft.incarnation, sequence: draft.sequence,
            id: signed.id)
        return try store.operations.find(reference, in: document, of: workspace.number)
            .map { (signed.id, $0.arrival) }
    }
}
