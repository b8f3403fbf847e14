import WorkspaceModel

/// Whether a token proves that somebody can log in somewhere (PROTOCOL.md, 5.12). A pure function:
/// keys, clock and signature arithmetic are passed in.
public enum TokenCheck {
    /// The requirements for a token.
    public struct Expectation: Equatable, Sendable {
        /// The expected issuer.
        public let issuer: String
        /// For which program.
        public let audience: String
        /// Under which nonce.
        public let nonce: String
        /// The current time, milliseconds since 1970.
        public let now: UInt64
    }

    /// The account in an accepted token.
    public struct Account: Equatable, Sendable {
        /// The account, in the issuer's terms.
        public let subject: String
        /// The display name there.
        public var name: String?
        /// An address that the issuer has verified, unchanged.
        public var email: String?
        /// When the token ends, milliseconds since 1970.
        public let expiry: UInt64
    }

    /// A signature to verify.
    public struct Signature: Equatable, Sendable {
        /// By which algorithm.
        public let algorithm: TokenKey.Algorithm
        /// The key, as in `TokenKey.info`.
        public let key: [UInt8]
        /// The signed bytes.
        public let message: [UInt8]
        /// The signature in the form that OpenSSL takes.
        public let bytes: [UInt8]
    }

    /// Checks a token.
    ///
    /// - Parameters:
    ///   - text: from outside.
    ///   - keys: of the provider, from the owner's file alone.
    ///   - verifies: whether a signature is right.
    /// - Throws: the first reason not to take it, in the order of Z-24.
    public static func account(
        of text: String, _ wanted: Expectation, keys: [TokenKey],
        verifies: (Signature) throws(TokenFailure) -> Bool
    ) throws(TokenFailure) -> Account {
        let token: SignedToken
        let key: TokenKey
        do throws(TokenFault) {
            token = try SignedToken(text)
            key = try Self.key(of: token.head, among: keys)
        } catch { throw .refused(error) }
        guard let signature = signature(of: token, by: key), try verifies(signature) else {
            throw .refused(.signature)
        }
        do throws(TokenFault) { return try account(token.claims, wanted) } catch {
            throw .refused(error)
        }
    }

    private static func key(
        of head: SignedToken.Head, among keys: [TokenKey]
    ) throws(TokenFault) -> TokenKey {
        let named = keys.filter { key in
            guard let name = head.key else { return true }
            return key.name.map { $0.utf8.elementsEqual(name.utf8) } ?? false
        }
        guard let key = named.first, named.count == 1 else { throw .key }
        guard key.algorithm == head.algorithm else { throw .algorithm }
        return key
    }

    private static func signature(of token: SignedToken, by key: TokenKey) -> Signature? {
        var bytes = token.signature
        switch key.algorithm {
        case .rsa: guard !bytes.isEmpty else { return nil }
        case .ecdsa:
            guard bytes.count == 64 else { return nil }
            bytes = PublicKeyText.ecdsa(bytes)
        case .ed25519: guard bytes.count == 64 else { return nil }
        }
        return Signature(
            algorithm: key.algorithm, key: key.info, message: token.signed, bytes: bytes)
    }

    // MARK: Claims

    private static func account(
        _ claims: JSONValue, _ wanted: Expectation
    ) throws(TokenFault) -> Account {
        guard isText(claims["iss"], wanted.issuer) else { throw .issuer }
        try checkAudience(claims, wanted.audience)
        let expiry = try checkTimes(claims, now: wanted.now)
        guard isText(claims["nonce"], wanted.nonce) else { throw .nonce }
        guard let subject = claims["sub"]?.stringValue,
            (1...Limits.tokenSubjectBytesMax).contains(subject.utf8.count),
            !subject.utf8.contains(0)
        else { throw .subject }
        var account = Account(subject: subject, expiry: expiry)
        account.name = ["name", "preferred_username", "nickname"].lazy
            .compactMap { claims[$0]?.stringValue }
            .first { isName($0) }
        if claims["email_verified"] == true || claims["email_verified"] == "true",
            let email = claims["email"]?.stringValue,
            (1...Limits.attestedValueBytesMax).contains(email.utf8.count)
        {
            account.email = email
        }
        return account
    }

    private static func isText(_ value: JSONValue?, _ wanted: String) -> Bool {
        value?.stringValue.map { $0.utf8.elementsEqual(wanted.utf8) } ?? false
    }

    private static func isName(_ text: String) -> Bool {
        guard (1...Limits.attestedNameBytesMax).contains(text.utf8.count) else { return false }
        do throws(TextProblem) { try CheckedName.checkWire(text) } catch { return false }
        return !CheckedName.isBlank(text)
    }

    private static func checkAudience(
        _ claims: JSONValue, _ audience: String
    ) throws(TokenFault) {
        switch claims["aud"] {
        case .string(let text):
            guard text.utf8.elementsEqual(audience.utf8) else { throw .audience }
        case .array(let list):
            guard list.contains(where: { isText($0, audience) }),
                list.count == 1 || claims["azp"] != nil
            else { throw .audience }
        default: throw .audience
        }
        if let party = claims["azp"] {
            guard isText(party, audience) else { throw .audience }
        }
    }

    /// - Returns: when the token ends, milliseconds since 1970.
    private static func checkTimes(
        _ claims: JSONValue, now: UInt64
    ) throws(TokenFault) -> UInt64 {
        guard let expiry = try moment(claims["exp"]), let made = try moment(claims["iat"]) else {
            throw .form
        }
        let leeway = Limits.tokenLeewayMilliseconds
        guard expiry &+ leeway > now else { throw .expired }
        let begin = max(made, try moment(claims["nbf"]) ?? 0)
        guard begin <= now &+ leeway else { throw .future }
        guard made &+ Limits.tokenAgeMillisecondsMax >= now else { throw .old }
        return expiry
    }

    /// Seconds since 1970 as milliseconds; `nil` where nothing is said.
    private static func moment(_ value: JSONValue?) throws(TokenFault) -> UInt64? {
        guard let value else { return nil }
        guard let seconds = value.integerValue, (0...(1 << 53 - 1)).contains(seconds) else {
            throw .form
        }
        return UInt64(seconds) * 1_000
    }
}
