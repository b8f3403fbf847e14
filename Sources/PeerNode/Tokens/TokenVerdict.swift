import WorkspaceModel

/// The answer of that process: one line of JSON on its standard output.
public enum TokenVerdict: Equatable, Sendable {
    /// The token proves this account.
    case account(TokenCheck.Account)
    /// It proves nothing, or nobody knows.
    case failure(TokenFailure)

    /// The line, with its end.
    public var line: [UInt8] {
        let object: JSONValue =
            switch self {
            case .account(let account):
                [
                    "subject": .string(account.subject), "name": JSONValue(orNull: account.name),
                    "email": JSONValue(orNull: account.email),
                    "expiry": .integer(Int64(clamping: account.expiry)),
                ]
            case .failure(.refused(let fault)): ["refused": .string(fault.word)]
            case .failure(.unchecked(let trouble)): ["unchecked": .string(trouble.rawValue)]
            }
        return object.bytes + [UInt8(ascii: "\n")]
    }

    /// - Parameter line: from another process, which may have been killed; `nil` for one that said
    ///   nothing of use.
    public init(line: [UInt8]?) {
        self =
            line.flatMap { try? JSONValue(parsing: $0) }.flatMap(Self.init(untrusted:))
            ?? .failure(.unchecked(.failed))
    }

    private init?(untrusted object: JSONValue) {
        if let word = object["refused"]?.stringValue, let fault = TokenFault(word: word) {
            self = .failure(.refused(fault))
        } else if let word = object["unchecked"]?.stringValue,
            let trouble = TokenCheckError(rawValue: word)
        {
            self = .failure(.unchecked(trouble))
        } else if let subject = object["subject"]?.stringValue, !subject.isEmpty,
            subject.utf8.count <= Limits.tokenSubjectBytesMax,
            let expiry = object["expiry"]?.integerValue.flatMap({ UInt64(exactly: $0) })
        {
            var account = TokenCheck.Account(subject: subject, expiry: expiry)
            account.name = object["name"]?.stringValue.flatMap {
                (1...Limits.attestedNameBytesMax).contains($0.utf8.count) && !$0.utf8.contains(0)
                    ? $0 : nil
            }
            account.email = object["email"]?.stringValue
            self = .account(account)
        } else {
            return nil
        }
    }
}
