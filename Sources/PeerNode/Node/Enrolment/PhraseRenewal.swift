import CRDTStore
import WorkspaceCrypto
import WorkspaceModel

extension RecoveryPhrase {
    /// The phrase as the device that takes the place of another one.
    func entry(entering consent: DeviceConsent) -> DeviceEntry {
        let signing = signingKey
        let box = agreementKey.publicKey.bytes
        let unsigned = DeviceEntry(device: signing.device, agreementKey: box, signature: .zero)
        return DeviceEntry(
            device: signing.device, agreementKey: box,
            signature: signing.signature(for: consent.message(for: [unsigned])))
    }
}

/// Replaces a recovery phrase whose words someone else may know: the new one ranks right behind the
/// old one, which then revokes itself (PROTOCOL.md, 3.3).
///
/// All of it is one transaction: the signed operations are sent only when the secret of the new
/// phrase is on the disk.
extension Recovery {
    /// The public half of a phrase that came later than the identity, with its certificate.
    private static let laterPhraseName = "recovery.later"

    /// The stored home, with the phrase that it brings into further workspaces.
    func withLaterPhrase(_ home: HomeIdentity) throws(StorageError) -> HomeIdentity {
        var home = home
        home.laterRecovery = try store.registry.value(Self.laterPhraseName)
            .flatMap { try? DeviceEntry.list(decoding: $0).first }
        return home
    }

    func renewPhrase(_ words: String?, _ scope: CallScope) throws(NodeError) -> NewPhraseObject {
        guard let words else { throw Self.needsOldWords }
        let old = try core.membership.recoveryPhrase(words)
        var object = NewPhraseObject()
        let open = try renewable(old.signingKey.device, &object)
        let before = home
        let wasShown = core.membership.recoveryState == "shown"
        let (new, isDrawn) = try phraseToCome()
        var isIn = false
        for workspace in open {
            let outcome = try stored { () throws(StorageError) in
                try renew(old, by: new, in: workspace)
            }
            isIn = isIn || outcome.isIn
            object.add(workspace, outcome.failure)
        }
        if !isIn {
            if isDrawn { try forgetDrawn(restoring: before, wasShown: wasShown) }
            throw Self.nothingRenewed(object)
        }
        object.recovery = core.membership.recoveryState
        return object
    }

    // MARK: Where

    /// The workspaces in which a phrase may be replaced here; notes those in which it may not.
    private func renewable(
        _ device: DeviceID, _ object: inout NewPhraseObject
    ) throws(NodeError) -> [Workspace] {
        var open: [Workspace] = []
        var isOwn = false
        let own = workspaces.values.sorted { $0.number < $1.number }.filter {
            $0.standing == .member && $0.fields.deletion == nil && $0.ownRole != nil
                && core.membership.ownEnd(in: $0) == nil
        }
        for workspace in own {
            let isPhrase =
                workspace.recoveryDevices.contains(device)
                && workspace.judged.evaluator.isBound(device, to: workspace.member)
            isOwn = isOwn || isPhrase
            if let obstacle = obstacle(to: device, isPhrase: isPhrase, in: workspace) {
                object.add(workspace, obstacle)
            } else {
                open.append(workspace)
            }
        }
        guard isOwn else {
            throw NodeError(
                .wrongSecret, "this recovery phrase is not yours in any workspace",
                hint: "wsx-node device list", reason: "recovery.unknown",
                fields: [.init(name: "phrase", reason: "wrong")])
        }
        guard !open.isEmpty else { throw Self.nothingRenewed(object) }
        return open
    }

    private func obstacle(
        to device: DeviceID, isPhrase: Bool, in workspace: Workspace
    ) -> String? {
        guard isPhrase else { return "this phrase cannot bring you back into it" }
        guard workspace.judged.evaluator.bestGrant(of: device, as: workspace.member) != nil else {
            return Self.isEnded
        }
        return workspace.judged.awaitsLaterVersion ? NodeError.laterVersion(workspace).message : nil
    }

    // MARK: The new phrase

    /// A new phrase, kept before it signs anything; or the one that waits to be shown since an earlier
    /// call, so that no workspace gets a third one.
    private func phraseToCome() throws(NodeError) -> (phrase: RecoveryPhrase, isDrawn: Bool) {
        guard let home else { throw .noIdentity }
        let kept = try stored { () throws(StorageError) in try keptPhrase() }
        if let kept {
            guard kept.signingKey.device == home.laterRecovery?.device else {
                throw NodeError(
                    .conflict, "the recovery phrase of this home has not been shown yet",
                    hint: "wsx-node identity show --phrase", reason: "recovery.unshown")
            }
            return (kept, false)
        }
        let new = RecoveryPhrase(using: environment.random)
        let entry = new.certified(for: home.device)
        try stored { () throws(StorageError) in
            try write()
            try keepUntilShown(new)
            try store.registry.setValue(nil, of: Memberships.shownName)
            try store.registry.setValue(DeviceEntry.encoded([entry]), of: Self.laterPhraseName)
        }
        turn.session.home?.laterRecovery = entry
        return (new, true)
    }

    /// Takes back a phrase that has signed nothing.
    private func forgetDrawn(
        restoring before: HomeIdentity?, wasShown: Bool
    ) throws(NodeError) {
        try stored { () throws(StorageError) in
            let former = before?.laterRecovery.map { DeviceEntry.encoded([$0]) }
            try store.registry.setValue(nil, of: Memberships.unshownPhrase)
            try store.registry.setValue(former, of: Self.laterPhraseName)
            if wasShown { try store.registry.setValue([1], of: Memberships.shownName) }
        }
        turn.session.home = before
    }

    // MARK: In one workspace

    /// Adds the new phrase, and then revokes what it replaces: other phrases that the old one had
    /// added as its replacement, because nobody else could, and the old one itself.
    ///
    /// - Returns: whether the new one is in, and why the old one is not revoked; `nil` where it is.
    private func renew(
        _ old: RecoveryPhrase, by new: RecoveryPhrase, in workspace: Workspace
    ) throws(StorageError) -> (isIn: Bool, failure: String?) {
        let signer = old.signingKey
        let entry = new.entry(
            entering: .adding(
                to: workspace.id, before: signer.device, member: workspace.member))
        if workspace.judged.evaluator.bestGrant(of: entry.device, as: workspace.member) == nil {
            try write()
            let added = try core.enrolment.linking.addDevice(
                entry, to: workspace, signedBy: signer, takesPlace: true)
            guard added != nil else {
                return (false, "the new phrase could not be added there")
            }
        }
        let others = workspace.recoveryDevices.sorted().filter { other in
            other != signer.device && other != entry.device
                && workspace.judged.evaluator.bestGrant(of: other, as: workspace.member) != nil
        }
        for other in others { _ = try end(other, by: signer, in: workspace) }
        try core.membership.endInvites(of: workspace, signedBy: signer) {
            $0 == signer.device || others.contains($0)
        }
        let isOut = try end(signer.device, by: signer, in: workspace)
        return (
            true, isOut ? nil : "the new phrase was added, but the old one could not be revoked"
        )
    }

    /// Revokes one of this person's phrases, with a new key for everybody else.
    private func end(
        _ device: DeviceID, by signer: SigningKey, in workspace: Workspace
    ) throws(StorageError) -> Bool {
        let member = workspace.member
        let cuts = Array(
            core.membership.cuts(ofDevices: [device], in: workspace).suffix(
                Limits.cutsPerOperationMax))
        let rekey = core.keys.rekey(excluding: [device], in: workspace)
        let made = try core.log.authorAuthority(
            in: workspace, signedBy: signer,
            naming: workspace.judged.evaluator.bindings(of: [device]),
            isEffective: { $0.bestGrant(of: device, as: member) == nil },
            { _ in .removeDevice(device, cuts: cuts, rekey: rekey) })
        return made != nil
    }

    // MARK: Refusals

    private static let needsOldWords = NodeError(
        .badRequest, "a new recovery phrase needs the words of the old one",
        hint: "without them: have an admin remove you, ask to join again with this device, and be "
            + "approved; the old phrase then no longer counts",
        reason: "recovery.words", fields: [.init(name: "phrase", reason: "missing")])

    /// The phrase has ended itself: by its person's words, or by somebody else who has them.
    private static let isEnded = "this phrase is no longer accepted there"

    private static func nothingRenewed(_ object: NewPhraseObject) -> NodeError {
        let first = object.left.first
        let isTaken = object.left.contains { $0.message == isEnded }
        let name = first.map { " (\(NodeError.quoted($0.name)))" } ?? ""
        return NodeError(
            .forbidden,
            "your recovery phrase was not replaced: "
                + "\(first?.message ?? "there is no workspace")\(name)",
            hint: isTaken
                ? "if a phrase is listed that is not yours, have an admin remove you, ask to join "
                    + "again with this device, and be approved: wsx-node device list"
                : "wsx-node device list",
            reason: "recovery.not_replaced")
    }
}

extension NewPhraseObject {
    /// Notes a workspace, and why the phrase was not replaced there.
    fileprivate mutating func add(_ workspace: Workspace, _ failure: String?) {
        let id = PublicID.workspace(workspace.id)
        if let failure {
            left.append((id, workspace.displayName, failure))
        } else {
            done.append((id, workspace.displayName))
        }
    }
}
