import CRDTStore
import WorkspaceCrypto
import WorkspaceModel

/// Implements the commands about this home's identity.
final class IdentityHandler: CorePart, IdentityCommands {
    func createIdentity(
        _ draft: IdentityDraft, _ scope: CallScope
    ) throws(NodeError) -> CommandOutcome {
        if let known = core.queries.identityObject() {
            if scope.key != nil, try core.replay(scope) != nil {
                return .reply(Made(known, isReplayed: true))
            }
            throw NodeError(
                .duplicate,
                "this home already has an identity: \(NodeError.quoted(known.name ?? known.id))",
                hint: "wsx-node identity show", reason: "identity.exists")
        }
        let start = try checked(draft)
        guard let passphrase = draft.passphrase else {
            return .reply(try makeIdentity(start, under: nil, scope))
        }
        guard core.session.pendingDerivation == nil else { throw .identityUnderWay }
        let derivation = PassphraseVault.KeyDerivation(
            cost: environment.passphraseCost, using: environment.random)
        core.session.begin(
            .create(start, derivation, scope), scope.call,
            [(derivation, LockState.secret(passphrase))])
        return .later
    }

    /// Everything about the draft, checked: one answer names all that fails.
    private func checked(_ draft: IdentityDraft) throws(NodeError) -> IdentityStart {
        var name = ""
        var failures: [NodeError] = []
        do throws(NodeError) { name = try NewNames.person(draft.name, field: "name") } catch {
            failures.append(error)
        }
        var profile: [ProfileChange.Field: String] = [:]
        do throws(NodeError) {
            let edit = ProfileEditDraft(
                name: nil, nickname: nil, values: draft.profile, shown: [], hidden: [])
            profile = try core.profiles.checked(edit).values.compactMapValues { $0 }
        } catch { failures.append(error) }
        if let problem = draft.passphrase.flatMap({ PassphraseRule.problem(of: $0) }) {
            failures.append(
                NodeError(
                    .badRequest, PassphraseRule.sentence(for: "passphrase"),
                    reason: "bad_passphrase",
                    fields: [.init(name: "passphrase", reason: problem)]))
        }
        guard let first = failures.first else {
            return IdentityStart(name: name, hasRecovery: draft.hasRecovery, profile: profile)
        }
        throw NodeError(
            first.kind, failures.map(\.message).joined(separator: "; "), hint: first.hint,
            reason: first.reason, fields: failures.flatMap(\.fields), details: first.details)
    }

    /// Makes the identity that `createIdentity` has checked.
    func makeIdentity(
        _ start: IdentityStart,
        under seal: (key: SymmetricKey, derivation: PassphraseVault.KeyDerivation)?,
        _ scope: CallScope
    ) throws(NodeError) -> Made<IdentityObject> {
        // Somebody else may have made one while the passphrase was worked on.
        guard home == nil else {
            throw NodeError(
                .duplicate, "this home already has an identity", hint: "wsx-node identity show",
                reason: "identity.exists")
        }
        try core.enrolment.founding.makeIdentity(
            name: start.name, recovery: start.hasRecovery ? .drawn : .none, under: seal)
        try stored { () throws(StorageError) in try core.profiles.keepStartProfile(start.profile) }
        guard let object = core.queries.identityObject() else {
            throw .internalFailure(reason: "identity")
        }
        try core.remember(scope, made: Array(object.id.utf8))
        return Made(object)
    }

    func identity(_ sight: PhraseSight, _ scope: CallScope) throws(NodeError) -> IdentityObject {
        guard let known = core.queries.identityObject() else { throw .noIdentity }
        if known.isLocked, sight != .none { throw .locked(turn.session.lock.phase) }
        var phrase: String?
        switch sight {
        case .none: break
        case .shown: phrase = try core.enrolment.recovery.showPhrase(isKept: false)
        case .kept: phrase = try core.enrolment.recovery.showPhrase(isKept: true)
        case .seen(let words): try core.enrolment.recovery.forgetSeen(words)
        }
        guard var object = core.queries.identityObject() else { throw .noIdentity }
        object.phrase = phrase
        return object
    }

    func recoverIdentity(
        _ draft: RecoveryDraft, _ scope: CallScope
    ) throws(NodeError) -> CommandOutcome {
        try core.enrolment.recovery.recoverIdentity(draft, scope)
    }

    func renewPhrase(_ words: String?, _ scope: CallScope) throws(NodeError) -> NewPhraseObject {
        try core.enrolment.recovery.renewPhrase(words, scope)
    }
}
