public import WorkspaceModel

/// The commands for the identity of this home, and for the passphrase that unlocks it.
public protocol IdentityCommands {
    /// Creates the identity of this home. If there is one already, the call fails with `duplicate`.
    func createIdentity(_ draft: IdentityDraft, _ scope: CallScope) throws(NodeError)
        -> CommandOutcome
    /// The identity of this home; with the recovery phrase if that is asked for, and still here.
    func identity(_ sight: PhraseSight, _ scope: CallScope) throws(NodeError) -> IdentityObject
    /// Comes back as the member whose phrase it is. Answers with the workspace.
    func recoverIdentity(_ draft: RecoveryDraft, _ scope: CallScope) throws(NodeError)
        -> CommandOutcome
    /// Puts a new recovery phrase, which waits to be shown, in place of the one that is given.
    func renewPhrase(_ phrase: String?, _ scope: CallScope) throws(NodeError) -> NewPhraseObject
    /// Gives the keys another passphrase, a first one, or none. Answers with the identity.
    func changePassphrase(_ draft: PassphraseDraft, _ scope: CallScope) throws(NodeError)
        -> CommandOutcome
    /// Opens the node. Answers with the session.
    func unlockSession(passphrase: String, _ scope: CallScope) throws(NodeError)
        -> CommandOutcome
}

/// The commands that lock the node, and the passcode.
public protocol SessionCommands {
    /// Whether the node is open to people, and what opens it.
    func session(_ scope: CallScope) throws(NodeError) -> SessionObject
    /// Drops the keys and the network, and wipes `none`, `messages` or `all` of what is stored.
    func logOut(wiping wipe: String, isForced: Bool, _ scope: CallScope) throws(NodeError)
        -> SessionObject
    /// Sets the passcode of a node that has none.
    func setPasscode(_ code: String, _ scope: CallScope) throws(NodeError) -> SessionObject
    /// Puts another passcode in the place of the current one.
    func changePasscode(from current: String, to new: String, _ scope: CallScope)
        throws(NodeError) -> SessionObject
    /// Does away with the passcode.
    func removePasscode(_ code: String, _ scope: CallScope) throws(NodeError) -> SessionObject
    /// Locks the node at once.
    func lockNow(_ scope: CallScope) throws(NodeError) -> SessionObject
    /// Opens a node that asks for its passcode.
    func unlock(passcode code: String, _ scope: CallScope) throws(NodeError) -> SessionObject
}

/// The commands for a person's devices.
public protocol DeviceCommands {
    /// The devices of a member; without a name, the caller's.
    func devices(of member: MemberReference?, _ page: PageRequest, _ scope: CallScope)
        throws(NodeError) -> Page<DeviceObject>
    /// Creates a link for another device of this person.
    func issueDeviceLink(_ scope: CallScope) throws(NodeError) -> Made<DeviceLinkObject>
    /// Becomes a device of the person who issued the link. Answers with the identity.
    func linkDevice(_ draft: JoinDraft, _ scope: CallScope) throws(NodeError) -> CommandOutcome
    /// Revokes a device, with new keys for all others.
    func revokeDevice(
        _ device: String, phrase: String?, isForced: Bool, _ scope: CallScope
    ) throws(NodeError) -> DeviceObject
    /// Renames one of the caller's devices.
    func renameDevice(_ device: String, name: String, _ scope: CallScope) throws(NodeError)
        -> DeviceObject
}
