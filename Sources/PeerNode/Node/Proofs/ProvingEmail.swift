import CRDTStore
import SyncProtocol
import WorkspaceCrypto
import WorkspaceModel

/// An address that this person wants to prove in one workspace.
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

    // The following fields last as long as the process.

    /// The links on which a letter was asked for in vain.
    var triedOn: Set<LinkID> = []
    /// The link on which something was asked that was not answered, and until when that is waited for.
    var asked: (link: LinkID, due: UInt64)?
    /// A code to confirm, and until when that makes sense.
    var code: (digits: String, due: UInt64)?
    /// The calls that wait, and until when.
    var calls: [(call: CallID, due: UInt64)] = []
    /// Why nobody has sent a letter so far: what says most of what verifiers have answered.
    private(set) var refusal: ProofAnswer?

    init(_ name: ClaimName, address: String, wanted: MemberID?) {
        (self.name, self.address, self.wanted) = (name, address, wanted)
    }

    /// When the code of the last letter ends, milliseconds since 1970.
    var codeEnd: UInt64? { sentAt.map { $0 &+ Limits.proofCodeMilliseconds } }

    /// Requests a letter from any connected verifier.
    mutating func want() { (wantsLetter, refusal, triedOn) = (true, nil, []) }

    /// Records that a verifier has sent no letter.
    mutating func take(_ answer: ProofAnswer, from device: DeviceID) {
        // A verifier that tries to send another letter invalidates the previous code.
        if answer.result == .notSent, device == sender { sentAt = nil }
        let known = refusal.map { Self.weight($0) } ?? (0, 0)
        if Self.weight(answer) > known { refusal = answer }
    }

    /// Ranks answers by what they say: an unusable address above a later retry, of which the
    /// soonest comes first, and that above a verifier that sends no letters.
    private static func weight(_ answer: ProofAnswer) -> (Int, UInt64) {
        switch answer.result {
        case .notSent: (3, 0)
        case .tooMany: (2, .max - (answer.retryMilliseconds ?? 0))
        default: (1, 0)
        }
    }
}

/// The member's side.
extension Proofs {
    // MARK: Beginning

    /// Starts proving an address, unless that is already under way.
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
        own[number]?.want()
        try keep()
        return wait(call, in: number) ? .later : .reply(object(of: number, in: workspace))
    }

    /// Has another letter sent for what is being proved.
    func sendAgain(
        in workspace: Workspace, for call: CallID
    ) throws(StorageError) -> CommandOutcome {
        let number = workspace.number
        own[number]?.want()
        own[number]?.code = nil
        try keep()
        return wait(call, in: number) ? .later : .reply(object(of: number, in: workspace))
    }

    /// Hands in a code.
    func confirm(_ code: String, in workspace: Workspace, for call: CallID) throws(NodeError) {
        guard let claim = own[workspace.number] else { throw .noClaim }
        // A caller who is told to come back has not submitted the code.
        guard wait(call, in: workspace.number) else { throw .tooManyProofCalls }
        let left = claim.codeEnd.map { $0 > time.wall ? $0 - time.wall : 0 } ?? 0
        // The verifier's clock decides; while the verifier is offline, this one does.
        own[workspace.number]?.code = (
            code, time.monotonic &+ min(left, Limits.proofCodeMilliseconds)
        )
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

    /// Handles that the local member's address was changed, removed or hidden.
    func emailEdited(
        from before: String?, to after: String?, in workspace: Workspace
    ) throws(NodeError) {
        try stored { () throws(StorageError) in
            try addressChanged(to: after, in: workspace)
            // Also one whose time is over, so that its verifier erases it, and one that may count again.
            guard let before, after == nil,
                try core.profiles.attestations(of: workspace)
                    .says(before, of: workspace.member)
            else { return }
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
    func forget(_ claim: OwnClaim, in workspace: Workspace) {
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
}
