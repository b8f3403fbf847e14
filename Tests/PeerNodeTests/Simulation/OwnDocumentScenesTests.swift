import CRDTStore
import PeerNode
import Testing
import WorkspaceModel
import WorkspaceTestKit

struct `What one device keeps for another` {
    private static let word = "xylographsetting"

    private func finds(_ word: String, in bytes: [UInt8]) -> Bool {
        let wanted = Array(word.utf8)
        guard bytes.count >= wanted.count else { return false }
        return bytes.indices.dropLast(wanted.count - 1).contains { start in
            bytes[start] == wanted[0] && bytes[start..<start + wanted.count].elementsEqual(wanted)
        }
    }

    @Test(arguments: Seeds.explore(2))
    func `comes by way of somebody who cannot read it`(seed: UInt64) throws {
        let world = SimulatedWorld(seed: seed)
        defer { world.end() }
        var wire: [UInt8] = []
        world.onEffect = { effect, _ in
            if case .write(_, let bytes) = effect { wire += bytes }
        }
        let (ada, relay) = (world.addNode(), world.addNode())
        let invite = try #require(Scenes.found(world, by: ada))
        #expect(Scenes.join(invite, by: relay, named: "Relay"))
        let phone = world.addNode()
        let link = try #require(ada.ask("device.link")?["link"])
        try #require(phone.ask("device.link", ["code": link, "name": "Ada"]) != nil)
        world.run(for: 60_000)
        phone.crash()
        _ = relay.ask("message.send", ["channel": "general", "text": "one"])
        world.run(for: 5_000)
        let key = JSONValue.string(Self.word + "name")
        _ = ada.ask("ui.pref.set", ["setting": key, "value": .string(Self.word)])
        #expect(ada.ask("read.mark", ["channel": "general"])?["unread"] == 0)
        _ = ada.ask("channel.notify", ["channel": "general", "level": "none"])
        let said = ada.ask("message.history", ["channel": "general"])?["items"]?[0]
        let message = try #require(said?["id"])
        #expect(ada.ask("message.star", ["message": message])?["starred_at"] != nil)
        let reminder: JSONValue = [
            "channel": "general", "at": 4_000_000_000_000, "text": .string(Self.word),
        ]
        #expect(ada.ask("reminder.create", reminder)?["state"] == "waiting")
        world.run(for: 60_000)
        // The two are never there at once.
        ada.crash()
        phone.start()
        world.run(for: 400_000)
        #expect(phone.ask("ui.pref.get", ["setting": key])?["value"] == .string(Self.word))
        #expect(phone.ask("unread.get")?["items"] == [])
        let general = phone.ask("channel.get", ["channel": "general"])
        #expect(general?["notify"] == "none")
        let starred = phone.ask("message.list", ["starred": true])?["items"]
        #expect(starred?[0]?["id"] == message)
        let reminders = phone.ask("reminder.list")?["items"]
        #expect(reminders?[0]?["text"] == .string(Self.word))
        #expect(relay.ask("message.list", ["starred": true])?["items"] == [])
        #expect(relay.ask("reminder.list")?["items"] == [])
        #expect(Scenes.digest(of: phone) == Scenes.digest(of: relay))
        _ = phone.ask("ui.pref.set", ["setting": key, "value": "other"])
        world.run(for: 60_000)
        phone.crash()
        ada.start()
        world.run(for: 400_000)
        #expect(ada.ask("ui.pref.get", ["setting": key])?["value"] == "other")

        #expect(!finds(Self.word, in: wire))
        for node in [ada, relay] {
            let image = try #require(node.store).connection.serialized()
            #expect(!finds(Self.word, in: image), "the store of \(node.index)")
        }
        for method in ["channel.list", "dm.list", "node.status", "sync.status"] {
            let answer = try #require(relay.ask(method)).bytes
            #expect(!finds(Self.word, in: answer), "\(method)")
        }
        #expect(world.failures == [])
    }

    @Test(arguments: Seeds.explore(1))
    func `is there after the loss of the only one`(seed: UInt64) throws {
        let world = SimulatedWorld(seed: seed)
        defer { world.end() }
        let (ada, bob) = (world.addNode(), world.addNode())
        let invite = try #require(Scenes.found(world, by: ada))
        #expect(Scenes.join(invite, by: bob, named: "Bob"))
        _ = bob.ask("message.send", ["channel": "general", "text": "one"])
        world.run(for: 5_000)
        _ = ada.ask("ui.pref.set", ["setting": "theme", "value": "dark"])
        _ = ada.ask("read.mark", ["channel": "general"])
        let phrase = try #require(ada.ask("identity.show", ["phrase": true])?["phrase"])
        let link = try #require(Scenes.invite(by: ada))
        world.run(for: 10_000)
        ada.crash()
        let fresh = world.addNode()
        let back = fresh.ask(
            "identity.recover", ["phrase": phrase, "link": .string(link), "name": "Ada"])
        #expect(back?["role"] == "owner")
        world.run(for: 400_000)
        #expect(fresh.ask("ui.pref.get", ["setting": "theme"])?["value"] == "dark")
        #expect(fresh.ask("unread.get")?["items"] == [])
        #expect(world.failures == [])
    }
}
