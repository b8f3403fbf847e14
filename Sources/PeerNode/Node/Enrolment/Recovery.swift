import CRDTStore
import SyncProtocol
import WorkspaceCrypto
import WorkspaceModel

/// How a new identity sets up recovery.
enum RecoveryChoice {
    /// A phrase is drawn, and kept until somebody has seen it.
    case drawn
    /// No phrase: there is no way back after the last device is lost.
    case none
    /// The phrase of a returning person.
    case given(RecoveryPhrase)

    func phrase(using random: any RandomSource) -> RecoveryPhrase? {
        switch self {
        case .drawn: RecoveryPhrase(using: random)
        case .none: nil
        case .given(let phrase): phrase
        }
    }
}

extension RecoveryPhrase {
    /// The recovery device as a grant lists it, with its certificate for `device`.
    func certified(for device: DeviceID) -> DeviceEntry {
        let signing = signingKey
        let agreement = agreementKey.publicKey.bytes
        return DeviceEntry(
            device: signing.device, agreementKey: agreement,
            signature: signing.signature(
                for: Binding.recoveryCertificate(agreementKey: agreement, of: device)))
    }
}

/// The recovery phrase: kept until it was seen, and used when no device is left.
final class Recovery: CorePart {
    // MARK: Seen once

    /// The phrase's seed, sealed, until somebody has seen the words.
    func keepUntilShown(_ phrase: RecoveryPhrase) throws(StorageError) {
        guard let home else { return }
        var seed = phrase.exposedSeed()
        defer { SecretBytes.wipe(&seed) }
        try store.registry.setValue(
            home.seal(seed, name: Array(Memberships.unshownPhrase.utf8), using: environment.random),
            of: Memberships.unshownPhrase)
    }

    func keptPhrase() throws(StorageError) -> RecoveryPhrase? {
        guard var seed = try sealedValue(Memberships.unshownPhrase) else { return nil }
        defer { SecretBytes.wipe(&seed) }
        return RecoveryPhrase(untrusted: seed)
    }

    /// The words.
    ///
    /// - Parameter isKept: whether they stay here, for a caller who says later that they were seen.
    func showPhrase(isKept: Bool) throws(NodeError) -> String {
        let phrase = try stored { () throws(StorageError) in try keptPhrase() }
        guard let phrase else {
            throw NodeError(
                .notFound,
                core.membership.enteringHome?.phrase == nil
                    ? core.membership.hasPhraseElsewhere
                        ? "the recovery phrase of your first device also works here; only that "
                            + "device can show it"
                        : "this identity was made without a recovery phrase"
                    : core.membership.recoveryState == "lost"
                        ? "the recovery phrase is not in this home: its words had not been "
                            + "shown when the backup that this home comes from was made"
                        : "the recovery phrase was already shown, and is not kept",
                hint: "wsx-node doctor", reason: "recovery.none")
        }
        if !isKept { try forgetPhrase() }
        return phrase.words.joined(separator: " ")
    }

    /// Forgets the words that somebody has seen. Others stay: a phrase may have been replaced
    /// since, and nobody has seen its words. Nothing happens if these were forgotten before.
    func forgetSeen(_ words: String) throws(NodeError) {
        let seen: RecoveryPhrase
        do throws(NodeError) { seen = try core.membership.recoveryPhrase(words) } catch {
            var error = error
            error.fields = error.fields.map { .init(name: "seen", reason: $0.reason) }
            throw error
        }
        let kept = try stored { () throws(StorageError) in try keptPhrase() }
        guard kept?.signingKey.device == seen.signingKey.device else { return }
        try forgetPhrase()
    }

    private func forgetPhrase() throws(NodeError) {
        try stored { () throws(StorageError) in
            try write()
            try store.registry.setValue(nil, of: Memberships.unshownPhrase)
            try store.registry.setValue([1], of: Memberships.shownName)
        }
    }

    /// Whether recovery is possible after losing every device, for `doctor`.
    var recoveryFinding: FindingObject {
        func finding(_ message: String, _ hint: String) -> FindingObject {
            .init(id: "recovery", state: "warn", message: message, hint: hint)
        }
        if core.membership.recoveryState == "unshown" {
            return finding(
                "the recovery phrase has not been shown yet",
                "wsx-node identity show --phrase, and write it down")
        }
        let without = workspaces.values.sorted { $0.number < $1.number }.filter { workspace in
            workspace.standing == .member && workspace.ownRole != nil
                && !core.membership.hasPhrase(in: workspace)
        }
        let spare = "link a second device: wsx-node device link"
        if let first = without.first {
            return finding(
                "no recovery phrase can bring you back into "
                    + NodeError.quoted(first.displayName), spare)
        }
        if core.membership.recoveryState == "lost" {
            return finding(
                "the recovery phrase is not in this home: a backup leaves it out until its words "
                    + "have been shown", spare)
        }
        guard home?.phrase != nil || workspaces.values.contains(where: { $0.ownRole != nil })
        else { return finding("this identity has no recovery phrase", spare) }
        return .init(id: "recovery", state: "ok", message: "a recovery phrase can bring you back")
    }

    // MARK: Coming back

    func recoverIdentity(
        _ draft: RecoveryDraft, _ scope: CallScope
    ) throws(NodeError) -> CommandOutcome {
        try recoverIdentity(draft, under: nil, scope)
    }

    /// - Parameter seal: what seals a new identity, once its passphrase has become a key.
    func recoverIdentity(
        _ draft: RecoveryDraft,
        under seal: (key: SymmetricKey, derivation: PassphraseVault.KeyDerivation)?,
        _ scope: CallScope
    ) throws(NodeError) -> CommandOutcome {
        let phrase = try core.membership.recoveryPhrase(draft.phrase)
        let link: InviteLink
        do throws(InviteLink.Problem) { link = try InviteLink(draft.link) } catch {
            throw .inviteLink(error)
        }
        if let known = workspaces.values.first(where: {
            $0.standing == .member && Identifier16(prefixOf: $0.id) == link.workspace
        }) {
            let shown = try stored { () throws(StorageError) in try core.queries.object(of: known) }
            guard known.owner(of: phrase.signingKey.device) == known.member else {
                throw NodeError(
                    .conflict, "this home already belongs to someone else in that workspace",
                    hint: "use a new home: wsx-node --home FOLDER identity recover …",
                    reason: "recovery.member")
            }
            return .reply(shown.json)
        }
        guard !network.registry.isSuspended else { throw .suspendedNetwork }
        // Last, because it writes, and nothing may be refused after a write.
        if home == nil {
            guard let name = draft.name else {
                throw NodeError(
                    .badRequest, "a new home needs a name",
                    hint: "wsx-node identity recover LINK --phrase - --name NAME",
                    reason: "missing_parameter",
                    fields: [.init(name: "name", reason: "missing")])
            }
            let checkedName = try NewNames.person(name, field: "name")
            if seal == nil,
                try core.sink.sealsFirst(draft, scope)
            {
                return .later
            }
            try core.enrolment.founding.makeIdentity(
                name: checkedName, recovery: .given(phrase), under: seal)
            try stored { () throws(StorageError) in
                try store.registry.setValue([1], of: Memberships.shownName)
            }
        }
        var attempt = JoinAttempt(
            scope: scope, link: link, addresses: link.hints,
            deadline: time.monotonic &+ UInt64(max(draft.timeoutMilliseconds, 0)))
        attempt.phrase = phrase
        network.joining.joins.append(attempt)
        network.beacons.hurry(for: nil, at: time.monotonic)
        return .later
    }

    /// The authority document is here: the recovery device takes its keys out of it and adds this
    /// device, as the member that it belongs to.
    func comeBack(
        _ index: Int, _ phrase: RecoveryPhrase, _ workspace: Workspace, on link: PeerLink
    ) throws(StorageError) {
        guard let home else { return }
        let signing = phrase.signingKey
        guard workspace.recoveryDevices.contains(signing.device),
            let member = workspace.owner(of: signing.device)
        else { return try core.enrolment.turnAway(index, Self.unknownPhrase) }
        let owners = workspace.judged.evaluator.members(of: home.device)
        guard owners.isEmpty || owners.contains(member) else {
            return try core.enrolment.turnAway(index, Self.unknownPhrase)
        }
        guard workspace.judged.evaluator.bestGrant(of: signing.device, as: member) != nil else {
            return try askToComeBack(index, phrase, as: member, workspace, on: link)
        }
        try write()
        workspace.seat.member = member
        let reader = (device: signing.device, box: phrase.agreementKey)
        var opened: [KeyID] = []
        for id in workspace.authorityOrder where workspace.judged.evaluator.isValid(id) {
            guard let payload = workspace.authority[id]?.payload else { continue }
            opened += try core.keys.openKeys(of: payload, in: workspace, for: reader)
        }
        _ = try core.keys.openOlderKeys(under: opened, in: workspace)
        let entry = home.deviceEntry(
            entering: .adding(to: workspace.id, before: signing.device, member: member))
        guard try core.enrolment.linking.addDevice(entry, to: workspace, signedBy: signing) != nil
        else {
            return try core.enrolment.turnAway(index, Self.mayNotReturn)
        }
        try core.privates.handover.keepRecoveryBox(phrase.agreementKey, of: workspace)
        try core.enrolment.settleIn(workspace)
        try core.profiles.nameDevice(in: workspace)
        network.joining.joins[index].stage = .syncing
        core.enrolment.linking.remember(link)
        core.links.workspaceListChanged()
        // By the invite we are nobody here. The workspace's own secret, which we hold from now on,
        // opens a link over which the other side asks for what makes us somebody.
        try core.links.drop(link, because: LinkEnding("join.over"))
    }

    /// Asks for the recovery device to be taken back, which is all that is left of a membership
    /// that has ended. Once it is, the phrase leads back in.
    private func askToComeBack(
        _ index: Int, _ phrase: RecoveryPhrase, as member: MemberID, _ workspace: Workspace,
        on link: PeerLink
    ) throws(StorageError) {
        let signing = phrase.signingKey
        guard let home, let answerer = link.peer?.device,
            let end = core.enrolment.lastEnd(of: member, in: workspace)
                ?? workspace.judged.evaluator.ineffectiveAdmission(of: member),
            let invite = core.enrolment.invite(of: network.joining.joins[index], in: workspace),
            !workspace.judged.evaluator.isBarred(signing.device)
        else { return try core.enrolment.turnAway(index, Self.mayNotReturn) }
        let consent = DeviceConsent.returning(
            to: workspace.id, after: end, before: answerer, member: member)
        let box = phrase.agreementKey.publicKey.bytes
        let unsigned = DeviceEntry(device: signing.device, agreementKey: box, signature: .zero)
        let devices = DeviceEntry.encoded([
            DeviceEntry(
                device: signing.device, agreementKey: box,
                signature: signing.signature(for: consent.message(for: [unsigned])))
        ])
        let secret = network.joining.joins[index].link.secret
        network.joining.joins[index].stage = .asked
        network.joining.joins[index].needsApproval = true
        link.session.send(
            .joinRequest(
                JoinRequest(
                    invite: invite, member: member, devices: devices,
                    proof: secret.admissionProof(
                        workspace: workspace.id, invite: invite, member: member,
                        encodedDevices: devices),
                    name: core.membership.personName(of: home), answering: end)),
            in: .control, isUnasked: false)
    }

    /// The answer to a person who has asked to be readmitted by the phrase.
    static let waitsForApproval = NodeError(
        .pending, "you were removed or left, so an admin has to approve first",
        hint: "once they have, run 'wsx-node identity recover' again",
        reason: "recovery.pending")

    private static let unknownPhrase = NodeError(
        .notFound, "nobody in that workspace has this recovery phrase",
        hint: "is it the right phrase, and the right workspace's link?",
        reason: "recovery.unknown")

    private static let mayNotReturn = NodeError(
        .forbidden, "that workspace no longer accepts this recovery phrase",
        hint: "use the phrase that took its place, or ask an admin for an invite, and join as "
            + "someone new", reason: "removed")
}
