import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// A verified address in a workspace: who sees it, how it is replaced, and what ends it.
struct `A verified address` {
    private let table: ProofTable

    init() throws { table = try ProofTable() }

    private static let address = "bob@example.org"

    @Test func `is shown with who verified it, everywhere, and told once`() throws {
        let cursor = try table.cleo.cursor()
        let done = try table.prove(Self.address, of: table.bob, by: table.ada)
        #expect(done["state"] == "verified" && done["email"] == .string(Self.address))
        #expect(done["verifier"]?["name"] == "Ada")
        #expect(done.fieldNames == ResultFields.emailClaim)
        for node in [table.ada, table.bob, table.cleo] {
            #expect(try ProofTable.verifier(of: "Bob", on: node) == "Ada")
            let shown = try node.ok("member.get", ["member": "Bob"])
            #expect(shown["email"] == .string(Self.address))
            #expect(shown["email_verified"]?["by"]?["name"] == "Ada")
            let list = try node.ok("attestation.list", ["member": "@Bob"])
            #expect(list.items.map(\.fieldNames) == [ResultFields.attestation])
            #expect(list.items.first?["value"] == .string(Self.address))
            #expect(list.items.first?["state"] == "valid")
        }
        #expect(try table.ada.ok("attestation.list", ["member": "@Cleo"]).items.isEmpty)
        let told = try table.cleo.events(since: cursor, types: ["member.edited"])
        #expect(!told.isEmpty)
        // It stays after a start, and is no news then.
        let later = try table.cleo.cursor()
        try table.cleo.restart()
        table.bench.advance(5_000)
        #expect(try ProofTable.verifier(of: "Bob", on: table.cleo) == "Ada")
        #expect(try table.cleo.events(since: later, types: ["member.edited"]).isEmpty)
    }

    @Test func `is no news to a store that is built again`() throws {
        try table.prove(Self.address, of: table.bob, by: table.ada)
        let before = try table.cleo.cursor()
        try table.cleo.rebuildStore()
        table.bench.advance(5_000)
        #expect(try ProofTable.verifier(of: "Bob", on: table.cleo) == "Ada")
        #expect(try table.cleo.events(since: before, types: ["member.edited"]).isEmpty)
    }

    @Test func `that is withdrawn while a node is locked is reported when it is unlocked`() throws {
        let table = try ProofTable(isSealed: true)
        try table.prove(Self.address, of: table.bob, by: table.ada)
        let before = try table.ada.cursor()
        try table.ada.ok("lock.now")
        try table.bob.ok("attestation.withdraw")
        table.bench.advance(5_000)
        try table.ada.ok("session.unlock", ["passphrase": .string(goodPassphrase)])
        table.bench.advance(60_000)
        #expect(try ProofTable.verifier(of: "Bob", on: table.ada) == nil)
        #expect(try table.ada.events(since: before, types: ["member.edited"]).count == 1)
        // The next lock changes nothing, and so it tells nothing.
        let after = try table.ada.cursor()
        try table.ada.ok("lock.now")
        try table.ada.ok("session.unlock", ["passphrase": .string(goodPassphrase)])
        table.bench.advance(60_000)
        #expect(try table.ada.events(since: after, types: ["member.edited"]).isEmpty)
    }

    @Test func `gives no right, and a node that knows none of it goes on`() throws {
        let before = try table.bob.ok("member.get", ["member": "Bob"])["role"]
        try table.prove(Self.address, of: table.bob, by: table.ada)
        #expect(try table.bob.ok("member.get", ["member": "Bob"])["role"] == before)
        #expect(table.bob.outcome("policy.set", ["join": "open"]) == "forbidden")
        #expect(try table.ada.digest() == table.bob.digest())
    }

    @Test func `is not edited, but replaced by a new proof`() throws {
        try table.prove(Self.address, of: table.bob, by: table.ada)
        let refusal = try table.bob.refused("profile.set", ["email": "other@example.org"])
        #expect(refusal.kind == .conflict && refusal.reason == "email.verified")
        #expect(try table.bob.ok("profile.set", ["email": "BOB@example.org"])["changed"] == false)
        try table.prove("other@example.org", of: table.bob, by: table.ada)
        for node in [table.ada, table.bob, table.cleo] {
            let shown = try node.ok("profile.of", ["member": "@Bob"])
            #expect(shown["email"] == "other@example.org")
            #expect(shown["email_verified"]?["by"]?["name"] == "Ada")
        }
        // The former address is free.
        try table.prove(Self.address, of: table.cleo, by: table.ada)
        #expect(try ProofTable.states(on: table.ada) == ["Bob": "valid", "Cleo": "valid"])
    }

    @Test(arguments: [["email": ""] as JSONValue, ["hide": ["email"]]])
    func `is taken back with the field, and its verifier erases it`(_ edit: JSONValue) throws {
        try table.prove(Self.address, of: table.bob, by: table.ada)
        try table.bob.ok("profile.set", edit)
        table.bench.advance(5_000)
        for node in [table.ada, table.cleo] {
            let shown = try node.ok("profile.of", ["member": "@Bob"])
            #expect(shown["email"] == .null && shown["email_verified"] == .null)
            #expect(try ProofTable.states(on: node) == ["Bob": "withdrawn"])
            #expect(try node.ok("attestation.list").items.first?["value"] == .null)
            #expect(try !`A profile`.knows(Self.address, node))
        }
    }

    @Test func `is told with who verified it, where others verified the one before`() throws {
        try table.letCleoVerify()
        try table.prove(Self.address, of: table.bob, by: table.ada)
        for (address, verifier) in [("b2@example.org", table.cleo), ("b3@example.org", table.ada)] {
            let done = try table.prove(address, of: table.bob, by: verifier)
            #expect(done["email"] == .string(address) && done["state"] == "verified")
            #expect(done["verifier"]?["name"] == .string(verifier.name))
            #expect(try ProofTable.verifier(of: "Bob", on: table.bob) == .string(verifier.name))
        }
    }

    @Test func `belongs to one member`() throws {
        try table.prove(Self.address, of: table.bob, by: table.ada)
        let check = try table.cleo.ok("identity.email.check", ["email": "Bob@Example.org"])
        #expect(check["state"] == "taken_here" && check["seed"] == "E12")
        #expect(check["member"]?["name"] == "Bob")
        let refusal = try table.cleo.refused("email.verify.send", ["email": .string(Self.address)])
        #expect(refusal.kind == .duplicate && refusal.kind.seed == "E12")
        #expect(
            try table.bob.ok("identity.email.check", ["email": .string(Self.address)])["state"]
                == "ok")
        #expect(
            try table.cleo.ok("identity.email.check", ["email": "x@example.org"])["state"] == "ok")
        let form = try table.cleo.refused("identity.email.check", ["email": "no address"])
        #expect(form.kind == .badRequest && form.fields.first?.name == "email")
    }

    /// Two verifiers who are apart attest it for two members: the first one counts, on all nodes.
    @Test func `belongs to the first of two who prove it apart`() throws {
        try table.letCleoVerify()
        let dora = try table.bench.guest("Dora", of: table.ada)
        table.bench.advance(60_000)
        for (left, right) in [(table.ada, table.cleo), (table.ada, dora), (table.bob, table.cleo)] {
            table.bench.cut(left, right)
        }
        table.bench.cut(table.bob, dora)
        try table.prove(Self.address, of: table.bob, by: table.ada)
        try table.prove(Self.address, of: dora, by: table.cleo)
        for (left, right) in [(table.ada, table.cleo), (table.ada, dora), (table.bob, table.cleo)] {
            table.bench.heal(left, right)
        }
        table.bench.heal(table.bob, dora)
        table.bench.advance(120_000)
        for node in [table.ada, table.bob, table.cleo, dora] {
            #expect(try ProofTable.states(on: node) == ["Bob": "valid", "Dora": "taken"])
            #expect(try ProofTable.verifier(of: "Dora", on: node) == nil)
        }
    }

    @Test func `counts while its verifier may verify, and says why it does not`() throws {
        try table.letCleoVerify()
        try table.prove(Self.address, of: table.bob, by: table.cleo)
        let cursor = try table.bob.cursor()
        try table.ada.ok("member.role", ["member": "Cleo", "role": "member"])
        table.bench.advance(5_000)
        for node in [table.ada, table.bob, table.cleo] {
            #expect(try ProofTable.verifier(of: "Bob", on: node) == nil)
            #expect(try ProofTable.states(on: node) == ["Bob": "verifier_gone"])
        }
        #expect(try !table.bob.events(since: cursor, types: ["member.edited"]).isEmpty)
        // It is an address as any other now.
        try table.bob.ok("profile.set", ["email": "free@example.org"])
        try table.bob.ok("profile.set", ["email": .string(Self.address)])
        try table.ada.ok("member.role", ["member": "Cleo", "role": "admin"])
        table.bench.advance(5_000)
        #expect(try ProofTable.verifier(of: "Bob", on: table.ada) == "Cleo")
        try table.ada.ok("member.remove", ["member": "Cleo"])
        table.bench.advance(5_000)
        #expect(try ProofTable.verifier(of: "Bob", on: table.bob) == nil)
        #expect(try ProofTable.states(on: table.bob) == ["Bob": "verifier_gone"])
    }

    /// Bob gave his first address up for the second one, and its verifier is none any more.
    @Test(arguments: [true, false])
    func `brings back none that it replaced when its verifier leaves`(isRemoved: Bool) throws {
        let dora = try table.bench.guest("Dora", of: table.ada)
        try table.letCleoVerify()
        try table.prove(Self.address, of: table.bob, by: table.ada)
        try table.prove("new@example.org", of: table.bob, by: table.cleo)
        if isRemoved {
            try table.ada.ok("member.remove", ["member": "Cleo"])
        } else {
            try table.ada.ok("member.role", ["member": "Cleo", "role": "member"])
        }
        table.bench.advance(5_000)
        for node in [table.ada, table.bob, dora] {
            let list = try node.ok("attestation.list").items
            #expect(list.map { $0["state"] } == ["verifier_gone"])
            #expect(list.map { $0["value"] } == ["new@example.org"])
            #expect(list.map { $0["by"]?["name"] } == ["Cleo"])
            let shown = try node.ok("profile.of", ["member": "@Bob"])
            #expect(shown["email"] == "new@example.org" && shown["email_verified"] == .null)
            #expect(shown["email_unverified"]?["state"] == "verifier_gone")
            #expect(shown["email_unverified"]?["by"]?["name"] == "Cleo")
            let first = try node.ok("identity.email.check", ["email": .string(Self.address)])
            #expect(first["state"] == "ok" && first["member"] == .null)
        }
        let invited = try table.ada.ok("invite.create", ["email": .string(Self.address)])
        #expect(invited["delivery"] == "mail")
        // What he gave up is free, and what he has is proved again, by another.
        try table.prove(Self.address, of: dora, by: table.ada)
        try table.prove("new@example.org", of: table.bob, by: table.ada)
        for node in [table.ada, table.bob, dora] {
            #expect(try ProofTable.states(on: node) == ["Bob": "valid", "Dora": "valid"])
            #expect(try ProofTable.verifier(of: "Bob", on: node) == "Ada")
            let shown = try node.ok("profile.of", ["member": "@Bob"])
            #expect(shown.fieldNames == ResultFields.profile)
        }
    }

    @Test func `counts again with its verifier, unless its member took it back`() throws {
        try table.letCleoVerify()
        try table.prove(Self.address, of: table.bob, by: table.cleo)
        for (role, state) in [("member", "verifier_gone"), ("admin", "valid")] {
            try table.ada.ok("member.role", ["member": "Cleo", "role": .string(role)])
            table.bench.advance(5_000)
            #expect(try ProofTable.states(on: table.bob) == ["Bob": state])
        }
        try table.ada.ok("member.role", ["member": "Cleo", "role": "member"])
        table.bench.advance(5_000)
        try table.bob.ok("profile.set", ["email": ""])
        try table.ada.ok("member.role", ["member": "Cleo", "role": "admin"])
        table.bench.advance(5_000)
        for node in [table.ada, table.bob, table.cleo] {
            #expect(try ProofTable.states(on: node) == ["Bob": "withdrawn"])
        }
    }

    /// A program of Cleo's writes what it likes after she has lost the right: while she is a member, and
    /// while she does not know that she is none.
    @Test(arguments: [true, false])
    func `is not overridden by somebody who may no longer verify`(isRemoved: Bool) throws {
        try table.letCleoVerify()
        let bob = try table.bob.workspace().member
        let document = try table.cleo.workspace().profileDocument
        try table.prove("old@example.org", of: table.bob, by: table.cleo)
        try table.prove(Self.address, of: table.bob, by: table.ada)
        if isRemoved {
            for node in [table.ada, table.bob] { table.bench.cut(node, table.cleo) }
            try table.ada.ok("member.remove", ["member": "Cleo"])
        } else {
            try table.ada.ok("member.role", ["member": "Cleo", "role": "member"])
        }
        table.bench.advance(5_000)
        for proof in [Attestation.Proof("false@example.org", by: .letter), nil] {
            try table.cleo.write(.attestation(Attestation(bob, .email, proof)), to: document)
        }
        if isRemoved {
            for node in [table.ada, table.bob] { table.bench.heal(node, table.cleo) }
        }
        table.bench.advance(60_000)
        for node in [table.ada, table.bob] {
            #expect(try ProofTable.states(on: node) == ["Bob": "valid"])
            #expect(try ProofTable.verifier(of: "Bob", on: node) == "Ada")
        }
    }

    /// What somebody attests while they are no verifier does not count when they become one again.
    @Test func `does not count where its verifier was none when it was written`() throws {
        let bob = try table.bob.workspace().member
        let document = try table.cleo.workspace().profileDocument
        let said = Attestation(bob, .email, .init(Self.address, by: .letter))
        try table.bob.ok("profile.set", ["email": .string(Self.address)])
        try table.cleo.write(.attestation(said), to: document)
        table.bench.advance(5_000)
        #expect(try ProofTable.states(on: table.ada) == ["Bob": "verifier_gone"])
        try table.letCleoVerify()
        #expect(try ProofTable.states(on: table.ada) == ["Bob": "verifier_gone"])
        try table.ada.ok("policy.set", ["who_may_attest": "members"])
        table.bench.advance(5_000)
        for node in [table.ada, table.bob, table.cleo] {
            #expect(try ProofTable.states(on: node) == ["Bob": "valid"])
        }
        try table.ada.ok("policy.set", ["who_may_attest": "owner"])
        table.bench.advance(5_000)
        for node in [table.ada, table.bob, table.cleo] {
            #expect(try ProofTable.states(on: node) == ["Bob": "verifier_gone"])
        }
    }

    /// A demoted verifier's device still writes under the grant of before; so what it writes then has
    /// to be told from what it wrote before, and from what it writes when it may again.
    @Test func `does not count where it was written between two terms of its verifier`() throws {
        try table.letCleoVerify()
        try table.ada.ok("member.role", ["member": "Cleo", "role": "member"])
        table.bench.advance(5_000)
        try table.bob.ok("profile.set", ["email": .string(Self.address)])
        let said = Attestation(
            try table.bob.workspace().member, .email, .init(Self.address, by: .letter))
        try table.cleo.write(
            .attestation(said), to: try table.cleo.workspace().profileDocument)
        table.bench.advance(5_000)
        try table.ada.ok("member.role", ["member": "Cleo", "role": "admin"])
        table.bench.advance(5_000)
        for node in [table.ada, table.bob, table.cleo] {
            #expect(try ProofTable.states(on: node) == ["Bob": "verifier_gone"])
        }
        // What she attests from now on counts.
        try table.prove(Self.address, of: table.bob, by: table.cleo)
        for node in [table.ada, table.bob, table.cleo] {
            #expect(try ProofTable.verifier(of: "Bob", on: node) == "Cleo")
        }
    }

    /// What she attested in the first term keeps its place in her log; what she writes behind that,
    /// under the same grant, does not count because of where it is.
    @Test func `does not count where it was written behind what counts of a term that is over`()
        throws
    {
        try table.letCleoVerify()
        try table.prove(Self.address, of: table.bob, by: table.cleo)
        try table.ada.ok("member.role", ["member": "Cleo", "role": "member"])
        table.bench.advance(5_000)
        let (bob, cleo) = (
            try table.bob.workspace().member, try table.cleo.workspace().member
        )
        try table.cleo.write(
            .attestation(Attestation(bob, .email, .init("false@example.org", by: .letter))),
            to: try table.cleo.workspace().profileDocument)
        table.bench.advance(5_000)
        try table.ada.ok("member.role", ["member": "Cleo", "role": "admin"])
        table.bench.advance(5_000)
        for node in [table.ada, table.bob, table.cleo] {
            let words = try node.workspace().people.attestations.values(
                .init(bob, .email), by: cleo)
            #expect(words.map(\.isValid) == [true, true])
            #expect(Set(words.map(\.range)).count == 1)
            let list = try node.ok("attestation.list").items
            #expect(list.map { $0["value"] } == [.string(Self.address)])
            #expect(list.map { $0["state"] } == ["valid"])
        }
    }

    @Test func `is not what somebody says of themselves`() throws {
        let ada = try table.ada.workspace()
        try table.ada.ok("profile.set", ["email": "ada@example.org"])
        try table.ada.write(
            .attestation(Attestation(ada.member, .email, .init("ada@example.org", by: .letter))),
            to: ada.profileDocument)
        table.bench.advance(5_000)
        #expect(try ProofTable.verifier(of: "Ada", on: table.bob) == nil)
        #expect(try table.bob.ok("attestation.list").items.isEmpty)
    }

    @Test func `is withdrawn by verifiers and by its member, and by nobody else`() throws {
        try table.prove(Self.address, of: table.bob, by: table.ada)
        #expect(
            try table.cleo.refused("attestation.withdraw", ["member": "@Bob"]).kind == .forbidden)
        let none = try table.cleo.refused("attestation.withdraw")
        #expect(none.kind == .notFound && none.message == "no address of yours is verified")
        let theirs = try table.ada.refused("attestation.withdraw", ["member": "@Cleo"])
        #expect(theirs.message == "no address of theirs is verified")
        // A program of Cleo's that does not ask has no effect.
        let bob = try table.bob.workspace().member
        try table.cleo.write(
            .attestation(Attestation(bob, .email, nil)),
            to: try table.cleo.workspace().profileDocument)
        table.bench.advance(5_000)
        #expect(try ProofTable.verifier(of: "Bob", on: table.ada) == "Ada")
        let back = try table.ada.ok("attestation.withdraw", ["member": "@Bob"])
        #expect(back["state"] == "withdrawn" && back["by"]?["name"] == "Ada")
        table.bench.advance(5_000)
        #expect(try ProofTable.verifier(of: "Bob", on: table.cleo) == nil)
        try table.prove(Self.address, of: table.bob, by: table.ada)
        #expect(try table.bob.ok("attestation.withdraw")["by"]?["name"] == "Bob")
        table.bench.advance(5_000)
        #expect(try ProofTable.verifier(of: "Bob", on: table.ada) == nil)
        #expect(try table.bob.ok("profile.get")["email"] == .string(Self.address))
    }

    @Test func `is nothing that guests see`() throws {
        try table.prove(Self.address, of: table.bob, by: table.ada)
        try table.ada.ok("channel.create", ["name": "board", "private": true])
        try table.ada.ok("channel.add", ["channel": "board", "members": ["Bob"]])
        let guest = try table.bench.guest(
            "Gil", of: table.ada, role: "guest", channels: ["board"])
        table.bench.advance(10_000)
        #expect(try guest.ok("attestation.list").items.isEmpty)
        #expect(
            try guest.ok("identity.email.check", ["email": .string(Self.address)])["state"]
                == "unknown")
        #expect(
            try guest.refused("email.verify.send", ["email": "g@example.org"]).kind == .forbidden)
        #expect(try !`A profile`.knows(Self.address, guest))
    }

    /// What a verifier writes of accounts has no bound, so the list of it has one.
    @Test func `is listed with so many others, and no more`() throws {
        for node in [table.bob, table.cleo] { table.bench.cut(table.ada, node) }
        let bob = try table.bob.workspace().member
        let account = String(repeating: "0", count: 64)
        try table.ada.inTurn { core, workspace in
            for number in 0...Limits.attestationsListedMax {
                let said = Attestation(
                    bob, .account, provider: "provider \(number)", .init(account, by: .token))
                let made = try core.privates.authorContent(
                    .attestation(said), to: workspace.profileDocument, in: workspace)
                try #require(made != nil)
            }
        }
        var providers: Set<String> = []
        var (pages, cursor): (Int, JSONValue) = (0, .null)
        repeat {
            var given: JSONObject = ["limit": 1_000]
            if cursor != .null { given["cursor"] = cursor }
            let page = try table.ada.ok("attestation.list", .object(given))
            providers.formUnion(page.items.compactMap { $0["provider"]?.stringValue })
            cursor = page["next"] ?? .null
            pages += 1
        } while cursor != .null && pages < 1_000
        #expect(providers.count == Limits.attestationsListedMax)
    }
}
