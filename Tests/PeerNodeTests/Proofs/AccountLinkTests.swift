import CRDTStore
import Foundation
import SyncProtocol
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// Linking an account: nonces, tokens, verifiers, and failures.
struct `A linked account` {
    private let table: AccountTable

    init() throws { table = try AccountTable() }

    // MARK: Linking

    @Test func `is shown with who verified it, everywhere`() throws {
        let begun = try table.bob.ok("account.link", ["provider": "lab"])
        #expect(begun.fieldNames.subtracting(["changed"]) == ResultFields.accountClaim)
        #expect(begun["state"] == "waiting" && begun["nonce"]?.stringValue?.utf8.count == 43)
        #expect(begun["issuer"] == "https://id.example.org" && begun["client_id"] == "wsx")
        // It is the same until it is used.
        #expect(try table.bob.ok("account.link", ["provider": "lab"])["nonce"] == begun["nonce"])
        let done = try table.link(table.bob, ["name": "Bob Ross"])
        #expect(done.fieldNames == ResultFields.accountClaim)
        #expect(done["state"] == "verified" && done["verifier"]?["name"] == "Ada")
        for node in [table.ada, table.bob, table.cleo] {
            let links = try node.ok("account.links", ["member": "@Bob"]).items
            #expect(links.map(\.fieldNames) == [ResultFields.attestation])
            #expect(links.first?["provider"] == "lab" && links.first?["kind"] == "account")
            #expect(links.first?["value"] == "Bob Ross" && links.first?["state"] == "valid")
            let shown = try node.ok("profile.of", ["member": "@Bob"])["accounts"]?.arrayValue
            #expect(shown?.count == 1)
            #expect(shown?.first?["provider"] == "lab" && shown?.first?["name"] == "Bob Ross")
            #expect(shown?.first?["by"]?["name"] == "Ada")
            #expect(try node.ok("profile.of", ["member": "@Cleo"])["accounts"] == nil)
            #expect(try node.ok("account.links", ["member": "@Cleo"]).items.isEmpty)
        }
        // The next one has another nonce.
        #expect(try table.nonce(table.bob) != begun["nonce"]?.stringValue)
    }

    @Test func `leaves no token in stores and logs, and nobody else is told one`() throws {
        let call = try table.token(table.bob, subject: "subject-of-bob")
        let token = try #require(call["id_token"]?.stringValue)
        try table.bob.ok("account.link", call)
        table.bench.advance(5_000)
        for node in [table.ada, table.bob, table.cleo] {
            for part in token.split(separator: ".").map(String.init) + ["subject-of-bob"] {
                #expect(try !`A profile`.knows(part, node))
            }
            #expect(!node.log.contains { $0.contains(token) })
            #expect(try !ByteSearch.finds(Array(token.utf8), in: node.image))
        }
        // One process was asked, and at the verifier alone.
        #expect(table.ada.tokenQuestions.count == 1)
        #expect(table.bob.tokenQuestions.isEmpty && table.cleo.tokenQuestions.isEmpty)
        let ada = try #require(table.ada.host?.core)
        #expect(ada.proofs.accounts.checks.isEmpty)
        let bob = try #require(table.bob.host?.core)
        #expect(bob.proofs.accounts.own.isEmpty)
    }

    @Test func `gives no right, and is nothing that guests see`() throws {
        try table.ada.ok("channel.create", ["name": "deal", "private": true])
        let guest = try table.bench.guest(
            "Gus", of: table.ada, role: "guest", channels: ["deal"])
        try table.link(table.bob)
        table.bench.advance(5_000)
        #expect(try table.bob.ok("member.get", ["member": "Bob"])["role"] == "member")
        #expect(table.bob.outcome("policy.set", ["join": "open"]) == "forbidden")
        #expect(try guest.ok("account.links").items.isEmpty)
        try guest.ok("account.provider.add", table.settings())
        #expect(try guest.refused("account.link", ["provider": "lab"]).kind == .forbidden)
    }

    // MARK: Tokens that prove nothing

    @Test func `is refused by name if its token is somebody else's`() throws {
        let nonce = try table.nonce(table.bob)
        let now = table.bench.wall
        let other = TestProvider(seed: 9)
        let elsewhere = TestProvider("https://evil.example")
        let foreign = TestProvider(client: "other")
        let tokens: [(String, String)] = [
            ("token.signature", other.token(nonce, at: now)),
            ("token.issuer", elsewhere.token(nonce, at: now)),
            ("token.audience", foreign.token(nonce, at: now)),
            ("token.nonce", table.provider.token(nonce + "x", at: now)),
            ("token.expired", table.provider.token(nonce, at: now - 3_600_000)),
            ("token.future", table.provider.token(nonce, at: now + 600_000)),
            ("token.key", table.provider.token(nonce, at: now, kid: "k2")),
            ("token.subject", table.provider.token(nonce, subject: "", at: now)),
            ("token.form", "abc"),
        ]
        for (reason, token) in tokens {
            let refusal = try table.bob.refused(
                "account.link", ["provider": "lab", "id_token": .string(token)])
            #expect(refusal.kind == .codeInvalid && refusal.reason == reason)
            #expect(!refusal.json.text.contains(token))
        }
        #expect(try table.ada.ok("account.links").items.isEmpty)
        // Where the provider is unknown, no token of it has a nonce.
        let stranger = try table.bob.refused(
            "account.link",
            ["provider": "other", "id_token": .string(table.provider.token(nonce, at: now))])
        #expect(stranger.kind == .notFound && stranger.fields.map(\.name) == ["provider"])
        let unlinked = try table.bob.refused("account.unlink", ["provider": "lab"])
        #expect(unlinked.message == "no account of yours is linked at 'lab'")
        // The nonce is good still, and a token for it that is right is taken.
        #expect(try table.nonce(table.bob) == nonce)
        try table.link(table.bob)
    }

    @Test func `takes a token of its member and device alone`() throws {
        let call = try table.token(table.bob)
        _ = try table.nonce(table.cleo)
        #expect(try table.cleo.refused("account.link", call).reason == "token.nonce")
        #expect(try AccountTable.states(on: table.ada) == [:])
        try table.bob.ok("account.link", call)
        // It was good once.
        #expect(try table.bob.refused("account.link", call).reason == "token.over")
        _ = try table.nonce(table.bob)
        #expect(try table.bob.refused("account.link", call).reason == "token.nonce")
    }

    /// A modified program asks with the claim of before.
    @Test func `is proved once by one claim`() throws {
        let call = try table.token(table.bob)
        let place = AccountProofs.Place(
            workspace: try table.bob.workspace().number, provider: "lab")
        let bob = try #require(table.bob.host?.core)
        let claim = try #require(bob.proofs.accounts.own[place])
        try table.bob.ok("account.link", call)
        table.bench.advance(2_000)
        bob.proofs.accounts.own[place] = claim
        // While what it proved counts, the answer is the same: the first one may have been lost.
        #expect(try table.bob.ok("account.link", call)["state"] == "verified")
        #expect(table.ada.tokenQuestions.count == 1)
        try table.bob.ok("account.unlink", ["provider": "lab"])
        table.bench.advance(2_000)
        bob.proofs.accounts.own[place] = claim
        #expect(try table.bob.refused("account.link", call).reason == "token.over")
        #expect(try AccountTable.states(on: table.ada) == ["Bob": "withdrawn"])
        #expect(table.ada.tokenQuestions.count == 1)
    }

    @Test func `is proved by a claim still whose attestation could not be stored`() throws {
        table.ada.holdsTokenChecks = true
        _ = table.bob.begin("account.link", try table.token(table.bob))
        let question = try #require(table.ada.tokenQuestions.last)
        let verdict = TokenChild.answer(to: question) { table.ada.keyFiles[$0] }
        let number = try #require(table.ada.host?.core.proofs.accounts.lastCheck)
        table.ada.holdsTokenChecks = false
        table.ada.plant(.commitBefore(0), .busy)
        let effects = table.ada.turn([.tokenChecked(number, verdict)])
        #expect(table.ada.host?.core.proofs.accounts.used.count == 1)
        // A turn that fails closes the links; the next one asks again.
        #expect(effects.contains { if case .close = $0 { true } else { false } })
        table.bench.settle()
        table.bench.advance(10 * 60_000)
        #expect(try AccountTable.states(on: table.bob) == ["Bob": "valid"])
        #expect(table.ada.tokenQuestions.count == 2)
    }

    @Test func `belongs to one member`() throws {
        try table.link(table.bob)
        let refusal = try table.cleo.refused("account.link", try table.token(table.cleo))
        #expect(refusal.kind == .duplicate && refusal.kind.seed == "E12")
        #expect(refusal.reason == "account.taken")
        #expect(try AccountTable.states(on: table.ada) == ["Bob": "valid"])
        try table.link(table.cleo, subject: "s2")
        // A newer account takes the place of the one before, which is free then.
        try table.link(table.bob, subject: "s3")
        try table.link(table.cleo, subject: "s1")
        #expect(
            try AccountTable.states(on: table.ada) == ["Bob": "valid", "Cleo": "valid"])
    }

    @Test func `is removed by its member and by verifiers, and by nobody else`() throws {
        try table.link(table.bob, ["name": "Bob Ross"])
        let other: JSONValue = ["provider": "lab", "member": "@Bob"]
        #expect(try table.cleo.refused("account.unlink", other).kind == .forbidden)
        let gone = try table.bob.ok("account.unlink", ["provider": "lab"])
        #expect(gone["state"] == "withdrawn" && gone["value"] == .null)
        table.bench.advance(5_000)
        for node in [table.ada, table.bob, table.cleo] {
            #expect(try node.ok("profile.of", ["member": "@Bob"])["accounts"] == nil)
            #expect(try !`A profile`.knows("Bob Ross", node))
        }
        #expect(
            try table.bob.refused("account.unlink", ["provider": "lab"]).kind == .notFound)
        try table.link(table.bob)
        #expect(try table.ada.ok("account.unlink", other)["state"] == "withdrawn")
    }

    // MARK: The address

    @Test func `verifies the address that its member shows, where the provider has`() throws {
        try table.bob.ok("profile.set", ["email": "bob@example.org"])
        try table.cleo.ok("profile.set", ["email": "cleo@example.org"])
        table.bench.advance(5_000)
        try table.link(table.bob, ["email": "bob@example.org", "email_verified": false])
        #expect(try ProofTable.verifier(of: "Bob", on: table.cleo) == nil)
        try table.link(
            table.bob, ["email": "Bob@Example.org", "email_verified": true])
        #expect(try ProofTable.verifier(of: "Bob", on: table.cleo) == "Ada")
        // What nobody saw before, nobody sees now.
        try table.link(
            table.cleo, subject: "s2",
            ["email": "secret@example.org", "email_verified": true])
        #expect(try ProofTable.verifier(of: "Cleo", on: table.ada) == nil)
        #expect(try !`A profile`.knows("secret@example.org", table.ada))
        #expect(try table.ada.ok("attestation.list", ["member": "@Bob"]).items.count == 2)
    }

    /// The sign for kelvin is `k` in lower case, and in another's mailbox.
    @Test func `verifies no address with other letters than ASCII has`() throws {
        try table.bob.ok("profile.set", ["email": "kim@example.org"])
        table.bench.advance(5_000)
        for email in ["\u{212a}im@example.org", "kim@example.org\u{301}"] {
            try table.link(
                table.bob, ["email": .string(email), "email_verified": true])
            #expect(try ProofTable.verifier(of: "Bob", on: table.cleo) == nil)
        }
        try table.link(table.bob, ["email": "KIM@example.org", "email_verified": true])
        #expect(try ProofTable.verifier(of: "Bob", on: table.cleo) == "Ada")
    }

    // MARK: Verifiers

    @Test func `waits for a verifier, and continues by itself`() throws {
        let call = try table.token(table.bob)
        table.bench.cut(table.ada, table.bob)
        let pending = try table.bob.refused("account.link", call)
        #expect(pending.kind == .pending && pending.exitStatus == 7)
        #expect(pending.message.contains("no verifier is online"))
        #expect(try table.bob.ok("account.link", ["provider": "lab"])["state"] == "pending")
        table.bench.heal(table.ada, table.bob)
        table.bench.advance(60_000)
        #expect(try AccountTable.states(on: table.bob) == ["Bob": "valid"])
    }

    @Test func `is pending where no verifier has the provider's keys`() throws {
        let table = try AccountTable(verifies: false)
        let call = try table.token(table.bob)
        #expect(try table.bob.refused("account.link", call).kind == .pending)
        try table.letVerify(table.ada)
        // The next link asks again.
        table.bench.cut(table.ada, table.bob)
        table.bench.heal(table.ada, table.bob)
        table.bench.advance(60_000)
        #expect(try AccountTable.states(on: table.bob) == ["Bob": "valid"])
    }

    @Test func `continues by itself with a verifier who stays`() throws {
        let bob = try #require(table.bob.host?.core)
        let links = Set(bob.links.network.links.keys)
        table.ada.holdsTokenChecks = true
        let token = try table.token(table.bob)
        let first = table.bob.begin("account.link", token)
        table.bench.advance(30_000)
        let second = table.bob.begin("account.link", token)
        table.bench.advance(Limits.proofCallMilliseconds - 29_000)
        // The second one could wait longer, and there is nobody else to ask.
        for call in [first, second] {
            guard case .failure(let refusal)? = table.bob.answer(to: call) else {
                Issue.record("not refused")
                continue
            }
            #expect(refusal.kind == .pending && refusal.reason == "proof.no_answer")
        }
        table.ada.holdsTokenChecks = false
        table.ada.endTokenChecks()
        #expect(try AccountTable.states(on: table.ada) == [:])
        table.bench.advance(10 * 60_000)
        #expect(try AccountTable.states(on: table.bob) == ["Bob": "valid"])
        #expect(table.ada.tokenQuestions.count == 2 && bob.proofs.accounts.own.isEmpty)
        #expect(links.isSubset(of: Set(bob.links.network.links.keys)))
    }

    @Test func `is shown again to a verifier who gets the keys of its provider later`() throws {
        let table = try AccountTable(verifies: false)
        let bob = try #require(table.bob.host?.core)
        let links = Set(bob.links.network.links.keys)
        let call = try table.token(table.bob)
        #expect(try table.bob.refused("account.link", call).reason == "proof.no_verifier")
        try table.letVerify(table.ada)
        table.bench.advance(Limits.accountRetryMilliseconds - 60_000)
        #expect(table.ada.tokenQuestions.isEmpty)
        table.bench.advance(2 * 60_000)
        #expect(try AccountTable.states(on: table.bob) == ["Bob": "valid"])
        #expect(links.isSubset(of: Set(bob.links.network.links.keys)))
    }

    @Test func `is looked at by a verifier whose keys are newer`() throws {
        try table.letCleoVerify()
        table.ada.keyFiles["/keys/lab.json"] = Array(#"{"keys":[]}"#.utf8)
        let done = try table.link(table.bob)
        #expect(done["verifier"]?["name"] == "Cleo")
    }

    @Test func `is not looked at without a file of keys, and the owner hears why`() throws {
        let cursor = try table.ada.cursor()
        table.ada.keyFiles = [:]
        #expect(try table.bob.refused("account.link", try table.token(table.bob)).kind == .pending)
        #expect(table.ada.log.contains("token.unchecked reason=no_keys"))
        let told = try table.ada.events(since: cursor, types: ["node.warning"])
        #expect(told.contains { $0["data"]?["kind"] == "token.unchecked" })
        // Of another provider the owner is told apart, and of each once.
        let other = TestProvider("https://other.example")
        for node in [table.ada, table.bob] {
            try node.ok(
                "account.provider.add",
                [
                    "name": "other", "issuer": .string(other.issuer),
                    "client_id": .string(other.client), "jwks": "/keys/other.json",
                ])
        }
        let later = try table.ada.cursor()
        for name in ["other", "lab", "other", "lab"] {
            let nonce = try #require(
                table.bob.ok("account.link", ["provider": .string(name)])["nonce"]?.stringValue)
            let provider = name == "lab" ? table.provider : other
            let token = provider.token(nonce, at: table.bench.wall)
            let call: JSONValue = ["provider": .string(name), "id_token": .string(token)]
            #expect(try table.bob.refused("account.link", call).kind == .pending)
        }
        let reports = try table.ada.events(since: later, types: ["node.warning"])
        let messages = reports.compactMap { $0["data"]?["message"]?.stringValue }
        #expect(messages.count == 2)
        #expect(["lab", "other"].allSatisfy { name in messages.contains { $0.contains(name) } })
        // It says nothing about the token, which another check may take.
        table.ada.keyFiles["/keys/lab.json"] = table.provider.keyFile
        try table.link(table.bob)
    }

    @Test func `survives a check that fails`() throws {
        table.ada.holdsTokenChecks = true
        let call = table.bob.begin("account.link", try table.token(table.bob))
        #expect(table.bob.answer(to: call) == nil)
        try table.ada.send("meanwhile")
        #expect(try table.bob.log().last == "meanwhile")
        table.ada.endTokenChecks()
        table.bench.advance(1_000)
        #expect(throws: NodeError.self) { try table.bob.answer(to: call)?.get() }
        table.ada.holdsTokenChecks = false
        try table.link(table.bob)
    }

    @Test func `counts while its verifier may verify`() throws {
        try table.letCleoVerify()
        table.bench.cut(table.ada, table.bob)
        try table.link(table.bob)
        table.bench.heal(table.ada, table.bob)
        table.bench.advance(5_000)
        #expect(try AccountTable.states(on: table.ada) == ["Bob": "valid"])
        try table.ada.ok("member.role", ["member": "Cleo", "role": "member"])
        table.bench.advance(5_000)
        #expect(try AccountTable.states(on: table.ada) == ["Bob": "verifier_gone"])
        #expect(try table.ada.ok("profile.of", ["member": "@Bob"])["accounts"] == nil)
    }

    @Test func `ends with the hour of its nonce, and with a lock`() throws {
        let call = try table.token(table.bob)
        table.bench.advance(Limits.accountClaimMilliseconds + 1_000)
        #expect(try table.bob.refused("account.link", call).reason == "token.over")
        _ = try table.nonce(table.bob)
        let bob = try #require(table.bob.host?.core)
        #expect(bob.proofs.accounts.own.count == 1)
        bob.proofs.forgetSecrets()
        #expect(bob.proofs.accounts.own.isEmpty)
    }

    @Test func `has the nonce and the value that the protocol says`() {
        let member = MemberID([UInt8](repeating: 1, count: 16))
        let device = DeviceID([UInt8](repeating: 2, count: 32))
        let claim = ClaimName([UInt8](repeating: 3, count: 16))
        #expect(
            AccountProofs.nonce(claim, of: member, by: device)
                == "Lib-aG6-DVPUrrJuiA3WnhOIi037onJmlSjBgNB8VRM")
        #expect(
            AccountProofs.value(issuer: "https://id.example.org", subject: "248289761001")
                == "270954d5c823bf67236e48df9a0fffd3db28cd9edf37969cd995f5c12634278d")
    }
}
