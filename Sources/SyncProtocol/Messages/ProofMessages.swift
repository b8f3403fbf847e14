public import WorkspaceModel

/// A member's request to a verifier to confirm an address (PROTOCOL.md, 5.11).
public struct ProofAsk: Sendable, Equatable {
    /// The requested action.
    public enum Act: Sendable, Equatable {
        /// Send a letter with a code.
        case begin
        /// Send another one.
        case resend
        /// Check this code, of `codeDigits` digits.
        case confirm(code: String)
        /// Drop the claim.
        case forget
    }

    /// The digits of a code.
    public static let codeDigits = 6

    /// The claim: 16 bytes that the member drew.
    public var claim: ClaimName
    /// The requested action.
    public var act: Act
    /// The address, 1 to `Limits.attestedValueBytesMax` bytes without NUL.
    public var address: String

    /// A request with the given fields.
    public init(_ claim: ClaimName, _ act: Act, address: String) {
        (self.claim, self.act, self.address) = (claim, act, address)
    }
}

/// A verifier's answer.
public struct ProofAnswer: Sendable, Equatable {
    /// The result of the request.
    public enum Result: UInt64, CaseIterable, Sendable {
        /// The letter was handed to the mail command.
        case sent = 0
        /// The code was right, and the attestation is written.
        case proved = 1
        /// The code was wrong.
        case wrong = 2
        /// There is no such code, or it has expired.
        case over = 3
        /// The claim, or its address, has changed.
        case changed = 4
        /// The letter could not be sent.
        case notSent = 5
        /// The address is another member's.
        case taken = 6
        /// Too many letters were sent.
        case tooMany = 7
        /// This device sends no letters, or does not belong to a verifier.
        case notHere = 8
    }

    /// The claim.
    public var claim: ClaimName
    /// The result.
    public var result: Result
    /// How long to wait, milliseconds.
    public var retryMilliseconds: UInt64?
    /// The attestation that was written.
    public var attestation: OperationID?

    /// An answer with the given fields.
    public init(
        _ claim: ClaimName, _ result: Result, retryMilliseconds: UInt64? = nil,
        attestation: OperationID? = nil
    ) {
        (self.claim, self.result) = (claim, result)
        (self.retryMilliseconds, self.attestation) = (retryMilliseconds, attestation)
    }
}

extension NamedInMessage {
    /// A claim of a member towards verifiers.
    public enum Claim {}
}

/// A name that a member draws for each address to be proved.
public typealias ClaimName = Identifier16<NamedInMessage.Claim>

extension ProofAsk {
    func encode(_ workspace: WorkspaceNumber, to body: inout CBOREncoder) {
        var code: String?
        if case .confirm(let given) = act { code = given }
        body.map(count: code == nil ? 4 : 5)
        body.workspace(workspace)
        body.key(2)
        body.byteString(claim)
        body.key(3)
        body.uint(number)
        body.key(4)
        body.text(address)
        guard let code else { return }
        body.key(5)
        body.text(code)
    }

    private var number: UInt64 {
        switch act {
        case .begin: 0
        case .resend: 1
        case .confirm: 2
        case .forget: 3
        }
    }
}

extension ProofAnswer {
    func encode(_ workspace: WorkspaceNumber, to body: inout CBOREncoder) {
        body.map(count: 3 + [retryMilliseconds != nil, attestation != nil].count { $0 })
        body.workspace(workspace)
        body.key(2)
        body.byteString(claim)
        body.key(3)
        body.uint(result.rawValue)
        if let retryMilliseconds {
            body.key(4)
            body.uint(retryMilliseconds)
        }
        if let attestation {
            body.key(5)
            body.byteString(attestation)
        }
    }
}

extension SyncMessage {
    static func proofAsk(from body: inout CBORDecoder) throws(Malformed) -> SyncMessage {
        let count = try body.mapCount()
        let workspace = try body.workspace()
        try body.key(exactly: 2)
        let claim: ClaimName = try body.identifier16()
        try body.key(exactly: 3)
        let start = body.position
        let number = try body.uint()
        try body.key(exactly: 4)
        let address = try body.text(maxBytes: Limits.attestedValueBytesMax)
        guard !address.isEmpty, !address.utf8.contains(0), count == (number == 2 ? 5 : 4) else {
            throw Malformed(.outOfRange, at: start)
        }
        let act: ProofAsk.Act
        switch number {
        case 0: act = .begin
        case 1: act = .resend
        case 2:
            try body.key(exactly: 5)
            let code = try body.text(maxBytes: ProofAsk.codeDigits)
            guard code.utf8.count == ProofAsk.codeDigits,
                code.utf8.allSatisfy({ (0x30...0x39).contains($0) })
            else { throw Malformed(.badText, at: start) }
            act = .confirm(code: code)
        case 3: act = .forget
        default: throw Malformed(.outOfRange, at: start)
        }
        return .proofAsk(workspace, ProofAsk(claim, act, address: address))
    }

    static func proofAnswer(from body: inout CBORDecoder) throws(Malformed) -> SyncMessage {
        var left = try body.mapCount()
        let start = body.position
        guard (3...5).contains(left) else { throw Malformed(.wrongKeys, at: start) }
        let workspace = try body.workspace()
        try body.key(exactly: 2)
        let claim: ClaimName = try body.identifier16()
        try body.key(exactly: 3)
        var answer = ProofAnswer(claim, try body.code(ProofAnswer.Result.self))
        left -= 3
        var key: UInt64?
        if left > 0 { key = try body.key() }
        if key == 4 {
            answer.retryMilliseconds = try body.uint()
            left -= 1
            key = left > 0 ? try body.key() : nil
        }
        if key == 5 {
            answer.attestation = try body.identifier32()
            left -= 1
            key = nil
        }
        guard left == 0, key == nil else { throw Malformed(.wrongKeys, at: start) }
        return .proofAnswer(workspace, answer)
    }
}
