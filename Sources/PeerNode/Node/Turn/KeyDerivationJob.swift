import WorkspaceCrypto
import WorkspaceModel

/// Passphrases to derive keys from: some tenths of a second and 64 MiB, beside the loop.
public struct KeyDerivationJob: Sendable {
    let parts: [(derivation: PassphraseVault.KeyDerivation, passphrase: SecretBytes)]

    /// Does the work.
    ///
    /// - Returns: the input that brings the keys to the core, in the same order.
    public func run(for call: CallID) -> NodeInput {
        var keys: [SymmetricKey] = []
        for part in parts {
            do throws(PassphraseVault.OpenError) {
                keys.append(try part.derivation.key(of: part.passphrase))
            } catch {
                return .keysDerived(
                    call,
                    .failure(
                        NodeError(
                            .busy, "there is not enough memory for the passphrase now",
                            hint: "try again", reason: "session.memory")))
            }
        }
        return .keysDerived(call, .success(keys))
    }
}
