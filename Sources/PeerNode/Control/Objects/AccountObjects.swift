public import WorkspaceModel

/// A provider of accounts, as this node knows it.
public struct AccountProviderObject: ControlObject {
    /// What it is called.
    public let name: String
    /// Who makes its tokens.
    public let issuer: String
    /// For which program.
    public let client: String
    /// The path of the file with its public keys; `nil` where tokens are checked elsewhere.
    public var keys: String?
    /// Its login page, and where a code becomes a token.
    public var page: String?
    /// See `page`.
    public var exchange: String?

    /// All fields; the name is the id.
    public var json: JSONValue {
        [
            "id": .string(name), "name": .string(name), "issuer": .string(issuer),
            "client_id": .string(client), "jwks": JSONValue(orNull: keys),
            "login_url": JSONValue(orNull: page), "token_url": JSONValue(orNull: exchange),
        ]
    }
}

/// The progress of linking an account.
public struct AccountClaimObject: ControlObject {
    /// Whose account it is.
    public let provider: String
    /// `waiting` for a token, `pending` while no verifier has looked at it, or `verified`.
    public let state: String
    /// What the token has to have as its `nonce`; `nil` once it is verified.
    public var nonce: String?
    /// Who has to make it.
    public var issuer: String?
    /// For which program.
    public var client: String?
    /// The provider's login page, and where a code becomes a token.
    public var page: String?
    /// See `page`.
    public var exchange: String?
    /// Who has verified it.
    public var verifier: PersonObject?
    /// Until when the nonce is good, milliseconds since 1970.
    public var expiresAt: Int64?

    /// All fields; the provider is the id.
    public var json: JSONValue {
        [
            "id": .string(provider), "provider": .string(provider), "state": .string(state),
            "nonce": JSONValue(orNull: nonce), "issuer": JSONValue(orNull: issuer),
            "client_id": JSONValue(orNull: client), "login_url": JSONValue(orNull: page),
            "token_url": JSONValue(orNull: exchange), "verifier": verifier?.json ?? .null,
            "expires_at": JSONValue(orNull: expiresAt),
        ]
    }
}

/// A linked account, as profiles show it.
public struct AccountMark: Equatable, Sendable {
    /// Whose account it is.
    public let provider: String
    /// What it is called there.
    public let name: String?
    /// Who has verified it, and since when.
    public let verified: VerifiedMark

    /// All fields.
    var json: JSONValue {
        [
            "provider": .string(provider), "name": JSONValue(orNull: name),
            "by": verified.by.json, "at": .integer(verified.at),
        ]
    }
}
