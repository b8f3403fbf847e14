import WorkspaceModel

/// What can fail when somebody links an account.
extension NodeError {
    /// A token proves nothing.
    ///
    /// - Parameter reason: a number of `TokenFault`, as a peer says it.
    static func token(_ reason: UInt64) -> NodeError {
        let fault = TokenFault(rawValue: reason) ?? .form
        return NodeError(
            .codeInvalid, "the token proves nothing: \(fault.sentence)",
            hint: "log in again with the nonce of 'wsx-node account link'",
            reason: "token.\(fault.word)",
            fields: [.init(name: "id_token", reason: fault.word)])
    }

    /// No account is being linked, or no longer.
    static let accountClaimOver = NodeError(
        .codeInvalid, "the nonce of this token is not in use, or not any more",
        hint: "wsx-node account link NAME", reason: "token.over",
        fields: [.init(name: "id_token", reason: "nonce")])

    /// The account is somebody else's here.
    static func accountTaken(_ provider: String) -> NodeError {
        NodeError(
            .duplicate, "that account of \(quoted(provider)) is linked by someone else here",
            hint: "log in with another account, or ask an admin", reason: "account.taken",
            fields: [.init(name: "id_token", reason: "taken")])
    }

    /// A verifier has looked at enough tokens for now.
    static func tooManyTokens(_ milliseconds: UInt64) -> NodeError {
        // A peer says how long.
        let wait = min(milliseconds, Limits.letterHourMilliseconds)
        return NodeError(
            .rateLimited, "too many tokens were checked; try again in \(wait / 60_000 + 1) min",
            hint: nil, reason: "token.many",
            details: ["retry_ms": .integer(Int64(clamping: wait))])
    }

    /// A verifier was shown a token, and has said nothing so far.
    static let noTokenAnswer = NodeError(
        .pending, "no verifier has answered yet; this continues by itself",
        hint: "wsx-node account links", reason: "proof.no_answer")

    /// Nobody is there who can look at a token.
    ///
    /// - Parameter isNobody: whether no verifier is there at all.
    static func noTokenChecker(_ provider: String, isNobody: Bool) -> NodeError {
        NodeError(
            .pending,
            isNobody
                ? "no verifier is online; this continues when one comes"
                : "no verifier who is online can check tokens of \(quoted(provider)) now; "
                    + "this continues by itself",
            hint: "wsx-node policy show tells who may verify", reason: "proof.no_verifier",
            details: ["provider": .string(provider)])
    }

    /// There is no such provider.
    static func noProvider(_ name: String) -> NodeError {
        .notFound(
            "provider", name, field: "provider", hint: "wsx-node account provider list")
    }
}

extension TokenFault {
    /// The problem of a token, as a sentence.
    var sentence: String {
        switch self {
        case .form: "it is not a signed token, or part of it has the wrong form"
        case .deep: "it is nested too deep"
        case .duplicate: "it names something twice"
        case .type: "it is a token for something else"
        case .critical: "it needs an extension that is not known here"
        case .algorithm: "its algorithm is not the one of the provider's key"
        case .key: "no known key of the provider is the one it names"
        case .signature: "the provider has not signed it"
        case .issuer: "another provider issued it"
        case .audience: "it is for another program"
        case .expired: "it has expired"
        case .future: "it is not valid yet"
        case .old: "it is more than a day old"
        case .nonce: "it was made for another login"
        case .subject: "it does not say whose account it is"
        }
    }
}
