import CRDTStore
import SyncProtocol
import WorkspaceCrypto
import WorkspaceModel

/// The member's side.
extension AccountProofs {
    // MARK: Beginning

    /// Starts linking an account, unless that is already under way.
    ///
    /// - Returns: `nil` where too many are being linked.
    func begin(_ place: Place) -> OwnAccount? {
        if let known = own[place], known.due > time.monotonic { return known }
        answer(place, .failure(.accountClaimOver))
        own[place] = nil
        guard own.count < Limits.accountClaimsMax else { return nil }
        let claim = OwnAccount(
            claim: ClaimName(environment.random.bytes(ClaimName.byteCount)),
            due: time.monotonic &+ Limits.accountClaimMilliseconds)
        own[place] = claim
        return claim
    }

    /// Takes a token for an account that is being linked.
    func bring(_ token: String, for place: Place, _ call: CallID) throws(NodeError) {
        guard let known = own[place], known.due > time.monotonic else {
            throw .accountClaimOver
        }
        guard known.calls.count < Limits.proofCallsMax else { throw .tooManyProofCalls }
        // An answer says which claim it is about, and not which token.
        guard known.asked == nil || known.token.map({ $0.utf8.elementsEqual(token.utf8) }) == true
        else {
            throw NodeError(
                .busy, "a verifier is checking your last token", hint: "try again in a minute",
                reason: "account.busy")
        }
        own[place]?.token = token
        if known.asked == nil { own[place]?.beginAnew() }
        own[place]?.refusal = nil
        own[place]?.calls.append((call, time.monotonic &+ Limits.proofCallMilliseconds))
    }

    // MARK: Asking

    /// Shows a token to a connected verifier that may check it.
    func goOn(with place: Place) throws(StorageError) {
        guard let claim = own[place], let token = claim.token else { return }
        guard let workspace = core.workspaces[place.workspace],
            workspace.ownRole ?? .guest <= .member
        else {
            answer(place, .failure(.forbidden("you are not a member", reason: "removed")))
            return own[place] = nil
        }
        if let asked = claim.asked {
            if let link = network.links[asked.link], !link.isClosing { return }
            own[place]?.asked = nil
        }
        for link in network.ordered where !link.isClosing && !claim.triedOn.contains(link.id) {
            guard let other = core.proofs.companion(on: link, in: workspace),
                core.proofs.mayAttest(other.role, in: workspace),
                let sync = link.syncs[workspace.number]
            else { continue }
            own[place]?.triedOn.insert(link.id)
            own[place]?.asked = (link.id, time.monotonic &+ Limits.proofCallMilliseconds)
            link.session.send(
                .accountAsk(
                    sync.number, AccountAsk(claim.claim, of: place.provider, token: token)),
                in: .control, isUnasked: false)
            return
        }
        answerUnserved(place)
    }

    /// Nobody is there who has not been shown the token.
    private func answerUnserved(_ place: Place) {
        guard let claim = own[place] else { return }
        var pause = Limits.accountRetryMilliseconds
        let error: NodeError
        switch claim.refusal {
        case .refused(let reason): return giveUp(place, .token(reason))
        case .tooMany(let wait):
            // A peer says how long.
            pause = max(pause, min(wait, Limits.letterHourMilliseconds))
            error = .tooManyTokens(wait)
        case .notChecked, .notHere:
            error = .noTokenChecker(place.provider, isNobody: false)
        default:
            let wasAsked = network.ordered.contains {
                !$0.isClosing && claim.triedOn.contains($0.id)
            }
            error =
                wasAsked ? .noTokenAnswer : .noTokenChecker(place.provider, isNobody: true)
        }
        // A verifier that is still connected then may be able to check it later.
        if claim.retry == nil, !claim.triedOn.isEmpty {
            own[place]?.retry = time.monotonic &+ pause
        }
        answer(place, .failure(error))
    }

    /// Drops a token that nobody accepts. Another one may be provided for the same nonce.
    private func giveUp(_ place: Place, _ error: NodeError) {
        answer(place, .failure(error))
        own[place]?.token = nil
        own[place]?.asked = nil
        own[place]?.retry = nil
    }

    /// Gives up waiting for what takes too long.
    func passTime(of place: Place, _ now: UInt64) {
        guard let claim = own[place] else { return }
        if claim.due <= now {
            answer(place, .failure(.accountClaimOver))
            return own[place] = nil
        }
        if let asked = claim.asked, asked.due <= now { own[place]?.asked = nil }
        if let retry = claim.retry, retry <= now { own[place]?.beginAnew() }
        let late = claim.calls.filter { $0.due <= now }
        own[place]?.calls.removeAll { $0.due <= now }
        for waiting in late {
            turn.emit(.answer(waiting.call, .failure(.noTokenAnswer)))
        }
    }

    // MARK: Answers

    /// Takes what a verifier answers.
    func answered(
        _ answer: AccountAnswer, in workspace: Workspace, on link: PeerLink
    ) throws(StorageError) {
        guard home != nil, !turn.session.lock.isLocked, mayWrite,
            let sync = link.syncs[workspace.number], sync.proofs.take(at: time.monotonic),
            let (place, claim) = own.first(where: {
                $0.key.workspace == workspace.number && $0.value.claim == answer.claim
            }), claim.asked?.link == link.id
        else { return }
        own[place]?.asked = nil
        switch answer.result {
        case .proved:
            var object = AccountClaimObject(provider: place.provider, state: "verified")
            object.verifier = link.peer.flatMap { workspace.owner(of: $0.device) }
                .map { core.membership.person($0, in: workspace) }
            self.answer(place, .success(object.json))
            own[place] = nil
        case .refused(let reason) where reason == TokenFault.key.rawValue:
            // The keys of another verifier may be newer.
            own[place]?.refusal = answer.result
        case .refused(let reason): giveUp(place, .token(reason))
        case .taken:
            self.answer(place, .failure(.accountTaken(place.provider)))
            own[place] = nil
        case .used:
            self.answer(place, .failure(.accountClaimOver))
            own[place] = nil
        case .tooMany, .notChecked, .notHere:
            if case .refused = claim.refusal { return }
            own[place]?.refusal = answer.result
        }
    }

    /// Answers all calls that wait for a claim.
    func answer(_ place: Place, _ result: Result<JSONValue, NodeError>) {
        for waiting in own[place]?.calls ?? [] { turn.emit(.answer(waiting.call, result)) }
        own[place]?.calls = []
    }
}
