import Foundation
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// What a token proves, and every way to forge one: RFC 8725, and what strict parsing refuses.
struct `A token` {
    private func vectors() throws -> TokenVectors { try TokenVectors.all.get() }

    // MARK: Good and bad

    @Test(arguments: TokenVectors.tokens("good"))
    func `proves an account`(_ token: TokenVectors.Token) throws {
        let verdict = try vectors().verdict(on: token.text)
        guard case .account(let account) = verdict else {
            Issue.record("\(verdict)")
            return
        }
        #expect(account.subject == "248289761001")
        switch token.name {
        case "RS256":
            #expect(account.name == "Mina Kim" && account.email == "Mina@Example.org")
        case "ES256": #expect(account.name == "mina" && account.email == nil)
        case "EdDSA": #expect(account.name == "mina" && account.email == "mina@example.org")
        default: #expect(account.name == nil && account.email == nil)
        }
    }

    @Test(arguments: TokenVectors.tokens("bad"))
    func `that is forged is refused, and the reason is named`(
        _ token: TokenVectors.Token
    ) throws {
        let fault = try #require(token.fault)
        #expect(try vectors().verdict(on: token.text) == .failure(.refused(fault)))
    }

    @Test func `is forged in every way that has a name`() {
        let tried = Set(TokenVectors.tokens("bad").compactMap(\.fault))
        #expect(tried == Set(TokenFault.allCases))
        #expect(TokenVectors.tokens("bad").count > 70 && TokenVectors.tokens("good").count == 8)
    }

    @Test func `is for one issuer, program, nonce and time`() throws {
        let vectors = try vectors()
        let token = try #require(TokenVectors.tokens("good").first).text
        let good = vectors.wanted
        func verdict(
            issuer: String? = nil, audience: String? = nil, nonce: String? = nil,
            later: UInt64 = 0
        ) -> TokenVerdict {
            vectors.verdict(
                on: token,
                .init(
                    issuer: issuer ?? good.issuer, audience: audience ?? good.audience,
                    nonce: nonce ?? good.nonce, now: good.now + later))
        }
        #expect(verdict(issuer: "https://other.example") == .failure(.refused(.issuer)))
        #expect(verdict(audience: "WSX") == .failure(.refused(.audience)))
        #expect(verdict(nonce: good.nonce + "x") == .failure(.refused(.nonce)))
        #expect(verdict(later: 719_999) != .failure(.refused(.expired)))
        #expect(verdict(later: 720_000) == .failure(.refused(.expired)))
    }

    @Test(arguments: Seeds.explore(3))
    func `with a bit changed anywhere proves nothing`(seed: UInt64) throws {
        let vectors = try vectors()
        var random = SeededGenerator(seed: seed)
        for token in TokenVectors.tokens("good").prefix(3) {
            let letters = Array(token.text.utf8)
            for _ in 0..<40 {
                var changed = letters
                let place = Int.random(in: 0..<letters.count, using: &random)
                changed[place] ^= 1 << UInt8.random(in: 0..<7, using: &random)
                let text = String(decoding: changed, as: UTF8.self)
                guard case .failure(.refused) = vectors.verdict(on: text) else {
                    Issue.record("\(token.name) at \(place)")
                    continue
                }
            }
        }
    }

    // MARK: Keys

    @Test func `needs no name of its key where there is one alone`() throws {
        let vectors = try vectors()
        let token = try #require(vectors.json["withoutKid"]?.stringValue)
        guard case .account = vectors.verdict(on: token, keys: vectors.keyFile("oneKey")) else {
            Issue.record("one key needs no name")
            return
        }
        #expect(vectors.verdict(on: token) == .failure(.refused(.key)))
        // A name that no key has is another key's.
        let named = try #require(TokenVectors.tokens("good").first).text
        #expect(
            vectors.verdict(on: named, keys: vectors.keyFile("oneKey"))
                == .failure(.refused(.key)))
    }

    @Test func `is not believed for one of two keys of one name`() throws {
        let vectors = try vectors()
        let keys = try #require(vectors.json["keys"]?["keys"]?.arrayValue)
        let set: JSONValue = ["keys": .array([keys[0], keys[0]])]
        let token = try #require(TokenVectors.tokens("good").first).text
        #expect(vectors.verdict(on: token, keys: set.bytes) == .failure(.refused(.key)))
    }

    @Test(arguments: [
        "", "[]", "{}", #"{"keys":{}}"#, #"{"keys":[]"#, #"{"keys":[],"keys":[]}"#,
        #"{"keys":[\#(Array(repeating: "{}", count: 33).joined(separator: ","))]}"#,
        #"{"keys":[],"x":"\#(String(repeating: "x", count: 65_536))"}"#,
    ])
    func `is not looked at with what are no keys`(_ text: String) throws {
        let token = try #require(TokenVectors.tokens("good").first).text
        let verdict = try vectors().verdict(on: token, keys: Array(text.utf8))
        #expect(verdict == .failure(.unchecked(.badKeys)))
    }

    @Test(arguments: [
        #"{"kty":"RSA","n":"AQAB","e":"AQAB"}"#, #"{"kty":"RSA","e":"AQAB"}"#,
        #"{"kty":"EC","crv":"P-256","x":"AA","y":"AA"}"#, #"{"kty":"EC","crv":"P-384"}"#,
        #"{"kty":"OKP","crv":"X25519","x":"AA"}"#, #"{"kty":"oct","k":"AA"}"#, #"{"kty":1}"#,
        #"1"#, #"{"kty":"OKP","crv":"Ed25519","x":"A=","kid":"k"}"#,
        #"{"kty":"OKP","crv":"Ed25519","kid":1}"#,
    ])
    func `passes keys over that are none here`(_ key: String) throws {
        #expect(try TokenKey.all(of: Array(#"{"keys":[\#(key)]}"#.utf8)) == [])
    }

    @Test func `with a point that is on no curve is signed by nobody`() throws {
        let off = Base64URL.encode([UInt8](repeating: 1, count: 32))
        let set: JSONValue = [
            "keys": [
                [
                    "kty": "EC", "crv": "P-256", "kid": "e", "x": .string(off),
                    "y": .string(off),
                ]
            ]
        ]
        let token = try #require(TokenVectors.tokens("good").dropFirst().first).text
        #expect(
            try vectors().verdict(on: token, keys: set.bytes)
                == .failure(.refused(.signature)))
    }

    // MARK: Published examples

    /// RFC 7515, A.2 and A.3, and RFC 8037, A.4: no ID tokens, but keys and signatures.
    @Test(arguments: PublishedSignature.all)
    func `has the signatures that are published`(_ example: PublishedSignature) throws {
        let library = try #require(CryptoLibrary(), "libcrypto.so.3 is not here")
        let parts = example.token.split(separator: ".")
        let signature = try #require(Base64URL.decode(parts[2].utf8))
        let message = Array((parts[0] + "." + parts[1]).utf8)
        let key = try #require(
            TokenKey.all(of: Array(#"{"keys":[\#(example.key)]}"#.utf8)).first)
        let isDirect = key.algorithm == .ed25519
        func verifies(_ message: [UInt8]) -> Bool {
            library.verifies(
                key.algorithm == .ecdsa ? PublicKeyText.ecdsa(signature) : signature,
                of: message, key: key.info, isDirect ? .none : .sha256)
        }
        #expect(verifies(message))
        #expect(!verifies(message + [0]))
    }

    // MARK: Lines

    @Test func `is asked about, and answered, in lines that come back the same`() throws {
        let question = TokenQuestion("a.b.c", try vectors().wanted, keys: "/etc/keys \"1\".json")
        #expect(TokenQuestion(line: question.line) == question)
        #expect(question.line.count { $0 == UInt8(ascii: "\n") } == 1)
        #expect(TokenQuestion(line: []) == nil && TokenQuestion(line: Array("{}".utf8)) == nil)
        var verdicts: [TokenVerdict] =
            TokenFault.allCases.map { .failure(.refused($0)) }
            + TokenCheckError.allCases.map { .failure(.unchecked($0)) }
        verdicts.append(.account(.init(subject: "s", name: "n", email: "e", expiry: 7)))
        verdicts.append(.account(.init(subject: "s", expiry: 7)))
        for verdict in verdicts { #expect(TokenVerdict(line: verdict.line) == verdict) }
        for text in ["", "{}", "true", #"{"refused":"x"}"#, #"{"subject":"","expiry":1}"#] {
            let verdict = TokenVerdict(line: Array(text.utf8))
            #expect(verdict == .failure(.unchecked(.failed)))
        }
        #expect(TokenVerdict(line: nil) == .failure(.unchecked(.failed)))
    }

    @Test func `is not looked at without keys or without OpenSSL`() throws {
        let question = TokenQuestion("a.b.c", try vectors().wanted, keys: "/keys")
        #expect(CryptoLibrary("libnowhere.so.3") == nil)
        #expect(
            TokenChild.verdict(on: question, keys: nil, CryptoLibrary())
                == .failure(.unchecked(.noKeys)))
        #expect(
            TokenChild.verdict(on: question, keys: try vectors().keyFile(), nil)
                == .failure(.unchecked(.noLibrary)))
    }

    @Test func `is spelled in one way`() {
        for count in 0..<70 {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 37) }
            #expect(Base64URL.decode(Base64URL.encode(bytes).utf8) == bytes)
        }
        for text in ["A", "AB", "AAB", "A=", "AA==", "+A", "/A", " AA", "AAAAA"] {
            #expect(Base64URL.decode(text.utf8) == nil, "\(text)")
        }
        #expect(Base64URL.encode([0xfb, 0xff]) == "-_8")
    }
}
