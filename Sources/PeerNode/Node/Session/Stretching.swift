import WorkspaceCrypto
import WorkspaceModel

/// A passphrase that is being turned into a key beside the loop, and what happens then.
struct Stretching {
    let call: CallID
    let purpose: Purpose

    enum Purpose {
        /// Opens the node.
        case unlock
        /// Seals a new identity.
        case create(IdentityStart, PassphraseVault.Stretch, CallScope)
        /// Seals the identity of a home that is linked to another.
        case link(JoinDraft, PassphraseVault.Stretch, CallScope)
        /// Seals the identity of a home that begins with a recovery phrase.
        case recover(RecoveryDraft, PassphraseVault.Stretch, CallScope)
        /// Opens the identity with the first key, to seal it with the second; with one key only,
        /// the first passphrase of a home, or the end of it.
        case change(from: SealedIdentity?, to: PassphraseVault.Stretch?)
    }
}
