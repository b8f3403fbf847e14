import CRDTStore
import WorkspaceCrypto
import WorkspaceModel

/// Implements the commands that lock and unlock this node.
extension IdentityHandler {
    /// In the store: how many wrong passphrases came since the last right one.
    static let triesName = "session.tries"

    func session(_ scope: CallScope) throws(NodeError) -> SessionObject {
        try core.session.session(scope)
    }

    // MARK: Passphrase

    func unlockSession(
        passphrase: String, _ scope: CallScope
    ) throws(NodeError) -> CommandOutcome {
        guard turn.session.ownDevice != nil else { throw .noIdentity }
        guard turn.session.lock.isLocked, let sealed = turn.session.lock.sealed else {
            return .reply(try session(scope))
        }
        try beginTry()
        core.session.begin(.unlock, scope.call, [(sealed.derivation, LockState.secret(passphrase))])
        return .later
    }

    func changePassphrase(
        _ draft: PassphraseDraft, _ scope: CallScope
    ) throws(NodeError) -> CommandOutcome {
        try check(draft)
        var parts: [(PassphraseVault.KeyDerivation, SecretBytes)] = []
        if let sealed = turn.session.lock.sealed, let current = draft.current {
            try beginTry()
            parts.append((sealed.derivation, LockState.secret(current)))
        } else if core.session.pendingDerivation != nil {
            throw Self.derivingAlready
        }
        let fresh = draft.new.map { text in
            let derivation = PassphraseVault.KeyDerivation(
                cost: environment.passphraseCost, using: environment.random)
            parts.append((derivation, LockState.secret(text)))
            return derivation
        }
        core.session.begin(.change(from: turn.session.lock.sealed, to: fresh), scope.call, parts)
        return .later
    }

    private func check(_ draft: PassphraseDraft) throws(NodeError) {
        var faults: [(field: String, reason: String, sentence: String)] = []
        if turn.session.lock.sealed == nil, draft.new == nil, draft.removes {
            faults.append(("remove", "not_found", "there is no passphrase to remove"))
        } else if turn.session.lock.sealed == nil, draft.new == nil {
            faults.append(("new", "missing", "this home has no passphrase yet, so 'new' is needed"))
        } else if turn.session.lock.sealed != nil {
            if draft.current == nil {
                faults.append(("current", "missing", "'current' is missing"))
            }
            if draft.new == nil, !draft.removes {
                faults.append(("new", "missing", "'new' is missing"))
            }
        }
        if draft.removes, draft.new != nil {
            faults.append(("remove", "conflict", "give either 'new' or 'remove', not both"))
        }
        if let new = draft.new, let problem = PassphraseRule.problem(of: new) {
            faults.append(("new", problem, PassphraseRule.sentence(for: "new")))
        }
        guard let first = faults.first else { return }
        throw NodeError(
            .badRequest, first.sentence, hint: "wsx-node help passphrase change",
            reason: "bad_passphrase",
            fields: faults.map { .init(name: $0.field, reason: $0.reason) })
    }

    /// Counts a try, in this turn's transaction: the work begins after its COMMIT.
    private func beginTry() throws(NodeError) {
        guard core.session.pendingDerivation == nil else { throw Self.derivingAlready }
        let left = turn.session.lock.tries.left(now: time.monotonic)
        guard left == 0 else {
            throw NodeError(
                .rateLimited,
                "too many wrong passphrases; you can try again in \(left / 1_000 + 1) s",
                hint: "wait, then type it carefully", reason: "session.delay",
                details: ["retry_ms": .integer(Int64(clamping: left))])
        }
        try setTries { $0.begin(now: time.monotonic) }
    }

    private func setTries(_ change: (inout UnlockTries) -> Void) throws(NodeError) {
        var tries = turn.session.lock.tries
        change(&tries)
        try stored { () throws(StorageError) in
            try write()
            try store.registry.setValue(
                tries.count == 0 ? nil : tries.bytes, of: Self.triesName)
        }
        turn.session.lock.tries = tries
    }

    private static let derivingAlready = NodeError(
        .busy, "a passphrase is already being checked", hint: "try again", reason: "session.busy")

    // MARK: After the work

    /// A passphrase has become a key.
    func continueWithKeys(
        _ call: CallID, _ keys: Result<[SymmetricKey], NodeError>
    ) throws(StorageError) {
        guard let pending = core.session.pendingDerivation, pending.call == call else { return }
        core.session.pendingDerivation = nil
        let result: Result<JSONValue, NodeError>
        do throws(NodeError) {
            // A call that continues over the network is answered at its end.
            guard let answer = try finish(pending, try keys.get()) else { return }
            result = .success(answer)
        } catch {
            if let failure = turn.failure { throw failure }
            result = .failure(error)
        }
        turn.emit(.answer(call, result))
    }

    private func finish(
        _ pending: PendingKeyDerivation, _ keys: [SymmetricKey]
    ) throws(NodeError) -> JSONValue? {
        let scope = CallScope(call: pending.call, workspace: nil, key: nil)
        switch pending.purpose {
        case .unlock:
            guard turn.session.lock.isLocked, let sealed = turn.session.lock.sealed,
                let key = keys.first
            else { break }
            let identity = try opened(sealed, under: key)
            try core.session.unlock(with: identity)
        case .create(let start, let derivation, let scope):
            guard let key = keys.last else { break }
            return try makeIdentity(start, under: (key, derivation), scope).json
        case .link(let draft, let derivation, let scope):
            guard let key = keys.last else { break }
            return try core.enrolment.linking.linkDevice(draft, under: (key, derivation), scope)
                .answer
        case .recover(let draft, let derivation, let scope):
            guard let key = keys.last else { break }
            return try core.enrolment.recovery.recoverIdentity(
                draft, under: (key, derivation), scope
            )
            .answer
        case .change(let sealed, let derivation):
            // The node was locked meanwhile. To a home whose passphrase went then there would be
            // nothing that opens it, and what a lock is for is that nobody changes anything.
            guard !turn.session.lock.isLocked else { throw .locked(turn.session.lock.phase) }
            try change(from: sealed, to: derivation, keys)
            guard let object = core.queries.identityObject() else { break }
            return object.json
        }
        return try session(scope).json
    }

    private func opened(
        _ sealed: SealedIdentity, under key: SymmetricKey
    ) throws(NodeError) -> HomeIdentity {
        let found: HomeIdentity?
        do throws(HomeFileError) { found = try sealed.opened(under: key) } catch {
            throw .badConfiguration(error.message, hint: error.hint)
        }
        guard let found else {
            turn.emit(
                .log(.warning, "session.wrong_passphrase tries=\(turn.session.lock.tries.count)"))
            let left = turn.session.lock.tries.left(now: time.monotonic)
            throw NodeError(
                .wrongSecret, "that is not the passphrase",
                hint: left == 0
                    ? "try again; if you have lost it: wsx-node --home FOLDER identity recover"
                    : "you can try again in \(left / 1_000 + 1) s",
                reason: "session.passphrase",
                details: ["retry_ms": .integer(Int64(clamping: left))])
        }
        try setTries { $0 = UnlockTries() }
        return found
    }

    /// Seals the same keys again. The file is the old one or the new one at any moment, and nothing
    /// else depends on the passphrase.
    private func change(
        from sealed: SealedIdentity?, to derivation: PassphraseVault.KeyDerivation?,
        _ keys: [SymmetricKey]
    ) throws(NodeError) {
        var identity = home
        if let sealed, let key = keys.first { identity = try opened(sealed, under: key) }
        guard let identity else { throw .locked(turn.session.lock.phase) }
        var fresh: SealedIdentity?
        if let derivation, let key = keys.last {
            fresh = SealedIdentity(
                identity, under: key, of: derivation, using: environment.random)
        }
        var bytes = fresh?.fileBytes ?? identity.fileBytes
        defer { SecretBytes.wipe(&bytes) }
        do throws(HomeFileError) { try environment.files.replaceIdentity(bytes) } catch {
            throw NodeError(.storeFailed, error.message, hint: error.hint, reason: "identity.io")
        }
        let isSealedFirst = (turn.session.lock.sealed == nil) != (fresh == nil)
        turn.session.lock.sealed = fresh
        // A search file with message texts is only for a home whose keys are unprotected too.
        if isSealedFirst, home != nil {
            try stored { () throws(StorageError) in try core.queries.startSearch() }
        }
        // Without a passphrase there is nothing behind a passcode.
        if fresh == nil { turn.session.lock.passcode = nil }
        let word = fresh == nil ? "removed" : sealed == nil ? "set" : "changed"
        turn.emit(.log(.info, "identity.passphrase_\(word)"))
    }
}
