/// Why a token proves nothing (PROTOCOL.md, Z-24). Peers exchange the numbers.
public enum TokenFault: UInt64, CaseIterable, Error, Sendable {
    /// It is not a token, or is malformed.
    case form = 1
    /// Its JSON is nested too deep.
    case deep = 2
    /// Its JSON names something twice.
    case duplicate = 3
    /// It is a token for something else.
    case type = 4
    /// It wants something understood that is not.
    case critical = 5
    /// It names an algorithm that is not the one of its key.
    case algorithm = 6
    /// No key is the one it was signed by, or several may be.
    case key = 7
    /// That key has not signed it.
    case signature = 8
    /// It is another provider's.
    case issuer = 9
    /// It is for another program.
    case audience = 10
    /// Its time is over.
    case expired = 11
    /// It comes from the future.
    case future = 12
    /// It was made too long ago.
    case old = 13
    /// It was made for somebody else, or for another question.
    case nonce = 14
    /// It does not say whom it is about.
    case subject = 15

    /// The word for it in a failure, and between a node and the process that checks tokens.
    public var word: String {
        switch self {
        case .form: "form"
        case .deep: "deep"
        case .duplicate: "duplicate"
        case .type: "type"
        case .critical: "critical"
        case .algorithm: "algorithm"
        case .key: "key"
        case .signature: "signature"
        case .issuer: "issuer"
        case .audience: "audience"
        case .expired: "expired"
        case .future: "future"
        case .old: "old"
        case .nonce: "nonce"
        case .subject: "subject"
        }
    }

    /// The fault with this word.
    ///
    /// - Parameter word: from another process.
    init?(word: String) {
        guard let fault = Self.allCases.first(where: { $0.word.utf8.elementsEqual(word.utf8) })
        else { return nil }
        self = fault
    }
}

/// Why a token could not be checked, which says nothing about it.
public enum TokenCheckError: String, CaseIterable, Error, Sendable {
    /// The file with the provider's keys cannot be read, or is too large.
    case noKeys = "no_keys"
    /// That file is not a set of keys.
    case badKeys = "bad_keys"
    /// OpenSSL's libcrypto is not installed.
    case noLibrary = "no_library"
    /// The process that looks at tokens failed, took too long, or could not be started.
    case failed
}

/// Why a token is not accepted.
public enum TokenFailure: Error, Equatable, Sendable {
    /// It proves nothing.
    case refused(TokenFault)
    /// It could not be looked at.
    case unchecked(TokenCheckError)
}
