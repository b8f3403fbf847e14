import CRDTStore
import SyncProtocol
import WorkspaceCrypto
import WorkspaceModel

/// Asks members for missing group keys, and answers: members read everything in public channels, so
/// every member may give every member every group key (PROTOCOL.md, 4.2).
extension KeySchedule {
    // MARK: Asking

    /// Asks a peer whose copy is known to equal this one for group keys, each once on a link.
    func askForGroupKeys(
        of workspace: Workspace, on link: PeerLink, _ sync: WorkspaceLink
    ) {
        guard home != nil, mayReadPublic(turn.session.ownDevice, in: workspace),
            mayReadPublic(link.peer?.device, in: workspace)
        else { return }
        let asked = link.keys.askedGroupKeys[workspace.number] ?? []
        let room = min(
            SyncMessage.wantedKeysMax, Limits.keysAskedPerLinkMax - link.keys.askedKeys)
        let keys = lackedGroupKeys(of: workspace).filter { !asked.contains($0) }
            .prefix(max(room, 0)).sorted()
        guard !keys.isEmpty else { return }
        link.keys.askedGroupKeys[workspace.number] = asked.union(keys)
        link.keys.askedKeys += keys.count
        link.session.send(
            .keyWant(
                KeyWant(workspace: sync.number, document: workspace.id, keys: keys)),
            in: .control, isUnasked: false)
    }

    /// Whether a device is of somebody who is more than a guest.
    private func mayReadPublic(_ device: DeviceID?, in workspace: Workspace) -> Bool {
        device.flatMap {
            workspace.judged.contentGrant(
                of: $0, leastRole: DocumentAccess.workspace.leastRole)
        } != nil
    }

    /// Missing keys: first those that content is sealed under, then those that operations introduce
    /// as group keys, the newest first. An author who introduces very many keys that nobody has
    /// must not delay those that content needs.
    func lackedGroupKeys(of workspace: Workspace) -> [KeyID] {
        let unread = workspace.secrets.lacked.names { document in
            store.operations.privateDocument(document, in: workspace.number) == nil
        }
        var seen = unread
        let given = workspace.secrets.index.newestFirst.filter { known in
            !workspace.secrets.keys.holds(known.key) && workspace.gives(known)
                && seen.insert(known.key).inserted
        }
        return unread.sorted() + given.map(\.key)
    }

    // MARK: Answering

    func groupKeysWanted(
        _ want: KeyWant, in workspace: Workspace, on link: PeerLink
    ) throws(StorageError) {
        guard let home, let sync = link.syncs[workspace.number], sync.standing == .full,
            let device = link.peer?.device, mayReadPublic(device, in: workspace),
            let box = workspace.boxKeys(of: Set(workspace.judged.members(of: device)))
                .first(where: { $0.device == device })
        else { return }
        for name in want.keys {
            guard let key = workspace.secrets.keys[name] else { continue }
            core.sink.give(
                key, of: workspace.id, to: box.agreementKey, on: link, sync, from: home)
        }
    }

    /// Takes a group key that was asked for on this link, and shows what it opens.
    ///
    /// - Returns: whether it was of any use.
    func takeGivenGroupKey(
        _ have: KeyHave, in workspace: Workspace, on link: PeerLink
    ) throws(StorageError) -> Bool {
        guard let device = link.peer?.device, mayWrite,
            let payload = try? MailboxPayload(decoding: have.payload)
        else { return false }
        let place = MailboxPlace(
            mailbox: workspace.id, sender: device, incarnation: 0, sequence: 0)
        for secret in mailboxSecrets(with: device, in: workspace) {
            guard case .key(let key, workspace.id)? = secret.open(payload, at: place),
                link.keys.askedGroupKeys[workspace.number]?.contains(key.keyID) == true
            else { continue }
            try write()
            let ranges = workspace.secrets.lacked.take(key.keyID)
            guard try take(key, discovery: nil, in: workspace) else { return true }
            try show(ranges, openedBy: key.keyID, in: workspace)
            return true
        }
        return false
    }

    /// A key that an admin introduces may seal names and anybody's content. Any other key opens
    /// only what was found under it, by one device in one document: members can invent any number.
    private func show(
        _ ranges: [LackedKeys.SealedRange], openedBy name: KeyID, in workspace: Workspace
    ) throws(StorageError) {
        let source = OperationSource.released(source: 0, isBackfill: false)
        let isIntroduced =
            workspace.secrets.index.firstIntroduction(of: name)
            .map { workspace.judged.isValid($0.operation) } ?? false
        guard !isIntroduced else {
            workspace.secrets.unfolded += [name]
            workspace.secrets.unfolded += try openOlderKeys(under: [name], in: workspace)
            return try core.sink.foldUnfolded(in: workspace, from: source)
        }
        for range in ranges {
            guard let row = store.operations.document(range.document, in: workspace.number) else {
                continue
            }
            for branch in store.operations.branches(in: row.id, of: workspace.number)
            where branch.log.device == range.device {
                let sealed = try store.operations.arrivals(
                    sealedUnder: name, in: branch.number, of: workspace.number)
                for arrival in sealed {
                    guard let stored = try store.operations.operation(arrival) else { continue }
                    try core.sink.fold(stored, row, in: workspace, from: source)
                }
            }
        }
    }
}
