import BlobStore
import CRDTStore
import PeerNode
import Testing
import WorkspaceModel
import WorkspaceTestKit

struct `What is kept of files` {
    private let day: UInt64 = 24 * 3_600_000

    private func blob(of message: JSONValue?) -> JSONValue {
        message?["attachments"]?[0]?["blob"] ?? .null
    }

    @Test func `goes with the last message that names it, on every device`() throws {
        let scene = try #require(FileScene(seed: 21, count: 2))
        defer { scene.world.end() }
        let (ada, bob) = (scene.nodes[0], scene.nodes[1])
        let bytes = FileScene.bytes(300_000, seed: 8)
        let first = try #require(scene.send([bytes], by: ada))
        scene.world.run(for: 2_000)
        let again = try #require(
            ada.ask("message.send", ["channel": "general", "attachments": [blob(of: first)]]))
        scene.world.run(for: 2_000)
        #expect(blob(of: again) == blob(of: first))
        #expect(scene.save(again, by: bob) == bytes)
        for message in [first, again] {
            #expect(ada.ask("message.delete", ["message": message["id"] ?? .null]) != nil)
            scene.world.run(for: 3 * 1_200_000)
            for node in [ada, bob] {
                let isHeld = node.blobs.chunks.byteCount > 0
                #expect(isHeld == (message == first), "node \(node.index)")
            }
        }
        #expect(ada.ask("blob.stat", ["blob": blob(of: first)]) == nil)
        #expect(scene.world.failures == [])
    }

    @Test func `stays where the disk is full, and goes on when there is room`() throws {
        let scene = try #require(FileScene(seed: 22, count: 2))
        defer { scene.world.end() }
        let (ada, bob) = (scene.nodes[0], scene.nodes[1])
        let bytes = FileScene.bytes(1_500_000, seed: 9)
        bob.blobs.chunks.byteCountMax = 600_000
        let message = try #require(scene.send([bytes], by: ada))
        scene.world.run(for: 2_000)
        _ = bob.ask("blob.fetch", ["blob": blob(of: message)])
        scene.world.run(for: 60_000)
        #expect(bob.ask("blob.stat", ["blob": blob(of: message)])?["complete"] == false)
        // Messages go on meanwhile.
        _ = ada.ask("message.send", ["channel": "general", "text": "still here"])
        scene.world.run(for: 2_000)
        #expect(Scenes.texts(of: "general", on: bob).contains("still here"))
        bob.blobs.chunks.byteCountMax = .max
        #expect(scene.save(message, by: bob) == bytes)
    }

    @Test func `is looked at by verify, and what is damaged comes again`() throws {
        let scene = try #require(FileScene(seed: 23, count: 2))
        defer { scene.world.end() }
        let (ada, bob) = (scene.nodes[0], scene.nodes[1])
        let bytes = FileScene.bytes(800_000, seed: 10)
        let message = try #require(scene.send([bytes], by: ada))
        scene.world.run(for: 2_000)
        #expect(scene.save(message, by: bob) == bytes)
        let core = try #require(bob.store)
        let row = try #require(try core.blobs.rows().first)
        let root = try #require(BlobRoot(untrusted: row.root))
        bob.blobs.chunks.damage(chunk: 1, of: root, byte: 77)
        let verified = bob.ask("blob.verify", ["blob": blob(of: message)])
        #expect(verified?["bad"] == 1)
        scene.world.run(for: 30_000)
        #expect(bob.ask("blob.verify", ["blob": blob(of: message)])?["bad"] == 0)
        #expect(scene.save(message, by: bob) == bytes)
    }

    @Test func `is nothing of a file that changes while it is read`() throws {
        let scene = try #require(FileScene(seed: 24, count: 1))
        defer { scene.world.end() }
        let ada = scene.nodes[0]
        let places = ada.blobs.places
        places.files["/a"] = FileScene.bytes(900_000, seed: 11)
        var reads = 0
        places.willRead = { path in
            reads += 1
            if reads == 3 { places.files[path] = [1] }
        }
        let call = ada.call("blob.add", ["path": "/a"])
        scene.world.run(for: 5_000)
        let error = FileScene.failure(call, by: ada)
        #expect(error?.kind == .conflict && error?.reason == "file.changed")
        #expect(ada.blobs.chunks.byteCount == 0)
        let absent = ada.call("blob.add", ["path": "/absent"])
        scene.world.run(for: 1_000)
        #expect(FileScene.failure(absent, by: ada)?.kind == .notFound)
        #expect(FileScene.failure(absent, by: ada)?.hint == "check the path")
    }

    @Test func `is dropped only where others have it, unless it is forced`() throws {
        let scene = try #require(FileScene(seed: 25, count: 2))
        defer { scene.world.end() }
        let (ada, bob) = (scene.nodes[0], scene.nodes[1])
        let message = try #require(
            scene.send([FileScene.bytes(300_000, seed: 12)], by: ada))
        scene.world.run(for: 2_000)
        let own = ada.call("blob.drop", ["blob": blob(of: message)])
        scene.world.run(for: 1_000)
        #expect(FileScene.failure(own, by: ada)?.reason == "file.only_copy")
        #expect(scene.save(message, by: bob) != nil)
        #expect(bob.ask("blob.drop", ["blob": blob(of: message)])?["have"] == 0)
        scene.world.run(for: 1_000)
        #expect(bob.blobs.chunks.byteCount == 0)
        #expect(bob.ask("blob.keep", ["blob": blob(of: message)])?["kept"] == true)
        scene.world.run(for: 30_000)
        let kept = bob.call("blob.drop", ["blob": blob(of: message)])
        scene.world.run(for: 1_000)
        #expect(FileScene.failure(kept, by: bob)?.kind == .forbidden)
        let forced = bob.ask("blob.drop", ["blob": blob(of: message), "force": true])
        #expect(forced?["have"] == 0 && forced?["kept"] == false)
    }

    @Test func `of a private channel is announced to nobody outside of it`() throws {
        let scene = try #require(FileScene(seed: 26, count: 3))
        defer { scene.world.end() }
        let (ada, bob, cleo) = (scene.nodes[0], scene.nodes[1], scene.nodes[2])
        scene.world.run(for: 3_000)
        #expect(
            ada.ask("channel.create", ["name": "design", "private": true]) != nil)
        #expect(
            ada.ask("channel.add", ["channel": "design", "members": ["Guest 1"]]) != nil)
        let bytes = FileScene.bytes(300_000, seed: 13)
        let message = try #require(scene.send([bytes], by: ada, to: "design"))
        scene.world.run(for: 5_000)
        #expect(scene.save(message, by: bob) == bytes)
        scene.world.run(for: 30_000)
        #expect(try cleo.store?.blobs.rows().isEmpty == true)
        let call = cleo.call("blob.fetch", ["blob": blob(of: message)])
        scene.world.run(for: 1_000)
        #expect(FileScene.failure(call, by: cleo)?.kind == .notFound)
    }
}
