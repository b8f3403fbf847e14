import CRDTStore
import WorkspaceCrypto
import WorkspaceModel

/// Stores the keys of private documents: each with its document, sealed under the home's key.
extension PrivateDocuments {
    /// The private document with this name, if this node holds a key to it; `nil` before its root
    /// arrived, and for any other document.
    func privateDocument(
        _ id: DocumentID, in workspace: Workspace
    ) throws(StorageError) -> PrivateDocument? {
        if let known = workspace.sealed.documents[id] { return known }
        guard let row = store.operations.privateDocument(id, in: workspace.number),
            try !erasing.isErased(private: id)
        else { return nil }
        let document = PrivateDocument(
            id: id, number: row.number, vault: turn.session.vault, shelf: privateShelf)
        guard try loadKeys(of: document) else { return nil }
        workspace.sealed.documents[id] = document
        try notices.loadNotices(of: document)
        let stored = try store.operations.arrivals(ofKind: .privateAuthority, in: row.number)
        for arrival in stored { try enter(arrival, into: document, in: workspace) }
        return document
    }

    /// - Returns: whether there is any.
    private func loadKeys(of document: PrivateDocument) throws(StorageError) -> Bool {
        for row in try store.registry.secrets(of: document.number) {
            // Only to see that it can be opened when it is asked for.
            guard var secret = turn.session.vault.open(row.sealed, row.kind, row.id) else {
                continue
            }
            defer { SecretBytes.wipe(&secret) }
            guard let name = KeyID(untrusted: Array(row.id.prefix(KeyID.byteCount))) else {
                continue
            }
            switch row.kind {
            case .privateKey: _ = document.take(name)
            case .privateAuthorityKey:
                guard let key = SymmetricKey(untrusted: secret), let place = row.id.last else {
                    continue
                }
                _ = document.take(PrivateAuthorityKey(handedOn: key), of: name, stored: place)
            case .epochKey, .discovery: continue
            }
        }
        return !document.authorityKeys.isEmpty
    }

    /// Stores an epoch key of a private document, whose root may not be here yet. The key proves
    /// itself: by its name, which operations of the document give.
    ///
    /// - Returns: whether it was new.
    @discardableResult
    func takePrivate(
        _ key: SymmetricKey, of id: DocumentID, in workspace: Workspace
    ) throws(StorageError) -> Bool {
        guard home != nil, id != workspace.id, try !erasing.isErased(private: id) else {
            return false
        }
        try write()
        let number = try store.operations.enter(
            id, workspace: workspace.number, kind: .unknown)
        let name = key.keyID
        let document = workspace.sealed.documents[id]
        if let document {
            guard !document.keys.holds(name) else { return false }
        } else {
            let held = try store.registry.secret(.privateKey, name.bytes, of: number)
            guard held == nil else { return false }
        }
        try store(key, .privateKey, id: name.bytes, of: number)
        workspace.forgetSealing(of: id)
        workspace.sealed.named = nil
        _ = document?.take(name, key)
        _ = workspace.secrets.lacked.take(name)
        return true
    }

    /// Stores what opens the membership operations of an older epoch.
    func takePrivate(
        _ key: PrivateAuthorityKey, of name: KeyID, _ document: PrivateDocument
    ) throws(StorageError) -> Bool {
        guard home != nil, let place = document.take(key, of: name) else { return false }
        try write()
        try store(
            key.key, .privateAuthorityKey,
            id: KeyVault.id(.privateAuthorityKey, name, place), of: document.number)
        return true
    }

    private func store(
        _ key: SymmetricKey, _ kind: SecretKind, id: [UInt8], of document: Int64
    ) throws(StorageError) {
        guard let home else { return }
        try store.registry.setSecret(
            home.seal(key, name: KeyVault.label(kind, id), using: environment.random),
            kind: kind, id: id, workspace: document, names: store.operations)
    }

    /// Takes the older keys that an operation hands on, as far as its own key is held.
    ///
    /// - Returns: whether any was new.
    func takeOlder(
        of change: PrivateChange, under name: KeyID, _ document: PrivateDocument,
        in workspace: Workspace
    ) throws(StorageError) -> Bool {
        guard let epoch = change.action.epoch, epoch.keyID == name else { return false }
        var isNew = false
        for older in epoch.older where !document.keys.holds(older.keyID) {
            if let newer = document.keys[name], case .whole(let key)? = older.open(under: newer) {
                isNew = try takePrivate(key, of: document.id, in: workspace) || isNew
            }
            // The one that opened this operation is the first.
            let first = document.authorityKeys.first(of: name)
            if let key = first.flatMap({ older.open(under: $0) }) {
                isNew = try takePrivate(key, of: older.keyID, document) || isNew
            }
        }
        return isNew
    }
}
