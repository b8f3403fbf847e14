import BlobStore
import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

struct `What is known of files` {
    private func blob(_ message: JSONValue?, _ index: Int = 0) -> JSONValue {
        message?["attachments"]?[index]?["blob"] ?? .null
    }

    private func holders(_ blob: JSONValue, by node: SimulatedNode) -> [JSONValue] {
        node.ask("blob.holders", ["blob": blob])?["items"]?.arrayValue ?? []
    }

    @Test func `is asked of who is connected, and else as it was heard last`() throws {
        let scene = try #require(FileScene(seed: 91, count: 3))
        defer { scene.world.end() }
        let (ada, bob, cleo) = (scene.nodes[0], scene.nodes[1], scene.nodes[2])
        let message = try #require(scene.send([FileScene.bytes(900_000, seed: 1)], by: ada))
        scene.world.run(for: 5_000)
        // Cleo has never asked anybody.
        let first = holders(blob(message), by: cleo)
        #expect(first.count == 1 && first[0]["complete"] == true && first[0]["live"] == true)
        #expect(first[0]["have"] == 900_000 && first[0]["self"] == false)
        #expect(first[0]["member"]?["name"] == "Founder 0")
        // Bob has a part of it.
        bob.blobs.chunks.byteCountMax = 600_000
        _ = bob.ask("blob.fetch", ["blob": blob(message)])
        scene.world.run(for: 20_000)
        let part = holders(blob(message), by: cleo).first { $0["complete"] == false }
        #expect((part?["have"]?.integerValue ?? 0) > 0 && part?["live"] == true)
        let own = holders(blob(message), by: bob).first { $0["self"] == true }
        #expect(own?["complete"] == false && own?["have"] == part?["have"])
        // Who is gone is named as they were heard last.
        ada.crash()
        scene.world.run(for: 120_000)
        let gone = holders(blob(message), by: cleo).first { $0["complete"] == true }
        #expect(gone?["live"] == false)
        #expect(scene.world.failures == [])
    }

    /// A device that counts on another one's copy would drop the last.
    @Test func `is told by who drops a file, to all who may read it`() throws {
        let scene = try #require(FileScene(seed: 90, count: 3))
        defer { scene.world.end() }
        let (ada, bob, cleo) = (scene.nodes[0], scene.nodes[1], scene.nodes[2])
        let message = try #require(scene.send([FileScene.bytes(300_000, seed: 2)], by: ada))
        scene.world.run(for: 3_000)
        #expect(scene.save(message, by: bob) != nil)
        scene.world.run(for: 3_000)
        // Cleo has asked once, and waits for nothing.
        #expect(holders(blob(message), by: cleo).count == 2)
        scene.world.run(for: 5_000)
        #expect(cleo.ask("blob.stat", ["blob": blob(message)])?["holders"] == 2)
        #expect(bob.ask("blob.stat", ["blob": blob(message)])?["holders"] == 2)
        #expect(ada.ask("blob.drop", ["blob": blob(message), "force": true])?["have"] == 0)
        scene.world.run(for: 5_000)
        #expect(bob.ask("blob.stat", ["blob": blob(message)])?["holders"] == 1)
        #expect(cleo.ask("blob.stat", ["blob": blob(message)])?["holders"] == 1)
        let last = bob.call("blob.drop", ["blob": blob(message)])
        scene.world.run(for: 1_000)
        #expect(FileScene.failure(last, by: bob)?.reason == "file.only_copy")
        #expect(scene.world.failures == [])
    }

    /// A start may find that very many files are gone, and nobody may read most of them.
    @Test func `is told unasked of a bounded number of files at a time`() {
        var words = UnaskedWords()
        for _ in 0..<Limits.holderWordsPendingMax {
            #expect(words.hasRoom)
            words.note(0)
        }
        #expect(!words.hasRoom)
        words = UnaskedWords()
        words.note(Limits.holderWordsPendingMax - 1)
        #expect(words.hasRoom)
        words.note(1_000)
        #expect(!words.hasRoom)
    }

    /// A peer that was asked reports every change, for at most 256 files, until it is told to stop.
    @Test func `is asked of others only for as long as somebody waits for it`() throws {
        let scene = try HostileScene(seed: 97)
        defer { scene.world.end() }
        let message = try #require(
            FileScene.send(FileScene.bytes(300_000, seed: 4), by: scene.ada))
        scene.world.run(for: 3_000)
        let row = try #require(try scene.bob.store?.blobs.rows().first)
        let root = try #require(BlobRoot(untrusted: row.root))
        scene.world.network.part(scene.ada, scene.bob)
        scene.world.run(for: 200_000)
        let link = scene.peer().connect(to: scene.bob)
        var heard: [BlobMessage] = []
        link.onBlob = { bytes in
            if let message = try? BlobMessage.decoded(bytes) { heard.append(message) }
        }
        scene.world.run(for: 3_000)
        // Mallory says nothing, and is not waited for.
        #expect(scene.bob.ask("blob.holders", ["blob": blob(message)]) != nil)
        scene.world.run(for: 1_000)
        #expect(heard == [.want(BlobWant(root: root)), .cancel(root, pieces: nil)])
        // Nor is anybody when the caller is gone.
        heard = []
        let call = scene.bob.call("blob.holders", ["blob": blob(message)])
        scene.world.run(for: 500)
        #expect(heard == [.want(BlobWant(root: root))])
        scene.bob.host?.core.files.forgetTasks(of: UInt64(scene.bob.startCount))
        #expect(scene.bob.ask("cache.stat") != nil)
        scene.world.run(for: 500)
        #expect(heard.last == .cancel(root, pieces: nil))
        #expect(call.map { scene.bob.answers[$0] == nil } == true)
        // A transfer wants to know after the answer, too.
        heard = []
        #expect(scene.bob.ask("blob.fetch", ["blob": blob(message)]) != nil)
        #expect(scene.bob.ask("blob.holders", ["blob": blob(message)]) != nil)
        scene.world.run(for: 1_000)
        #expect(!heard.isEmpty && heard.allSatisfy { $0 == .want(BlobWant(root: root)) })
        scene.world.network.heal()
        let isThere = scene.world.run(within: 300_000, every: 500) {
            scene.bob.ask("blob.stat", ["blob": blob(message)])?["complete"] == true
        }
        #expect(isThere && scene.world.failures == [])
    }

    @Test func `is asked by who sends a file, which goes on coming`() throws {
        let scene = try #require(FileScene(seed: 98, count: 2))
        defer { scene.world.end() }
        let (ada, bob) = (scene.nodes[0], scene.nodes[1])
        let bytes = FileScene.bytes(6_000_000, seed: 5)
        let message = try #require(scene.send([bytes], by: ada))
        scene.world.run(for: 2_000)
        let call = scene.beginSaving(message, by: bob)
        let hasPart = scene.world.run(within: 60_000) {
            let file = bob.ask("blob.stat", ["blob": blob(message)])
            return (file?["have"]?.integerValue ?? 0) > 0
        }
        let found = holders(blob(message), by: ada)
        #expect(hasPart && !found.contains { $0["self"] == false && $0["complete"] == true })
        scene.world.run(within: 600_000) { call.map { bob.answers[$0] != nil } ?? true }
        #expect(scene.saved(call, by: bob) == bytes)
        #expect(scene.world.failures == [])
    }

    /// Anybody who knows a root may claim another size of it, and its sender was the first to know it.
    @Test func `is of the size that was claimed first, where nothing is here`() throws {
        let scene = try #require(FileScene(seed: 99, count: 2))
        defer { scene.world.end() }
        let (ada, bob) = (scene.nodes[0], scene.nodes[1])
        let message = try #require(scene.send([FileScene.bytes(300_000, seed: 6)], by: ada))
        scene.world.run(for: 3_000)
        let store = try #require(bob.store)
        let row = try #require(try store.blobs.rows().first)
        let shape = try #require(BlobShape(byteCount: 7))
        try store.begin()
        _ = try store.blobs.enter(root: row.root, size: 7, map: HaveMap(shape).encoded, at: 0)
        try store.commit()
        #expect(bob.ask("blob.stat", ["blob": blob(message)])?["size"] == 300_000)
        #expect(bob.ask("blob.fetch", ["blob": blob(message)]) != nil)
        scene.world.run(for: 60_000)
        #expect(bob.ask("blob.stat", ["blob": blob(message)])?["complete"] == true)
        #expect(scene.world.failures == [])
    }

    // MARK: Files in messages

    @Test func `covers small files, which lie in their messages`() throws {
        let scene = try #require(FileScene(seed: 92, count: 2))
        defer { scene.world.end() }
        let (ada, bob) = (scene.nodes[0], scene.nodes[1])
        let files = [Array("hello".utf8), FileScene.bytes(300_000, seed: 2), []]
        let message = try #require(scene.send(files, by: ada))
        scene.world.run(for: 3_000)
        for node in [ada, bob] {
            let listed = node.ask("blob.list")?["items"]?.arrayValue ?? []
            #expect(listed.count == 3)
            #expect(listed.map { $0["id"] } == (0..<3).map { blob(message, $0) })
            let small = node.ask("blob.stat", ["blob": blob(message)])
            #expect(small?["name"] == "file 0.bin" && small?["type"] == "text/plain")
            #expect(small?["size"] == 5 && small?["complete"] == true)
        }
        #expect(bob.ask("blob.fetch", ["blob": blob(message)])?["complete"] == true)
        let saved = bob.ask(
            "blob.get", ["blob": blob(message), "folder": "/saved", "name": "hello"])
        #expect(saved != nil && bob.blobs.places.files["/saved/hello"] == files[0])
        let read = bob.ask("blob.read", ["blob": blob(message), "offset": 1, "length": 3])
        #expect(read?["bytes"] == 3)
        for method in ["blob.holders", "blob.keep", "blob.drop", "blob.verify"] {
            let call = bob.call(method, ["blob": blob(message)])
            scene.world.run(for: 500)
            #expect(FileScene.failure(call, by: bob)?.reason == "file.inline", "\(method)")
        }
        // It can be sent again as it is.
        let again = bob.ask(
            "message.send", ["channel": "general", "attachments": [blob(message)]])
        scene.world.run(for: 3_000)
        #expect(scene.save(again, by: ada) == files[0])
        _ = ada.ask("message.delete", ["message": message["id"] ?? .null])
        scene.world.run(for: 3_000)
        let left = bob.ask("blob.list")?["items"]?.arrayValue ?? []
        #expect(left.map { $0["id"] } == [blob(again)])
        let call = bob.call("blob.stat", ["blob": blob(message)])
        scene.world.run(for: 500)
        #expect(FileScene.failure(call, by: bob)?.kind == .notFound)
        #expect(scene.world.failures == [])
    }

    @Test func `names small files by message and place`() throws {
        let key = MessageKey(timestamp: HybridTimestamp(rawValue: 77 << 16), idPrefix: 0x0102)
        for index in [0, 1, 19] {
            let id = PublicID.inlineFile(key, index)
            let found = try #require(PublicID.inlineFile(id))
            #expect(found.key == key && found.index == index)
            #expect(PublicID.bytes(id, prefix: "b_") == nil, "no blob has such an id")
        }
        let root = PublicID.blob([UInt8](repeating: 9, count: 32))
        for text in [root, "b_", "b_a", "m_" + root.dropFirst(2), ""] {
            #expect(PublicID.inlineFile(text) == nil, "\(text)")
        }
    }

    // MARK: Damage

    @Test func `is checked chunk by chunk, and what is damaged comes again`() throws {
        let scene = try #require(FileScene(seed: 93, count: 2))
        defer { scene.world.end() }
        let (ada, bob) = (scene.nodes[0], scene.nodes[1])
        let bytes = FileScene.bytes(800_000, seed: 3)
        let message = try #require(scene.send([bytes], by: ada))
        scene.world.run(for: 2_000)
        #expect(scene.save(message, by: bob) == bytes)
        let before = bob.ask("node.check", [:], within: 60_000)
        #expect(before?["ok"] == true && before?["files"] == 1)
        let row = try #require(try bob.store?.blobs.rows().first)
        let root = try #require(BlobRoot(untrusted: row.root))
        bob.blobs.chunks.damage(chunk: 2, of: root, byte: 5)
        let found = bob.ask("node.check", [:], within: 60_000)
        #expect(found?["ok"] == false && found?["problem_count"] == 1)
        #expect(found?["problems"]?[0]?["kind"] == "file")
        #expect(found?["problems"]?[0]?["id"] == blob(message))
        #expect(found?["problems"]?[0]?["done"] == .null)
        let repaired = bob.ask("node.check", ["repair": true], within: 60_000)
        #expect(repaired?["problems"]?[0]?["done"] == "asked" && repaired?["repaired"] == 1)
        scene.world.run(for: 30_000)
        #expect(bob.ask("node.check", [:], within: 60_000)?["ok"] == true)
        #expect(scene.save(message, by: bob) == bytes)
        #expect(scene.world.failures == [])
    }

    /// A scene whose second node has saved a file that the first one put, and the file's root.
    private func shared(
        seed: UInt64
    ) throws -> (scene: FileScene, message: JSONValue, bytes: [UInt8], root: BlobRoot) {
        let scene = try #require(FileScene(seed: seed, count: 2))
        let bytes = FileScene.bytes(300_000, seed: seed)
        let message = try #require(scene.send([bytes], by: scene.nodes[0]))
        scene.world.run(for: 2_000)
        #expect(scene.save(message, by: scene.nodes[1]) == bytes)
        let row = try #require(try scene.nodes[1].store?.blobs.rows().first)
        return (scene, message, bytes, try #require(BlobRoot(untrusted: row.root)))
    }

    @Test(arguments: [true, false])
    func `is missed where it was put or is kept and is lost, and comes again`(isOwn: Bool) throws {
        let (scene, message, bytes, root) = try shared(seed: isOwn ? 94 : 95)
        defer { scene.world.end() }
        let node = scene.nodes[isOwn ? 0 : 1]
        if !isOwn { #expect(node.ask("blob.keep", ["blob": blob(message)])?["kept"] == true) }
        node.crash()
        try node.blobs.chunks.remove(root)
        node.start()
        scene.world.run(for: 120_000)
        #expect(node.ask("blob.stat", ["blob": blob(message)])?["complete"] == true)
        #expect(scene.save(message, by: node) == bytes)
        #expect(scene.world.failures == [])
    }

    @Test func `says that what was put is not here, and asks for it when told to`() throws {
        let (scene, message, bytes, root) = try shared(seed: 96)
        defer { scene.world.end() }
        let (ada, bob) = (scene.nodes[0], scene.nodes[1])
        bob.crash()
        ada.crash()
        try ada.blobs.chunks.remove(root)
        ada.start()
        scene.world.run(for: 5_000)
        // As earlier versions left it: nobody asks for it.
        try ada.store?.connection.execute("UPDATE blob SET wanted = 0")
        let verified = ada.call("blob.verify", ["blob": blob(message)])
        scene.world.run(for: 1_000)
        let error = FileScene.failure(verified, by: ada)
        #expect(error?.kind == .blobMissing && error?.message.hasPrefix("nothing of ") == true)
        let found = ada.ask("node.check", [:], within: 60_000)
        #expect(found?["ok"] == false && found?["problem_count"] == 1)
        #expect(found?["problems"]?[0]?["id"] == blob(message))
        #expect(found?["problems"]?[0]?["text"] == "is not here")
        #expect(found?["problems"]?[0]?["done"] == .null)
        let repaired = ada.ask("node.check", ["repair": true], within: 60_000)
        #expect(repaired?["problems"]?[0]?["done"] == "asked" && repaired?["repaired"] == 1)
        bob.start()
        scene.world.run(for: 120_000)
        #expect(ada.ask("node.check", [:], within: 60_000)?["ok"] == true)
        #expect(scene.save(message, by: ada) == bytes)
        // What somebody drops on purpose is not missed.
        #expect(ada.ask("blob.drop", ["blob": blob(message), "force": true])?["have"] == 0)
        #expect(ada.ask("node.check", [:], within: 60_000)?["ok"] == true)
    }
}
