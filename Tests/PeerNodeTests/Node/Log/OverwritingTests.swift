import CRDTStore
import SyncProtocol
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// More heads with the largest timestamps than one operation can cite, and how
/// commands handle them.
struct `A value written a thousand times concurrently` {
    private let bench = CoreBench()
    private let mina: BenchNode
    private let desk: BenchNode
    private let stolen: BenchNode
    private let message: JSONValue

    init() throws {
        mina = try bench.node("Mina")
        desk = try bench.guest("Bob", of: mina)
        stolen = try bench.bareNode("Stolen")
        try desk.link(stolen)
        message = try desk.send("one")["id"] ?? .null
        bench.advance(5_000)
    }

    /// Words of the stolen device, and of nobody else.
    private func say(
        _ count: Int, in document: DocumentID? = nil, _ content: (Int) -> ContentPayload
    ) throws {
        var log = HostileLog(try stolen.hostile(), incarnation: 77, document: document)
        for number in 0..<count {
            log.write(
                plaintext: content(number).encoded,
                at: HybridTimestamp.millisecondsMax - UInt64(count - number))
        }
        for node in [mina, desk] { try node.take([log.run()], isBackfill: true) }
        bench.advance(5_000)
    }

    private func annotate(_ count: Int, _ change: (Int) -> MessageAnnotation.Change) throws {
        let key = try #require(message.stringValue.flatMap(PublicID.messageKey))
        try say(count) { .annotation(MessageAnnotation(change($0), of: key)) }
    }

    private func shown(_ node: BenchNode) throws -> JSONValue {
        try #require(try node.ok("message.get", ["ids": [message]]).items.first)
    }

    @Test func `of a pin is overwritten by anyone who may pin`() throws {
        try annotate(1_000) { _ in .pin(isOn: true) }
        #expect(try shown(mina)["pinned"] == true)
        try mina.ok("message.unpin", ["message": message])
        bench.advance(60_000)
        for node in [mina, desk] { #expect(try shown(node)["pinned"] == false) }
    }

    @Test func `of a text, an emoji and a name is overwritten by its author`() throws {
        try annotate(300) { .edit(text: "stolen \($0)", format: .text, mentions: .none) }
        #expect(try shown(desk)["text"] == "stolen 299")
        try desk.ok("message.edit", ["message": message, "text": "mine"])
        let document = try desk.workspace().profileDocument
        try say(300, in: document) { .profile(name: "stolen \($0)") }
        try desk.ok("profile.set", ["name": "Bob"])
        bench.advance(60_000)
        for node in [mina, desk] {
            #expect(try shown(node)["text"] == "mine", "\(node.name)")
            #expect(try node.memberNames() == ["Bob", "Mina"], "\(node.name)")
            #expect(try node.ok("node.check")["problem_count"] == 0, "\(node.name)")
        }
    }

    /// Nothing is written where it would not count.
    @Test func `is refused where it is more than a command overwrites`() throws {
        let document = try desk.workspace().profileDocument
        try say(Limits.ownWordsMax + 1, in: document) { .profile(name: "stolen \($0)") }
        let before = try desk.digest()
        // Nor of what would.
        let refused = try desk.refused("profile.set", ["name": "Bob", "description": "at work"])
        #expect(refused.kind == .conflict && refused.reason == "own.overruled")
        #expect(try desk.digest() == before)
        try desk.ok("profile.set", ["description": "at work"])
    }

    @Test func `is refused of a setting where it is more than that`() throws {
        try desk.ok("ui.pref.set", ["setting": "theme", "value": "light"])
        bench.advance(5_000)
        try stolen.inTurn { core, workspace in
            let document = try #require(workspace.ownDocuments.first)
            // Each cites the one before it in its log, and no other operation of the register.
            for number in 0...Limits.ownWordsMax {
                let word = OwnRegister.preference("theme", value: "stolen \(number)")
                _ = try core.privates.authorContent(.own(word), to: document.id, in: workspace)
            }
        }
        let given: JSONValue = ["setting": "theme", "value": "light"]
        #expect(try stolen.refused("ui.pref.set", given).reason == "own.overruled")
        let last = try stolen.ok("ui.pref.get", ["setting": "theme"])["value"]
        #expect(last == .string("stolen \(Limits.ownWordsMax)"))
        // What it says already need not be said.
        try stolen.ok("ui.pref.set", ["setting": "theme", "value": last ?? .null])
    }

    @Test func `is refused of a pin where it is more than that`() throws {
        try annotate(Limits.ownWordsMax + 1) { _ in .pin(isOn: true) }
        let refused = try mina.refused("message.unpin", ["message": message])
        #expect(refused.kind == .conflict && refused.reason == "others.overruled")
        #expect(try shown(mina)["pinned"] == true)
    }
}
