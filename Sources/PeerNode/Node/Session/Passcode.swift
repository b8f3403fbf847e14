import CRDTStore
import WorkspaceCrypto
import WorkspaceModel

/// The passcode: four digits that gate a running node, in memory only.
///
/// Ten thousand values are quick to guess, so no hash of it is stored and it wraps no key. After
/// three wrong attempts the node drops its keys and needs the passphrase.
extension HomeSession {
    func setPasscode(_ code: String, _ scope: CallScope) throws(NodeError) -> SessionObject {
        guard lock.passcode == nil else { throw .passcodeExists }
        try checkCodes([("code", code)])
        guard lock.sealed != nil else { throw .passcodeNeedsPassphrase }
        lock.passcode = LockState.secret(code)
        lock.wrongCodes = 0
        return try session(scope)
    }

    func changePasscode(
        from current: String, to new: String, _ scope: CallScope
    ) throws(NodeError) -> SessionObject {
        try checkCodes([("current", current), ("new", new)])
        try verify(current, field: "current")
        lock.passcode = LockState.secret(new)
        return try session(scope)
    }

    func removePasscode(_ code: String, _ scope: CallScope) throws(NodeError) -> SessionObject {
        try checkCodes([("code", code)])
        try verify(code, field: "code")
        lock.passcode = nil
        return try session(scope)
    }

    /// Locks: behind the passcode where there is one, else by dropping the keys.
    func lockNow(_ scope: CallScope) throws(NodeError) -> SessionObject {
        guard ownDevice != nil else { throw .noIdentity }
        if !lock.isLocked {
            guard lock.sealed != nil else {
                throw .forbidden(
                    "this home has no passphrase to unlock it with",
                    reason: "session.no_passphrase", hint: "wsx-node passphrase change")
            }
            try stored { () throws(StorageError) in
                guard lock.passcode != nil else { return try lockKeys() }
                lock.phase = .gated
                lock.wrongCodes = 0
                try tellLocked()
            }
        }
        return try session(scope)
    }

    func unlock(passcode code: String, _ scope: CallScope) throws(NodeError) -> SessionObject {
        switch lock.phase {
        case .open: return try session(scope)
        case .relaying, .closed: throw .locked(lock.phase)
        case .gated: break
        }
        try checkCodes([("code", code)])
        try verify(code, field: "code")
        try stored { () throws(StorageError) in
            lock.phase = .open
            lock.lastEvent = nil
            try turn.record(.sessionUnlocked, workspace: nil)
        }
        turn.emit(.log(.info, "session.unlocked"))
        return try session(scope)
    }

    private func checkCodes(_ codes: [(field: String, code: String)]) throws(NodeError) {
        let bad = codes.filter { PasscodeRule.problem(of: $0.code) != nil }
        guard let first = bad.first else { return }
        throw NodeError(
            .badRequest, "'\(first.field)' must be four digits", reason: "passcode.form",
            fields: bad.map { .init(name: $0.field, reason: "form") })
    }

    /// Compares without telling by its time how much is right, and counts what is wrong.
    private func verify(_ code: String, field: String) throws(NodeError) {
        guard let passcode = lock.passcode else { throw .noPasscode }
        var kept = passcode.exposedCopy()
        defer { SecretBytes.wipe(&kept) }
        var difference = UInt8(kept.count == code.utf8.count ? 0 : 1)
        for (left, right) in zip(kept, code.utf8) { difference |= left ^ right }
        guard difference != 0 else {
            lock.wrongCodes = 0
            return
        }
        lock.wrongCodes += 1
        let left = LockState.wrongCodesMax - lock.wrongCodes
        turn.emit(.log(.warning, "session.wrong_passcode left=\(left)"))
        guard left > 0 else { throw try dropKeys() }
        throw NodeError(
            .wrongSecret, "that is not the passcode",
            hint: "tries left before you need the passphrase: \(left)", reason: "session.passcode",
            fields: [.init(name: field, reason: "wrong")],
            details: ["tries_left": .integer(Int64(left))])
    }

    /// The third wrong passcode.
    ///
    /// A refusal that has written: it goes out by itself, for a call that fails writes nothing.
    private func dropKeys() throws(NodeError) -> NodeError {
        try stored { () throws(StorageError) in try lockKeys() }
        turn.hasWrittenOnPurpose = true
        return NodeError(
            .locked, "three wrong passcodes: the keys are dropped; use your passphrase",
            hint: "wsx-node session unlock",
            reason: "session.locked")
    }

    func session(_ scope: CallScope) throws(NodeError) -> SessionObject {
        var object = SessionObject(state: sessionState)
        object.hasPassphrase = turn.session.lock.sealed != nil
        object.hasPasscode = turn.session.lock.passcode != nil
        object.isRelaying = turn.session.lock.phase != .closed && turn.session.ownDevice != nil
        object.retryMilliseconds = Int64(
            clamping: turn.session.lock.tries.left(now: time.monotonic))
        return object
    }

    var sessionState: String {
        guard turn.session.ownDevice != nil else { return "none" }
        return switch turn.session.lock.phase {
        case .open: "open"
        case .gated: "passcode"
        case .relaying: "locked"
        case .closed: "closed"
        }
    }

    func begin(
        _ purpose: PendingKeyDerivation.Purpose, _ call: CallID,
        _ parts: [(PassphraseVault.KeyDerivation, SecretBytes)]
    ) {
        pendingDerivation = PendingKeyDerivation(call: call, purpose: purpose)
        turn.emit(
            .deriveKeys(
                call, KeyDerivationJob(parts: parts.map { (derivation: $0.0, passphrase: $0.1) })))
    }
}
