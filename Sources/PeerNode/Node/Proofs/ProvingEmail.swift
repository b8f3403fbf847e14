import CRDTStore
import SyncProtocol
import WorkspaceCrypto
import WorkspaceModel

/// An address that the own person wants to prove in one workspace.
struct OwnClaim {
    let name: ClaimName
    let address: String
    /// The verifier who was named; `nil` for any.
    let wanted: MemberID?
    /// Which device sent the last letter.
    var sender: DeviceID?
    /// When, milliseconds since 1970.
    var sentAt: UInt64?
    /// Whether a letter is wanted that no verifier has sent yet.
    var wantsLetter = true

    // What follows lasts as long as the process.

    /// The links on which a letter was asked for in vain.
    var triedOn: Set<LinkID> = []
    /// The link on which something was asked that was not answered, and until when that is waited for.
    var asked: (link: LinkID, due: UInt64)?
    /// A code that is to be confirmed, and until when that makes sense.
    var code: (digits: String, due: UInt64)?
    /// The calls that wait, and until when.
    var calls: [(call: CallID, due: UInt64)] = []
    /// Why nobody has sent a letter so far.
    var refusal: ProofAnswer?

    init(_ name: ClaimName, address: String, wanted: MemberID?) {
        (self.name, self.address, self.wanted) = (name, address, wanted)
    }

    /// When the code of the last letter ends, milliseconds since 1970.
    var codeEnd: UInt64? { sentAt.map { $0 &+ Limits.proofCodeMilliseconds } }
}

/// The side of the member.
extension Proofs {
    // MARK: Beginning

    /// Begins to prove an address, unless that goes on already.
    func begin(
        _ address: String, by wanted: MemberID?, in workspace: Workspace, for call: CallID
    ) throws(StorageError) -> CommandOutcome {
        let number = workspace.number
        try load()
        if try isProved(address, in: workspace) {
            if let known = own[number], known.address != address {
                forget(known, in: workspace)
                answer(number, .failure(.claimChanged))
            }
            own[number] = own[number] ?? OwnClaim(drawName(), address: address, wanted: wanted)
            wait(call, in: number)
            try finish(address, in: workspace)
            return .later
        }
        if let known = own[number], known.address == address, known.wanted == wanted,
            let end = known.codeEnd, end > time.wall, !known.wantsLetter
        {
            return .reply(object(of: number, in: workspace))
        }
        if let known = own[number], known.address != address { forget(known, in: workspace) }
        if own[number]?.address != address || own[number]?.wanted != wanted {
            answer(number, .failure(.claimChanged))
            own[number] = OwnClaim(drawName(), address: address, wanted: wanted)
        }
        voided.remove(number)
        own[number]?.wantsLetter = true
        own[number]?.refusal = nil
        own[number]?.triedOn = []
        try keep()
        return wait(call, in: number) ? .later : .reply(object(of: number, in: workspace))
    }

    /// Has another letter sent for what is being proved.
    func sendAgain(
        in workspace: Workspace, for call: CallID
    ) throws(StorageError) -> CommandOutcome {
        let number = workspace.number
        own[number]?.wantsLetter = true
        own[number]?.refusal = nil
        own[number]?.triedOn = []
        own[number]?.code = nil
        try keep()
        return wait(call, in: number) ? .later : .reply(object(of: number, in: workspace))
    }

    /// Hands in a code.
    func confirm(_ code: String, in workspace: Workspace, for call: CallID) throws(NodeError) {
        guard let claim = own[workspace.number] else { throw .noClaim }
        let left = claim.codeEnd.map { $0 > time.wall ? $0 - time.wall : 0 } ?? 0
        // The clock of the verifier decides; while that one is away, this one does.
        own[workspace.number]?.code = (
            code, time.monotonic &+ min(left, Limits.proofCodeMilliseconds)
        )
        guard wait(call, in: workspace.number) else {
            throw NodeError(
                .busy, "too many calls wait for a verifier", hint: "try again later",
                reason: "proof.busy")
        }
    }

    /// - Returns: whether there is room for one more call that waits.
    @discardableResult
    private func wait(_ call: CallID, in number: Int64) -> Bool {
        guard own[number]?.calls.count ?? Limits.proofCallsMax < Limits.proofCallsMax else {
            return false
        }
        own[number]?.calls.append((call, time.monotonic &+ Limits.proofCallMilliseconds))
        return true
    }

    private func drawName() -> ClaimName {
        ClaimName(environment.random.bytes(ClaimName.byteCount))
    }

    /// Why there is nothing to confirm.
    func absence(_ workspace: Workspace) -> NodeError {
        voided.contains(workspace.number) ? .claimChanged : .noClaim
    }

    /// Refuses another address in the place of one that is verified: that takes a new proof.
    func refuseEdit(
        from before: String?, to after: String?, in workspace: Workspace
    ) throws(NodeError) {
        guard let before, let after, before != after else { return }
        let isVerified = try stored { () throws(StorageError) in
            try isProved(before, in: workspace)
        }
        guard isVerified else { return }
        throw NodeError(
            .conflict, "your address is verified, so it changes only once the new one is verified",
            hint: "wsx-node identity email verify \(NodeError.shellWord(after))",
            reason: "email.verified", fields: [.init(name: "email", reason: "verified")])
    }

    /// Takes up that the own address was changed, taken back or hidden.
    func emailEdited(
        from before: String?, to after: String?, in workspace: Workspace
    ) throws(NodeError) {
        try stored { () throws(StorageError) in
            try addressChanged(to: after, in: workspace)
            guard let before, after == nil, try isProved(before, in: workspace) else { return }
            let isWritten = try core.profiles.attest(
                Attestation(workspace.member, .email, nil), in: workspace)
            if isWritten == nil { turn.emit(.log(.warning, "attestation.stays")) }
        }
    }

    /// The own address was changed or hidden: what was sent to the one before is void.
    func addressChanged(to address: String?, in workspace: Workspace) throws(StorageError) {
        try load()
        guard let claim = own[workspace.number], claim.address != address else { return }
        forget(claim, in: workspace)
        answer(workspace.number, .failure(.claimChanged))
        voided.insert(workspace.number)
        try drop(workspace.number)
    }

    /// Tells who sent a letter that nothing is to come of it.
    private func forget(_ claim: OwnClaim, in workspace: Workspace) {
        for link in network.ordered
        where !link.isClosing && (link.peer?.device == claim.sender || link.id == claim.asked?.link)
        {
            guard companion(on: link, in: workspace) != nil,
                let sync = link.syncs[workspace.number]
            else { continue }
            link.session.send(
                .proofAsk(sync.number, ProofAsk(claim.name, .forget, address: claim.address)),
                in: .control, isUnasked: false)
        }
    }

    // MARK: Going on

    /// Asks what is to be asked of whoever is there now.
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
        // Who sent the last letter ends its code with the next one.
        let links = network.ordered.filter { !$0.isClosing && !claim.triedOn.contains($0.id) }
        let last = links.filter { $0.peer?.device == claim.sender }
        for link in last + links where isVerifier(on: link, for: claim, in: workspace) {
            own[number]?.triedOn.insert(link.id)
            return say(claim.sentAt == nil ? .begin : .resend, claim, in: workspace, on: link)
        }
        try answerInVain(number, in: workspace)
    }

    /// Whether an address is attested for the own member.
    private func isProved(
        _ address: String, in workspace: Workspace
    ) throws(StorageError) -> Bool {
        try core.profiles.attestations(of: workspace).holder(ofEmail: address)
            == workspace.member
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
    private func answerInVain(_ number: Int64, in workspace: Workspace) throws(StorageError) {
        guard let claim = own[number] else { return }
        switch claim.refusal?.result {
        case .notSent, .tooMany:
            // Whoever wants another one asks for it: it is no use to try again and again.
            own[number]?.wantsLetter = false
            try keep()
            let wait = claim.refusal?.retryMilliseconds
            answer(number, .failure(wait.map { .tooManyLetters($0) } ?? .codeUndeliverable))
        default:
            answer(
                number,
                .failure(
                    NodeError(
                        .pending,
                        claim.refusal == nil
                            ? "no verifier is online; this goes on by itself when one comes"
                            : "no verifier who is online can send letters; this goes on by itself",
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
                            .pending, "no verifier has answered yet; this goes on by itself",
                            hint: nil, reason: "proof.no_answer"))))
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
        case .notSent, .tooMany, .notHere: own[number]?.refusal = answer
        }
    }

    /// The address is proved: it goes into the profile, where it can be seen.
    private func finish(_ address: String, in workspace: Workspace) throws(StorageError) {
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
        object.verifier = try core.profiles.attestations(of: workspace)
            .valid(.init(workspace.member, .email))
            .map { core.membership.person($0.author, in: workspace) }
        if object.verifier == nil {
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

    /// How far a claim has come.
    func object(of number: Int64, in workspace: Workspace) -> EmailClaimObject {
        let claim = own[number]
        var object = EmailClaimObject(
            email: claim?.address ?? "", state: claim?.sentAt == nil ? "pending" : "sent")
        object.verifier = claim?.sender.flatMap { workspace.owner(of: $0) }
            .map { core.membership.person($0, in: workspace) }
        object.expiresAt = claim?.codeEnd.map { Int64(clamping: $0) }
        return object
    }

    // MARK: Keeping

    private static let keptName = "proofs.own"

    /// Forgets a claim.
    func drop(_ number: Int64) throws(StorageError) {
        guard own.removeValue(forKey: number) != nil else { return }
        try keep()
    }

    /// Stores what is wanted, sealed, so that it goes on after a restart. No code is among it.
    func keep() throws(StorageError) {
        guard let home else { return }
        let rows = own.sorted { $0.key < $1.key }.map { number, claim -> JSONValue in
            [
                "workspace": .integer(number), "claim": .string(hexadecimal(claim.name.bytes)),
                "email": .string(claim.address),
                "verifier": JSONValue(orNull: claim.wanted.map { hexadecimal($0.bytes) }),
                "sender": JSONValue(orNull: claim.sender.map { hexadecimal($0.bytes) }),
                "sent": JSONValue(orNull: claim.sentAt.map { Int64(clamping: $0) }),
                "wants": .bool(claim.wantsLetter),
            ]
        }
        try write()
        try store.registry.setValue(
            rows.isEmpty
                ? nil
                : home.seal(
                    JSONValue.array(rows).bytes, name: Array(Self.keptName.utf8),
                    using: environment.random), of: Self.keptName)
    }

    /// Reads that once.
    func load() throws(StorageError) {
        guard !isLoaded, let home else { return }
        isLoaded = true
        guard let sealed = try store.registry.value(Self.keptName),
            let bytes = home.open(sealed, name: Array(Self.keptName.utf8)),
            let rows = (try? JSONValue(parsing: bytes))?.arrayValue
        else { return }
        for row in rows {
            guard let number = row["workspace"]?.integerValue, own[number] == nil,
                let name = spelled(row["claim"]).flatMap(ClaimName.init(untrusted:)),
                let address = row["email"]?.stringValue
            else { continue }
            var claim = OwnClaim(
                name, address: address,
                wanted: spelled(row["verifier"]).flatMap(MemberID.init(untrusted:)))
            claim.sender = spelled(row["sender"]).flatMap(DeviceID.init(untrusted:))
            claim.sentAt = row["sent"]?.integerValue.map { UInt64(clamping: $0) }
            claim.wantsLetter = row["wants"]?.boolValue ?? false
            own[number] = claim
        }
    }

    /// The bytes that hexadecimal digits spell.
    private func spelled(_ value: JSONValue?) -> [UInt8]? {
        guard let digits = value?.stringValue.map({ Array($0.utf8) }),
            digits.count.isMultiple(of: 2)
        else { return nil }
        var bytes: [UInt8] = []
        for place in stride(from: 0, to: digits.count, by: 2) {
            guard
                let byte = UInt8(
                    String(decoding: digits[place...place + 1], as: UTF8.self), radix: 16)
            else { return nil }
            bytes.append(byte)
        }
        return bytes
    }
}
