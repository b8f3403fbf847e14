import CRDTStore
import WorkspaceCrypto
import WorkspaceModel

/// Writes into the mailbox, and finds what is in it for this device (PROTOCOL.md, 3.5).
extension KeySchedule {
    // MARK: Writing

    /// Writes boxes, in as many operations as they need.
    ///
    /// - Parameter deliveries: none is for this device.
    func mail(
        _ deliveries: [MailboxDelivery], in workspace: Workspace
    ) throws(StorageError) {
        guard let home, let storeIdentity,
            let grant = workspace.writingGrant(of: home.device, leastRole: .guest)
        else { return }
        let mailbox = workspace.mailboxDocument
        for batch in MailboxPayload.batches(of: deliveries) {
            try write()
            let timestamp = try core.log.nextTimestamp()
            let log = LogName(
                document: mailbox, device: home.device,
                incarnation: self.storeIdentity?.incarnation ?? storeIdentity.incarnation)
            let own = store.operations.branches(of: log, in: workspace.number).last
            let draft = OperationDraft(
                kind: .mailbox, document: mailbox, incarnation: log.incarnation,
                sequence: own.map { $0.tipSequence + 1 } ?? 0, previous: own?.tip.id,
                timestamp: timestamp, grant: grant)
            let payload = MailboxPayload.sealing(
                batch, from: home.box,
                at: MailboxPlace(
                    mailbox: mailbox, sender: home.device, incarnation: log.incarnation,
                    sequence: draft.sequence),
                using: environment.random)
            try core.log.acceptOwn(
                draft.signed(payload: payload.encoded, with: home.signing), in: workspace,
                document: mailbox)
        }
    }

    /// Sends a key to every device of these members, except those of this person that have to wait.
    /// This device is included: its home may be restored from before it had the key.
    func mail(
        _ key: SymmetricKey, of document: DocumentID, to members: Set<MemberID>,
        in workspace: Workspace
    ) throws(StorageError) {
        let known = workspace.sealed.documents[document]
        let receivers = workspace.boxKeys(of: members).filter { receiver in
            known.map { keepsWaiting(receiver.device, forKeysOf: $0, in: workspace) } != true
        }
        try mail(
            receivers.map { MailboxDelivery(.key(key, of: document), to: $0.agreementKey) },
            in: workspace)
    }

    // MARK: Reading

    /// Takes what is for this device, or for one whose box key is at hand, out of operations that
    /// were just stored.
    func readMailbox(
        _ appended: [OperationStore.Appended], in workspace: Workspace,
        from source: OperationSource
    ) throws(StorageError) {
        // Operations of this device that peers bring back are read too: a restored home does not
        // have them.
        guard source != .ourselves else { return }
        var documents: Set<DocumentID> = []
        for item in appended {
            let header = item.operation.header
            guard header.kind == OperationKind.mailbox.rawValue,
                let payload = try? MailboxPayload(decoding: item.operation.payload)
            else { continue }
            for secret in mailboxSecrets(with: header.device, in: workspace) {
                guard let message = secret.open(payload, at: MailboxPlace(of: header)) else {
                    continue
                }
                try take(message, header, in: workspace).map { _ = documents.insert($0) }
            }
        }
        for document in documents.sorted() {
            core.sink.judgeLater(document, in: workspace, from: source)
        }
    }

    /// - Returns: the document that it says something new about.
    private func take(
        _ message: MailboxMessage, _ header: OperationHeader, in workspace: Workspace
    ) throws(StorageError) -> DocumentID? {
        switch message {
        case .key(let key, let document):
            return try core.sink.takePrivate(key, of: document, in: workspace) ? document : nil
        case .notice(let operation, let document):
            return try core.sink.takeNotice(
                operation, of: document, header, in: workspace)
        }
    }

    /// The secrets that this device shares with another one: by every box key that this device
    /// reads with, and every one that was bound to the other.
    func mailboxSecrets(
        with device: DeviceID, in workspace: Workspace
    ) -> [MailboxSecret] {
        if let known = workspace.secrets.mailbox[device] { return known }
        guard let home else { return [] }
        var secrets: [MailboxSecret] = []
        for own in [home.box, workspace.secrets.recoveryBox].compactMap({ $0 }) {
            for other in workspace.boxKeys(everOf: device) {
                (try? MailboxSecret(own: own, other: other)).map { secrets.append($0) }
            }
        }
        workspace.secrets.mailbox[device] = secrets
        return secrets
    }

    /// Takes what is for this device out of a stored operation.
    ///
    /// - Returns: the documents that it says something new about.
    func openMailbox(
        _ stored: StoredOperation, in workspace: Workspace
    ) throws(StorageError) -> Set<DocumentID> {
        var documents: Set<DocumentID> = []
        guard let payload = try? MailboxPayload(decoding: stored.entry.payload) else {
            return documents
        }
        let header = try header(of: stored)
        for secret in mailboxSecrets(with: stored.log.device, in: workspace) {
            guard let message = secret.open(payload, at: MailboxPlace(of: header)) else {
                continue
            }
            try take(message, header, in: workspace).map { _ = documents.insert($0) }
        }
        return documents
    }
}

extension Workspace {
    /// The devices of members that are in the workspace, each with the key to which boxes are
    /// sealed. Ascending.
    func boxKeys(
        of wanted: Set<MemberID>
    ) -> [(device: DeviceID, agreementKey: AgreementPublicKey)] {
        holders(excluding: []) { wanted.contains($0.member) }
    }

    /// The box keys that were ever bound to a device; more than one only if it cheats. What others
    /// say about a device without its own signature binds nothing.
    func boxKeys(everOf device: DeviceID) -> [AgreementPublicKey] {
        var keys: [AgreementPublicKey] = []
        for id in authorityOrder where judged.isWellBound(id) {
            for entry in authority[id]?.payload.listedDevices ?? [] where entry.device == device {
                guard let key = AgreementPublicKey(untrusted: entry.agreementKey),
                    !keys.contains(key)
                else { continue }
                keys.append(key)
            }
        }
        return Array(keys.prefix(Limits.unprovenKeysMax))
    }
}
