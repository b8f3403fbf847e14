import CRDTStore
import SyncProtocol
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// The limits on linked accounts, concurrent and per hour.
struct `What is done for linked accounts` {
    @Test func `is ten checks in an hour for one member`() throws {
        let table = try AccountTable()
        let nonce = try table.nonce(table.bob)
        for number in 0..<10 {
            let bad = table.provider.token("\(number)", at: table.bench.wall)
            let refusal = try table.bob.refused(
                "account.link", ["provider": "lab", "id_token": .string(bad)])
            #expect(refusal.reason == "token.nonce")
        }
        let good = table.provider.token(nonce, at: table.bench.wall)
        let refusal = try table.bob.refused(
            "account.link", ["provider": "lab", "id_token": .string(good)])
        #expect(refusal.kind == .rateLimited)
        #expect((refusal.details["retry_ms"]?.integerValue ?? 0) > 3_000_000)
        #expect(table.ada.tokenQuestions.count == 10)
        try table.link(table.cleo, subject: "s2")
    }

    @Test func `is sixty checks in an hour in all`() throws {
        let table = try AccountTable()
        let ada = try #require(table.ada.host?.core)
        for number in 1..<UInt8(Limits.tokensHourly) {
            ada.proofs.accounts.budget.note(
                MemberID([UInt8](repeating: number, count: 16)), at: table.bench.monotonic)
        }
        try table.link(table.bob)
        let refusal = try table.cleo.refused(
            "account.link", try table.token(table.cleo, subject: "s2"))
        #expect(refusal.kind == .rateLimited && refusal.reason == "token.many")
        #expect(table.ada.tokenQuestions.count == 1)
    }

    @Test func `is one of sixteen checks at a time`() throws {
        let table = try AccountTable()
        let accounts = try #require(table.ada.host?.core).proofs.accounts
        let bob = try table.bob.workspace().member
        let provider = try #require(try accounts.provider(named: "lab"))
        for number in 0..<Limits.tokenChecksMax {
            let name = AccountProofs.ForeignName(
                device: DeviceID([UInt8](repeating: UInt8(number), count: 32)),
                claim: ClaimName([UInt8](repeating: 1, count: 16)))
            accounts.checks[1_000 + UInt64(number)] = AccountProofs.Check(
                name: name, workspace: try table.ada.workspace().number, member: bob,
                provider: provider)
        }
        let call = try table.token(table.bob)
        let refusal = try table.bob.refused("account.link", call)
        #expect(refusal.kind == .pending && refusal.reason == "proof.no_verifier")
        #expect(table.ada.tokenQuestions.isEmpty)
        accounts.checks[1_000] = nil
        try table.bob.ok("account.link", call)
        #expect(table.ada.tokenQuestions.count == 1)
    }

    @Test func `is one of sixteen that are being linked`() throws {
        let table = try AccountTable()
        for number in 0..<Limits.accountClaimsMax {
            let name = JSONValue.string("p\(number)")
            try table.bob.ok(
                "account.provider.add",
                [
                    "name": name, "client_id": "wsx",
                    "issuer": .string("https://p\(number).example"),
                ])
            try table.bob.ok("account.link", ["provider": name])
        }
        let refusal = try table.bob.refused("account.link", ["provider": "lab"])
        #expect(refusal.kind == .busy && refusal.reason == "account.busy")
        // Each of those goes on.
        try table.bob.ok("account.link", ["provider": "p0"])
        table.bench.advance(Limits.accountClaimMilliseconds)
        try table.link(table.bob)
    }

    @Test func `has one token at a time that a verifier looks at`() throws {
        let table = try AccountTable()
        table.ada.holdsTokenChecks = true
        let first = try table.token(table.bob)
        let waiting = table.bob.begin("account.link", first)
        let refusal = try table.bob.refused(
            "account.link", try table.token(table.bob, subject: "s2"))
        #expect(refusal.kind == .busy && refusal.reason == "account.busy")
        // The same one waits for the same answer.
        let again = table.bob.begin("account.link", first)
        #expect(table.bob.answer(to: waiting) == nil && table.bob.answer(to: again) == nil)
        #expect(table.ada.tokenQuestions.count == 1)
    }
}
