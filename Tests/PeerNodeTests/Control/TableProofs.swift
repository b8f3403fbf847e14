import WorkspaceModel

@testable import PeerNode

/// Verified addresses: small fixed answers.
struct TableProofs: ProofCommands {
    let node: TableNode

    private var claim: EmailClaimObject {
        var claim = EmailClaimObject(email: "mina@example.org", state: "sent")
        claim.verifier = PersonObject(id: "u_joon0000", name: "Joon")
        claim.expiresAt = 1_795_150_300_000
        return claim
    }
    private var attestation: AttestationObject {
        var object = AttestationObject(
            id: "o_7k3qm2xa", member: PersonObject(id: "u_mina0000", name: "Mina"), kind: "email",
            by: PersonObject(id: "u_joon0000", name: "Joon"), at: 1_795_150_000_000,
            state: "valid")
        object.value = "mina@example.org"
        return object
    }

    private func words(_ member: MemberReference?) -> String { member.map { "\($0)" } ?? "-" }

    func check(_ email: String, _ scope: CallScope) throws(NodeError) -> EmailCheckObject {
        try node.note("email check \(email)", scope)
        return EmailCheckObject(email: email, state: "ok")
    }
    func verify(_ email: String, by verifier: MemberReference?, _ scope: CallScope)
        throws(NodeError) -> CommandOutcome
    {
        try node.note("email verify \(email) \(words(verifier))", scope)
        return .reply(claim.json)
    }
    func resend(_ email: String?, _ scope: CallScope) throws(NodeError) -> CommandOutcome {
        try node.note("email resend \(email ?? "-")", scope)
        return .reply(claim.json)
    }
    func confirm(_ code: String, of email: String?, _ scope: CallScope) throws(NodeError)
        -> CommandOutcome
    {
        try node.note("email confirm \(code) \(email ?? "-")", scope)
        return .reply(claim.json)
    }
    func attestations(of member: MemberReference?, _ page: PageRequest, _ scope: CallScope)
        throws(NodeError) -> Page<AttestationObject>
    {
        try node.note("attestations \(words(member)) \(page.limit)", scope)
        return Page(node.findsNothing ? [] : [attestation])
    }
    func withdraw(of member: MemberReference?, _ scope: CallScope) throws(NodeError)
        -> AttestationObject
    {
        try node.note("withdraw \(words(member))", scope)
        return attestation
    }
    func invite(_ draft: InviteDraft, to email: String, _ scope: CallScope) throws(NodeError)
        -> CommandOutcome
    {
        try node.note("invite \(draft.uses) \(draft.role) to \(email)", scope)
        var invite = node.invite
        invite.email = email
        return .reply(invite.json)
    }
    func setMailCommand(_ command: String?, _ scope: CallScope) throws(NodeError)
        -> MailCommandObject
    {
        try node.note("mail command \(command ?? "-")", scope)
        return MailCommandObject(command: command)
    }
}
