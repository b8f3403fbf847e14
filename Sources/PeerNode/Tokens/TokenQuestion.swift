import WorkspaceModel

/// What a node asks the process that checks tokens: one line of JSON on its standard input.
public struct TokenQuestion: Equatable, Sendable {
    /// The token, of somebody else.
    public let token: String
    /// The requirements for it.
    public let wanted: TokenCheck.Expectation
    /// Where the provider's keys are, an absolute path.
    public let keys: String

    /// A question about a token.
    public init(_ token: String, _ wanted: TokenCheck.Expectation, keys: String) {
        (self.token, self.wanted, self.keys) = (token, wanted, keys)
    }

    /// The line, with its end.
    public var line: [UInt8] {
        let object: JSONValue = [
            "token": .string(token), "issuer": .string(wanted.issuer),
            "audience": .string(wanted.audience), "nonce": .string(wanted.nonce),
            "now": .integer(Int64(clamping: wanted.now)), "keys": .string(keys),
        ]
        return object.bytes + [UInt8(ascii: "\n")]
    }

    /// - Returns: `nil` where the line is not a valid question.
    public init?(line: [UInt8]) {
        guard line.count <= Limits.tokenQuestionBytesMax,
            let object = try? JSONValue(parsing: line), let token = object["token"]?.stringValue,
            let issuer = object["issuer"]?.stringValue,
            let audience = object["audience"]?.stringValue,
            let nonce = object["nonce"]?.stringValue,
            let now = object["now"]?.integerValue.flatMap({ UInt64(exactly: $0) }),
            let keys = object["keys"]?.stringValue
        else { return nil }
        self.init(
            token, .init(issuer: issuer, audience: audience, nonce: nonce, now: now), keys: keys)
    }
}
