import CRDTStore
import WorkspaceCrypto
import WorkspaceModel

/// Opening and judging the membership operations of private documents, in whatever order they and
/// their keys arrive.
extension NodeCore {
    /// Places what can be opened of a private document, and shows what follows from it.
    ///
    /// - Parameter arrivals: membership operations that were just stored.
    func placePrivate(
        _ id: DocumentID, adding arrivals: [Int64] = [], in workspace: Workspace,
        from source: OperationSource
    ) throws(StorageError) {
        let isKnown = workspace.privateDocuments[id] != nil
        guard let document = try privateDocument(id, in: workspace) else { return }
        // A document that is new here has found them in the store by itself.
        if isKnown { document.closed += arrivals }
        let hasPlaced = try openClosed(document, in: workspace)
        let new = Set(document.keys.keys).subtracting(document.foldedKeys)
        guard hasPlaced || !new.isEmpty else { return }
        document.foldedKeys.formUnion(new)
        try settle(
            document, onlyUnder: hasPlaced ? nil : new, in: workspace, from: source)
    }

    /// Everything of a workspace's private documents, after the store was opened.
    func loadPrivateDocuments(of workspace: Workspace) throws(StorageError) {
        for id in store.operations.documents(ofWorkspace: workspace.number) {
            guard let document = try privateDocument(id, in: workspace) else { continue }
            _ = try openClosed(document, in: workspace)
            document.foldedKeys = Set(document.keys.keys)
        }
        workspace.forgetChannelIndex()
        for document in workspace.privateDocuments.values {
            document.told = workspace.channel(of: document)
        }
    }

    /// Judges a document anew: the workspace's rules have changed what counts in it.
    func rejudgePrivate(
        _ id: DocumentID, in workspace: Workspace, from source: OperationSource
    ) throws(StorageError) {
        guard let document = workspace.privateDocuments[id] else { return }
        document.authority = PrivateAuthority()
        for id in document.order {
            guard let record = document.records[id] else { continue }
            try enter(id, record, into: document, in: workspace)
        }
        try settle(document, onlyUnder: nil, in: workspace, from: source)
    }

    // MARK: Opening

    /// Opens what can be opened; a key that is found in one operation may open the next.
    ///
    /// - Returns: whether anything was placed.
    private func openClosed(
        _ document: PrivateDocument, in workspace: Workspace
    ) throws(StorageError) -> Bool {
        var hasPlaced = false
        var goesOn = true
        while goesOn {
            goesOn = try takeHandedOn(document, in: workspace)
            var left: [Int64] = []
            for arrival in document.closed {
                if try place(arrival, document, in: workspace) {
                    goesOn = true
                    hasPlaced = true
                } else {
                    left.append(arrival)
                }
            }
            document.closed = left
        }
        return hasPlaced
    }

    private func takeHandedOn(
        _ document: PrivateDocument, in workspace: Workspace
    ) throws(StorageError) -> Bool {
        var isNew = false
        for id in document.order {
            guard let record = document.records[id], let change = record.change else { continue }
            isNew =
                try takeOlder(of: change, under: record.keyID, document, in: workspace) || isNew
        }
        return isNew
    }

    /// - Returns: whether it was placed; not while its key, or what it cites, is missing.
    private func place(
        _ arrival: Int64, _ document: PrivateDocument, in workspace: Workspace
    ) throws(StorageError) -> Bool {
        guard let stored = try store.operations.operation(arrival),
            let keyID = stored.entry.keyID, let keys = document.authorityKeys[keyID],
            let payload = try? PrivatePayload(decoding: stored.entry.payload)
        else { return false }
        let previous = try store.operations.nearest(
            ofKind: .privateAuthority, before: stored.place.sequence, in: stored.place.branch)
        let cited = stored.entry.dependencies.map(\.id) + [previous].compactMap { $0 }
        guard cited.allSatisfy({ document.records[$0] != nil }) else { return false }
        let header = try header(of: stored)
        guard let key = keys.first(where: { $0.opens(payload, of: header) }) else { return false }
        let record = PrivateDocument.Record(
            change: key.open(payload, of: header),
            author: workspace.evaluator.subject(ofGrant: stored.entry.grant), log: stored.log,
            sequence: stored.place.sequence, timestamp: stored.entry.timestamp,
            grant: stored.entry.grant, keyID: keyID, arrival: arrival,
            branch: stored.place.branch, previous: previous,
            dependencies: stored.entry.dependencies.map(\.id))
        document.enter(stored.place.link.id, record)
        try enter(stored.place.link.id, record, into: document, in: workspace)
        return true
    }

    private func enter(
        _ id: OperationID, _ record: PrivateDocument.Record, into document: PrivateDocument,
        in workspace: Workspace
    ) throws(StorageError) {
        let isOfDevice =
            workspace.evaluator.devices(ofGrant: record.grant).contains(record.log.device)
        guard let author = record.author else { return }
        document.authority.add(
            .init(
                id: id, author: author, log: record.log, sequence: record.sequence,
                previous: record.previous, dependencies: record.dependencies,
                change: record.change,
                counts: isOfDevice
                    && store.operations.isValid(record.sequence, in: record.branch)))
    }

    /// The header of a stored operation, as far as a sealed payload is bound to it.
    func header(of stored: StoredOperation) throws(StorageError) -> OperationHeader {
        let entry = stored.entry
        return OperationHeader(
            kind: entry.kind, document: stored.isRoot ? .zero : stored.log.document,
            device: stored.log.device, incarnation: stored.log.incarnation,
            sequence: stored.place.sequence,
            previous: try store.operations.previous(of: stored.place), timestamp: entry.timestamp,
            grant: entry.grant, keyID: entry.keyID, dependencies: entry.dependencies,
            payloadLength: 0, payloadHash: .zero)
    }

    // MARK: What follows

    private func settle(
        _ document: PrivateDocument, onlyUnder keys: Set<KeyID>?, in workspace: Workspace,
        from source: OperationSource
    ) throws(StorageError) {
        document.limits = [:]
        workspace.forgetChannelIndex()
        try tell(document, in: workspace, from: source)
        try refoldPrivate(document, onlyUnder: keys, in: workspace, from: source)
    }
}
