import WorkspaceCrypto
import WorkspaceModel

/// Passphrases to derive keys from: some tenths of a second and 64 MiB, beside the loop.
public struct StretchJob: Sendable {
    let parts: [(stretch: PassphraseVault.Stretch, passphrase: SecretBytes)]

    /// Does the work.
    ///
    /// - Returns: the input that brings the keys to the core, in the same order.
    public func run(for call: CallID) -> NodeInput {
        var keys: [SymmetricKey] = []
        for part in parts {
            do throws(PassphraseVault.OpenError) {
                keys.append(try part.stretch.key(of: part.passphrase))
            } catch {
                return .stretched(
                    call,
                    .failure(
                        NodeError(
                            .busy, "there is not enough memory for the passphrase now",
                            hint: "try again", reason: "session.memory")))
            }
        }
        return .stretched(call, .success(keys))
    }
}
