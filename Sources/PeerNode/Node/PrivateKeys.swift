import CRDTStore
import WorkspaceCrypto
import WorkspaceModel

/// Keeping the keys of private documents: each with its document, sealed under the home's key.
extension NodeCore {
    /// The private document with this name, as far as this node holds a key of it; `nil` before its
    /// root came, and for a document that is none.
    func privateDocument(
        _ id: DocumentID, in workspace: Workspace
    ) throws(StorageError) -> PrivateDocument? {
        if let known = workspace.privateDocuments[id] { return known }
        guard let row = store.operations.document(id, in: workspace.number),
            row.kind == .privateDocument, try !isErased(private: id)
        else { return nil }
        let document = PrivateDocument(id: id, number: row.number)
        guard try loadKeys(of: document) else { return nil }
        workspace.privateDocuments[id] = document
        try loadNotices(of: document)
        let stored = try store.operations.arrivals(ofKind: .privateAuthority, in: row.number)
        for arrival in stored { try enter(arrival, into: document, in: workspace) }
        return document
    }

    /// - Returns: whether there is any.
    private func loadKeys(of document: PrivateDocument) throws(StorageError) -> Bool {
        guard let home else { return false }
        for row in try store.registry.secrets(of: document.number) {
            guard var secret = home.open(row.sealed, name: Self.name(of: row.kind, row.id)) else {
                continue
            }
            defer { SecretBytes.wipe(&secret) }
            switch row.kind {
            case .privateKey:
                SymmetricKey(untrusted: secret, lifetime: .long).map { _ = document.take($0) }
            case .privateAuthorityKey:
                guard let name = KeyID(untrusted: Array(row.id.prefix(KeyID.byteCount))),
                    let key = SymmetricKey(untrusted: secret, lifetime: .long)
                else { continue }
                _ = document.take(PrivateAuthorityKey(handedOn: key), of: name)
            case .epochKey, .discovery: continue
            }
        }
        return !document.authorityKeys.isEmpty
    }

    private static func name(of kind: SecretKind, _ id: [UInt8]) -> [UInt8] {
        [UInt8(truncatingIfNeeded: kind.rawValue)] + id
    }

    /// Stores an epoch key of a private document, whose root may not be here yet. The key proves
    /// itself: by its name, which operations of the document give.
    ///
    /// - Returns: whether it was new.
    @discardableResult
    func takePrivate(
        _ key: SymmetricKey, of id: DocumentID, in workspace: Workspace
    ) throws(StorageError) -> Bool {
        guard let home, id != workspace.id, try !isErased(private: id) else { return false }
        try write()
        let number = try store.operations.enter(
            id, workspace: workspace.number, kind: .unknown)
        let name = key.keyID
        if workspace.privateDocuments[id]?.keys[name] != nil { return false }
        if workspace.privateDocuments[id] == nil {
            let held = try store.registry.secrets(of: number)
            if held.contains(where: { $0.kind == .privateKey && $0.id == name.bytes }) {
                return false
            }
        }
        let kept = key.longLived
        try store.registry.setSecret(
            home.seal(
                kept, name: Self.name(of: .privateKey, name.bytes), using: environment.random),
            kind: .privateKey, id: name.bytes, workspace: number, names: store.operations)
        workspace.forgetSealing(of: id)
        workspace.namedDocuments = nil
        if let document = workspace.privateDocuments[id] { _ = document.take(kept) }
        return true
    }

    /// Stores what opens the membership operations of an older epoch.
    func takePrivate(
        _ key: PrivateAuthorityKey, of name: KeyID, _ document: PrivateDocument
    ) throws(StorageError) -> Bool {
        guard let home, document.take(key, of: name) else { return false }
        try write()
        let place = UInt8(truncatingIfNeeded: document.authorityKeys[name]?.count ?? 0)
        let id = name.bytes + [place]
        try store.registry.setSecret(
            home.seal(
                key.key, name: Self.name(of: .privateAuthorityKey, id),
                using: environment.random),
            kind: .privateAuthorityKey, id: id, workspace: document.number,
            names: store.operations)
        return true
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
        for older in epoch.older where document.keys[older.keyID] == nil {
            if let newer = document.keys[name], case .whole(let key)? = older.open(under: newer) {
                isNew = try takePrivate(key, of: document.id, in: workspace) || isNew
            }
            // The one that opened this operation is the first.
            if let key = document.authorityKeys[name]?.first.flatMap({ older.open(under: $0) }) {
                isNew = try takePrivate(key, of: older.keyID, document) || isNew
            }
        }
        return isNew
    }
}
