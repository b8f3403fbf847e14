import CRDTStore
import WorkspaceModel

/// Folds what verifiers attest about members from the profile document (PROTOCOL.md, 3.9). The
/// assertions stay in memory, like profiles; which of them count is computed on demand, since it
/// depends on who may verify now.
extension Profiles {
    /// Folds an attestation, also by a member who is not a verifier.
    func fold(
        _ assertion: AttestationBook.Assertion, in workspace: Workspace,
        from source: OperationSource
    ) throws(StorageError) {
        guard try store.view.redactions.deletion(of: assertion.arrival) == nil else { return }
        workspace.people.attestations.take(assertion)
        noteAttestations(of: workspace, because: source)
    }

    /// Schedules a check at the end of the turn for attestations that started or stopped to count.
    func noteAttestations(of workspace: Workspace, because source: OperationSource) {
        let known = attestationEdits[workspace.number]
        attestationEdits[workspace.number] = (known ?? true) && source.isBackfill
    }

    /// The current values of the attestation registers.
    func attestations(
        of workspace: Workspace
    ) throws(StorageError) -> AttestationFindings {
        if let known = workspace.judged.attested { return known }
        guard !workspace.people.attestations.isEmpty else { return .none }
        let least = workspace.fields.mayAttest.leastRole
        // Many assertions share one grant in one log.
        var bounds: [AttestationBook.VerdictRange: UInt64?] = [:]
        workspace.people.attestations.settle()
        let found = try workspace.people.attestations.findings(
            of: workspace.members.map(\.member),
            isVerifier: { author in
                guard let role = workspace.role(of: author) else { return false }
                return role <= least
            },
            bound: { (assertion) throws(StorageError) in
                if let known = bounds[assertion.range] { return known }
                let bound = try self.bound(of: assertion, leastRole: least, in: workspace)
                bounds[assertion.range] = .some(bound)
                return bound
            })
        let findings = AttestationFindings(found)
        workspace.judged.attested = findings
        return findings
    }

    /// Up to where the operations beside an assertion are valid, if only this role and stronger
    /// ones might write there.
    private func bound(
        of assertion: AttestationBook.Assertion, leastRole: Role, in workspace: Workspace
    ) throws(StorageError) -> UInt64? {
        let limit = workspace.judged.contentLimit(
            grant: assertion.grant, log: assertion.log, leastRole: leastRole)
        guard limit != .nothing, let branch = store.operations.branch(assertion.branch) else {
            return nil
        }
        var search = CutSearch(branch, store.operations, workspace: workspace.number)
        return try search.bound(of: limit)
    }

    /// Who has verified the address that somebody shows, if that still counts.
    func verifiedEmail(of member: MemberID, in workspace: Workspace) -> VerifiedMark? {
        guard workspace.ownRole ?? .guest <= .member,
            let address = workspace.people.fields[member]?[.email],
            let findings = try? attestations(of: workspace),
            let assertion = findings.valid(.init(member, .email)), let proof = assertion.said.proof,
            proof.value == address, proof.until.map({ $0 > time.wall }) ?? true
        else { return nil }
        return VerifiedMark(
            by: core.membership.person(assertion.author, in: workspace),
            at: Int64(clamping: assertion.timestamp.milliseconds))
    }

    /// Why the address that somebody shows does not count as verified, though somebody said that it is.
    func unverifiedEmail(of member: MemberID, in workspace: Workspace) -> UnverifiedMark? {
        guard workspace.ownRole ?? .guest <= .member,
            let address = workspace.people.fields[member]?[.email],
            let findings = try? attestations(of: workspace),
            let finding = findings.found[.init(member, .email)],
            finding.assertion.said.proof?.value == address
        else { return nil }
        let state = finding.state(at: time.wall)
        guard state != "valid" else { return nil }
        return UnverifiedMark(
            state, by: core.membership.person(finding.assertion.author, in: workspace),
            at: Int64(clamping: finding.assertion.timestamp.milliseconds))
    }

    /// The accounts that somebody has linked, those that count now.
    func linkedAccounts(of member: MemberID, in workspace: Workspace) -> [AccountMark] {
        guard workspace.ownRole ?? .guest <= .member,
            let findings = try? attestations(of: workspace)
        else { return [] }
        let places = findings.found.keys.filter { $0.member == member && $0.kind == .account }
        return places.sorted().prefix(Limits.accountsShownMax).compactMap { place in
            guard let assertion = findings.valid(place), let proof = assertion.said.proof,
                let provider = place.provider, proof.until.map({ $0 > time.wall }) ?? true
            else { return nil }
            return AccountMark(
                provider: provider, name: proof.name,
                verified: VerifiedMark(
                    by: core.membership.person(assertion.author, in: workspace),
                    at: Int64(clamping: assertion.timestamp.milliseconds)))
        }
    }

    /// Loads stored attestations. Those that count are not reported as new.
    func loadAttestations(
        _ found: [(StoredOperation, Attestation)], of workspace: Workspace
    ) throws(StorageError) {
        for (stored, said) in found {
            guard let author = workspace.judged.subject(ofGrant: stored.entry.grant),
                try store.view.redactions.deletion(of: stored.place.arrival) == nil
            else { continue }
            let isValid = store.operations.isValid(
                stored.place.sequence, in: stored.place.branch)
            workspace.people.attestations.take(
                AttestationBook.Assertion(said, stored, by: author, isValid: isValid))
        }
        workspace.people.toldAttestations = try validAttestations(of: workspace)
    }

    /// The assertions that count.
    private func validAttestations(
        of workspace: Workspace
    ) throws(StorageError) -> [AttestationBook.Place: AttestationBook.Assertion] {
        try attestations(of: workspace).found.compactMapValues {
            $0.state == .valid ? $0.assertion : nil
        }
    }

    // MARK: What follows

    /// Reports whose attestations have changed, together with other changes of profiles.
    func tellAttestations() throws(StorageError) {
        // While a lock's arrears are folded the book is not whole, and what is not read yet is not gone.
        guard home != nil, turn.session.folding == nil else { return }
        for workspace in workspaces.values.sorted(by: { $0.number < $1.number })
        where workspace.judged.attested == nil || attestationEdits[workspace.number] != nil {
            let isBackfill = attestationEdits.removeValue(forKey: workspace.number) ?? false
            let before = workspace.people.toldAttestations ?? [:]
            guard !before.isEmpty || !workspace.people.attestations.isEmpty else { continue }
            let now = try validAttestations(of: workspace)
            workspace.people.toldAttestations = now
            for place in Set(before.keys).union(now.keys).sorted()
            where before[place]?.id != now[place]?.id {
                noteEdit(
                    of: place.member, in: workspace, arrival: now[place]?.arrival ?? 0,
                    isBackfill: isBackfill)
                try tell(
                    place, was: before[place], now: now[place], in: workspace,
                    isBackfill: isBackfill)
            }
        }
    }

    /// Reports a register whose value has changed. Guests are told nothing about it.
    private func tell(
        _ place: AttestationBook.Place, was: AttestationBook.Assertion?,
        now: AttestationBook.Assertion?,
        in workspace: Workspace, isBackfill: Bool
    ) throws(StorageError) {
        guard let assertion = now ?? was, workspace.ownRole ?? .guest <= .member, mayWrite else {
            return
        }
        let type: EventType
        switch place.kind {
        case .email where now == nil: type = .attestationEnded
        case .email: type = was == nil ? .attestationAdded : .attestationReplaced
        case .account: type = now == nil ? .accountUnlinked : .accountLinked
        }
        let finding = try attestations(of: workspace).found[place]
        // An erased attestation is in no register.
        let state = now == nil ? finding?.state(at: time.wall) ?? "withdrawn" : "valid"
        let reference = AttestationReference(place, state: state)
        try turn.record(
            type, workspace: workspace.number, arrival: assertion.arrival, extra: reference.bytes,
            isBackfill: isBackfill)
    }

    /// Attestations by the local member that were withdrawn, in the form of `takeHidden`.
    func withdrawn() throws(StorageError) -> [(workspace: Int64, arrival: Int64)] {
        guard home != nil, mayWrite else { return [] }
        var found: [(workspace: Int64, arrival: Int64)] = []
        for number in attestationEdits.keys.sorted() {
            guard let workspace = core.workspaces[number] else { continue }
            let withdrawn = try attestations(of: workspace).found
                .filter { $0.value.state == .withdrawn }
            for place in withdrawn.keys.sorted() {
                for assertion in workspace.people.attestations.values(place, by: workspace.member) {
                    found.append((number, assertion.arrival))
                }
            }
        }
        return found
    }

    // MARK: Writing

    /// Writes what somebody has proved, or takes it back, in place of what was said before.
    ///
    /// - Returns: the operation, `nil` where this device may not.
    func attest(
        _ said: Attestation, in workspace: Workspace
    ) throws(StorageError) -> OperationID? {
        let place = AttestationBook.Place(said.member, said.kind, said.provider)
        var made: OperationID?
        let isWritten = try write(
            over: try heads(place, in: workspace).count,
            until: { (made) throws(StorageError) in
                try heads(place, in: workspace).allSatisfy { $0.id == made }
            }
        ) { () throws(StorageError) in
            let assertions = try heads(place, in: workspace).prefix(Limits.dependenciesMax)
            let overwritten = try references(to: assertions.map(\.arrival))
            try core.keys.answerEnds(in: workspace)
            // After a time without the right to verify, a member's strongest grant no longer gives
            // it.
            let isOwn = said.member == workspace.member && said.proof == nil
            let least = isOwn ? .member : workspace.fields.mayAttest.leastRole
            guard let home, let current = workspace.currentKey,
                let grant = workspace.writingGrant(of: home.device, leastRole: least)
            else { return nil }
            made =
                try core.privates.authorContent(
                    .attestation(said), to: workspace.profileDocument, in: workspace,
                    under: current, grant: grant, with: home.signing, overwriting: overwritten)?.id
            return made
        }
        return isWritten ? made : nil
    }

    /// Refuses to say something that would not count: others have said it too often.
    func refuseOverruled(
        _ place: AttestationBook.Place, in workspace: Workspace
    ) throws(NodeError) {
        let count = try stored { () throws(StorageError) in
            try heads(place, in: workspace).count
        }
        try refuseOverruled(count, isOwn: false)
    }

    private func heads(
        _ place: AttestationBook.Place, in workspace: Workspace
    ) throws(StorageError) -> [AttestationBook.Assertion] {
        try attestations(of: workspace).found[place]?.heads ?? []
    }
}

extension ContentPayload {
    /// The attestation of a verifier.
    var attested: Attestation? {
        if case .attestation(let said) = self { said } else { nil }
    }
}

extension AttestationBook.Assertion {
    /// A stored attestation.
    init(_ said: Attestation, _ stored: StoredOperation, by author: MemberID, isValid: Bool) {
        self.init(
            id: stored.place.link.id, timestamp: stored.entry.timestamp,
            arrival: stored.place.arrival, author: author, grant: stored.entry.grant,
            log: stored.log, branch: stored.place.branch, sequence: stored.place.sequence,
            cited: stored.entry.dependencies.map(\.id), said: said, isValid: isValid)
    }
}
