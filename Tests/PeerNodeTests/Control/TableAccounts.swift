import WorkspaceModel

@testable import PeerNode

/// Linked accounts: small fixed answers.
struct TableAccounts: AccountCommands {
    let node: TableNode

    private var attestation: AttestationObject {
        var object = AttestationObject(
            id: "o_7k3qm2xa", member: PersonObject(id: "u_mina0000", name: "Mina"),
            kind: "account", by: PersonObject(id: "u_joon0000", name: "Joon"),
            at: 1_795_150_000_000, state: "valid")
        (object.provider, object.value) = ("gitlab", "mina")
        return object
    }
    private var provider: AccountProviderObject {
        AccountProviderObject(name: "gitlab", issuer: "https://gitlab.com", client: "4f1c")
    }

    private func words(_ member: MemberReference?) -> String { member.map { "\($0)" } ?? "-" }
    private func words(_ draft: ProviderDraft) -> String {
        let addresses = [draft.page, draft.exchange].map { $0.map { " " + $0 } ?? "" }.joined()
        return "\(draft.name) \(draft.issuer ?? "-") \(draft.client ?? "-") "
            + (draft.keys ?? "-") + addresses
    }

    func link(_ provider: String, token: String?, _ scope: CallScope) throws(NodeError)
        -> CommandOutcome
    {
        try node.note("account link \(provider) \(token ?? "-")", scope)
        var claim = AccountClaimObject(provider: provider, state: "waiting")
        (claim.nonce, claim.client) = ("n", "wsx")
        if provider == "browser" { claim.page = "https://id.example.org/login" }
        claim.expiresAt = 1_795_150_300_000
        return .reply(claim.json)
    }
    func unlink(_ provider: String, of member: MemberReference?, _ scope: CallScope)
        throws(NodeError) -> AttestationObject
    {
        try node.note("account unlink \(provider) \(words(member))", scope)
        return attestation
    }
    func links(of member: MemberReference?, _ page: PageRequest, _ scope: CallScope)
        throws(NodeError) -> Page<AttestationObject>
    {
        try node.note("account links \(words(member)) \(page.limit)", scope)
        return Page(node.findsNothing ? [] : [attestation])
    }
    func addProvider(_ draft: ProviderDraft, _ scope: CallScope) throws(NodeError)
        -> AccountProviderObject
    {
        try node.note("provider add \(words(draft))", scope)
        return provider
    }
    func changeProvider(_ draft: ProviderDraft, _ scope: CallScope) throws(NodeError)
        -> AccountProviderObject
    {
        try node.note("provider update \(words(draft))", scope)
        return provider
    }
    func removeProvider(_ name: String, _ scope: CallScope) throws(NodeError)
        -> AccountProviderObject
    {
        try node.note("provider remove \(name)", scope)
        return provider
    }
    func providers(_ page: PageRequest, _ scope: CallScope) throws(NodeError)
        -> Page<AccountProviderObject>
    {
        try node.note("providers \(page.limit)", scope)
        return Page(node.findsNothing ? [] : [provider])
    }
}
