import PeerNode
import Testing
import WorkspaceModel

@testable import wsx_node

/// Linked accounts in the output for people.
struct `A linked account, for people` {
    private func rendering(isPlain: Bool = false) -> Rendering {
        var globals = GlobalFlags()
        globals.plain = isPlain
        globals.color = "never"
        return Rendering(globals: globals, environment: [:], io: MemoryIO())
    }

    @Test func `comes this far, with what to do next`() {
        var claim: JSONObject = [
            "id": "lab", "provider": "lab", "state": "waiting", "nonce": "N-0S6",
            "issuer": "https://id.example.org", "client_id": "wsx", "verifier": .null,
            "expires_at": 1_795_190_000_000,
        ]
        let waiting = rendering().text(.object(claim), of: "account.link")
        #expect(waiting.contains("N-0S6\n") && waiting.contains("https://id.example.org\n"))
        #expect(waiting.hasSuffix("wsx-node account link lab --token -\n"), "\(waiting)")
        #expect(!waiting.contains("waiting for a verifier"))
        claim["state"] = "pending"
        let pending = rendering().text(.object(claim), of: "account.link")
        #expect(pending.contains("waiting for a verifier to check your token\n"))
        claim["state"] = "verified"
        claim["verifier"] = ["id": "u_2", "name": "Joon"]
        #expect(
            rendering().text(.object(claim), of: "account.link")
                == "your account at lab is verified by Joon\n")
    }

    @Test func `is in a profile with who says so`() {
        let profile: JSONValue = [
            "id": "u_1", "name": "Mina", "self": false, "visible": .null, "presence": .null,
            "email_verified": .null,
            "accounts": [
                [
                    "provider": "lab", "name": "mina", "by": ["id": "u_2", "name": "Joon"],
                    "at": 1_795_190_000_000,
                ]
            ],
        ]
        let text = rendering().text(profile, of: "profile.of")
        #expect(text.contains("mina  (verified by Joon, "), "\(text)")
    }

    @Test func `is listed with its provider, and whether it counts`() {
        let list: JSONValue = [
            "items": [
                [
                    "id": "o_1", "member": ["id": "u_1", "name": "Mina"], "kind": "account",
                    "provider": "lab", "value": "mina", "by": ["id": "u_2", "name": "Joon"],
                    "at": 1_795_190_000_000, "until": .null, "state": "verifier_gone",
                ]
            ], "next": .null,
        ]
        let text = rendering().text(list, of: "account.links")
        #expect(text.contains("PROVIDER") && text.contains("lab") && text.contains("mina"))
        #expect(text.contains("no: Joon is no verifier any more"), "\(text)")
        let plain = rendering(isPlain: true).text(list, of: "account.links")
        #expect(plain.contains("Mina\tlab\tmina\tJoon\t"), "\(plain)")
    }

    @Test func `is made of providers that are listed`() {
        let list: JSONValue = [
            "items": [
                [
                    "id": "lab", "name": "lab", "issuer": "https://id.example.org",
                    "client_id": "wsx", "jwks": "/keys/lab.json",
                ]
            ], "next": .null,
        ]
        let plain = rendering(isPlain: true).text(list, of: "account.provider.list")
        #expect(plain.contains("lab\thttps://id.example.org\twsx\t/keys/lab.json"), "\(plain)")
    }

    @Test func `comes by a browser on a terminal, and where the provider has a page`() {
        let io = MemoryIO()
        io.node = TableNode()
        io.isOutputTerminal = true
        io.token = "a.b.c"
        #expect(io.run("account", "link", "browser", "--port", "8976") == 0)
        #expect(io.errors.contains("  https://id.example.org/login\n"))
        #expect(io.loginPort == 8_976)
        #expect(
            io.node?.asked.suffix(2) == ["account link browser -", "account link browser a.b.c"])
        io.token = "no token"
        #expect(io.run("account", "link", "browser") == 1)
        io.token = nil
        #expect(io.run("account", "link", "browser") == 1)
        // Without a page, or for a program, the nonce is printed.
        #expect(io.run("account", "link", "lab") == 0)
        #expect(io.run("account", "link", "browser", "--json") == 0)
        #expect(io.node?.asked.last == "account link browser -")
    }

    @Test func `has keys in a file that is named from any folder`() {
        let io = MemoryIO()
        io.node = TableNode()
        let settings = ["--issuer", "https://a.b", "--client-id", "c"]
        let words = ["account", "provider", "add", "lab"] + settings
        for (path, absolute) in [("keys.json", "/here/keys.json"), ("/k", "/k")] {
            #expect(
                Program.run(arguments: words + ["--jwks", path], environment: [:], io: io) == 0)
            #expect(io.node?.asked.last == "provider add lab https://a.b c \(absolute)")
        }
        #expect(io.run("account", "provider", "update", "lab", "--jwks", "") == 0)
        #expect(io.node?.asked.last == "provider update lab - - ")
    }

    @Test func `takes its token from standard input alone`() {
        let io = MemoryIO()
        let status = Program.run(
            arguments: ["account", "link", "lab", "--token", "a.b.c"], environment: [:], io: io)
        #expect(status == 2)
        #expect(io.errors.contains("'--token' takes only '-'"), "\(io.errors)")
    }
}
