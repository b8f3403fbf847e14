import CRDTStore
import SyncProtocol
import WorkspaceModel

/// Asks connected verifiers, and handles their answers.
extension Proofs {
    /// Sends the pending questions to verifiers that are connected now.
    func goOn(with number: Int64) throws(StorageError) {
        guard let claim = own[number] else { return }
        guard let workspace = core.workspaces[number], workspace.ownRole ?? .guest <= .member else {
            answer(number, .failure(.forbidden("you are not a member", reason: "removed")))
            return try drop(number)
        }
        // The attestation may come before the answer, or without it.
        if try isProved(claim.address, in: workspace) {
            return try finish(claim.address, in: workspace)
        }
        if let asked = claim.asked {
            if let link = network.links[asked.link], !link.isClosing { return }
            own[number]?.asked = nil
        }
        if let code = claim.code { return confirm(code.digits, claim, in: workspace) }
        guard claim.wantsLetter else { return }
        // The verifier that sent the last letter replaces its code with the next one.
        let links = network.ordered.filter { !$0.isClosing && !claim.triedOn.contains($0.id) }
        let last = links.filter { $0.peer?.device == claim.sender }
        for link in last + links where isVerifier(on: link, for: claim, in: workspace) {
            own[number]?.triedOn.insert(link.id)
            return say(claim.sentAt == nil ? .begin : .resend, claim, in: workspace, on: link)
        }
        try answerUnserved(number, in: workspace)
    }

    /// Whether an address is verified for the local member; an expired one has to be proved again.
    func isProved(
        _ address: String, in workspace: Workspace
    ) throws(StorageError) -> Bool {
        try core.profiles.attestations(of: workspace)
            .verifiedHolder(ofEmail: address, at: time.wall) == workspace.member
    }

    private func isVerifier(
        on link: PeerLink, for claim: OwnClaim, in workspace: Workspace
    ) -> Bool {
        guard let other = companion(on: link, in: workspace),
            mayAttest(other.role, in: workspace)
        else { return false }
        return claim.wanted.map { $0 == other.member } ?? true
    }

    private func say(
        _ act: ProofAsk.Act, _ claim: OwnClaim, in workspace: Workspace, on link: PeerLink
    ) {
        guard let sync = link.syncs[workspace.number] else { return }
        own[workspace.number]?.asked = (
            link.id, time.monotonic &+ Limits.proofCallMilliseconds
        )
        link.session.send(
            .proofAsk(sync.number, ProofAsk(claim.name, act, address: claim.address)),
            in: .control, isUnasked: false)
    }

    /// Sends a code to the device that has sent it by mail, if that is there.
    private func confirm(_ code: String, _ claim: OwnClaim, in workspace: Workspace) {
        let link = network.ordered.first { link in
            !link.isClosing && link.peer?.device == claim.sender
                && companion(on: link, in: workspace) != nil
        }
        guard let link else {
            return answer(
                workspace.number,
                .failure(
                    NodeError(
                        .pending, "the verifier is offline; your code is kept while it is good",
                        hint: "wsx-node profile show tells when it is done",
                        reason: "proof.verifier_away")))
        }
        say(.confirm(code: code), claim, in: workspace, on: link)
    }

    /// Nobody is there who has not been asked.
    private func answerUnserved(_ number: Int64, in workspace: Workspace) throws(StorageError) {
        guard let claim = own[number] else { return }
        switch claim.refusal?.result {
        case .notSent, .tooMany:
            // Another letter has to be requested: trying again and again would not help.
            own[number]?.wantsLetter = false
            try keep()
            let wait = claim.refusal?.retryMilliseconds
            let hasCode = claim.codeEnd.map { $0 > time.wall } ?? false
            answer(
                number,
                .failure(
                    wait.map { .tooManyLetters($0, hasCode: hasCode) } ?? .codeUndeliverable))
        default:
            answer(
                number,
                .failure(
                    NodeError(
                        .pending,
                        claim.refusal == nil
                            ? "no verifier is online; this continues when one comes"
                            : "no verifier who is online can send letters; this continues when one comes",
                        hint: "wsx-node policy show tells who may verify",
                        reason: "proof.no_verifier",
                        details: ["email": .string(claim.address)])))
        }
    }

    /// Gives up waiting for what takes too long.
    func passTime(of number: Int64, _ now: UInt64) {
        guard let claim = own[number] else { return }
        if let asked = claim.asked, asked.due <= now { own[number]?.asked = nil }
        if let code = claim.code, code.due <= now {
            own[number]?.code = nil
            answer(number, .failure(.codeInvalid(isOver: true)))
        }
        let late = claim.calls.filter { $0.due <= now }
        own[number]?.calls.removeAll { $0.due <= now }
        for waiting in late {
            turn.emit(
                .answer(
                    waiting.call,
                    .failure(
                        NodeError(
                            .pending, "no verifier has answered yet; this continues by itself",
                            hint: "wsx-node profile show tells when it is done",
                            reason: "proof.no_answer"))))
        }
    }

    // MARK: Answers

    /// Takes what a verifier answers.
    func answered(
        _ answer: ProofAnswer, in workspace: Workspace, on link: PeerLink
    ) throws(StorageError) {
        let number = workspace.number
        guard home != nil, !turn.session.lock.isLocked, mayWrite,
            let sync = link.syncs[number], sync.proofs.take(at: time.monotonic),
            let claim = own[number], claim.name == answer.claim, let peer = link.peer?.device,
            claim.asked?.link == link.id
                || (answer.result == .sent && claim.triedOn.contains(link.id))
        else { return }
        own[number]?.asked = nil
        if !claim.wantsLetter { own[number]?.code = nil }
        switch answer.result {
        case .sent:
            own[number]?.sender = peer
            own[number]?.sentAt = time.wall
            own[number]?.wantsLetter = false
            own[number]?.triedOn = []
            try keep()
            self.answer(number, .success(object(of: number, in: workspace).json))
        case .proved: try finish(claim.address, in: workspace)
        case .wrong: self.answer(number, .failure(.codeInvalid(isOver: false)))
        case .over: self.answer(number, .failure(.codeInvalid(isOver: true)))
        case .changed:
            self.answer(number, .failure(.claimChanged))
            try drop(number)
        case .taken:
            self.answer(number, .failure(.emailTaken(claim.address)))
            try drop(number)
        case .notHere where !claim.wantsLetter:
            self.answer(
                number,
                .failure(
                    .forbidden(
                        "they may not verify addresses any more", reason: "proof.not_verifier",
                        hint: "wsx-node identity email verify \(claim.address)")))
            try drop(number)
        case .notSent, .tooMany, .notHere: own[number]?.take(answer, from: peer)
        }
    }

    /// The address is proved: it goes into the profile, where it can be seen.
    func finish(_ address: String, in workspace: Workspace) throws(StorageError) {
        let number = workspace.number
        if workspace.people.fields[workspace.member]?[.email] != address {
            do throws(NodeError) {
                try core.profiles.sayOfOneself(
                    .profileField(ProfileChange(.email, address)), in: workspace)
            } catch {
                if let failure = turn.failure { throw failure }
                answer(number, .failure(error))
                return try drop(number)
            }
        }
        var object = EmailClaimObject(email: address, state: "verified")
        // Before the attestation is here, the register says what was proved before.
        if try isProved(address, in: workspace) {
            object.verifier = try core.profiles.attestations(of: workspace)
                .valid(.init(workspace.member, .email))
                .map { core.membership.person($0.author, in: workspace) }
        } else {
            object.verifier = self.object(of: number, in: workspace).verifier
        }
        answer(number, .success(object.json))
        try drop(number)
    }

    /// Answers all calls that wait for a claim.
    func answer(_ number: Int64, _ result: Result<JSONValue, NodeError>) {
        for waiting in own[number]?.calls ?? [] { turn.emit(.answer(waiting.call, result)) }
        own[number]?.calls = []
    }

    /// The progress of a claim.
    func object(of number: Int64, in workspace: Workspace) -> EmailClaimObject {
        let claim = own[number]
        var object = EmailClaimObject(
            email: claim?.address ?? "", state: claim?.sentAt == nil ? "pending" : "sent")
        object.verifier = claim?.sender.flatMap { workspace.owner(of: $0) }
            .map { core.membership.person($0, in: workspace) }
        object.expiresAt = claim?.codeEnd.map { Int64(clamping: $0) }
        return object
    }
}
