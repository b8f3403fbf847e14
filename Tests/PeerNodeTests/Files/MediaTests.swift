import BlobStore
import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

struct `Files that nobody asked for` {
    private func blob(_ message: JSONValue?, _ index: Int = 0) -> JSONValue {
        message?["attachments"]?[index]?["blob"] ?? .null
    }

    private func isHere(_ message: JSONValue?, on node: SimulatedNode) -> Bool {
        node.ask("blob.stat", ["blob": blob(message)])?["complete"] == true
    }

    private func image(_ count: Int, seed: UInt64) -> [UInt8] {
        [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + FileScene.bytes(count, seed: seed)
    }

    @Test func `come if they are small images, unless their owner chose otherwise`() throws {
        let scene = try #require(FileScene(seed: 81, count: 2))
        defer { scene.world.end() }
        let (ada, bob) = (scene.nodes[0], scene.nodes[1])
        func sent(_ bytes: [UInt8]) throws -> JSONValue {
            let message = try #require(scene.send([bytes], by: ada))
            scene.world.run(for: 20_000)
            return message
        }
        #expect(
            bob.ask("media.list")?["items"]?.arrayValue?.map { $0["policy"] }
                == ["always", "manual", "manual", "manual"])
        #expect(isHere(try sent(image(300_000, seed: 1)), on: bob))
        #expect(!isHere(try sent(image(1_100_000, seed: 2)), on: bob))
        #expect(!isHere(try sent(FileScene.bytes(300_000, seed: 3)), on: bob))
        let set = bob.ask("media.policy", ["kind": "all", "policy": "always"])
        #expect(set?["items"]?.arrayValue?.allSatisfy { $0["policy"] == "always" } == true)
        #expect(isHere(try sent(image(1_100_000, seed: 4)), on: bob))
        #expect(isHere(try sent(FileScene.bytes(300_000, seed: 5)), on: bob))
        bob.crash()
        bob.start()
        scene.world.run(for: 5_000)
        _ = bob.ask("media.policy", ["kind": "other", "policy": "always", "up_to": 200_000])
        #expect(!isHere(try sent(FileScene.bytes(300_000, seed: 6)), on: bob))
        #expect(isHere(try sent(image(1_100_000, seed: 7)), on: bob), "the rest stays as it was")
        _ = bob.ask("media.policy", ["kind": "image", "policy": "manual"])
        #expect(!isHere(try sent(image(100_000, seed: 8)), on: bob))
        #expect(scene.world.failures == [])
    }

    @Test func `wait while the network costs, and come once it does not`() throws {
        let scene = try #require(FileScene(seed: 82, count: 2))
        defer { scene.world.end() }
        let (ada, bob) = (scene.nodes[0], scene.nodes[1])
        bob.isMetered = true
        let set = bob.ask("media.policy", ["kind": "other", "policy": "unmetered"])
        #expect(set != nil)
        scene.world.run(for: 1_000)
        #expect(bob.ask("media.list")?["items"]?[0]?["metered"] == true)
        let message = try #require(scene.send([FileScene.bytes(300_000, seed: 9)], by: ada))
        scene.world.run(for: 30_000)
        #expect(!isHere(message, on: bob))
        bob.isMetered = false
        bob.changeNetwork()
        scene.world.run(for: 30_000)
        #expect(isHere(message, on: bob))
        // The settings come before what the machine says.
        bob.fileDefaults.isMetered = true
        bob.crash()
        bob.start()
        scene.world.run(for: 5_000)
        let second = try #require(scene.send([FileScene.bytes(300_000, seed: 10)], by: ada))
        scene.world.run(for: 30_000)
        #expect(!isHere(second, on: bob))
        #expect(scene.world.failures == [])
    }

    @Test func `are carried by a member who is always on for two who never meet`() throws {
        let scene = try #require(FileScene(seed: 83, count: 3))
        defer { scene.world.end() }
        let (ada, bob, relay) = (scene.nodes[0], scene.nodes[1], scene.nodes[2])
        _ = relay.ask("media.policy", ["kind": "all", "policy": "always"])
        scene.world.run(for: 3_000)
        bob.crash()
        let bytes = FileScene.bytes(700_000, seed: 11)
        let message = try #require(scene.send([bytes], by: ada))
        scene.world.run(for: 30_000)
        ada.crash()
        scene.world.run(for: 2_000)
        bob.start()
        scene.world.run(for: 10_000)
        #expect(scene.save(message, by: bob) == bytes)
        #expect(scene.world.failures == [])
    }

    // MARK: Copies

    @Test func `have as many copies as their channel asks for, and readers see it`() throws {
        let scene = try #require(FileScene(seed: 84, count: 5))
        defer { scene.world.end() }
        let (ada, bob) = (scene.nodes[0], scene.nodes[1])
        scene.world.run(for: 5_000)
        #expect(
            ada.ask("channel.edit", ["channel": "general", "copies": 3])?["copies"] == 3)
        scene.world.run(for: 3_000)
        #expect(bob.ask("channel.get", ["channel": "general"])?["copies"] == 3)
        let message = try #require(scene.send([FileScene.bytes(400_000, seed: 12)], by: ada))
        #expect(message["attachments"]?[0]?["copies_wanted"] == 3)
        #expect(message["attachments"]?[0]?["copies"] == 1)
        scene.world.run(for: 60_000)
        let count = scene.nodes.count { isHere(message, on: $0) }
        #expect(count >= 3, "\(count) copies")
        scene.world.run(for: 2 * 600_000)
        let shown = ada.ask("message.get", ["ids": [message["id"] ?? .null]])?["items"]?[0]
        #expect(shown?["attachments"]?[0]?["copies_wanted"] == 3)
        let known = shown?["attachments"]?[0]?["copies"]?.integerValue ?? 0
        #expect(known >= 3, "the sender knows of \(known) copies")
        #expect(scene.world.failures == [])
    }

    @Test func `get another copy when one is gone, and none where it was dropped`() throws {
        let scene = try #require(FileScene(seed: 85, count: 2))
        defer { scene.world.end() }
        let (ada, bob) = (scene.nodes[0], scene.nodes[1])
        _ = ada.ask("channel.edit", ["channel": "general", "copies": 2])
        scene.world.run(for: 3_000)
        let message = try #require(scene.send([FileScene.bytes(400_000, seed: 13)], by: ada))
        scene.world.run(for: 60_000)
        #expect(isHere(message, on: bob))
        #expect(bob.ask("blob.drop", ["blob": blob(message), "force": true])?["have"] == 0)
        scene.world.run(for: 3 * 600_000)
        #expect(!isHere(message, on: bob), "a node that drops it does not get it back")
        let shown = ada.ask("message.get", ["ids": [message["id"] ?? .null]])?["items"]?[0]
        #expect(shown?["attachments"]?[0]?["copies_wanted"] == 2)
        // After a restart the channel's wish counts again.
        bob.crash()
        bob.start()
        scene.world.run(for: 3 * 600_000)
        #expect(isHere(message, on: bob))
    }

    @Test func `are kept in an order that is the same everywhere, and another for each file`()
        throws
    {
        let devices = try (0..<20).map { number in
            try #require(DeviceID(untrusted: [UInt8](repeating: UInt8(number), count: 32)))
        }
        var firsts: Set<DeviceID> = []
        for number in 0..<20 {
            let bytes = [UInt8](repeating: UInt8(number), count: 32)
            let root = try #require(BlobRoot(untrusted: bytes))
            let order = FileCopies.inOrder(devices, for: root)
            #expect(Set(order) == Set(devices))
            #expect(FileCopies.inOrder(devices.reversed(), for: root) == order)
            firsts.insert(order[0])
        }
        #expect(firsts.count > 5)
    }
}
