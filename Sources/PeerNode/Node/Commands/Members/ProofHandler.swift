import CRDTStore
import SyncProtocol
import WorkspaceModel

/// Implements the commands about proving addresses.
final class ProofHandler: CorePart, ProofCommands {
    // MARK: Addresses

    /// An address in its one form.
    private func checked(_ email: String) throws(NodeError) -> String {
        let address: String?
        do throws(ProfileText.InvalidForm) {
            address = try ProfileText.checked(email, for: .email)
        } catch { throw .badEmail(error) }
        guard let address else { throw .badEmail(.form) }
        return address
    }

    func check(_ email: String, _ scope: CallScope) throws(NodeError) -> EmailCheckObject {
        let address = try checked(email)
        if scope.workspace == nil, workspaces.isEmpty {
            return EmailCheckObject(email: address, state: "unknown")
        }
        let workspace: Workspace = try core.queries.workspace(scope)
        guard workspace.ownRole ?? .guest <= .member else {
            return EmailCheckObject(email: address, state: "unknown")
        }
        let holder = try holder(of: address, in: workspace)
        let isOwn = holder == workspace.member
        var object = EmailCheckObject(
            email: address, state: holder == nil || isOwn ? "ok" : "taken_here")
        object.member = holder.map { core.membership.person($0, in: workspace) }
        return object
    }

    /// Whose an address is here: for whom it is verified, else who shows it.
    private func holder(
        of address: String, in workspace: Workspace
    ) throws(NodeError) -> MemberID? {
        let proved = try stored { () throws(StorageError) in
            try core.profiles.attestations(of: workspace).holder(ofEmail: address)
        }
        return proved
            ?? workspace.members.first {
                workspace.people.fields[$0.member]?[.email] == address
            }?.member
    }

    // MARK: Proving

    func verify(
        _ email: String, by verifier: MemberReference?, _ scope: CallScope
    ) throws(NodeError) -> CommandOutcome {
        let address = try checked(email)
        let workspace = try ownWorkspace(scope)
        let wanted = try verifier.map { (reference) throws(NodeError) -> MemberID in
            let member = try core.queries.person(
                reference, in: workspace, orRemoved: false, field: "verifier")
            guard member != workspace.member,
                core.proofs.mayAttest(workspace.role(of: member), in: workspace)
            else {
                throw .forbidden(
                    "\(NodeError.quoted(workspace.displayName(of: member))) cannot verify you",
                    reason: "proof.not_verifier", hint: "wsx-node policy show")
            }
            return member
        }
        guard try PersonHandler(core).profile(of: nil, scope).visible[.email] != "nobody" else {
            throw NodeError(
                .conflict, "your email is hidden, and a verified one is seen by everyone here",
                hint: "wsx-node profile set --show email", reason: "email.hidden",
                fields: [.init(name: "email", reason: "hidden")])
        }
        let proved = try stored { () throws(StorageError) in
            try core.profiles.attestations(of: workspace)
        }
        if let holder = proved.holder(ofEmail: address), holder != workspace.member {
            throw .emailTaken(address)
        }
        return try stored { () throws(StorageError) in
            try core.proofs.begin(address, by: wanted, in: workspace, for: scope.call)
        }
    }

    func resend(_ email: String?, _ scope: CallScope) throws(NodeError) -> CommandOutcome {
        let workspace = try ownWorkspace(scope)
        try refuseOther(email, in: workspace)
        guard core.proofs.own[workspace.number] != nil else { throw core.proofs.absence(workspace) }
        return try stored { () throws(StorageError) in
            try core.proofs.sendAgain(in: workspace, for: scope.call)
        }
    }

    func confirm(
        _ code: String, of email: String?, _ scope: CallScope
    ) throws(NodeError) -> CommandOutcome {
        let workspace = try ownWorkspace(scope)
        let digits = code.utf8.filter { $0 != 0x20 && $0 != 0x2d && $0 != 0x0a }
        guard digits.count == ProofAsk.codeDigits, digits.allSatisfy({ (0x30...0x39).contains($0) })
        else {
            throw NodeError(
                .badRequest, "a code has \(ProofAsk.codeDigits) digits",
                hint: "copy it from the newest letter, or wsx-node identity email resend",
                reason: "proof.code_form", fields: [.init(name: "code", reason: "form")])
        }
        try refuseOther(email, in: workspace)
        guard let claim = core.proofs.own[workspace.number] else {
            throw core.proofs.absence(workspace)
        }
        guard claim.sender != nil else {
            throw NodeError(
                .codeInvalid, "no code was sent to your address yet",
                hint: "wait for the letter, or wsx-node identity email resend",
                reason: "proof.not_sent", fields: [.init(name: "code", reason: "form")])
        }
        try core.proofs.confirm(
            String(decoding: digits, as: UTF8.self), in: workspace, for: scope.call)
        return .later
    }

    /// The workspace of a call, where the caller is more than a guest.
    func ownWorkspace(_ scope: CallScope) throws(NodeError) -> Workspace {
        let workspace: Workspace = try core.queries.workspace(scope)
        try core.membership.requireMember(of: workspace)
        guard workspace.ownRole ?? .guest <= .member else {
            throw .forbidden("guests have no profile here", reason: "role")
        }
        try stored { () throws(StorageError) in try core.proofs.load() }
        return workspace
    }

    private func refuseOther(_ email: String?, in workspace: Workspace) throws(NodeError) {
        guard let email else { return }
        let address = try checked(email)
        guard let claim = core.proofs.own[workspace.number], claim.address != address else {
            return
        }
        throw .claimChanged
    }

    // MARK: What is proved

    func attestations(
        of member: MemberReference?, _ request: PageRequest, _ scope: CallScope
    ) throws(NodeError) -> Page<AttestationObject> {
        try attestations(of: member, request, scope) { _ in true }
    }

    /// Those of some registers.
    func attestations(
        of member: MemberReference?, _ request: PageRequest, _ scope: CallScope,
        where isWanted: (AttestationBook.Place) -> Bool
    ) throws(NodeError) -> Page<AttestationObject> {
        let workspace: Workspace = try core.queries.workspace(scope)
        let person = try member.map { (reference) throws(NodeError) in
            try core.queries.person(reference, in: workspace, orRemoved: false)
        }
        guard workspace.ownRole ?? .guest <= .member else { return Page([]) }
        let found = try stored { () throws(StorageError) in
            try core.profiles.attestations(of: workspace).found
        }
        let shown = found.keys.filter { (person == nil || $0.member == person) && isWanted($0) }
            .sorted().prefix(Limits.attestationsListedMax)
        let objects = shown.compactMap { place -> AttestationObject? in
            found[place].map { object(of: $0, in: workspace) }
        }
        let (items, next) = try core.queries.page(objects, request)
        return Page(Array(items), next: next)
    }

    private func object(
        of finding: AttestationBook.Finding, in workspace: Workspace
    ) -> AttestationObject {
        core.queries.object(
            of: finding.assertion, state: finding.state(at: time.wall), in: workspace)
    }

    func withdraw(
        of member: MemberReference?, _ scope: CallScope
    ) throws(NodeError) -> AttestationObject {
        try withdraw(.email, of: member, provider: nil, scope)
    }

    /// Takes back what was attested in one register.
    func withdraw(
        _ kind: Attestation.Kind, of member: MemberReference?, provider: String?,
        _ scope: CallScope
    ) throws(NodeError) -> AttestationObject {
        let workspace = try ownWorkspace(scope)
        let person =
            try member.map { (reference) throws(NodeError) in
                try core.queries.person(reference, in: workspace, orRemoved: false)
            } ?? workspace.member
        guard
            person == workspace.member
                || core.proofs.mayAttest(workspace.ownRole, in: workspace)
        else {
            throw .forbidden(
                "only verifiers may do this for others", reason: "proof.not_verifier",
                hint: "wsx-node policy show")
        }
        let place = AttestationBook.Place(person, kind, provider)
        let finding = try stored { () throws(StorageError) in
            try core.profiles.attestations(of: workspace).found[place]
        }
        guard let finding, finding.state == .valid || finding.state == .taken else {
            let whose = person == workspace.member ? "yours" : "theirs"
            throw NodeError(
                .notFound,
                kind == .email
                    ? "no address of \(whose) is verified"
                    : "no account of \(whose) is linked at \(NodeError.quoted(provider ?? ""))",
                hint: kind == .email
                    ? "wsx-node attestation list" : "wsx-node account links",
                reason: "attestation.not_found",
                fields: [
                    .init(name: kind == .email ? "member" : "provider", reason: "not_found")
                ])
        }
        try core.profiles.refuseOverruled(place, in: workspace)
        let now = try stored { () throws(StorageError) in
            let made = try core.profiles.attest(
                Attestation(person, kind, provider: provider, nil), in: workspace)
            return try made == nil ? nil : core.profiles.attestations(of: workspace).found[place]
        }
        guard let now else { throw core.membership.notAllowed(in: workspace) }
        return object(of: now, in: workspace)
    }

    // MARK: Letters

    func setMailCommand(
        _ command: String?, _ scope: CallScope
    ) throws(NodeError) -> MailCommandObject {
        if let command {
            guard !command.utf8.contains(0) else { throw .zeroByte(in: "command") }
            try stored { () throws(StorageError) in try core.proofs.setMailCommand(command) }
        }
        return MailCommandObject(
            command: try stored { () throws(StorageError) in try core.proofs.mailCommand() })
    }

    func invite(
        _ draft: InviteDraft, to email: String, _ scope: CallScope
    ) throws(NodeError) -> CommandOutcome {
        let address = try checked(email)
        let workspace: Workspace = try core.queries.workspace(scope)
        // Anybody can show an address that they have not proved.
        if let known = try verifiedHolder(of: address, in: workspace) {
            throw NodeError(
                .duplicate,
                "\(NodeError.quoted(workspace.displayName(of: known))) is a member already",
                hint: "wsx-node member show @NAME", reason: "email.member",
                fields: [.init(name: "email", reason: "taken")])
        }
        let made = try InviteHandler(core).createInvite(draft, scope)
        var invite = made.object
        invite.email = address
        guard !made.isReplayed, let link = invite.link else {
            return .reply(Made(invite, isReplayed: made.isReplayed))
        }
        if try sendMessage(with: link, to: address, about: workspace) {
            invite.delivery = "message"
            return .reply(invite)
        }
        let isMailed = try stored { () throws(StorageError) in
            try core.proofs.mail(invite, link, to: address, for: workspace, scope.call)
        }
        return isMailed ? .later : .reply(invite)
    }

    /// For whom an address is shown as verified here now (W-78). A link that lets its reader in goes to
    /// nobody else, and not to who shows another address by now.
    private func verifiedHolder(
        of address: String, in workspace: Workspace
    ) throws(NodeError) -> MemberID? {
        let holder = try stored { () throws(StorageError) in
            try core.profiles.attestations(of: workspace)
                .verifiedHolder(ofEmail: address, at: time.wall)
        }
        return holder.flatMap {
            workspace.people.fields[$0]?[.email] == address ? $0 : nil
        }
    }

    /// Sends a link to the person who has proved an address in another workspace.
    private func sendMessage(
        with link: String, to address: String, about workspace: Workspace
    ) throws(NodeError) -> Bool {
        for other in workspaces.values.sorted(by: { $0.number < $1.number })
        where other !== workspace && other.standing == .member
            && other.ownRole ?? .guest <= .member
        {
            guard let member = try verifiedHolder(of: address, in: other), member != other.member
            else { continue }
            let text =
                "You are invited to the workspace "
                + "\(NodeError.quoted(workspace.displayName)): wsx-node join \(link)"
            let draft = MessageDraft(
                channel: .direct(.id(PublicID.member(member))), text: text, thread: nil,
                format: "text")
            let scope = CallScope(
                call: CallID(connection: 0, number: 0),
                workspace: .id(PublicID.workspace(other.id)), key: nil)
            do throws(NodeError) {
                _ = try MessageHandler(core).send(draft, scope)
                return true
            } catch {
                // The invite is made: there are other ways to deliver it.
                if turn.failure != nil { throw error }
            }
        }
        return false
    }
}
