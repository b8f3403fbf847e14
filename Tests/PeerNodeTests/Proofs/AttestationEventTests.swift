import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// Events about verified addresses and accounts: once, on every node of a member.
struct `Events of what is proved` {
    private static let types = ["attestation.*", "account.*"]

    private static func told(_ node: BenchNode, since cursor: String) throws -> [String] {
        try node.events(since: cursor, types: types).map {
            let data = $0["data"]
            let value = data?["value"]?.stringValue ?? "-"
            return "\($0["type"]?.stringValue ?? "") \(data?["state"]?.stringValue ?? "") \(value)"
        }
    }

    @Test func `say that an address is proved, replaced and taken back`() throws {
        let table = try ProofTable()
        let nodes = [table.ada, table.bob, table.cleo]
        let starts = try nodes.map { try $0.cursor() }
        try table.prove("bob@example.org", of: table.bob, by: table.ada)
        for (node, start) in zip(nodes, starts) {
            let event = try #require(try node.events(since: start, types: Self.types).first)
            #expect(event["type"] == "attestation.added" && event["backfill"] == false)
            #expect(
                event["data"] == (try node.ok("attestation.list").items.first), "\(node.name)")
        }
        try table.prove("b2@example.org", of: table.bob, by: table.ada)
        try table.bob.ok("attestation.withdraw")
        table.bench.advance(60_000)
        for (node, start) in zip(nodes, starts) {
            let all = try Self.told(node, since: start)
            // Its verifier has erased what was taken back.
            #expect(
                all.map { $0.split(separator: " ").prefix(2).joined(separator: " ") } == [
                    "attestation.added valid", "attestation.replaced valid",
                    "attestation.ended withdrawn",
                ], "\(node.name) \(all)")
            let last = try #require(try node.events(since: start, types: Self.types).last)
            #expect(last["data"]?["member"]?["name"] == "Bob")
            #expect(last["data"]?["kind"] == "email")
            #expect(last["data"]?.fieldNames == ResultFields.attestation)
        }
        // A start and a rebuild are no news.
        let later = try table.cleo.cursor()
        try table.cleo.restart()
        try table.cleo.rebuildStore()
        table.bench.advance(60_000)
        #expect(try Self.told(table.cleo, since: later).isEmpty)
    }

    @Test func `say that a verifier is none any more, and is one again`() throws {
        let table = try ProofTable()
        try table.letCleoVerify()
        try table.prove("bob@example.org", of: table.bob, by: table.cleo)
        let start = try table.bob.cursor()
        for role in ["member", "admin"] {
            try table.ada.ok("member.role", ["member": "Cleo", "role": .string(role)])
            table.bench.advance(5_000)
        }
        #expect(
            try Self.told(table.bob, since: start) == [
                "attestation.ended verifier_gone bob@example.org",
                "attestation.added valid bob@example.org",
            ])
    }

    @Test func `that came while the node was locked are told when it is open`() throws {
        let table = try ProofTable(isSealed: true)
        try table.prove("bob@example.org", of: table.bob, by: table.ada)
        let start = try table.ada.cursor()
        try table.ada.ok("lock.now")
        try table.bob.ok("attestation.withdraw")
        table.bench.advance(5_000)
        for _ in 0..<2 {
            try table.ada.ok("session.unlock", ["passphrase": .string(goodPassphrase)])
            table.bench.advance(60_000)
            let types = try table.ada.events(since: start, types: Self.types).map { $0["type"] }
            #expect(types == ["attestation.ended"])
            try table.ada.ok("lock.now")
        }
    }

    @Test func `say that an account is linked, linked again and unlinked`() throws {
        let table = try AccountTable()
        let nodes = [table.ada, table.bob, table.cleo]
        let starts = try nodes.map { try $0.cursor() }
        try table.link(table.bob)
        try table.link(table.bob, subject: "s2")
        try table.bob.ok("account.unlink", ["provider": "lab"])
        table.bench.advance(60_000)
        for (node, start) in zip(nodes, starts) {
            let events = try node.events(since: start, types: Self.types)
            #expect(
                events.map { $0["type"] } == [
                    "account.linked", "account.linked", "account.unlinked",
                ],
                "\(node.name)")
            #expect(events.allSatisfy { $0["data"]?["provider"] == "lab" }, "\(node.name)")
            #expect(events.allSatisfy { $0["data"]?["member"]?["name"] == "Bob" })
            #expect(events.last?["data"]?["state"] == "withdrawn")
        }
    }

    @Test func `are nothing that guests hear`() throws {
        let table = try ProofTable()
        try table.ada.ok("channel.create", ["name": "board", "private": true])
        let guest = try table.bench.guest(
            "Gil", of: table.ada, role: "guest", channels: ["board"])
        table.bench.advance(10_000)
        try table.prove("bob@example.org", of: table.bob, by: table.ada)
        table.bench.advance(10_000)
        #expect(try Self.told(guest, since: "all").isEmpty)
    }

    // MARK: The reference

    @Test func `keep who it was of, what, and what became of it`() {
        let member = MemberID([UInt8](repeating: 7, count: 16))
        let all = [
            AttestationReference(.init(member, .email), state: "valid"),
            AttestationReference(.init(member, .account, "lab"), state: "verifier_gone"),
            AttestationReference(.init(member, .account, ""), state: "withdrawn"),
        ]
        for reference in all { #expect(AttestationReference(reference.bytes) == reference) }
        for bytes in [[], [UInt8](repeating: 7, count: 16), member.bytes + [9, 0]] {
            #expect(AttestationReference(bytes) == nil, "\(bytes)")
        }
        #expect(AttestationReference(member.bytes + [1] + Array("valid".utf8)) == nil)
    }
}
