import CRDTStore
import SyncProtocol
import WorkspaceModel

/// The verifier's side.
extension AccountProofs {
    /// Takes what a member asks.
    func asked(
        _ ask: AccountAsk, in workspace: Workspace, on link: PeerLink
    ) throws(StorageError) {
        guard home != nil, !turn.session.lock.isLocked, mayWrite,
            let sync = link.syncs[workspace.number], sync.proofs.take(at: time.monotonic),
            let device = link.peer?.device
        else { return }
        let name = ForeignName(device: device, claim: ask.claim)
        if let result = try begin(ask, name, in: workspace, on: link) {
            tell(result, to: name, in: workspace)
        }
    }

    private func tell(
        _ result: AccountAnswer.Result, to name: ForeignName, in workspace: Workspace
    ) {
        for link in network.ordered where !link.isClosing && link.peer?.device == name.device {
            guard let sync = link.syncs[workspace.number] else { continue }
            link.session.send(
                .accountAnswer(sync.number, AccountAnswer(name.claim, result)), in: .control,
                isUnasked: false)
        }
    }

    /// - Returns: the answer, `nil` while the token is being looked at.
    private func begin(
        _ ask: AccountAsk, _ name: ForeignName, in workspace: Workspace, on link: PeerLink
    ) throws(StorageError) -> AccountAnswer.Result? {
        guard let asker = core.proofs.companion(on: link, in: workspace),
            core.proofs.mayAttest(workspace.ownRole, in: workspace),
            let provider = try provider(named: ask.provider), let keys = provider.keys
        else { return .notHere }
        if let known = used[name], known.due > time.monotonic, try isStored(known) {
            let place = AttestationBook.Place(asker.member, .account, provider.name)
            let word = try core.profiles.attestations(of: workspace).valid(place)
            return word?.id == known.attestation ? .proved(known.attestation) : .used
        }
        // The link was lost before the answer came.
        guard !checks.values.contains(where: { $0.name == name }) else { return nil }
        guard checks.count < Limits.tokenChecksMax else { return .notChecked }
        let wait = budget.wait(for: asker.member, at: time.monotonic)
        guard wait == 0 else { return .tooMany(retryMilliseconds: wait) }
        budget.note(asker.member, at: time.monotonic)
        lastCheck += 1
        checks[lastCheck] = Check(
            name: name, workspace: workspace.number, member: asker.member, provider: provider)
        let wanted = TokenCheck.Expectation(
            issuer: provider.issuer, audience: provider.client,
            nonce: Self.nonce(ask.claim, of: asker.member, by: name.device), now: time.wall)
        turn.emit(
            .checkToken(
                lastCheck, question: TokenQuestion(ask.token, wanted, keys: keys).line))
        return nil
    }

    /// Whether what a claim has proved is on the disk: the turn that wrote it may have failed.
    private func isStored(_ claim: UsedClaim) throws(StorageError) -> Bool {
        guard let arrival = claim.arrival else { return false }
        let stored = try store.operations.operation(arrival, hasPayload: false)
        return stored?.place.link.id == claim.attestation
    }

    /// Takes what became of a check.
    ///
    /// - Parameter line: what the process has printed; `nil` where it failed.
    func checked(_ number: UInt64, verdict line: [UInt8]?) throws(StorageError) {
        guard let check = checks.removeValue(forKey: number), home != nil,
            !turn.session.lock.isLocked, mayWrite,
            let workspace = core.workspaces[check.workspace]
        else { return }
        let result: AccountAnswer.Result
        switch TokenVerdict(line: line) {
        case .failure(.refused(let fault)): result = .refused(reason: fault.rawValue)
        case .failure(.unchecked(let trouble)):
            try note(trouble, of: check.provider)
            result = .notChecked
        case .account(let account):
            toldTrouble[check.provider.name] = nil
            result = try attest(account, check, in: workspace)
        }
        tell(result, to: check.name, in: workspace)
    }

    /// Tells the owner once why tokens of a provider cannot be looked at.
    private func note(
        _ trouble: TokenCheckError, of provider: AccountProvider
    ) throws(StorageError) {
        turn.emit(.log(.warning, "token.unchecked reason=\(trouble.rawValue)"))
        guard toldTrouble[provider.name] != trouble else { return }
        toldTrouble[provider.name] = trouble
        try core.warn([
            "kind": "token.unchecked",
            "message": .string(
                "tokens of \(NodeError.quoted(provider.name)) cannot be checked: "
                    + trouble.sentence),
            "reason": .string(trouble.rawValue),
        ])
    }

    // MARK: Attesting

    private func attest(
        _ account: TokenCheck.Account, _ check: Check, in workspace: Workspace
    ) throws(StorageError) -> AccountAnswer.Result {
        guard core.proofs.mayAttest(workspace.ownRole, in: workspace),
            workspace.role(of: check.member) ?? .guest <= .member
        else { return .notHere }
        let value = Self.value(issuer: check.provider.issuer, subject: account.subject)
        let name = check.provider.name
        let holder = try core.profiles.attestations(of: workspace)
            .holder(of: .init(kind: .account, provider: name, value: value))
        if let holder, holder != check.member { return .taken }
        let said = Attestation(
            check.member, .account, provider: name,
            .init(value, by: .token, name: account.name))
        guard let made = try core.profiles.attest(said, in: workspace) else { return .notHere }
        let end = account.expiry &+ Limits.tokenLeewayMilliseconds
        let longest = Limits.tokenAgeMillisecondsMax + 2 * Limits.tokenLeewayMilliseconds
        let left = min(end > time.wall ? end - time.wall : 0, longest)
        let place = AttestationBook.Place(check.member, .account, name)
        let word = try core.profiles.attestations(of: workspace).valid(place)
        used[check.name] = UsedClaim(
            attestation: made, arrival: word?.id == made ? word?.arrival : nil,
            due: time.monotonic &+ left)
        try attestEmail(account, of: check.member, in: workspace)
        return .proved(made)
    }

    /// The address goes along where its member shows it already (PROTOCOL.md, Z-29).
    private func attestEmail(
        _ account: TokenCheck.Account, of member: MemberID, in workspace: Workspace
    ) throws(StorageError) {
        guard let email = account.email.flatMap(Self.lowered),
            let shown = workspace.people.fields[member]?[.email],
            shown.utf8.elementsEqual(email.utf8), ProfileText.isKept(shown, in: .email),
            try core.profiles.attestations(of: workspace).holder(ofEmail: shown) == nil
        else { return }
        _ = try core.profiles.attest(
            Attestation(member, .email, .init(shown, by: .token)), in: workspace)
    }

    /// An address in lower case; `nil` for one with non-ASCII letters, since some of these have the
    /// same lower case as other letters, such as the Kelvin sign.
    private static func lowered(_ email: String) -> String? {
        email.utf8.allSatisfy { $0 < 0x80 } ? email.lowercased() : nil
    }
}

extension TokenCheckError {
    /// The problem, and what to do about it.
    var sentence: String {
        switch self {
        case .noKeys: "the file with its keys cannot be read"
        case .badKeys: "the file with its keys is not a JWK set"
        case .noLibrary: "OpenSSL is not installed (Debian package libssl3)"
        case .failed: "the process that checks them failed"
        }
    }
}
