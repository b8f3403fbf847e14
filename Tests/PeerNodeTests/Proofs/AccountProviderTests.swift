import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// A machine with these files.
private final class FilesAround: Surroundings {
    var paths: Set<String> = []

    func findings(_ facts: SurroundingsFacts) -> [FindingObject] { [] }
    func canRead(_ path: String) -> Bool { paths.contains(path) }
}

/// The node's account providers.
struct `A login provider` {
    private let bench = CoreBench()
    private static let lab: JSONValue = [
        "name": "lab", "issuer": "https://id.example.org", "client_id": "wsx",
    ]

    @Test func `is added, changed, listed and removed on one node`() throws {
        let ada = try bench.node("Ada")
        #expect(try ada.ok("account.provider.list").items.isEmpty)
        let made = try ada.ok("account.provider.add", Self.lab)
        #expect(made.fieldNames == ResultFields.accountProvider && made["jwks"] == .null)
        #expect(try ada.refused("account.provider.add", Self.lab).kind == .duplicate)
        let changed = try ada.ok(
            "account.provider.update", ["name": "lab", "jwks": "/keys/lab.json"])
        #expect(changed["jwks"] == "/keys/lab.json" && changed["client_id"] == "wsx")
        let urls: JSONValue = [
            "name": "lab", "login_url": "https://a.b/login", "token_url": "https://a.b/token",
        ]
        let browsed = try ada.ok("account.provider.update", urls)
        #expect(browsed["login_url"] == "https://a.b/login")
        #expect(browsed["token_url"] == "https://a.b/token" && browsed["jwks"] == changed["jwks"])
        try ada.restart()
        #expect(try ada.ok("account.provider.list").items == [browsed])
        #expect(try ada.ok("account.link", ["provider": "lab"])["login_url"] == "https://a.b/login")
        let bare = try ada.ok("account.provider.update", ["name": "lab", "jwks": ""])
        #expect(bare["jwks"] == .null)
        #expect(try ada.ok("account.provider.remove", ["name": "lab"]) == bare)
        #expect(try ada.refused("account.provider.remove", ["name": "lab"]).kind == .notFound)
        #expect(try ada.refused("account.link", ["provider": "lab"]).kind == .notFound)
        #expect(
            try ada.refused("account.provider.update", ["name": "lab"]).kind == .notFound)
    }

    @Test func `has keys that can be read, and doctor says when they are gone`() throws {
        let around = FilesAround()
        let ada = try bench.node("Ada")
        ada.surroundings = around
        try ada.restart()
        var given = try #require(Self.lab.objectValue)
        given["jwks"] = "/keys/lab.json"
        let refusal = try ada.refused("account.provider.add", .object(given))
        #expect(refusal.kind == .badRequest && refusal.reason == "provider.jwks")
        #expect(refusal.message == "no file can be read at '/keys/lab.json'")
        #expect(refusal.fields.map(\.name) == ["jwks"])
        #expect(refusal.fields.map(\.reason) == ["not_found"])
        #expect(try ada.ok("account.provider.list").items.isEmpty)
        around.paths = ["/keys/lab.json"]
        try ada.ok("account.provider.add", .object(given))
        func findings() throws -> [JSONValue] {
            try ada.ok("node.doctor").items.filter { $0["id"] == "provider" }
        }
        #expect(try findings().isEmpty)
        let another = try ada.refused(
            "account.provider.update", ["name": "lab", "jwks": "/keys/other.json"])
        #expect(another.reason == "provider.jwks")
        around.paths = []
        // What is not named stays as it was.
        try ada.ok("account.provider.update", ["name": "lab", "client_id": "other"])
        let gone = try findings()
        #expect(gone.map { $0["state"] } == ["warn"])
        #expect(gone.first?["message"]?.stringValue?.contains("'lab'") == true)
        #expect(gone.first?["hint"] == "wsx-node account provider update lab --jwks FILE")
        try ada.ok("account.provider.update", ["name": "lab", "jwks": ""])
        #expect(try findings().isEmpty)
    }

    @Test(
        arguments: [
            ("name", "Lab"), ("name", "1a"), ("name", "a b"), ("name", "ä"),
            ("issuer", "http://id.example.org"), ("issuer", "https://"),
            ("issuer", "id.example.org"),
            ("issuer", "https://a b"), ("client_id", "a b"), ("client_id", "ä"),
            ("jwks", "keys.json"), ("jwks", "/a\u{0}b"), ("login_url", "id.example.org"),
            ("token_url", "https://a\"b"),
        ] as [(String, String)])
    func `has a name, addresses and a path in their form`(
        _ field: String, _ value: String
    ) throws {
        let ada = try bench.node("Ada")
        var given = Self.lab.objectValue ?? [:]
        given[field] = .string(value)
        let refusal = try ada.refused("account.provider.add", .object(given))
        #expect(refusal.kind == .badRequest)
        #expect(refusal.fields.first?.name == field)
        #expect(try ada.ok("account.provider.list").items.isEmpty)
    }

    @Test(arguments: [
        ("https://id.example.org", true), ("https://id.example.org:8443/a?b=c", true),
        ("https://id.example.org/@ada", true), ("https://id.example.org?user=a@b", true),
        ("http://127.0.0.1", true), ("http://127.0.0.1/", true), ("http://127.0.0.1:80", true),
        ("http://localhost:8080/token", true), ("http://localhost?a=b", true),
        ("http://127.0.0.1.evil.example/token", false), ("http://localhost.evil.example/", false),
        ("http://localhost@evil.example/token", false), ("http://127.0.0.10/", false),
        ("http://127.0.0.1:80@evil.example/", false), ("http://127.0.0.1:@evil.example/", false),
        ("http://localhost:/", false), ("http://localhost:8a/", false),
        ("http://localhosts", false),
        ("https://id.example.org@evil.example/", false), ("https:///token", false),
        ("https://?a", false), ("https://id.example.org/#login", false),
        ("http://localhost#.evil.example/", false), ("http://id.example.org/", false),
        ("HTTPS://id.example.org/", false), ("https://a\\b", false),
    ])
    func `has addresses whose words cross the network under TLS alone`(
        _ address: String, _ isGood: Bool
    ) throws {
        #expect(AccountProvider.isAddress(address) == isGood)
        let ada = try bench.node("Ada")
        try ada.ok("account.provider.add", Self.lab)
        let change: JSONValue = ["name": "lab", "token_url": .string(address)]
        guard !isGood else {
            #expect(
                try ada.ok("account.provider.update", change)["token_url"]?.stringValue == address)
            return
        }
        let refusal = try ada.refused("account.provider.update", change)
        #expect(refusal.kind == .badRequest && refusal.message.contains("http://localhost"))
    }

    @Test func `has an issuer that no other name here has`() throws {
        let ada = try bench.node("Ada")
        try ada.ok("account.provider.add", Self.lab)
        var twin = Self.lab.objectValue ?? [:]
        twin["name"] = "lab2"
        let refusal = try ada.refused("account.provider.add", .object(twin))
        #expect(refusal.kind == .conflict && refusal.fields.first?.name == "issuer")
        #expect(refusal.hint == "wsx-node account provider update lab")
        twin["issuer"] = "https://id.example.org/"
        try ada.ok("account.provider.add", .object(twin))
        let change: JSONValue = ["name": "lab2", "issuer": "https://id.example.org"]
        #expect(try ada.refused("account.provider.update", change).kind == .conflict)
        // Its own is no other's.
        try ada.ok(
            "account.provider.update", ["name": "lab", "issuer": "https://id.example.org"])
        #expect(try ada.ok("account.provider.list").items.count == 2)
    }

    @Test func `is one of few, and lies sealed`() throws {
        let ada = try bench.node("Ada")
        for number in 0..<Limits.accountProvidersMax {
            try ada.ok(
                "account.provider.add",
                [
                    "name": .string("p\(number)"),
                    "issuer": .string("http://127.0.0.1:80\(number)"),
                    "client_id": "seen-nowhere",
                ])
        }
        #expect(try ada.refused("account.provider.add", Self.lab).kind == .tooMany)
        #expect(try !ByteSearch.finds(Array("seen-nowhere".utf8), in: ada.image))
    }
}
