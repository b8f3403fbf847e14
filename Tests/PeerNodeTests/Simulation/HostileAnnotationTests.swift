import CRDTStore
import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// What a member with a modified program may write about others' messages, and what not.
struct `A hostile member's words about messages` {
    /// The key of the message with a text, as a node shows it.
    private static func key(
        of text: String, in channel: String = "general", on node: SimulatedNode
    ) throws -> MessageKey {
        let page = node.ask("message.history", ["channel": .string(channel), "limit": 100])
        let item = page?["items"]?.arrayValue?.first { $0["text"]?.stringValue == text }
        return try #require(item?["id"]?.stringValue.flatMap(PublicID.messageKey))
    }

    private static func shown(
        _ key: MessageKey, on node: SimulatedNode
    ) throws -> JSONValue {
        let ids = JSONValue(texts: [PublicID.message(key)])
        return try #require(node.ask("message.get", ["ids": ids])?["items"]?[0])
    }

    private static func plaintext(
        _ change: MessageAnnotation.Change, of key: MessageKey
    ) -> [UInt8] {
        ContentPayload.annotation(MessageAnnotation(change, of: key)).encoded
    }

    @Test func `edit nothing that is not theirs, and nothing in another channel (O12)`() throws {
        let scene = try HostileScene(seed: 76)
        defer { scene.world.end() }
        try #require(scene.ada.ask("channel.create", ["name": "ops"]) != nil)
        try #require(
            scene.ada.ask("message.send", ["channel": "ops", "text": "in ops"]) != nil)
        scene.world.run(for: 2_000)
        let bobs = try Self.key(of: "from Bob", on: scene.bob)
        let inOps = try Self.key(of: "in ops", in: "ops", on: scene.ada)
        var log = HostileLog(scene.mallory, incarnation: 77)
        log.write("mine", at: scene.wall)
        let own = MessageKey(
            timestamp: HybridTimestamp(milliseconds: scene.wall, counter: 0),
            idPrefix: log.operations[0].id.messagePrefix)
        let changes: [(MessageAnnotation.Change, MessageKey)] = [
            (.edit(text: "forged", format: .text, mentions: Mentions([])), bobs),
            (.edit(text: "forged", format: .text, mentions: Mentions([])), inOps),
            (.reaction("👍", isOn: true), inOps), (.pin(isOn: true), inOps),
            (.edit(text: "mine, better", format: .text, mentions: Mentions([])), own),
        ]
        for (number, change) in changes.enumerated() {
            log.write(
                plaintext: Self.plaintext(change.0, of: change.1),
                at: scene.wall + 1 + UInt64(number))
        }
        let link = scene.peer().connect(to: scene.ada)
        link.push(log.run())
        scene.world.run(for: 3_000)
        #expect(link.isOpen)
        for node in scene.honest {
            #expect(try Self.shown(bobs, on: node)["text"] == "from Bob")
            #expect(try Self.shown(bobs, on: node)["edited_at"] == .null)
            let other = try Self.shown(inOps, on: node)
            #expect(other["text"] == "in ops" && other["pinned"] == false)
            #expect(other["reactions"] == [])
            #expect(try Self.shown(own, on: node)["text"] == "mine, better")
        }
        try scene.expectHonestPeace(showing: ["mine, better"])
    }

    @Test func `leave a thousand signs, and others' are still seen (O13)`() throws {
        let scene = try HostileScene(seed: 77)
        defer { scene.world.end() }
        let bobs = try Self.key(of: "from Bob", on: scene.bob)
        let link = scene.peer().connect(to: scene.ada)
        for part in 0..<4 as Range<UInt32> {
            var log = HostileLog(scene.mallory, incarnation: 80 + part)
            for number in 0..<250 {
                let change = MessageAnnotation.Change.reaction("\(part).\(number)", isOn: true)
                log.write(
                    plaintext: Self.plaintext(change, of: bobs),
                    at: scene.wall + UInt64(number))
            }
            link.push(log.run())
        }
        scene.world.run(for: 3_000)
        #expect(link.isOpen)
        let id = JSONValue.string(PublicID.message(bobs))
        for node in scene.honest {
            try #require(node.ask("message.react", ["message": id, "emoji": "👍"]) != nil)
        }
        scene.world.run(for: 3_000)
        for node in scene.honest {
            let signs = try #require(Self.shown(bobs, on: node)["reactions"]?.arrayValue)
            #expect(signs.count <= Limits.reactionsShownMax)
            #expect(signs.contains(["emoji": "👍", "count": 2, "self": true]))
        }
        try scene.expectHonestPeace()
    }
}
