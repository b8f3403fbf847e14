import WorkspaceModel

@testable import PeerNode

/// Tokens with the keys of their provider, what the process that checks them says, and what a browser brings
/// back from a login.
extension FuzzTarget {
    static let tokens = FuzzTarget(
        "tokens", "a token with keys, its lines, and a login: the same twice, and within bounds",
        bytesMax: 8_192
    ) { bytes in
        var input = FuzzBytes(bytes)
        let choice = input.byte()
        let keyFile = input.field()
        let content = input.all()
        if let question = TokenQuestion(line: content) {
            try hold(TokenQuestion(line: question.line) == question, "a question changes")
        }
        let verdict = TokenVerdict(line: content)
        try hold(TokenVerdict(line: verdict.line) == verdict, "a verdict changes")
        try logIn(content)
        guard let keys = try? TokenKey.all(of: keyFile) else { return }
        for key in keys { try hold(key.info.count < 1_200, "a key grows") }
        try check(choice.isMultiple(of: 2) ? text(content) : wrapped(content), keys)
    }

    private static let wanted = TokenCheck.Expectation(
        issuer: "https://id.example.org", audience: "wsx", nonce: "N-0", now: 1_795_190_000_000)

    private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    /// Head and claims as they are, which a fuzzer changes more easily than their letters.
    private static func wrapped(_ content: [UInt8]) -> String {
        let parts = content.split(separator: 0x0a, maxSplits: 2, omittingEmptySubsequences: false)
        return parts.map { Base64URL.encode(Array($0)) }.joined(separator: ".")
    }

    private static func check(_ token: String, _ keys: [TokenKey]) throws {
        let believed = TokenVerdict(token, wanted, keys, isSigned: true)
        try hold(TokenVerdict(token, wanted, keys, isSigned: true) == believed, "a verdict differs")
        if case .account = TokenVerdict(token, wanted, keys, isSigned: false) {
            try hold(false, "a token without a signature is taken")
        }
        guard case .account(let account) = believed else { return }
        try hold((1...255).contains(account.subject.utf8.count), "a subject is out of bounds")
        try hold((1...256).contains(account.name?.utf8.count ?? 1), "a name is out of bounds")
        try hold(token.utf8.count <= Limits.accountTokenBytesMax, "a token is too large")
        try hold(account.expiry &+ 120_000 > wanted.now, "an expired token is taken")
        try hold(believed.line.count <= Limits.receiptAnswerBytesMax, "a verdict is too long")
    }

    private static func logIn(_ content: [UInt8]) throws {
        _ = LoginRequest.token(ofAnswer: content)
        if let length = LoginRequest.length(of: content) {
            try hold(length <= content.count + Limits.loginBytesMax, "a request has no end")
        }
        let claim: JSONValue = [
            "login_url": "https://a.b/", "client_id": "wsx", "nonce": "n",
            "token_url": "https://a.b/t",
        ]
        let request = LoginRequest(claim, port: 1, state: "S1", verifier: "v") { $0 }
        if case .code(let code)? = request?.arrival(content) {
            let settings = request?.curlSettings(for: code) ?? ""
            try hold(settings.utf8.count { $0 == 0x0a } == 8, "a code writes settings")
        }
    }
}

extension TokenVerdict {
    /// The verdict on a token by somebody who believes all signatures, or none.
    fileprivate init(
        _ token: String, _ wanted: TokenCheck.Expectation, _ keys: [TokenKey], isSigned: Bool
    ) {
        do throws(TokenFailure) {
            self = .account(
                try TokenCheck.account(
                    of: token, wanted, keys: keys,
                    verifies: { (_) throws(TokenFailure) in isSigned }))
        } catch { self = .failure(error) }
    }
}
