import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// Ada, the owner, whose node has a provider's keys, with Bob and Cleo, whose nodes
/// know it without keys.
struct AccountTable {
    let bench = CoreBench()
    let ada: BenchNode
    let bob: BenchNode
    let cleo: BenchNode
    let provider = TestProvider()

    init(verifies: Bool = true) throws {
        ada = try bench.node("Ada")
        bob = try bench.guest("Bob", of: ada)
        cleo = try bench.guest("Cleo", of: ada)
        for node in [ada, bob, cleo] { try node.ok("account.provider.add", settings()) }
        if verifies { try letVerify(ada) }
        bench.advance(5_000)
    }

    func settings(_ more: JSONObject = [:]) -> JSONValue {
        var settings: JSONObject = [
            "name": "lab", "issuer": .string(provider.issuer),
            "client_id": .string(provider.client),
        ]
        for member in more.members { settings[member.key] = member.value }
        return .object(settings)
    }

    /// Gives a node the keys of the provider.
    func letVerify(_ node: BenchNode) throws {
        node.keyFiles["/keys/lab.json"] = provider.keyFile
        try node.ok("account.provider.update", ["name": "lab", "jwks": "/keys/lab.json"])
    }

    /// Makes Cleo an admin whose node has the keys, too.
    func letCleoVerify() throws {
        try ada.ok("member.role", ["member": "Cleo", "role": "admin"])
        try letVerify(cleo)
        bench.advance(5_000)
    }

    /// A nonce for a node.
    func nonce(_ node: BenchNode) throws -> String {
        try #require(node.ok("account.link", ["provider": "lab"])["nonce"]?.stringValue)
    }

    /// A token for a node.
    func token(
        _ node: BenchNode, subject: String = "s1", _ more: JSONObject = [:]
    ) throws -> JSONValue {
        [
            "provider": "lab",
            "id_token": .string(
                provider.token(try nonce(node), subject: subject, at: bench.wall, more)),
        ]
    }

    /// The whole link of an account.
    @discardableResult
    func link(
        _ node: BenchNode, subject: String = "s1", _ more: JSONObject = [:]
    ) throws -> JSONValue {
        let done = try node.ok("account.link", try token(node, subject: subject, more))
        bench.advance(1_000)
        return done
    }

    /// The states of linked accounts, by the names of members.
    static func states(on node: BenchNode) throws -> [String: String] {
        var states: [String: String] = [:]
        for item in try node.ok("account.links").items {
            states[item["member"]?["name"]?.stringValue ?? ""] = item["state"]?.stringValue
        }
        return states
    }
}
