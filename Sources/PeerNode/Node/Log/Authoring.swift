import CRDTStore
import WorkspaceCrypto
import WorkspaceModel

/// Writing operations: what this device signs goes through the same `accept` as what peers send.
extension OperationLog {
    /// The next moment of this device's clock. When the wall clock stepped back by more than
    /// 5 minutes a new incarnation begins, whose logs start again at the wall clock.
    func nextTimestamp() throws(StorageError) -> HybridTimestamp {
        try prepareOwnLog()
        if clock.lead(overWallMilliseconds: time.wall) > Limits.clockLeadMillisecondsMax {
            try renewIncarnation()
            turn.emit(.log(.warning, "clock.stepped_back"))
            clock = HybridClock()
        }
        return clock.next(wallMilliseconds: time.wall)
    }

    /// Gives every log of this device a new beginning.
    func renewIncarnation() throws(StorageError) {
        guard let home else { return }
        try write()
        turn.session.storeIdentity?.incarnation = UInt32(
            truncatingIfNeeded: environment.random.number())
        try storeIdentity?.write(to: store.registry, home: home, using: environment.random)
    }

    // MARK: Authority

    /// A new authority operation's place and context, for payloads that seal names.
    struct AuthorityDraft {
        let draft: OperationDraft
        let device: DeviceID
        let keyID: KeyID
        let key: SymmetricKey
        let random: any RandomSource

        /// All that it cites, the one before it in its log included.
        var cited: [OperationID] {
            draft.dependencies.map(\.id) + [draft.previous].compactMap { $0 }
        }

        /// `text` sealed as the name field under `key`.
        func sealed(_ text: String, field key: UInt64) -> SealedField {
            sealed(Array(text.utf8), field: key)
        }

        /// Bytes sealed as a field, as the psk of an invite is.
        func sealed(_ bytes: [UInt8], field key: UInt64) -> SealedField {
            let nonce = random.bytes(XChaCha20Poly1305.nonceByteCount)
            let context = Workspace.nameContext(
                document: draft.document, device: device, incarnation: draft.incarnation,
                sequence: draft.sequence, key: key)
            return SealedField(
                keyID: keyID, nonce: nonce,
                ciphertext: XChaCha20Poly1305.seal(
                    bytes, under: self.key.nameKey, nonce: nonce, associatedData: context))
        }
    }

    /// Signs and stores an authority operation under the strongest grant of this device.
    ///
    /// - Parameters:
    ///   - other: the key to sign with instead of this device's: the recovery phrase's.
    ///   - undoesFeatures: whether to know nothing of features that only a later version knows,
    ///     where that leaves fewer of them.
    ///   - named: what it names besides its grant and what introduces the key, so that this is cited
    ///     where not all is.
    ///   - isEffective: whether it does what it should, asked of the state that it would make.
    ///   - payload: makes the payload once the operation's place is known.
    /// - Returns: its id, or `nil` when the device may not do it; then nothing is written.
    func authorAuthority(
        in workspace: Workspace, grant: OperationID? = nil, signedBy other: SigningKey? = nil,
        undoingFeatures undoesFeatures: Bool = false, naming named: [OperationID] = [],
        isEffective: (AuthEvaluator) -> Bool = { _ in true },
        _ payload: (AuthorityDraft) -> AuthorityPayload
    ) throws(StorageError) -> OperationID? {
        guard let home, let storeIdentity else { return nil }
        let signing = other ?? home.signing
        guard
            let grant = grant
                ?? workspace.judged.evaluator.bestGrant(of: signing.device, as: workspace.member),
            let current = workspace.currentKey ?? guestKey(in: workspace)
        else { return nil }
        // The clock may begin a new incarnation, so it is asked before the log is named.
        let timestamp = try nextTimestamp()
        try leaveVoidLog(of: signing.device, in: workspace)
        let log = LogName(
            document: workspace.id, device: signing.device,
            incarnation: self.storeIdentity?.incarnation ?? storeIdentity.incarnation)
        let own = store.operations.branches(of: log, in: workspace.number).last
        let draft = OperationDraft(
            kind: .authority, document: workspace.id, incarnation: log.incarnation,
            sequence: own.map { $0.tipSequence + 1 } ?? 0, previous: own?.tip.id,
            timestamp: timestamp, grant: grant,
            dependencies: references(
                to: workspace.judged.evaluator.citations(
                    naming: [grant] + named + (workspace.secrets.index.carriers[current.id] ?? []),
                    knowingFeatures: !undoesFeatures
                ).filter { $0 != own?.tip.id }, in: workspace))
        let context = AuthorityDraft(
            draft: draft, device: signing.device, keyID: current.id, key: current.key,
            random: environment.random)
        let signed = draft.signed(payload: payload(context).encoded, with: signing)
        let isWanted = { (trial: AuthEvaluator) in
            // Thieves may have turned several on, each with a device of its own.
            isEffective(trial)
                && (!workspace.judged.awaitsLaterVersion
                    || trial.laterFeatureCount < workspace.judged.evaluator.laterFeatureCount)
        }
        guard mayTake(signed, in: workspace, isWanted) else { return nil }
        try acceptOwn(signed, in: workspace, document: workspace.id)
        return signed.id
    }

    /// A placeholder for the group key in a guest's draft, since a guest has none. Guests can write
    /// nothing that seals a name, so nothing is ever sealed under it.
    private func guestKey(in workspace: Workspace) -> (id: KeyID, key: SymmetricKey)? {
        guard workspace.ownRole == .guest else { return nil }
        let key = SymmetricKey(using: environment.random, lifetime: .long)
        return (key.keyID, key)
    }

    /// Tries an authority operation on a copy of the evaluator. An operation is stored permanently
    /// and by everyone, so one that would have no effect is not written at all.
    private func mayTake(
        _ operation: SignedOperation, in workspace: Workspace,
        _ isEffective: (AuthEvaluator) -> Bool
    ) -> Bool {
        guard let payload = try? AuthorityPayload(decoding: operation.payload) else { return false }
        var trial = workspace.judged.evaluator
        _ = try? trial.add(
            AuthOperation(operation.id, operation.header, payload, in: workspace))
        return trial.isValid(operation.id) && isEffective(trial)
    }

    /// Starts a new log where the last operation of this device's log has no effect: everyone who
    /// cited it would have to keep it too.
    private func leaveVoidLog(
        of device: DeviceID, in workspace: Workspace
    ) throws(StorageError) {
        let log = LogName(
            document: workspace.id, device: device, incarnation: storeIdentity?.incarnation ?? 0)
        guard let tip = store.operations.branches(of: log, in: workspace.number).last?.tip.id,
            workspace.judged.evaluator.contains(tip), !workspace.judged.evaluator.isValid(tip)
        else { return }
        try renewIncarnation()
        turn.emit(.log(.info, "authority.void_tip"))
    }

    /// At most 64 references, the strongest; more concurrent heads than that are left to the next
    /// operation.
    private func references(
        to ids: [OperationID], in workspace: Workspace
    ) -> [OperationReference] {
        ids.prefix(Limits.authDependenciesMax).compactMap { id in
            workspace.authority[id].map { record in
                OperationReference(
                    device: record.log.device, incarnation: record.log.incarnation,
                    sequence: record.sequence, id: id)
            }
        }
    }

    // MARK: Content

    /// The operations that are overwritten, then the tips, as many as fit and each once.
    private func dependencies(
        _ overwritten: [OperationReference], and tips: [OperationReference]
    ) -> [OperationReference] {
        var seen: Set<OperationID> = []
        return Array(
            (overwritten + tips).filter { seen.insert($0.id).inserted }
                .prefix(Limits.dependenciesMax))
    }

    /// The place of the next operation of a device in a document, with what it cites.
    func contentDraft(
        _ kind: OperationKind, _ document: DocumentID, in workspace: Workspace,
        _ grant: OperationID, _ device: DeviceID,
        overwriting overwritten: [OperationReference] = []
    ) throws(StorageError) -> OperationDraft {
        try sink.settleVerdicts()
        let timestamp = try nextTimestamp()
        let log = LogName(
            document: document, device: device, incarnation: storeIdentity?.incarnation ?? 0)
        let own = store.operations.branches(of: log, in: workspace.number).last
        return OperationDraft(
            kind: kind, document: document, incarnation: log.incarnation,
            sequence: own.map { $0.tipSequence + 1 } ?? 0, previous: own?.tip.id,
            timestamp: timestamp, grant: grant,
            dependencies: dependencies(
                overwritten,
                and: try unorderedTips(of: document, in: workspace, before: timestamp, own: log)))
    }

    /// Our own operation through the waist. A refusal would be a bug of ours.
    func acceptOwn(
        _ operation: SignedOperation, in workspace: Workspace, document: DocumentID
    ) throws(StorageError) {
        let outcome = try accept(
            operation.run(in: document), in: workspace, from: .ourselves)
        guard outcome == .stored(1) else {
            throw StorageError(.other, "this device's own operation was not accepted: \(outcome)")
        }
    }
}
