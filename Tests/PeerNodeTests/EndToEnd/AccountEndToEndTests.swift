import Foundation
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

extension EndToEnd {
    /// Accounts that are linked by real homes, with keys that lie in a file.
    struct `Accounts` {
        private static let settings = [
            "--issuer", "https://id.example.org", "--client-id", "wsx",
        ]

        /// Mina, who verifies, with Joon and Dora.
        private func three(_ keys: [UInt8]) throws -> [TemporaryNode] {
            let nodes = [TemporaryNode(), TemporaryNode(), TemporaryNode()]
            nodes[0].up(name: "Mina", workspace: "acme")
            for (node, name) in zip(nodes.dropFirst(), ["Joon", "Dora"]) {
                let joined = node.join(nodes[0].invite(), name: name)
                try #require(joined.status == 0, "\(joined.errors)")
                let added = node.run(["account", "provider", "add", "lab"] + Self.settings)
                try #require(added.status == 0, "\(added.errors)")
            }
            let file = nodes[0].folder + "/keys.json"
            try Data(keys).write(to: URL(fileURLWithPath: file))
            let added = nodes[0].run(
                ["account", "provider", "add", "lab"] + Self.settings + ["--jwks", file])
            try #require(added.status == 0, "\(added.errors)")
            return nodes
        }

        private func nonce(_ node: TemporaryNode) throws -> String {
            let begun = node.run("account", "link", "lab", "--json")
            return try #require(begun.object["nonce"]?.stringValue, "\(begun.errors)")
        }

        private var now: UInt64 { UInt64(Date().timeIntervalSince1970 * 1_000) }

        /// Whether bytes stand in a file of a home.
        private func isStored(_ word: String, in node: TemporaryNode) throws -> Bool {
            let files = FileManager.default.enumerator(atPath: node.home)?.allObjects ?? []
            return files.compactMap { $0 as? String }.contains { path in
                guard let data = FileManager.default.contents(atPath: node.home + "/" + path)
                else { return false }
                return ByteSearch.finds(Array(word.utf8), in: Array(data))
            }
        }

        @Test func `are linked by a token that a process checks, and no home keeps it`() throws {
            let provider = TestProvider()
            let nodes = try three(provider.keyFile)
            let token = provider.token(try nonce(nodes[1]), at: now, ["name": "joon at lab"])
            let forged = TestProvider(seed: 9).token(try nonce(nodes[1]), at: now)
            let refused = nodes[1].run(
                "account", "link", "lab", "--token", "-", "--json", input: forged)
            #expect(refused.status == 1 && refused.error.kind == "code_invalid")
            #expect(refused.errors.contains("token.signature"), "\(refused.errors)")
            let done = nodes[1].run(
                "account", "link", "lab", "--token", "-", input: token + "\n")
            #expect(done.status == 0, "\(done.errors)")
            #expect(done.output == "your account at lab is verified by Mina\n")
            #expect(
                eventually {
                    nodes[2].run("profile", "show", "@Joon").output.contains(
                        "joon at lab  (verified by Mina, today)")
                })
            for node in nodes { #expect(try !isStored(token, in: node)) }
            let stolen = nodes[2].run(
                "account", "link", "lab", "--token", "-", "--json", input: token)
            #expect(stolen.status == 1 && stolen.errors.contains("token."))
            #expect(nodes[1].run("account", "unlink", "lab").status == 0)
            #expect(
                eventually {
                    !nodes[2].run("profile", "show", "@Joon").output.contains("joon at lab")
                })
        }

        /// On a terminal: the address is opened by nobody, and `curl` comes back in the browser's place.
        @Test func `are linked by a login in a browser`() throws {
            guard let python = Tool.path("python3", to: "be a token endpoint"),
                let curl = Tool.path("curl", to: "come back from a login")
            else { return }
            let provider = TestProvider()
            let nodes = try three(provider.keyFile)
            let endpoint = try TokenEndpoint(python, in: nodes[1].folder, answering: "{}")
            defer { endpoint.end() }
            let set = nodes[1].run(
                "account", "provider", "update", "lab", "--login-url",
                "http://127.0.0.1:1/login", "--token-url", endpoint.address)
            #expect(set.status == 0, "\(set.errors)")
            let token = provider.token(try nonce(nodes[1]), at: now)
            try endpoint.answer(#"{"id_token":"\#(token)"}"#)
            let terminal = try #require(
                PseudoTerminal(
                    [TemporaryNode.program, "--home", nodes[1].home, "account", "link", "lab"],
                    environment: nodes[1].scriptEnvironment, columns: 400))
            #expect(terminal.shows("ctrl-C stops waiting"), "\(terminal.screen.text)")
            let shown = terminal.screen.text
            func field(_ name: String) throws -> String {
                let rest = try #require(
                    shown.components(separatedBy: "&\(name)=").dropFirst().first)
                return String(rest.prefix { $0 != "&" && !$0.isWhitespace })
            }
            let back = try #require(try field("redirect_uri").removingPercentEncoding)
            let browser = Process()
            browser.executableURL = URL(fileURLWithPath: curl)
            browser.arguments = ["-s", "-q", back + "?code=c1&state=\(try field("state"))"]
            let page = TemporaryNode.finish(browser)
            #expect(page.output == "You can close this page. wsx-node has what it needs.\n")
            #expect(terminal.end() == 0, "\(terminal.screen.text)")
            #expect(terminal.screen.text.contains("your account at lab is verified by Mina"))
            #expect(try endpoint.asked().contains("code=c1&"))
        }

        @Test func `are linked by keys that OpenSSL has made`() throws {
            guard let openssl = Tool.path("openssl", to: "make keys of a provider") else { return }
            let folder = TemporaryNode()
            let maker = try KeyMaker(openssl, in: folder.folder)
            let nodes = try three(try maker.keyFile())
            for kind in KeyMaker.Kind.allCases {
                let claims: JSONValue = [
                    "iss": "https://id.example.org", "aud": "wsx", "sub": .string("\(kind)"),
                    "nonce": .string(try nonce(nodes[1])),
                    "iat": .integer(Int64(now / 1_000)),
                    "exp": .integer(Int64(now / 1_000) + 300),
                ]
                let done = nodes[1].run(
                    "account", "link", "lab", "--token", "-",
                    input: try maker.token(claims, by: kind))
                #expect(done.status == 0, "\(kind): \(done.errors)")
            }
        }
    }
}

/// Keys that the `openssl` command makes and signs with.
private struct KeyMaker {
    enum Kind: String, CaseIterable {
        case rsa = "RS256"
        case ecdsa = "ES256"
    }

    private let openssl: String
    private let folder: String

    init(_ openssl: String, in folder: String) throws {
        (self.openssl, self.folder) = (openssl, folder)
        try run("genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048", "-out", "rsa")
        try run(
            "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", "ecdsa")
    }

    @discardableResult
    private func run(_ arguments: String...) throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: openssl)
        process.arguments = arguments
        process.currentDirectoryURL = URL(fileURLWithPath: folder)
        let outcome = TemporaryNode.finish(process)
        try #require(outcome.status == 0, "\(outcome.errors)")
        return outcome.output
    }

    func keyFile() throws -> [UInt8] {
        let modulus =
            try run("rsa", "-in", "rsa", "-noout", "-modulus")
            .split(separator: "=").last.map(String.init)?
            .trimmingCharacters(in: .whitespacesAndNewlines) ?? ""
        try run("pkey", "-in", "ecdsa", "-pubout", "-outform", "DER", "-out", "point")
        let point = Array(try Data(contentsOf: URL(fileURLWithPath: folder + "/point")))
        let set: JSONValue = [
            "keys": [
                [
                    "kty": "RSA", "kid": "rsa", "e": "AQAB",
                    "n": .string(Base64URL.encode(Vectors.bytes(hex: modulus) ?? [])),
                ],
                [
                    "kty": "EC", "crv": "P-256", "kid": "ecdsa",
                    "x": .string(Base64URL.encode(Array(point.suffix(64).prefix(32)))),
                    "y": .string(Base64URL.encode(Array(point.suffix(32)))),
                ],
            ]
        ]
        return set.bytes
    }

    func token(_ claims: JSONValue, by kind: Kind) throws -> String {
        let head: JSONValue = ["alg": .string(kind.rawValue), "kid": .string("\(kind)")]
        let signed = Base64URL.encode(head.bytes) + "." + Base64URL.encode(claims.bytes)
        try signed.write(toFile: folder + "/message", atomically: true, encoding: .utf8)
        try run("dgst", "-sha256", "-sign", "\(kind)", "-out", "signature", "message")
        var bytes = Array(try Data(contentsOf: URL(fileURLWithPath: folder + "/signature")))
        if kind == .ecdsa { bytes = try Self.numbers(of: bytes) }
        return signed + "." + Base64URL.encode(bytes)
    }

    /// The two numbers of a signature in DER, 32 bytes each.
    private static func numbers(of signature: [UInt8]) throws -> [UInt8] {
        var rest = signature.dropFirst(2)
        var numbers: [UInt8] = []
        for _ in 0..<2 {
            let count = Int(try #require(rest.dropFirst().first))
            let digits = rest.dropFirst(2).prefix(count).drop { $0 == 0 }
            numbers += [UInt8](repeating: 0, count: 32 - digits.count) + digits
            rest = rest.dropFirst(2 + count)
        }
        return numbers
    }
}
