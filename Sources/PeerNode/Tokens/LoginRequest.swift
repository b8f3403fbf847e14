public import WorkspaceModel

/// A login at a provider in a browser, which is redirected to a port of this machine (RFC 8252).
///
/// With a token endpoint it is a code with PKCE (RFC 7636); without one the provider makes the
/// browser post the ID token. This type only handles the text; sockets and processes are elsewhere.
public struct LoginRequest: Equatable, Sendable {
    /// The provider's login page.
    public let page: String
    /// Where a code becomes a token; `nil` where the page gives a token itself.
    public let exchange: String?
    /// For which program.
    public let client: String
    /// The nonce that the token must contain.
    public let nonce: String
    /// The redirect URI for the browser.
    public let redirect: String
    /// The state that the redirect must contain, so that nobody else can inject an answer.
    public let state: String
    /// The PKCE verifier, which proves to the token endpoint that the requester of the code uses
    /// it, 43 letters.
    public let verifier: String
    /// The SHA-256 of that.
    public let challenge: [UInt8]

    /// The outcome of a redirect.
    public enum Arrival: Equatable, Sendable {
        /// A code for the token endpoint.
        case code(String)
        /// The token itself.
        case token(String)
        /// The provider refuses, in its word for that.
        case refusal(String)
        /// Something else: a picture for a tab, or what nobody asked for.
        case nothing
    }

    /// - Parameters:
    ///   - claim: what `account.link` answers.
    ///   - port: where the browser comes back to.
    ///   - state: random letters.
    ///   - verifier: likewise, 43 of them.
    ///   - sha256: the hash function.
    /// - Returns: `nil` where the provider has no login page.
    public init?(
        _ claim: JSONValue, port: UInt16, state: String, verifier: String,
        sha256: ([UInt8]) -> [UInt8]
    ) {
        guard let page = claim["login_url"]?.stringValue,
            let client = claim["client_id"]?.stringValue, let nonce = claim["nonce"]?.stringValue
        else { return nil }
        (self.page, exchange) = (page, claim["token_url"]?.stringValue)
        (self.client, self.nonce) = (client, nonce)
        redirect = "http://127.0.0.1:\(port)/"
        (self.state, self.verifier) = (state, verifier)
        challenge = sha256(Array(verifier.utf8))
    }

    /// The URL to open.
    public var address: String {
        var fields = [
            ("client_id", client), ("redirect_uri", redirect), ("scope", "openid profile email"),
            ("state", state), ("nonce", nonce),
        ]
        if exchange == nil {
            fields += [("response_type", "id_token"), ("response_mode", "form_post")]
        } else {
            fields += [
                ("response_type", "code"), ("code_challenge", Base64URL.encode(challenge)),
                ("code_challenge_method", "S256"),
            ]
        }
        let isBegun = page.utf8.contains(UInt8(ascii: "?"))
        return page + (isBegun ? "&" : "?") + FormText.encode(fields)
    }

    // MARK: The way back

    /// The outcome in an HTTP request of the browser.
    ///
    /// - Parameter request: head and body, from outside.
    public func arrival(_ request: [UInt8]) -> Arrival {
        guard let line = Self.lines(of: request).first else { return .nothing }
        let words = line.split(separator: " ")
        guard words.count == 3, let target = words.dropFirst().first else { return .nothing }
        let fields: [String: String]
        switch words.first {
        case "GET" where target.utf8.starts(with: "/?".utf8):
            fields = FormText.decode(target.dropFirst(2))
        case "POST" where target == "/":
            guard let start = Self.bodyStart(of: request) else { return .nothing }
            fields = FormText.decode(String(decoding: request[start...], as: UTF8.self))
        default: return .nothing
        }
        guard fields["state"].map({ $0.utf8.elementsEqual(state.utf8) }) == true else {
            return .nothing
        }
        if let word = fields["error"] { return .refusal(word) }
        if exchange == nil { return fields["id_token"].map { .token($0) } ?? .nothing }
        return fields["code"].map { .code($0) } ?? .nothing
    }

    /// How many bytes a request of a browser has in all; `nil` while its head is not whole.
    ///
    /// - Parameter request: from outside.
    public static func length(of request: [UInt8]) -> Int? {
        guard let start = bodyStart(of: request) else { return nil }
        for line in lines(of: request).dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1)
            guard parts.count == 2, parts[0].lowercased() == "content-length",
                let count = Int(parts[1].filter { $0 != " " }), (0...Limits.loginBytesMax) ~= count
            else { continue }
            return start + count
        }
        return start
    }

    /// Where the body begins, behind the first empty line.
    private static func bodyStart(of request: [UInt8]) -> Int? {
        let end: [UInt8] = [0x0d, 0x0a, 0x0d, 0x0a]
        guard request.count >= end.count else { return nil }
        for start in 0...(request.count - end.count)
        where request[start] == end[0] && request[start..<start + end.count].elementsEqual(end) {
            return start + end.count
        }
        return nil
    }

    /// The lines of the head.
    private static func lines(of request: [UInt8]) -> [Substring] {
        let head = String(decoding: request.prefix(bodyStart(of: request) ?? 0), as: UTF8.self)
        return head.split(separator: "\r\n")
    }

    // MARK: The exchange

    /// The input for `curl` to exchange a code for a token: all of it on standard input.
    public func curlSettings(for code: String) -> String? {
        guard let exchange else { return nil }
        let form = FormText.encode([
            ("grant_type", "authorization_code"), ("code", code), ("redirect_uri", redirect),
            ("client_id", client), ("code_verifier", verifier),
        ])
        let isSealed = exchange.utf8.starts(with: "https:".utf8)
        var settings = [
            ("url", exchange), ("proto", isSealed ? "=https" : "=http"), ("data-raw", form),
            ("max-time", "30"), ("max-filesize", String(Limits.loginBytesMax)),
            ("header", "Accept: application/json"),
        ]
        // A proxy would read what this machine is meant to keep.
        if !isSealed { settings.append(("noproxy", "*")) }
        return settings.map { "\($0) = \"\(Self.escaped($1))\"\n" }.joined()
            + "globoff\nsilent\n"
    }

    private static func escaped(_ text: String) -> String {
        text.map { $0 == "\"" || $0 == "\\" ? "\\\($0)" : String($0) }.joined()
    }

    /// The outcome in the answer of a token endpoint: the token, or its word for a refusal.
    ///
    /// - Parameter answer: from outside.
    public static func token(ofAnswer answer: [UInt8]) -> Arrival {
        guard answer.count <= Limits.loginBytesMax, let object = try? JSONValue(parsing: answer)
        else { return .nothing }
        if let token = object["id_token"]?.stringValue { return .token(token) }
        return object["error"]?.stringValue.map { .refusal($0) } ?? .nothing
    }
}
