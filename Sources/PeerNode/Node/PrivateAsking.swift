import CRDTStore
import SyncProtocol
import WorkspaceCrypto
import WorkspaceModel

/// Asking peers for keys of private documents, and answering: for what fell between two members
/// who wrote without knowing of each other's devices.
extension NodeCore {
    // MARK: Asking

    /// Asks a peer whose copy is known to equal this one for what still does not open.
    func askForKeys(of workspace: Workspace, on link: PeerLink, _ sync: WorkspaceLink) {
        guard sync.standing == .full, let peer = link.peer?.device,
            let other = workspace.deviceOwners[peer], mayWrite
        else { return }
        for (document, keys) in missingKeys(of: workspace, from: other) {
            // What was asked on this link without avail is asked again on the next.
            guard link.wanted[document] != keys else { continue }
            guard link.askedKeys < Limits.keysAskedPerLinkMax else { return }
            link.wanted[document] = keys
            link.askedKeys += max(keys.count, 1)
            link.session.send(
                .keyWant(KeyWant(workspace: sync.number, document: document, keys: keys)),
                in: .control, isUnasked: false)
        }
    }

    /// What does not open and `other` may have. A device that is new here asks for documents too of
    /// which it knows nothing, for it may be meant by them; any other one asks those who are in.
    private func missingKeys(
        of workspace: Workspace, from other: MemberID
    ) -> [(DocumentID, [KeyID])] {
        var missing: [(DocumentID, [KeyID])] = []
        for id in store.operations.documents(ofWorkspace: workspace.number)
        where store.operations.document(id, in: workspace.number)?.kind == .privateDocument {
            guard let document = workspace.privateDocuments[id] else {
                if (try? isErased(private: id)) != false { continue }
                if isNewHere(workspace) || other == workspace.member { missing.append((id, [])) }
                continue
            }
            guard document.authority.root != nil else {
                missing.append((id, []))
                continue
            }
            guard document.authority.standing(of: other) != nil else { continue }
            var wanted = Set(document.closed.compactMap { document.records[$0]?.keyID })
                .subtracting(document.authorityKeys.keys)
            wanted.formUnion(
                document.authority.keys(for: workspace.member)
                    .filter { document.keys[$0] == nil })
            guard !wanted.isEmpty else { continue }
            missing.append((id, Array(wanted.sorted().prefix(SyncMessage.wantedKeysMax))))
        }
        return missing
    }

    /// Whether this device came in less than 30 days ago.
    private func isNewHere(_ workspace: Workspace) -> Bool {
        let month: UInt64 = 30 * 24 * 3_600 * 1_000
        return time.wall < workspace.joined &+ month
    }

    // MARK: Answering

    func keysWanted(_ want: KeyWant, in workspace: Workspace, on link: PeerLink) {
        guard let home, let sync = link.syncs[workspace.number], sync.standing == .full,
            let device = link.peer?.device, let other = workspace.deviceOwners[device],
            let document = workspace.privateDocuments[want.document],
            let box = workspace.boxKeys(of: [other]).first(where: { $0.device == device })
        else { return }
        let allowed = document.authority.keys(for: other)
        var given = want.keys.isEmpty ? [] : allowed.filter(want.keys.contains)
        if given.isEmpty {
            let leading = document.authority.keysToHandOn(holding: Set(document.keys.keys))
            given =
                document.root?.history == .fromJoin
                ? Array(allowed.suffix(SyncMessage.wantedKeysMax))
                : leading.filter(allowed.contains)
        }
        for name in given {
            guard let key = document.keys[name], link.givenKeys < Limits.keysAskedPerLinkMax
            else { continue }
            link.givenKeys += 1
            let payload = MailboxPayload.sealing(
                [MailboxDelivery(.key(key, of: document.id), to: box.agreementKey)],
                from: home.box,
                at: MailboxPlace(
                    mailbox: document.id, sender: home.device, incarnation: 0, sequence: 0),
                using: environment.random)
            link.session.send(
                .keyHave(
                    KeyHave(
                        workspace: sync.number, document: document.id, payload: payload.encoded)),
                in: .control, isUnasked: false)
        }
    }

    func keyGiven(
        _ have: KeyHave, in workspace: Workspace, on link: PeerLink
    ) throws(StorageError) {
        guard let device = link.peer?.device, mayWrite,
            store.operations.document(have.document, in: workspace.number)?.kind
                == .privateDocument,
            let payload = try? MailboxPayload(decoding: have.payload)
        else { return }
        let place = MailboxPlace(
            mailbox: have.document, sender: device, incarnation: 0, sequence: 0)
        for secret in mailboxSecrets(with: device, in: workspace) {
            guard case .key(let key, have.document)? = secret.open(payload, at: place) else {
                continue
            }
            guard try takePrivate(key, of: have.document, in: workspace) else { return }
            return try placePrivate(
                have.document, in: workspace, from: .released(source: 0, isBackfill: false))
        }
    }
}
