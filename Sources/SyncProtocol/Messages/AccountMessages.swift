public import WorkspaceModel

/// A member's token for a verifier to check (PROTOCOL.md, 5.12). Not stored, not relayed.
public struct AccountAsk: Sendable, Equatable {
    /// The claim: 16 bytes that the member drew and from which the token's nonce is made.
    public var claim: ClaimName
    /// The provider of the token, 1 to `Limits.attestedProviderBytesMax` bytes without NUL.
    public var provider: String
    /// The token, 1 to `Limits.accountTokenBytesMax` bytes that pass `TokenText.isToken`.
    public var token: String

    /// A request with the given fields.
    public init(_ claim: ClaimName, of provider: String, token: String) {
        (self.claim, self.provider, self.token) = (claim, provider, token)
    }
}

/// A verifier's answer.
public struct AccountAnswer: Sendable, Equatable {
    /// The result of a check.
    public enum Result: Sendable, Equatable {
        /// It proves an account, and the attestation is written.
        case proved(OperationID)
        /// It proves nothing; the reason is a number from 1 to `reasonMax`.
        case refused(reason: UInt64)
        /// The account is another member's.
        case taken
        /// The claim was already used for a proof.
        case used
        /// Too many tokens were submitted; how long to wait, milliseconds.
        case tooMany(retryMilliseconds: UInt64)
        /// The token could not be checked.
        case notChecked
        /// This device has no keys of the provider, or does not belong to a verifier.
        case notHere
    }

    /// The largest number of a reason.
    public static let reasonMax: UInt64 = 15

    /// The claim.
    public var claim: ClaimName
    /// The result.
    public var result: Result

    /// An answer with the given fields.
    public init(_ claim: ClaimName, _ result: Result) {
        (self.claim, self.result) = (claim, result)
    }
}

extension AccountAsk {
    func encode(_ workspace: WorkspaceNumber, to body: inout CBOREncoder) {
        body.map(count: 4)
        body.workspace(workspace)
        body.key(2)
        body.byteString(claim)
        body.key(3)
        body.text(provider)
        body.key(4)
        body.text(token)
    }
}

extension AccountAnswer {
    private var number: UInt64 {
        switch result {
        case .proved: 0
        case .refused: 1
        case .taken: 2
        case .used: 3
        case .tooMany: 4
        case .notChecked: 5
        case .notHere: 6
        }
    }

    func encode(_ workspace: WorkspaceNumber, to body: inout CBOREncoder) {
        let hasMore =
            switch result {
            case .proved, .refused, .tooMany: true
            case .taken, .used, .notChecked, .notHere: false
            }
        body.map(count: hasMore ? 4 : 3)
        body.workspace(workspace)
        body.key(2)
        body.byteString(claim)
        body.key(3)
        body.uint(number)
        switch result {
        case .proved(let attestation):
            body.key(6)
            body.byteString(attestation)
        case .refused(let reason):
            body.key(4)
            body.uint(reason)
        case .tooMany(let milliseconds):
            body.key(5)
            body.uint(milliseconds)
        case .taken, .used, .notChecked, .notHere: break
        }
    }
}

extension SyncMessage {
    static func accountAsk(from body: inout CBORDecoder) throws(Malformed) -> SyncMessage {
        try body.mapCount(exactly: 4)
        let workspace = try body.workspace()
        try body.key(exactly: 2)
        let claim: ClaimName = try body.identifier16()
        try body.key(exactly: 3)
        let start = body.position
        let provider = try body.text(maxBytes: Limits.attestedProviderBytesMax)
        try body.key(exactly: 4)
        let token = try body.text(maxBytes: Limits.accountTokenBytesMax)
        guard !provider.isEmpty, !provider.utf8.contains(0),
            TokenText.isToken(token)
        else { throw Malformed(.badText, at: start) }
        return .accountAsk(workspace, AccountAsk(claim, of: provider, token: token))
    }

    static func accountAnswer(from body: inout CBORDecoder) throws(Malformed) -> SyncMessage {
        let count = try body.mapCount()
        let workspace = try body.workspace()
        try body.key(exactly: 2)
        let claim: ClaimName = try body.identifier16()
        try body.key(exactly: 3)
        let start = body.position
        let number = try body.uint()
        guard count == ([0, 1, 4].contains(number) ? 4 : 3) else {
            throw Malformed(.wrongKeys, at: start)
        }
        let result: AccountAnswer.Result
        switch number {
        case 0:
            try body.key(exactly: 6)
            result = .proved(try body.identifier32())
        case 1:
            try body.key(exactly: 4)
            let reason = try body.uint()
            guard (1...AccountAnswer.reasonMax).contains(reason) else {
                throw Malformed(.outOfRange, at: start)
            }
            result = .refused(reason: reason)
        case 2: result = .taken
        case 3: result = .used
        case 4:
            try body.key(exactly: 5)
            result = .tooMany(retryMilliseconds: try body.uint())
        case 5: result = .notChecked
        case 6: result = .notHere
        default: throw Malformed(.outOfRange, at: start)
        }
        return .accountAnswer(workspace, AccountAnswer(claim, result))
    }
}
