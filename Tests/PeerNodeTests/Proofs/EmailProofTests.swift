import CRDTStore
import Foundation
import SyncProtocol
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// Verifying an address: letters, codes, and failures.
struct `The proof of an address` {
    private let table: ProofTable

    init() throws { table = try ProofTable() }

    private static let address = "bob@example.org"
    private static let ask: JSONValue = ["email": .string(address)]

    private func confirm(_ code: String, on node: BenchNode) throws -> NodeError {
        try node.refused("email.verify.confirm", ["code": .string(code)])
    }

    // MARK: Letters

    @Test func `is a letter that says who asks and where, with the code only in its text`() throws {
        let sent = try table.bob.ok("email.verify.send", Self.ask)
        #expect(sent.fieldNames == ResultFields.emailClaim)
        #expect(sent["state"] == "sent" && sent["verifier"]?["name"] == "Ada")
        let expiry = try sent.number("expires_at")
        #expect(expiry > Int64(table.bench.wall) && expiry <= Int64(table.bench.wall) + 300_000)
        let letter = try #require(table.ada.letters.first)
        #expect(letter.command == "msmtp -t")
        let text = String(decoding: letter.input, as: UTF8.self)
        #expect(text.hasPrefix("To: bob@example.org\nSubject: "))
        #expect(text.contains("'Bob'") && text.contains("'acme'") && text.contains("'Ada'"))
        let code = try ProofTable.code(letter)
        #expect(!text.components(separatedBy: "\n\n")[0].contains(code))
        #expect(!letter.command.contains(code))
        for variable in letter.variables { #expect(!variable.value.contains(code)) }
        #expect(table.bob.letters.isEmpty && table.cleo.letters.isEmpty)
    }

    @Test func `leaves no code in stores and logs`() throws {
        try table.bob.ok("email.verify.send", Self.ask)
        let code = try ProofTable.code(table.ada.letters.first)
        let wrong = try confirm(ProofTable.other(code), on: table.bob)
        #expect(!wrong.json.text.contains(code))
        try table.bob.ok("email.verify.confirm", ["code": .string(code)])
        table.bench.advance(5_000)
        for node in [table.ada, table.bob, table.cleo] {
            #expect(try !`A profile`.knows(code, node))
            #expect(!node.log.contains { $0.contains(code) })
        }
        let ada = try #require(table.ada.host?.core)
        #expect(ada.proofs.foreign.isEmpty)
    }

    @Test func `is not begun twice for one letter`() throws {
        try table.bob.ok("email.verify.send", Self.ask)
        #expect(try table.bob.ok("email.verify.send", Self.ask)["state"] == "sent")
        #expect(table.ada.letters.count == 1)
        try table.prove(Self.address, of: table.bob, by: table.ada)
        // What is proved needs no other letter.
        let again = try table.bob.ok("email.verify.send", Self.ask)
        #expect(again["state"] == "verified" && again["verifier"]?["name"] == "Ada")
        #expect(table.ada.letters.count == 2)
    }

    @Test func `fails where the letter cannot be sent`() throws {
        table.ada.mailStatus = 75
        let failure = try table.bob.refused("email.verify.send", Self.ask)
        #expect(failure.kind == .codeUndeliverable && failure.kind.seed == "11005")
        #expect(table.ada.log.contains { $0.hasPrefix("mail.failed status=75") })
        #expect(try confirm("123456", on: table.bob).kind == .codeInvalid)
        table.ada.mailStatus = 0
        #expect(try table.bob.ok("email.verify.resend")["state"] == "sent")
    }

    @Test func `waits for the command and holds nobody up`() throws {
        table.ada.mailStatus = nil
        let call = table.bob.begin("email.verify.send", Self.ask)
        #expect(table.bob.answer(to: call) == nil)
        try table.ada.send("meanwhile")
        #expect(try table.bob.log().last == "meanwhile")
        table.ada.endMail(try #require(table.ada.letters.first), status: 0)
        table.bench.advance(1_000)
        #expect(try table.bob.answer(to: call)?.get()["state"] == "sent")
    }

    @Test func `is five letters in an hour for one member, and twenty for a node`() throws {
        try table.bob.ok("email.verify.send", Self.ask)
        for _ in 0..<4 { try table.bob.ok("email.verify.resend") }
        let sixth = try table.bob.refused("email.verify.resend")
        #expect(sixth.kind == .rateLimited)
        #expect((sixth.details["retry_ms"]?.integerValue ?? 0) > 3_000_000)
        #expect(table.ada.letters.count == 5)
        var budget = LetterBudget()
        let hour = Limits.letterHourMilliseconds
        for number in 0..<20 {
            let member = MemberID([UInt8](repeating: UInt8(number / 4), count: 16))
            #expect(budget.wait(for: member, at: 7) == 0)
            budget.note(member, at: 7)
        }
        let fresh = MemberID([UInt8](repeating: 99, count: 16))
        #expect(budget.wait(for: fresh, at: 8) == hour - 1)
        #expect(budget.wait(for: fresh, at: 7 + hour) == 0)
        table.bench.advance(hour + 1_000)
        #expect(try table.bob.ok("email.verify.resend")["state"] == "sent")
    }

    // MARK: Refusals

    /// Each of the two is asked first once.
    @Test(arguments: [true, false])
    func `fails if its address is refused, no matter who else sends none`(isOwner: Bool) throws {
        try table.letCleoVerify()
        let (sender, other) = isOwner ? (table.ada, table.cleo) : (table.cleo, table.ada)
        try other.ok("mail.command", ["command": ""])
        sender.mailStatus = 65
        let failure = try table.bob.refused("email.verify.send", Self.ask)
        #expect(failure.kind == .codeUndeliverable && failure.reason == "proof.undeliverable")
        #expect(sender.letters.count == 1)
        // It is not tried by itself again, since that would be as vain.
        table.bench.advance(60_000)
        #expect(sender.letters.count == 1)
    }

    @Test func `speaks of a code only where one is still good`() throws {
        try table.letCleoVerify()
        try table.cleo.ok("mail.command", ["command": ""])
        try table.bob.ok("email.verify.send", Self.ask)
        for _ in 1..<Limits.lettersOfOneHourly { try table.bob.ok("email.verify.resend") }
        let kept = try table.bob.refused("email.verify.resend")
        #expect(kept.kind == .rateLimited && kept.hint?.contains("confirm CODE") == true)
        // Another address has no code, and that somebody sends none says less than when one may be sent.
        let fresh = try table.bob.refused("email.verify.send", ["email": "b@example.org"])
        #expect(fresh.kind == .rateLimited && fresh.reason == "proof.letters")
        #expect(fresh.hint == "then: wsx-node identity email resend")
        let code = try ProofTable.code(table.ada.letters.last)
        #expect(try confirm(code, on: table.bob).reason == "proof.not_sent")
    }

    @Test func `has no good code after a letter that was not sent`() throws {
        try table.bob.ok("email.verify.send", Self.ask)
        let code = try ProofTable.code(table.ada.letters.first)
        table.ada.mailStatus = 65
        for _ in 0..<Limits.lettersOfOneHourly {
            #expect(try table.bob.refused("email.verify.resend").kind == .codeUndeliverable)
        }
        #expect(
            try table.bob.refused("email.verify.resend").hint
                == "then: wsx-node identity email resend")
        #expect(try confirm(code, on: table.bob).reason == "proof.code_over")
    }

    @Test func `leaves the letters of an hour where others could not be sent`() throws {
        table.ada.mailStatus = 65
        let wrong = try table.bob.refused("email.verify.send", ["email": "bob@exmaple.org"])
        #expect(wrong.kind == .codeUndeliverable)
        table.ada.mailStatus = 0
        try table.bob.ok("email.verify.send", Self.ask)
        for _ in 1..<Limits.lettersOfOneHourly { try table.bob.ok("email.verify.resend") }
        #expect(try table.bob.refused("email.verify.resend").kind == .rateLimited)
        #expect(table.ada.letters.count == 1 + Limits.lettersOfOneHourly)
    }

    @Test func `fails so often in an hour, and counts in all that a node sends`() {
        let (hour, most) = (Limits.letterHourMilliseconds, Limits.lettersOfOneHourly)
        let member = MemberID([UInt8](repeating: 1, count: 16))
        var budget = LetterBudget()
        for _ in 0..<most {
            #expect(budget.wait(for: member, at: 7) == 0)
            budget.note(member, at: 7)
            budget.noteFailed(member)
        }
        #expect(budget.wait(for: member, at: 8) == hour - 1)
        #expect(budget.wait(for: MemberID([UInt8](repeating: 2, count: 16)), at: 8) == 0)
        var busy = LetterBudget(ofOne: most, inAll: 2)
        for _ in 0..<2 {
            busy.note(member, at: 7)
            busy.noteFailed(member)
        }
        #expect(busy.wait(for: nil, at: 8) == hour - 1)
        #expect(busy.wait(for: nil, at: 7 + hour) == 0)
        #expect(budget.wait(for: member, at: 7 + hour) == 0)
        // What was never noted is not given back.
        budget.noteFailed(member)
        #expect(budget.wait(for: member, at: 8 + hour) == 0)
    }

    @Test func `takes the answer that says most, no matter which comes last`() {
        let name = ClaimName([UInt8](repeating: 1, count: ClaimName.byteCount))
        let device = DeviceID([UInt8](repeating: 2, count: 32))
        let answers = [
            ProofAnswer(name, .notHere), ProofAnswer(name, .tooMany, retryMilliseconds: 9_000),
            ProofAnswer(name, .tooMany, retryMilliseconds: 5_000), ProofAnswer(name, .notSent),
        ]
        for count in 1...answers.count {
            for order in [Array(answers.prefix(count)), answers.prefix(count).reversed()] {
                var claim = OwnClaim(name, address: Self.address, wanted: nil)
                for answer in order { claim.take(answer, from: device) }
                #expect(claim.refusal == answers[count - 1])
                claim.want()
                #expect(claim.refusal == nil && claim.wantsLetter)
            }
        }
    }

    @Test func `says what to do next where it is refused`() throws {
        let form = try table.bob.refused("email.verify.send", ["email": "Bob <b@example.org>"])
        #expect(form.hint == "give only the address, without a name or brackets")
        let long = String(repeating: "b", count: 250) + "@example.org"
        let tooLong = try table.bob.refused("email.verify.send", ["email": .string(long)])
        #expect(tooLong.hint == "use a shorter address")
        #expect(try confirm("12345", on: table.bob).hint?.contains("email resend") == true)
        table.ada.mailStatus = nil
        let call = table.bob.begin("email.verify.send", Self.ask)
        table.bench.advance(Limits.proofCallMilliseconds + 1_000)
        guard case .failure(let late)? = table.bob.answer(to: call) else {
            Issue.record("no answer to the call that waited")
            return
        }
        #expect(late.kind == .pending && late.reason == "proof.no_answer")
        #expect(late.hint == "wsx-node profile show tells when it is done")
        table.ada.endMail(try #require(table.ada.letters.first), status: 0)
        table.ada.mailStatus = 0
        for _ in 1..<Limits.lettersOfOneHourly { try table.bob.ok("email.verify.resend") }
        let tooMany = try table.bob.refused("email.verify.resend")
        #expect(tooMany.kind == .rateLimited)
        #expect(tooMany.hint?.contains("wsx-node identity email confirm CODE") == true)
        // And that is so.
        let code = try ProofTable.code(table.ada.letters.last)
        #expect(
            try table.bob.ok("email.verify.confirm", ["code": .string(code)])["state"]
                == "verified")
    }

    /// Somebody asks on more terminals than one answer is handed to.
    @Test func `is answered to so many calls, and takes no code of more`() throws {
        try table.bob.ok("email.verify.send", Self.ask)
        let code = try ProofTable.code(table.ada.letters.first)
        table.ada.mailStatus = nil
        let calls = (0..<Limits.proofCallsMax).map { _ in
            table.bob.begin("email.verify.resend")
        }
        for call in calls { #expect(table.bob.answer(to: call) == nil) }
        // One more is told how things stand, and does not wait.
        let state = try #require(
            try table.bob.answer(to: table.bob.begin("email.verify.resend"))?.get())
        #expect(state["email"] == .string(Self.address))
        let proofs = try #require(table.bob.host?.core).proofs
        #expect(proofs.own.values.map(\.calls.count) == [Limits.proofCallsMax])
        let busy = try confirm(code, on: table.bob)
        #expect(busy.kind == .busy && busy.reason == "proof.busy")
        #expect(proofs.own.values.allSatisfy { $0.code == nil })
        #expect(table.ada.letters.count == 2)
        table.ada.endMail(try #require(table.ada.letters.last), status: 0)
        table.bench.advance(1_000)
        for call in calls {
            #expect(try table.bob.answer(to: call)?.get()["state"] == "sent")
        }
    }

    // MARK: Codes

    @Test func `takes five tries, and no sixth`() throws {
        try table.bob.ok("email.verify.send", Self.ask)
        let code = try ProofTable.code(table.ada.letters.first)
        for _ in 0..<5 {
            let wrong = try confirm(ProofTable.other(code), on: table.bob)
            #expect(wrong.kind == .codeInvalid && wrong.reason == "proof.code_wrong")
            #expect(wrong.kind.seed == "11003")
        }
        #expect(try confirm(code, on: table.bob).reason == "proof.code_over")
        try table.bob.ok("email.verify.resend")
        let next = try ProofTable.code(table.ada.letters.last)
        let typed = "\(next.prefix(3)) \(next.suffix(3))"
        #expect(
            try table.bob.ok("email.verify.confirm", ["code": .string(typed)])["state"]
                == "verified")
        #expect(try confirm(next, on: table.bob).kind == .codeInvalid)
    }

    @Test func `ends after five minutes`() throws {
        try table.bob.ok("email.verify.send", Self.ask)
        let code = try ProofTable.code(table.ada.letters.first)
        table.bench.advance(Limits.proofCodeMilliseconds + 1_000)
        let late = try confirm(code, on: table.bob)
        #expect(late.kind == .codeInvalid && late.reason == "proof.code_over")
        #expect(try table.ada.ok("attestation.list").items.isEmpty)
    }

    @Test func `has one code: a new letter ends the one before`() throws {
        try table.bob.ok("email.verify.send", Self.ask)
        let first = try ProofTable.code(table.ada.letters.first)
        try table.bob.ok("email.verify.resend")
        let second = try ProofTable.code(table.ada.letters.last)
        try #require(first != second)
        #expect(try confirm(first, on: table.bob).reason == "proof.code_wrong")
        #expect(
            try table.bob.ok("email.verify.confirm", ["code": .string(second)])["state"]
                == "verified")
    }

    @Test func `is void when the address changes`() throws {
        try table.bob.ok("email.verify.send", Self.ask)
        let code = try ProofTable.code(table.ada.letters.first)
        let other = try table.bob.refused(
            "email.verify.confirm", ["code": .string(code), "email": "x@example.org"])
        #expect(other.kind == .claimChanged && other.kind.seed == "11004")
        try table.bob.ok("profile.set", ["email": "new@example.org"])
        #expect(try confirm(code, on: table.bob).kind == .claimChanged)
        #expect(try #require(table.ada.host?.core).proofs.foreign.isEmpty)
        try table.bob.ok("email.verify.send", ["email": "new@example.org"])
        #expect(try confirm(code, on: table.bob).kind == .codeInvalid)
        #expect(
            try table.bob.refused("email.verify.confirm", ["code": "12345"]).kind == .badRequest)
    }

    /// Another member, or another device, gains nothing by a code that it saw.
    @Test func `is of the member who asked alone`() throws {
        try table.bob.ok("email.verify.send", Self.ask)
        let code = try ProofTable.code(table.ada.letters.first)
        #expect(try confirm(code, on: table.cleo).kind == .codeInvalid)
        try table.cleo.ok("email.verify.send", ["email": "cleo@example.org"])
        #expect(try confirm(code, on: table.cleo).kind == .codeInvalid)
        #expect(
            try table.bob.ok("email.verify.confirm", ["code": .string(code)])["state"]
                == "verified")
        #expect(try ProofTable.states(on: table.cleo) == ["Bob": "valid"])
    }

    // MARK: Verifiers

    @Test func `waits for a verifier, also across a restart, and continues by itself`() throws {
        table.bench.cut(table.ada, table.bob)
        let pending = try table.bob.refused("email.verify.send", Self.ask)
        #expect(pending.kind == .pending && pending.exitStatus == 7)
        #expect(try confirm("123456", on: table.bob).reason == "proof.not_sent")
        try table.bob.restart()
        table.bench.heal(table.ada, table.bob)
        table.bench.advance(60_000)
        #expect(table.ada.letters.count == 1)
        let code = try ProofTable.code(table.ada.letters.first)
        #expect(
            try table.bob.ok("email.verify.confirm", ["code": .string(code)])["state"]
                == "verified")
    }

    @Test func `keeps a code while its verifier is away, no longer than it is good`() throws {
        try table.bob.ok("email.verify.send", Self.ask)
        let code = try ProofTable.code(table.ada.letters.first)
        table.bench.cut(table.ada, table.bob)
        #expect(try confirm(code, on: table.bob).kind == .pending)
        table.bench.heal(table.ada, table.bob)
        table.bench.advance(60_000)
        #expect(try ProofTable.verifier(of: "Bob", on: table.bob) == "Ada")
        #expect(try table.bob.ok("profile.get")["email"] == .string(Self.address))
    }

    @Test func `is asked of verifiers alone, and of the one who was named`() throws {
        try table.cleo.ok("mail.command", ["command": "sendmail -t"])
        let refusal = try table.bob.refused(
            "email.verify.send", ["email": .string(Self.address), "verifier": "@Cleo"])
        #expect(refusal.kind == .forbidden)
        try table.letCleoVerify()
        let sent = try table.bob.ok(
            "email.verify.send", ["email": .string(Self.address), "verifier": "@Cleo"])
        #expect(sent["verifier"]?["name"] == "Cleo")
        #expect(table.ada.letters.isEmpty && table.cleo.letters.count == 1)
        try table.ada.ok("mail.command", ["command": ""])
        #expect(
            try table.bob.ok("email.verify.send", ["email": "b@example.org"])["verifier"]?["name"]
                == "Cleo")
    }

    @Test func `is pending where no verifier sends letters`() throws {
        let table = try ProofTable(ada: nil)
        let pending = try table.bob.refused("email.verify.send", Self.ask)
        #expect(pending.kind == .pending)
        try table.ada.ok("mail.command", ["command": "msmtp -t"])
        // The next link asks again.
        table.bench.cut(table.ada, table.bob)
        table.bench.heal(table.ada, table.bob)
        table.bench.advance(60_000)
        #expect(table.ada.letters.count == 1)
    }

    @Test func `is sent as the settings say, until the owner says otherwise`() throws {
        let table = try ProofTable(ada: nil)
        table.ada.mailCommand = "usual"
        try table.ada.restart()
        table.bench.advance(60_000)
        #expect(try table.ada.ok("mail.command")["command"] == "usual")
        try table.bob.ok("email.verify.send", Self.ask)
        #expect(table.ada.letters.map(\.command) == ["usual"])
        try table.ada.ok("mail.command", ["command": ""])
        #expect(try table.ada.ok("mail.command")["command"] == .null)
    }

    @Test func `needs an address that others may see`() throws {
        try table.bob.ok("profile.set", ["hide": ["email"]])
        let refusal = try table.bob.refused("email.verify.send", Self.ask)
        #expect(refusal.kind == .conflict && refusal.reason == "email.hidden")
        #expect(try table.bob.refused("email.verify.send", ["email": "bob"]).kind == .badRequest)
        #expect(table.ada.letters.isEmpty)
    }

    @Test func `ends when the verifier's keys are dropped`() throws {
        try table.bob.ok("email.verify.send", Self.ask)
        let ada = try #require(table.ada.host?.core)
        #expect(ada.proofs.foreign.count == 1)
        ada.proofs.forgetSecrets()
        #expect(ada.proofs.foreign.isEmpty)
        let code = try ProofTable.code(table.ada.letters.first)
        #expect(try confirm(code, on: table.bob).reason == "proof.code_over")
    }
}
