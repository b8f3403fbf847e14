public import WorkspaceModel

/// The commands by which people prove addresses to each other.
public protocol ProofCommands {
    /// Whether anybody here has an address.
    func check(_ email: String, _ scope: CallScope) throws(NodeError) -> EmailCheckObject
    /// Asks a verifier to send a letter with a code to an address. Answers with the proof, later.
    func verify(_ email: String, by verifier: MemberReference?, _ scope: CallScope)
        throws(NodeError) -> CommandOutcome
    /// Has another letter sent. Answers with the proof, later.
    func resend(_ email: String?, _ scope: CallScope) throws(NodeError) -> CommandOutcome
    /// Hands in the code of the letter. Answers with the proof, later.
    func confirm(_ code: String, of email: String?, _ scope: CallScope) throws(NodeError)
        -> CommandOutcome
    /// What members have proved, of one of them or of all.
    func attestations(of member: MemberReference?, _ page: PageRequest, _ scope: CallScope)
        throws(NodeError) -> Page<AttestationObject>
    /// Takes back what was verified of a member, without one of the caller.
    func withdraw(of member: MemberReference?, _ scope: CallScope) throws(NodeError)
        -> AttestationObject
    /// Creates an invite for the owner of an address, and delivers it. Answers with the invite,
    /// later.
    func invite(_ draft: InviteDraft, to email: String, _ scope: CallScope) throws(NodeError)
        -> CommandOutcome
    /// Sets the command that sends letters on this node, empty for none; `nil` leaves it unchanged.
    func setMailCommand(_ command: String?, _ scope: CallScope) throws(NodeError)
        -> MailCommandObject
}

/// The commands by which people link accounts elsewhere.
public protocol AccountCommands {
    /// Begins to link an account; with a token, has a verifier check it, and answers later.
    func link(_ provider: String, token: String?, _ scope: CallScope) throws(NodeError)
        -> CommandOutcome
    /// Takes an account back, without a member one of the caller.
    func unlink(_ provider: String, of member: MemberReference?, _ scope: CallScope)
        throws(NodeError) -> AttestationObject
    /// The accounts that are linked, of one member or of all.
    func links(of member: MemberReference?, _ page: PageRequest, _ scope: CallScope)
        throws(NodeError) -> Page<AttestationObject>
    /// Makes a provider known to this node.
    func addProvider(_ draft: ProviderDraft, _ scope: CallScope) throws(NodeError)
        -> AccountProviderObject
    /// Changes what this node knows of one.
    func changeProvider(_ draft: ProviderDraft, _ scope: CallScope) throws(NodeError)
        -> AccountProviderObject
    /// Forgets one. Answers with what it was.
    func removeProvider(_ name: String, _ scope: CallScope) throws(NodeError)
        -> AccountProviderObject
    /// Those that this node knows.
    func providers(_ page: PageRequest, _ scope: CallScope) throws(NodeError)
        -> Page<AccountProviderObject>
}

/// The settings of a provider.
public struct ProviderDraft: Sendable {
    /// What it is called.
    public let name: String
    /// Who makes its tokens; `nil` leaves it as it is.
    public let issuer: String?
    /// For which program, likewise.
    public let client: String?
    /// Where its keys are, likewise; empty for nowhere.
    public let keys: String?
    /// Its login page, likewise.
    public let page: String?
    /// Where a code becomes a token, likewise.
    public let exchange: String?
}
