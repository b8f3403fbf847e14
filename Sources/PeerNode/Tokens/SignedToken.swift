import WorkspaceModel

/// A token in its compact form (RFC 7515, 7.1), parsed but not verified.
struct SignedToken {
    /// The header: how the token was signed.
    struct Head {
        /// The algorithm that it names, which decides nothing.
        let algorithm: TokenKey.Algorithm
        /// The key that it names.
        let key: String?
    }

    let head: Head
    /// The claims, not verified yet.
    let claims: JSONValue
    /// The signed bytes: the encoded header and claims, and the dot between them.
    let signed: [UInt8]
    let signature: [UInt8]

    /// - Parameter text: from outside.
    init(_ text: String) throws(TokenFault) {
        guard TokenText.isToken(text) else { throw .form }
        let parts = Array(text.utf8).split(
            separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3, let signature = Base64URL.decode(parts[2]) else { throw .form }
        head = try Head(try Self.object(parts[0]))
        claims = try Self.object(parts[1])
        signed = Array(parts[0]) + [UInt8(ascii: ".")] + Array(parts[1])
        self.signature = signature
    }

    private static func object(_ letters: ArraySlice<UInt8>) throws(TokenFault) -> JSONValue {
        guard let bytes = Base64URL.decode(letters) else { throw .form }
        let value: JSONValue
        do throws(JSONError) { value = try JSONValue(parsing: bytes) } catch {
            switch error.reason {
            case .tooDeep: throw .deep
            case .duplicateKey: throw .duplicate
            default: throw .form
            }
        }
        guard value.objectValue != nil else { throw .form }
        return value
    }
}

extension SignedToken.Head {
    /// Keys in the header (`jwk`, `jku`, `x5u`, `x5c`) are ignored: a key comes only from the
    /// owner's file.
    fileprivate init(_ head: JSONValue) throws(TokenFault) {
        if let type = head["typ"], !type.isNull {
            guard let word = type.stringValue else { throw .form }
            guard word.utf8.elementsEqual("JWT".utf8) || word.lowercased() == "jwt" else {
                throw .type
            }
        }
        guard head["crit"] == nil else { throw .critical }
        guard let word = head["alg"]?.stringValue else { throw .form }
        guard
            let algorithm = TokenKey.Algorithm.allCases.first(where: {
                $0.rawValue.utf8.elementsEqual(word.utf8)
            })
        else { throw .algorithm }
        self.algorithm = algorithm
        if let key = head["kid"], !key.isNull {
            guard let name = key.stringValue else { throw .form }
            self.key = name
        } else {
            key = nil
        }
    }
}
