import CRDTStore
import WorkspaceCrypto
import WorkspaceModel

/// Creating identities, workspaces and channels.
final class Founding: CorePart {
    /// Draws the keys of this home and writes them to disk, before anybody hears of them.
    ///
    /// - Parameter seal: seals them in the file; `nil` leaves them unprotected.
    func makeIdentity(
        name: String, recovery: RecoveryChoice = .drawn,
        under seal: (key: SymmetricKey, derivation: PassphraseVault.KeyDerivation)? = nil
    ) throws(NodeError) {
        let phrase = recovery.phrase(using: environment.random)
        let identity = HomeIdentity(
            name: name, createdAt: time.wall, phrase: phrase, using: environment.random)
        let sealed = seal.map {
            SealedIdentity(identity, under: $0.key, of: $0.derivation, using: environment.random)
        }
        var bytes = sealed?.fileBytes ?? identity.fileBytes
        defer { SecretBytes.wipe(&bytes) }
        do throws(HomeFileError) {
            try environment.files.createIdentity(bytes)
        } catch {
            throw NodeError(.storeFailed, error.message, hint: error.hint)
        }
        turn.session.lock.sealed = sealed
        try stored { () throws(StorageError) in
            try write()
            try core.open(identity)
            try write()
            if case .drawn = recovery, let phrase {
                try core.enrolment.recovery.keepUntilShown(phrase)
            }
        }
    }

    /// Founds a workspace: create, the first channel, our name, our following of the channel.
    func found(
        name: String, description: String?, firstChannel: String
    ) throws(StorageError) -> Workspace {
        guard let home, let storeIdentity else {
            preconditionFailure("a workspace is founded under an identity")
        }
        try write()
        let key = SymmetricKey(using: environment.random, lifetime: .long)
        let discovery = SymmetricKey(using: environment.random, lifetime: .long)
        let timestamp = try core.log.nextTimestamp()
        let create = OperationDraft(
            kind: .authority, document: .zero,
            incarnation: self.storeIdentity?.incarnation ?? storeIdentity.incarnation,
            sequence: 0, previous: nil, timestamp: timestamp, grant: .zero)
        let context = OperationLog.AuthorityDraft(
            draft: create, device: home.device, keyID: key.keyID, key: key,
            random: environment.random)
        let nonce = environment.random.bytes(16)
        let entering = core.membership.enteringHome ?? home
        let member = entering.member(salt: nonce)
        let devices = entering.deviceEntries(entering: .founding(nonce: nonce, member: member))
        let payload = AuthorityPayload.create(
            .init(
                nonce: nonce, member: member,
                devices: devices, keyID: key.keyID,
                wraps: core.keys.wraps(key, discovery, for: devices),
                name: context.sealed(name, field: 6), discoveryID: DiscoveryName.id(of: discovery)))
        let signed = create.signed(payload: payload.encoded, with: home.signing)
        let workspace = try enter(
            DocumentID(sameBytesAs: signed.id), member: member, standing: .member)
        try core.log.acceptOwn(signed, in: workspace, document: workspace.id)
        try core.keys.take(key, discovery: discovery, in: workspace)
        if let description { try describe(workspace, description) }
        _ = try makeChannel(named: firstChannel, topic: nil, description: nil, in: workspace)
        _ = try core.privates.authorContent(
            .profile(name: core.membership.personName(of: home)), to: workspace.profileDocument,
            in: workspace)
        try core.profiles.nameDevice(in: workspace)
        try turn.record(.workspaceCreated, workspace: workspace.number)
        return workspace
    }

    private func describe(_ workspace: Workspace, _ text: String) throws(StorageError) {
        _ = try core.log.authorAuthority(in: workspace) { draft in
            var settings = AuthorityPayload.WorkspaceSettings()
            settings.description = draft.sealed(text, field: 2)
            return .setWorkspace(settings)
        }
    }

    /// Gives a workspace that was just founded a picture.
    func show(_ image: String, of workspace: Workspace) throws(StorageError) {
        _ = try core.log.authorAuthority(in: workspace) { draft in
            var settings = AuthorityPayload.WorkspaceSettings()
            settings.image = draft.sealed(image, field: 3)
            return .setWorkspace(settings)
        }
    }

    /// Makes the rows of a workspace that is founded or joined.
    func enter(
        _ id: WorkspaceID, member: MemberID, standing: RegistryStore.Standing
    ) throws(StorageError) -> Workspace {
        try write()
        try core.integrity.finishForgetting(id)
        let number = try store.operations.enter(id, workspace: nil, kind: .authority)
        let row = RegistryStore.WorkspaceRow(
            number: number, standing: standing, member: member, joined: Int64(time.wall))
        try store.registry.setWorkspace(row)
        let workspace = Workspace(id: id, row: row, vault: turn.session.vault)
        workspace.people.ownName = home?.name
        core.workspaces[number] = workspace
        return workspace
    }

    /// Makes a public channel and follows it.
    ///
    /// - Returns: its document, or `nil` when this device may not.
    func makeChannel(
        named name: String, topic: String?, description: String?, in workspace: Workspace
    ) throws(StorageError) -> DocumentID? {
        let nonce = environment.random.bytes(16)
        guard
            let id = try core.log.authorAuthority(
                in: workspace, { _ in .createDocument(type: 1, nonce: nonce) })
        else { return nil }
        let document = DocumentID(sameBytesAs: id)
        _ = try core.log.authorAuthority(in: workspace) { draft in
            var settings = AuthorityPayload.DocumentSettings(document: document)
            settings.name = draft.sealed(name, field: 5)
            settings.topic = topic.map { draft.sealed($0, field: 6) }
            settings.description = description.map { draft.sealed($0, field: 7) }
            return .setDocument(settings)
        }
        _ = try core.channels.say(.join, of: [workspace.member], in: document, of: workspace)
        return document
    }
}
