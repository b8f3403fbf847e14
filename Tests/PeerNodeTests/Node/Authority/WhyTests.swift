import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

struct `The question why` {
    private let bench = CoreBench()

    private func steps(_ answer: JSONValue) -> [JSONValue] { answer["steps"]?.arrayValue ?? [] }

    @Test func `is answered by the operations that made somebody a member`() throws {
        let mina = try bench.node("Mina")
        let joon = try bench.guest("Joon", of: mina)
        let owner = try joon.ok("why", ["subject": "@mina"])
        #expect(owner["role"] == "owner")
        #expect(owner["answer"] == true)
        #expect(owner["can"] == .null)
        #expect(steps(owner).map { $0["kind"] } == ["create"])
        let guest = try mina.ok("why", ["subject": "Joon"])
        #expect(try guest.text("id") == PublicID.member(joon.workspace().member))
        #expect(guest["role"] == "member")
        #expect(steps(guest).map { $0["kind"] } == ["invite", "admit"])
        #expect(steps(guest).allSatisfy { $0["valid"] == true && $0["by"]?["name"] == "Mina" })
        let text = try #require(steps(guest).last).text("text")
        #expect(text.hasPrefix("Mina let Joon in as member, with the invite i_"))
        #expect(steps(guest).allSatisfy { $0["operation"]?.stringValue?.hasPrefix("o_") == true })
    }

    struct Question: Sendable, CustomTestStringConvertible {
        let who: String
        let action: String
        let answer: Bool
        var testDescription: String { "\(who) \(action)" }
    }

    static let questions = [
        Question(who: "Mina", action: "invite", answer: true),
        Question(who: "Mina", action: "delete", answer: true),
        Question(who: "Joon", action: "send", answer: true),
        Question(who: "Joon", action: "invite", answer: false),
        Question(who: "Joon", action: "remove", answer: false),
        Question(who: "Sam", action: "remove", answer: true),
        Question(who: "Sam", action: "transfer", answer: false),
    ]

    @Test(arguments: questions)
    func `whether somebody may is decided by a grant`(_ question: Question) throws {
        let mina = try bench.node("Mina")
        _ = try bench.guest("Joon", of: mina)
        _ = try bench.guest("Sam", of: mina, role: "admin")
        let answer = try mina.ok(
            "why", ["subject": .string(question.who), "can": .string(question.action)])
        #expect(answer["answer"] == .bool(question.answer))
        #expect(answer["can"] == .string(question.action))
        let last = try #require(steps(answer).last).text("text")
        #expect(last.contains(question.answer ? "may \(question.action)" : "needs at least"))
    }

    @Test func `names the removal, and what it cut off`() throws {
        let mina = try bench.node("Mina")
        let joon = try bench.guest("Joon", of: mina)
        let sent = try joon.send("hello").text("id")
        bench.advance(1_000)
        let shown = try mina.ok("why", ["subject": .string(sent)])
        #expect(shown["answer"] == true)
        #expect(shown["name"] == "general")
        #expect(steps(shown).last?["kind"] == "message")
        let removal = try mina.remove(joon)
        let member = try mina.ok("why", ["subject": "Joon", "can": "send"])
        #expect(member["answer"] == false)
        #expect(member["role"] == .null)
        #expect(steps(member).contains { $0["kind"] == "remove" && $0["valid"] == true })
        #expect(try #require(steps(member).last).text("text").contains("no longer a member"))
        // The removal lists no cut, so nothing of Joon's is kept.
        let hidden = try mina.ok("why", ["subject": .string(sent)])
        #expect(hidden["answer"] == false)
        let text = try #require(steps(hidden).last).text("text")
        #expect(text.contains("not shown: \(PublicID.operation(removal)) cut it off"))
    }

    /// A transfer changes two roles, and is told of both people.
    @Test func `tells of a workspace that was handed over and back`() throws {
        let mina = try bench.node("Mina")
        let joon = try bench.guest("Joon", of: mina)
        bench.advance(1_000)
        try mina.ok("workspace.transfer", ["member": "Joon"])
        bench.advance(5_000)
        let given = try joon.ok("why", ["subject": "Mina"])
        #expect(given["role"] == "admin")
        #expect(steps(given).contains { $0["kind"] == "grant" && $0["by"]?["name"] == "Mina" })
        try joon.ok("workspace.transfer", ["member": "Mina"])
        bench.advance(5_000)
        for (subject, role) in [("Mina", "owner"), ("Joon", "admin")] {
            let answer = try mina.ok("why", ["subject": .string(subject)])
            #expect(answer["role"] == .string(role), "\(subject)")
            let transfers = steps(answer).filter { $0["kind"] == "grant" }
            #expect(
                transfers.map { $0["text"]?.stringValue } == [
                    "Mina handed the workspace over to Joon and became an admin",
                    "Joon handed the workspace over to Mina and became an admin",
                ], "\(answer)")
            #expect(transfers.allSatisfy { $0["valid"] == true }, "\(subject)")
        }
    }

    @Test func `tells who made a channel and what was set`() throws {
        let mina = try bench.node("Mina")
        let joon = try bench.guest("Joon", of: mina)
        try joon.ok("channel.create", ["name": "plans", "topic": "soon"])
        bench.advance(1_000)
        let answer = try mina.ok("why", ["subject": "#plans"])
        #expect(answer["answer"] == true)
        // Last comes what gives the one who asks a place there.
        let made = steps(answer).dropLast()
        #expect(made.map { $0["kind"] } == ["doccreate", "docset"])
        #expect(made.allSatisfy { $0["by"]?["name"] == "Joon" })
        #expect(try #require(made.last).text("text").contains("the channel's name"))
        #expect(try joon.ok("why", ["subject": "#plans", "can": "edit"])["answer"] == true)
        #expect(try joon.ok("why", ["subject": "#general", "can": "edit"])["answer"] == false)
        #expect(try mina.ok("why", ["subject": "#plans", "can": "edit"])["answer"] == true)
    }

    @Test func `shows an operation without effect, and why it has none`() throws {
        let mina = try bench.node("Mina")
        let joon = try bench.guest("Joon", of: mina)
        let sam = try bench.guest("Sam", of: mina, role: "admin")
        bench.advance(1_000)
        bench.cut(mina, sam)
        bench.cut(mina, joon)
        bench.cut(joon, sam)
        // Both at once: the owner is stronger, so Sam's removal of Joon has no effect.
        try mina.remove(sam)
        try sam.remove(joon)
        for (left, right) in [(mina, sam), (mina, joon), (joon, sam)] { bench.heal(left, right) }
        bench.advance(60_000)
        let answer = try sam.ok("why", ["subject": "Joon"])
        let removal = try #require(steps(answer).first { $0["kind"] == "remove" })
        if removal["valid"] == false {
            #expect(try removal.text("text").contains("without effect: "))
            #expect(answer["answer"] == true)
        } else {
            // Sam has not heard of his own removal: the answer depends on what the node knows.
            #expect(answer["answer"] == false)
        }
    }

    @Test func `shows the forks of a member`() throws {
        let mina = try bench.node("Mina")
        let joon = try bench.guest("Joon", of: mina)
        bench.advance(5_000)
        let image = try joon.image
        let guardBytes = joon.files.guardBytes
        try joon.send("first life")
        bench.advance(5_000)
        bench.cut(mina, joon)
        joon.kill()
        try joon.replaceStore(image)
        joon.files.guardBytes = guardBytes
        try joon.boot()
        try joon.send("second life")
        bench.heal(mina, joon)
        bench.advance(120_000)
        let answer = try mina.ok("why", ["subject": "Joon"])
        let fork = try #require(steps(answer).first { $0["kind"] == "fork" })
        #expect(try fork.text("text").contains("signed two operations at position"))
        let none = try mina.ok("why", ["subject": "Mina"])
        #expect(!steps(none).contains { $0["kind"] == "fork" })
    }

    @Test func `is refused about nothing and about no action`() throws {
        let mina = try bench.node("Mina")
        for subject in ["@nobody", "#nowhere", "c_0000000000000000000000000", "m_zzz", "u_1"] {
            let kind = try mina.refused("why", ["subject": .string(subject)]).kind
            #expect(kind == .notFound || kind == .unknownUser, "\(subject)")
        }
        let error = try mina.refused("why", ["subject": "Mina", "can": "fly"])
        #expect(error.kind == .badRequest)
        #expect(error.hint?.contains("invite") == true)
    }
}
