import WorkspaceCrypto
import WorkspaceModel

/// The passphrase for the identity of a home that starts by a device link.
extension HomeSession {
    /// Turns the passphrase of a new home into a key, beside the loop.
    ///
    /// - Returns: whether that was started; `false` where there is nothing to seal.
    func sealsFirst(
        _ passphrase: String?, _ scope: CallScope,
        _ purpose: (PassphraseVault.KeyDerivation) -> PendingKeyDerivation.Purpose
    ) throws(NodeError) -> Bool {
        guard home == nil, let passphrase else { return false }
        if let problem = PassphraseRule.problem(of: passphrase) {
            throw NodeError(
                .badRequest, PassphraseRule.sentence(for: "passphrase"),
                reason: "bad_passphrase", fields: [.init(name: "passphrase", reason: problem)])
        }
        guard pendingDerivation == nil else { throw .identityUnderWay }
        let derivation = PassphraseVault.KeyDerivation(
            cost: environment.passphraseCost, using: environment.random)
        begin(
            purpose(derivation), scope.call, [(derivation, LockState.secret(passphrase))])
        return true
    }
}

extension CommandOutcome {
    /// The answer, where there is one already.
    var answer: JSONValue? {
        if case .reply(let result) = self { return result }
        return nil
    }
}
