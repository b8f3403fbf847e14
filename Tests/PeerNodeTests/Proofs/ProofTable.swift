import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// Ada, the owner, whose node sends letters, with Bob and Cleo.
struct ProofTable {
    let bench = CoreBench()
    let ada: BenchNode
    let bob: BenchNode
    let cleo: BenchNode

    init(ada command: String? = "msmtp -t", isSealed: Bool = false) throws {
        ada = isSealed ? try bench.sealedNode("Ada") : try bench.node("Ada")
        bob = try bench.guest("Bob", of: ada)
        cleo = try bench.guest("Cleo", of: ada)
        if let command { try ada.ok("mail.command", ["command": .string(command)]) }
        bench.advance(5_000)
    }

    /// Makes Cleo an admin whose node sends letters.
    func letCleoVerify() throws {
        try ada.ok("member.role", ["member": "Cleo", "role": "admin"])
        try cleo.ok("mail.command", ["command": "sendmail -t"])
        bench.advance(5_000)
    }

    /// The whole proof of an address of Bob's.
    @discardableResult
    func prove(_ address: String, of node: BenchNode, by verifier: BenchNode) throws -> JSONValue {
        let sent = try node.ok(
            "email.verify.send",
            ["email": .string(address), "verifier": .string("@" + verifier.name)])
        #expect(sent["state"] == "sent")
        let code = try Self.code(verifier.letters.last)
        let done = try node.ok("email.verify.confirm", ["code": .string(code)])
        bench.advance(1_000)
        return done
    }

    /// The 6 digits of a letter.
    static func code(_ letter: Letter?) throws -> String {
        let text = String(decoding: try #require(letter).input, as: UTF8.self)
        let line = text.split(separator: "\n").first { line in
            let digits = line.drop { $0 == " " }
            return digits.utf8.count == 6 && digits.utf8.allSatisfy { (0x30...0x39).contains($0) }
        }
        return String(try #require(line).drop { $0 == " " })
    }

    /// Another code than this.
    static func other(_ code: String) -> String {
        String(code.reversed()) != code
            ? String(code.reversed()) : code == "111111" ? "222222" : "111111"
    }

    /// Who has verified the address of somebody, as a node shows it.
    static func verifier(of name: String, on node: BenchNode) throws -> JSONValue? {
        try node.ok("profile.of", ["member": .string("@" + name)])["email_verified"]?["by"]?["name"]
    }

    /// The states of what is proved, by the names of members.
    static func states(on node: BenchNode) throws -> [String: String] {
        var states: [String: String] = [:]
        for item in try node.ok("attestation.list").items {
            states[item["member"]?["name"]?.stringValue ?? ""] = item["state"]?.stringValue
        }
        return states
    }
}
