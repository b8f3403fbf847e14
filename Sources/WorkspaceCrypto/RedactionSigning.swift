public import WorkspaceModel

extension OperationDraft {
    /// Signs a redaction of `targets`. What a newcomer needs to show the gaps is sealed beside them
    /// (PROTOCOL.md, 3.6).
    ///
    /// - Parameter sealing: the epoch key and its name; without one nothing is sealed.
    public func signed(
        redacting targets: [OperationReference], _ messages: RedactedMessages,
        under sealing: (id: KeyID, key: SymmetricKey)?, with key: SigningKey,
        using random: any RandomSource
    ) -> SignedOperation {
        let context = header(of: key.device, keyID: sealing?.id, payloadLength: 0, hash: .zero)
        let sealed = sealing.map {
            SealedPayload.seal(
                messages.encoded, under: $0.key.documentKey(for: document),
                associatedData: context.associatedData, using: random)
        }
        return finished(
            payload: RedactPayload.erase(targets, sealed: sealed).encoded, keyID: sealing?.id,
            with: key)
    }

    /// Signs the withdrawal of an earlier redaction.
    ///
    /// - Parameter keyID: in private documents the epoch that dates the operation.
    public func signed(
        undoing redaction: OperationReference, keyID: KeyID?, with key: SigningKey
    ) -> SignedOperation {
        finished(payload: RedactPayload.undo(redaction).encoded, keyID: keyID, with: key)
    }
}
