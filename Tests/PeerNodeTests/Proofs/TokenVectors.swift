import Foundation
import Testing
import WorkspaceCrypto
import WorkspaceModel

@testable import PeerNode

/// Tokens of a test OpenID provider: keys of the three kinds, tokens signed by them, and forged
/// tokens (`Tests/Vectors/tokens.json`, made with Python's `cryptography`).
struct TokenVectors {
    struct Token: CustomTestStringConvertible {
        let name: String
        let text: String
        /// Why it is to be refused; `nil` for a good one.
        let fault: TokenFault?

        var testDescription: String { name }
    }

    let json: JSONValue

    static let all = Result { try Self() }

    private init() throws {
        json = try JSONValue(parsing: SourceTree.text("Tests/Vectors/tokens.json"))
    }

    var wanted: TokenCheck.Expectation {
        TokenCheck.Expectation(
            issuer: json["issuer"]?.stringValue ?? "",
            audience: json["audience"]?.stringValue ?? "",
            nonce: json["nonce"]?.stringValue ?? "",
            now: UInt64(clamping: json["now"]?.integerValue ?? 0))
    }

    /// The keys as a file has them.
    func keyFile(_ name: String = "keys") -> [UInt8] { json[name]?.bytes ?? [] }

    static func tokens(_ list: String) -> [Token] {
        ((try? all.get())?.json[list]?.arrayValue ?? []).map { token in
            Token(
                name: token["name"]?.stringValue ?? "", text: token["token"]?.stringValue ?? "",
                fault: token["fault"]?.stringValue.flatMap(TokenFault.init(word:)))
        }
    }

    /// The verdict on a token, by this machine's OpenSSL.
    func verdict(
        on token: String, _ wanted: TokenCheck.Expectation? = nil, keys: [UInt8]? = nil
    ) -> TokenVerdict {
        TokenChild.verdict(
            on: TokenQuestion(token, wanted ?? self.wanted, keys: "/keys"),
            keys: keys ?? keyFile(), CryptoLibrary())
    }
}

/// A provider that signs anything for a test, with an Ed25519 key.
struct TestProvider {
    private let key: SigningKey
    let issuer: String
    let client: String

    init(_ issuer: String = "https://id.example.org", client: String = "wsx", seed: UInt8 = 7) {
        key = SigningKey(seed: [UInt8](repeating: seed, count: 32))
        (self.issuer, self.client) = (issuer, client)
    }

    /// Its keys as a file has them.
    var keyFile: [UInt8] {
        let set: JSONValue = [
            "keys": [
                [
                    "kty": "OKP", "crv": "Ed25519", "kid": "k1",
                    "x": .string(Base64URL.encode(key.device.bytes)),
                ]
            ]
        ]
        return set.bytes
    }

    /// A token with these claims besides the usual ones, or in their place.
    func token(
        _ nonce: String, subject: String = "s1", at now: UInt64, _ more: JSONObject = [:],
        kid: String = "k1"
    ) -> String {
        let seconds = Int64(now / 1_000)
        var claims: JSONObject = [
            "iss": .string(issuer), "aud": .string(client), "sub": .string(subject),
            "nonce": .string(nonce), "iat": .integer(seconds), "exp": .integer(seconds + 600),
        ]
        for member in more.members { claims[member.key] = member.value }
        let head: JSONValue = ["alg": "EdDSA", "kid": .string(kid)]
        let signed =
            Base64URL.encode(head.bytes) + "." + Base64URL.encode(JSONValue.object(claims).bytes)
        return signed + "." + Base64URL.encode(key.signature(for: Array(signed.utf8)).bytes)
    }
}
