import WorkspaceCrypto
import WorkspaceModel

/// A key derivation from a passphrase that runs beside the loop, and what follows when it ends.
struct PendingKeyDerivation {
    let call: CallID
    let purpose: Purpose

    enum Purpose {
        /// Opens the node.
        case unlock
        /// Seals a new identity.
        case create(IdentityStart, PassphraseVault.KeyDerivation, CallScope)
        /// Seals the identity of a home that is linked to another.
        case link(JoinDraft, PassphraseVault.KeyDerivation, CallScope)
        /// Seals the identity of a home that begins with a recovery phrase.
        case recover(RecoveryDraft, PassphraseVault.KeyDerivation, CallScope)
        /// Opens the identity with the first key, to seal it with the second; with one key only,
        /// the first passphrase of a home, or the end of it.
        case change(from: SealedIdentity?, to: PassphraseVault.KeyDerivation?)
    }
}
