import CRDTStore
import WorkspaceCrypto
import WorkspaceModel

/// Decrypts what is stored, or arrives, with the keys that are held.
extension KeySchedule {
    /// The header of a stored operation, as far as a sealed payload is bound to it.
    func header(of stored: StoredOperation) throws(StorageError) -> OperationHeader {
        header(of: stored, after: try store.operations.previous(of: stored.place))
    }

    private func header(
        of stored: StoredOperation, after previous: OperationID?
    ) -> OperationHeader {
        let entry = stored.entry
        return OperationHeader(
            kind: entry.kind, document: stored.isRoot ? .zero : stored.log.document,
            device: stored.log.device, incarnation: stored.log.incarnation,
            sequence: stored.place.sequence, previous: previous, timestamp: entry.timestamp,
            grant: entry.grant, keyID: entry.keyID, dependencies: entry.dependencies,
            payloadLength: 0, payloadHash: .zero)
    }

    /// The content of an operation, or `nil` while its key is not held, and where it does not open
    /// or parse.
    func content(
        of operation: CheckedOperation, in workspace: Workspace
    ) -> ContentPayload? {
        content(of: operation.header, payload: operation.payload, in: workspace)
    }

    /// The key for the content of a document. A private document's keys open nothing else, and no
    /// key of the workspace opens private content.
    func contentKey(
        _ document: DocumentID, _ key: KeyID, in workspace: Workspace
    ) -> SymmetricKey? {
        if let document = workspace.sealed.documents[document] { return document.contentKey(key) }
        guard store.operations.privateDocument(document, in: workspace.number) == nil else {
            return nil
        }
        return workspace.documentKey(document, key)
    }

    private func content(
        of header: OperationHeader, payload: [UInt8], in workspace: Workspace
    ) -> ContentPayload? {
        guard let keyID = header.keyID else { return nil }
        guard let key = contentKey(header.document, keyID, in: workspace) else {
            noteLacked(header, keyID, in: workspace)
            return nil
        }
        return content(of: header, payload: payload, under: key)
    }

    private func content(
        of header: OperationHeader, payload: [UInt8], under key: SymmetricKey
    ) -> ContentPayload? {
        guard
            let plaintext = SealedPayload.open(
                payload, under: key, associatedData: header.associatedData)
        else { return nil }
        return try? ContentPayload(decoding: plaintext)
    }

    /// The content of a stored operation.
    func content(
        of stored: StoredOperation, in workspace: Workspace
    ) throws(StorageError) -> ContentPayload? {
        let entry = stored.entry
        guard entry.kind == OperationKind.content.rawValue, entry.absent == nil else { return nil }
        if let known = fresh.content(of: entry.payload, arrival: stored.place.arrival),
            let keyID = entry.keyID,
            contentKey(stored.log.document, keyID, in: workspace) != nil
        {
            return known
        }
        let header = try header(of: stored)
        if let content = content(of: header, payload: entry.payload, in: workspace) {
            return content
        }
        // Content that does not open although its key is here may never have been valid, or is
        // damaged.
        if let keyID = entry.keyID, contentKey(header.document, keyID, in: workspace) != nil,
            try StoreCheck.damage(of: stored, in: store.operations) != nil
        {
            core.log.noteDamage(at: stored.place.sequence, of: stored.place.branch)
        }
        return nil
    }

    /// The content of a stored operation, where the one before it in its log was read lately.
    ///
    /// - Parameter previous: its id. What is sealed is bound to that id, so with another one nothing
    ///   opens, and the right one is looked for.
    func content(
        of stored: StoredOperation, after previous: OperationID?, in workspace: Workspace
    ) throws(StorageError) -> ContentPayload? {
        let entry = stored.entry
        if let previous, fresh.isEmpty, entry.absent == nil,
            entry.kind == OperationKind.content.rawValue, let keyID = entry.keyID,
            let key = contentKey(stored.log.document, keyID, in: workspace),
            let content = content(
                of: header(of: stored, after: previous), payload: entry.payload, under: key)
        {
            return content
        }
        return try content(of: stored, in: workspace)
    }

    /// Opens the boxes of operations that have taken effect. Others are never opened: a former
    /// member could make everybody open any number of boxes.
    ///
    /// - Returns: the keys that were not held before.
    func openKeys(
        of operations: [OperationID], in workspace: Workspace
    ) throws(StorageError) -> [KeyID] {
        var opened: [KeyID] = []
        for id in operations {
            guard let payload = workspace.authority[id]?.payload else { continue }
            try opened += openKeys(of: payload, in: workspace)
        }
        return opened
    }

    /// Opens the box that is for this device, if there is one and its key is new here.
    ///
    /// - Parameter reader: another device whose secret is at hand, which is the recovery device.
    /// - Returns: the keys that were not held before.
    func openKeys(
        of payload: AuthorityPayload, in workspace: Workspace,
        for reader: (device: DeviceID, box: AgreementKey)? = nil
    ) throws(StorageError) -> [KeyID] {
        var opened: [KeyID] = []
        guard let home, let wrapped = payload.wrappedKeys else { return opened }
        let (device, box) = reader ?? (home.device, home.box)
        let prefix = [UInt8](device.bytes.prefix(8))
        // At most one box is for this device. An author who writes thousands must not make it try
        // them all.
        for wrap in wrapped.wraps.lazy.filter({ $0.devicePrefix == prefix }).prefix(2) {
            guard var secrets = SealedBox.open(wrap.box, with: box) else { continue }
            defer { SecretBytes.wipe(&secrets) }
            if !wrap.holdsKey, secrets.count == 32 {
                let discovery = SymmetricKey(secrets[...], lifetime: .brief)
                if workspace.gives(DiscoveryName.id(of: discovery)) {
                    try take(discovery: discovery, in: workspace)
                }
                continue
            }
            guard secrets.count == 64 else { continue }
            let key = SymmetricKey(secrets[..<32], lifetime: .brief)
            guard key.keyID == wrapped.key else { continue }
            let discovery = SymmetricKey(secrets[32...], lifetime: .brief)
            let isNamed = workspace.gives(DiscoveryName.id(of: discovery))
            if try take(key, discovery: isNamed ? discovery : nil, in: workspace) {
                opened.append(wrapped.key)
            }
        }
        return try opened + openWhatFollows(from: payload, opened, in: workspace)
    }

    /// Stores an epoch key and a discovery secret, where they are new.
    ///
    /// - Returns: whether the epoch key was new.
    @discardableResult
    func take(
        _ key: SymmetricKey, discovery: SymmetricKey?, in workspace: Workspace
    ) throws(StorageError) -> Bool {
        guard let home else { return false }
        let name = key.keyID
        let isNew = !workspace.secrets.keys.holds(name)
        if isNew {
            try store.registry.setSecret(
                home.seal(key, name: name.bytes, using: environment.random),
                kind: .epochKey, id: name.bytes, workspace: workspace.number,
                names: store.operations)
            workspace.secrets.keys.insert(key, as: name)
            _ = workspace.secrets.lacked.take(name)
        }
        if let discovery { try take(discovery: discovery, in: workspace) }
        return isNew
    }

    func loadSecrets(of workspace: Workspace) throws(StorageError) {
        guard home != nil else { return }
        var (keys, discovery) = (workspace.secrets.keys, DiscoverySecrets())
        keys.removeAll()
        for row in try store.registry.secrets(of: workspace.number) {
            // Only to see that it can be opened when it is asked for.
            guard var secret = turn.session.vault.open(row.sealed, row.kind, row.id) else {
                continue
            }
            SecretBytes.wipe(&secret)
            switch row.kind {
            case .epochKey: KeyID(untrusted: row.id).map { keys.insert($0) }
            case .discovery: discovery.note(row.id)
            // Those are kept with their documents.
            case .privateKey, .privateAuthorityKey: continue
            }
        }
        workspace.secrets.keys = keys
        workspace.secrets.discovery = discovery
    }
}
