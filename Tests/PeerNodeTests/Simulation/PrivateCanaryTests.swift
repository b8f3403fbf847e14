import CRDTStore
import PeerNode
import Testing
import WorkspaceModel
import WorkspaceTestKit

/// Canary words in all private content, searched in everything that others hold.
struct `A word in a private document` {
    private static let words = [
        "xylographmessage", "xylographtopic", "xylographname", "xylographabout",
        "xylographdirect", "xylographrenamed", "xylographedited", "👩🏾‍🚒",
        "xylographdraft", "xylographsetting",
    ]

    private static func hits(in bytes: [UInt8], _ note: String) -> [String] {
        words.filter { word in
            let wanted = Array(word.utf8)
            guard bytes.count >= wanted.count else { return false }
            return bytes.indices.dropLast(wanted.count - 1).contains { start in
                bytes[start] == wanted[0]
                    && bytes[start..<start + wanted.count].elementsEqual(wanted)
            }
        }.map { "\($0) in \(note)" }
    }

    // E01
    @Test func `is nowhere on a wire, on a disk or in a log of anybody else`() throws {
        let world = SimulatedWorld(seed: 9)
        defer { world.end() }
        var wire: [UInt8] = []
        var lines: [String] = []
        world.onEffect = { effect, _ in
            switch effect {
            case .write(_, let bytes): wire += bytes
            case .log(_, let line): lines.append(line)
            default: break
            }
        }
        let nodes = try `Private documents in a network`.people(4, in: world)
        let (outsider, owner) = (nodes[0], nodes[1])
        func ask(_ method: String, _ arguments: JSONValue) throws -> JSONValue {
            try #require(owner.ask(method, arguments), "\(method) \(arguments.text)")
        }
        _ = try ask(
            "channel.create",
            [
                "name": "xylographname", "private": true, "history": "all",
                "topic": "xylographtopic",
                "description": "xylographabout",
            ])
        _ = try ask("channel.add", ["channel": "xylographname", "members": ["N2"]])
        _ = try ask("message.send", ["channel": "xylographname", "text": "xylographmessage"])
        let slip = try ask("message.send", ["channel": "xylographname", "text": "a slip"])["id"]
        _ = try ask("message.edit", ["message": slip ?? .null, "text": "xylographedited"])
        _ = try ask("message.react", ["message": slip ?? .null, "emoji": "👩🏾‍🚒"])
        _ = try ask(
            "ui.pref.set", ["setting": "xylographsetting", "value": "xylographdraft"])
        _ = try ask("message.send", ["channel": "@N2", "text": "xylographdirect"])
        _ = try ask("channel.edit", ["channel": "xylographname", "name": "xylographrenamed"])
        world.run(for: 120_000)
        // The relay has all of it and hands it on to somebody new.
        owner.crash()
        nodes[2].crash()
        nodes[2].start()
        world.run(for: 60_000)
        #expect(
            Scenes.texts(of: "xylographrenamed", on: nodes[2]) == [
                "xylographmessage", "xylographedited",
            ])
        #expect(Scenes.texts(of: "@N1", on: nodes[2]) == ["xylographdirect"])

        var found = Self.hits(in: wire, "the network")
        #expect(wire.count > 10_000)
        found += Self.hits(in: lines.flatMap { Array($0.utf8) }, "a log")
        for node in nodes {
            // Bodies are opened when they are shown, so a member's store has no word either.
            let image = try #require(node.store).connection.serialized()
            found += Self.hits(in: image, "the store of \(node.index)")
        }
        let asked: [(String, JSONValue)] = [
            ("channel.list", ["scope": "all"]), ("dm.list", [:]),
            ("channel.find", ["text": "xylograph"]),
            ("events.wait", ["since": "all", "limit": 1_000]), ("node.status", [:]),
            ("node.doctor", [:]), ("member.list", [:]), ("sync.status", [:]),
        ]
        for node in [outsider, nodes[3]] {
            for (method, arguments) in asked {
                let answer = node.ask(method, arguments)?.bytes ?? []
                found += Self.hits(in: answer, "\(method) of \(node.index)")
            }
        }
        #expect(found == [])
        // The search itself finds what is there.
        let seen = nodes[2].ask("channel.list", ["scope": "all"])?.bytes ?? []
        #expect(Self.hits(in: seen, "").count == 4)
        #expect(world.failures == [])
    }
}
