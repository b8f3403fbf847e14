import CRDTStore
import SyncProtocol
import WorkspaceCrypto
import WorkspaceModel

/// What somebody else wants to prove to the owner of this node.
struct ForeignClaim {
    /// One claim per member at a time.
    struct Place: Hashable {
        let workspace: Int64
        let member: MemberID
    }

    let name: ClaimName
    let address: String
    /// The letter that has the code.
    let letter: UInt64
    /// Under which the code is hashed, drawn for it.
    let key: SymmetricKey
    let hash: [UInt8]
    /// Until when the code is good, on the monotonic clock.
    var due: UInt64
    var triesLeft = Limits.proofTriesMax
    /// Whether the letter was handed over.
    var isSent = false

    /// Takes a try.
    ///
    /// - Returns: whether the code is right.
    mutating func takes(_ code: String) -> Bool {
        triesLeft -= 1
        // Hashes under a key that nobody knows tell nothing by how long they are compared.
        return Hash.keyed(key, Array(code.utf8)) == hash
    }
}

/// The verifier's side.
extension Proofs {
    /// Takes what a member asks.
    func asked(
        _ ask: ProofAsk, in workspace: Workspace, on link: PeerLink
    ) throws(StorageError) {
        guard home != nil, !turn.session.lock.isLocked, mayWrite,
            let sync = link.syncs[workspace.number],
            sync.proofs.take(at: time.monotonic)
        else { return }
        guard let asker = companion(on: link, in: workspace) else {
            return tell(ProofAnswer(ask.claim, .notHere), in: workspace, on: link)
        }
        let place = ForeignClaim.Place(workspace: workspace.number, member: asker.member)
        let answer: ProofAnswer?
        switch ask.act {
        case .begin: answer = try begin(ask, at: place, in: workspace, isAgain: false)
        case .resend: answer = try begin(ask, at: place, in: workspace, isAgain: true)
        case .confirm(let code): answer = try confirm(ask, code, at: place, in: workspace)
        case .forget:
            if foreign[place]?.name == ask.claim { foreign[place] = nil }
            answer = nil
        }
        if let answer { tell(answer, in: workspace, on: link) }
    }

    private func tell(_ answer: ProofAnswer, in workspace: Workspace, on link: PeerLink) {
        guard let sync = link.syncs[workspace.number], !link.isClosing else { return }
        link.session.send(.proofAnswer(sync.number, answer), in: .control, isUnasked: false)
    }

    // MARK: Letters

    /// - Returns: the answer, `nil` while the letter is being sent.
    private func begin(
        _ ask: ProofAsk, at place: ForeignClaim.Place, in workspace: Workspace, isAgain: Bool
    ) throws(StorageError) -> ProofAnswer? {
        guard mayAttest(workspace.ownRole, in: workspace), let command = try mailCommand() else {
            return ProofAnswer(ask.claim, .notHere)
        }
        guard ProfileText.isKept(ask.address, in: .email) else {
            return ProofAnswer(ask.claim, .notSent)
        }
        let holder = try core.profiles.attestations(of: workspace).holder(ofEmail: ask.address)
        if let holder, holder != place.member { return ProofAnswer(ask.claim, .taken) }
        if !isAgain, let known = foreign[place], known.name == ask.claim,
            known.address == ask.address, known.due > time.monotonic
        {
            // The link was lost before the answer came: nobody wants two letters.
            return known.isSent ? ProofAnswer(ask.claim, .sent) : nil
        }
        let wait = letterBudget.wait(for: place.member, at: time.monotonic)
        guard wait == 0 else {
            return ProofAnswer(ask.claim, .tooMany, retryMilliseconds: wait)
        }
        letterBudget.note(place.member, at: time.monotonic)
        let code = Self.digits(environment.random.number(below: 1_000_000))
        let key = SymmetricKey(using: environment.random, lifetime: .long)
        lettersMade += 1
        foreign[place] = ForeignClaim(
            name: ask.claim, address: ask.address, letter: lettersMade, key: key,
            hash: Hash.keyed(key, Array(code.utf8)),
            due: time.monotonic &+ Limits.mailMilliseconds &+ Limits.proofCodeMilliseconds)
        sending[lettersMade] = .code(place, ask.claim)
        turn.emit(
            .mail(
                Letter(
                    number: lettersMade, command: command,
                    input: LetterText.code(
                        code, to: ask.address, for: workspace.displayName(of: place.member),
                        in: workspace.displayName,
                        by: workspace.displayName(of: workspace.member)),
                    variables: LetterText.variables(to: ask.address, environment.socket))))
        return nil
    }

    private static func digits(_ number: UInt64) -> String {
        let digits = String(number)
        return String(repeating: "0", count: ProofAsk.codeDigits - digits.utf8.count) + digits
    }

    /// Takes what became of a letter.
    ///
    /// - Parameter status: as of `NoticeOutcome.ended`.
    func mailed(_ number: UInt64, status: Int32?) throws(StorageError) {
        guard let purpose = sending.removeValue(forKey: number) else { return }
        try noteMailed(status)
        switch purpose {
        case .invite(let call, let invite):
            var made = invite
            made.delivery = status == 0 ? "mail" : nil
            turn.emit(.answer(call, .success(made.json)))
        case .code(let place, let name):
            if status != 0 { letterBudget.noteFailed(place.member) }
            guard foreign[place]?.letter == number, let workspace = core.workspaces[place.workspace]
            else { return }
            if status == 0 {
                foreign[place]?.isSent = true
                foreign[place]?.due = time.monotonic &+ Limits.proofCodeMilliseconds
            } else {
                foreign[place] = nil
            }
            for link in network.ordered
            where companion(on: link, in: workspace)?.member == place.member {
                tell(ProofAnswer(name, status == 0 ? .sent : .notSent), in: workspace, on: link)
            }
        }
    }

    /// Tells the owner once that the command fails again and again.
    private func noteMailed(_ status: Int32?) throws(StorageError) {
        failures = status == 0 ? 0 : failures + 1
        guard status != 0 else { return }
        turn.emit(.log(.warning, "mail.failed status=\(status ?? -1)"))
        guard failures == Limits.noticeFailuresMax, mayWrite else { return }
        try core.warn([
            "kind": "mail.failed",
            "message": .string("the command for letters failed \(failures) times in a row"),
            "status": status.map { .integer(Int64($0)) } ?? .null,
        ])
    }

    /// Hands an invite to the command for letters.
    ///
    /// - Returns: whether there is one and it may send; then the call is answered when it has ended.
    func mail(
        _ invite: InviteObject, _ link: String, to address: String, for workspace: Workspace,
        _ call: CallID
    ) throws(StorageError) -> Bool {
        guard let command = try mailCommand(),
            letterBudget.wait(for: nil, at: time.monotonic) == 0
        else { return false }
        letterBudget.note(nil, at: time.monotonic)
        lettersMade += 1
        sending[lettersMade] = .invite(call, invite)
        turn.emit(
            .mail(
                Letter(
                    number: lettersMade, command: command,
                    input: LetterText.invite(
                        link, to: address, in: workspace.displayName,
                        by: workspace.displayName(of: workspace.member)),
                    variables: LetterText.variables(to: address, environment.socket))))
        return true
    }

    // MARK: Codes

    private func confirm(
        _ ask: ProofAsk, _ code: String, at place: ForeignClaim.Place, in workspace: Workspace
    ) throws(StorageError) -> ProofAnswer {
        guard var claim = foreign[place], claim.due > time.monotonic, claim.triesLeft > 0 else {
            return ProofAnswer(ask.claim, .over)
        }
        guard claim.name == ask.claim, claim.address == ask.address else {
            return ProofAnswer(ask.claim, .changed)
        }
        let isRight = claim.takes(code)
        foreign[place] = isRight ? nil : claim
        guard isRight else { return ProofAnswer(ask.claim, .wrong) }
        guard mayAttest(workspace.ownRole, in: workspace) else {
            return ProofAnswer(ask.claim, .notHere)
        }
        let holder = try core.profiles.attestations(of: workspace).holder(ofEmail: ask.address)
        if let holder, holder != place.member { return ProofAnswer(ask.claim, .taken) }
        let said = Attestation(place.member, .email, .init(ask.address, by: .letter))
        guard let made = try core.profiles.attest(said, in: workspace) else {
            return ProofAnswer(ask.claim, .notHere)
        }
        return ProofAnswer(ask.claim, .proved, attestation: made)
    }

    // MARK: The command

    private static let commandName = "letters.command"

    /// The command that sends letters on this node; `nil` without one.
    func mailCommand() throws(StorageError) -> String? {
        guard let home, let sealed = try store.registry.value(Self.commandName) else {
            return environment.mailCommand
        }
        // An empty command disables letters, whatever the settings say.
        guard let bytes = home.open(sealed, name: Array(Self.commandName.utf8)), !bytes.isEmpty
        else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }

    /// Sets it; empty for nothing. Sealed like the command for notices: it may have a password in it.
    func setMailCommand(_ command: String) throws(StorageError) {
        try setSealedValue(Array(command.utf8), of: Self.commandName)
        failures = 0
    }
}
