import PeerNode
import Testing
import WorkspaceModel
import WorkspaceTestKit

struct `How many files a message has, and how large they are` {
    /// Files that one node has added, by their ids.
    private func add(
        _ files: [(path: String, bytes: [UInt8])], by node: SimulatedNode, isApart: Bool = false
    ) -> [JSONValue] {
        files.compactMap { file in
            node.blobs.places.files[file.path] = file.bytes
            return node.ask(
                "blob.add", ["path": .string(file.path), "apart": .bool(isApart)])?["id"]
        }
    }

    private func send(
        _ ids: [JSONValue], by node: SimulatedNode, in world: SimulatedWorld
    ) -> (message: JSONValue?, error: NodeError?) {
        let call = node.call(
            "message.send", ["channel": "general", "attachments": .array(ids)])
        world.run(for: 1_000)
        return (node.value(call), FileScene.failure(call, by: node))
    }

    private func small(_ count: Int) -> [(path: String, bytes: [UInt8])] {
        (0..<count).map { ("/small/\($0).txt", [UInt8]("file \($0)".utf8)) }
    }

    @Test func `is five unless the policy says otherwise, and twenty at most`() throws {
        let scene = try #require(FileScene(seed: 61, count: 2))
        defer { scene.world.end() }
        let (ada, bob) = (scene.nodes[0], scene.nodes[1])
        #expect(bob.ask("policy.get")?["attachments"] == 5)
        let ids = add(small(20), by: ada)
        #expect(send(ids, by: ada, in: scene.world).error?.reason == "file.too_many")
        #expect(ada.ask("policy.set", ["attachments": 20])?["attachments"] == 20)
        scene.world.run(for: 2_000)
        #expect(bob.ask("policy.get")?["attachments"] == 20)
        #expect(bob.ask("policy.get")?["who_may_invite"] == "admins", "nothing else has changed")
        let sent = send(ids, by: ada, in: scene.world).message
        #expect(sent?["attachments"]?.arrayValue?.count == 20)
        scene.world.run(for: 2_000)
        #expect(scene.save(sent, 20, by: bob) == [UInt8]("file 19".utf8))
        _ = ada.ask("policy.set", ["attachments": 1])
        #expect(send(Array(ids.prefix(2)), by: ada, in: scene.world).error != nil)
        for wrong in [0, 21] as [JSONValue] {
            let call = ada.call("policy.set", ["attachments": wrong])
            scene.world.run(for: 100)
            #expect(FileScene.failure(call, by: ada)?.kind == .badRequest)
        }
        let call = bob.call("policy.set", ["attachments": 3])
        scene.world.run(for: 100)
        #expect(FileScene.failure(call, by: bob)?.kind == .forbidden)
        #expect(scene.world.failures == [])
    }

    @Test func `leaves out what is there twice, by name, and sends the rest`() throws {
        let scene = try #require(FileScene(seed: 62, count: 1))
        defer { scene.world.end() }
        let ada = scene.nodes[0]
        let plan = FileScene.bytes(300_000, seed: 1)
        let ids = add([("/a/plan.pdf", plan), ("/b/plan.pdf", plan), ("/a/n.txt", [1])], by: ada)
        // The same path, read once more, is a blob of its own.
        let again = add([("/a/plan.pdf", plan), ("/c/n.txt", [1])], by: ada)
        try #require(ids.count == 3 && again.count == 2)
        let (message, error) = send(ids + [ids[0]] + again, by: ada, in: scene.world)
        #expect(error == nil)
        #expect(
            message?["attachments"]?.arrayValue?.compactMap { $0["name"]?.stringValue }
                == ["plan.pdf", "plan.pdf", "n.txt"], "two places are two files")
        let refused = message?["refused"]?.arrayValue ?? []
        #expect(refused.map { $0["name"] } == ["plan.pdf", "plan.pdf", "n.txt"])
        #expect(refused.allSatisfy { $0["reason"] == "file.twice" })
        #expect(refused.first?["blob"] == ids[0])
        let shown = ada.ask("message.get", ["ids": [message?["id"] ?? .null]])?["items"]?[0]
        #expect(shown != nil && shown?["refused"] == nil, "only the call hears of it")
    }

    @Test func `leaves out what is larger than files may be, and sends the rest`() throws {
        let scene = try #require(FileScene(seed: 63, count: 2))
        defer { scene.world.end() }
        let (ada, bob) = (scene.nodes[0], scene.nodes[1])
        let large = try #require(scene.send([FileScene.bytes(500_000, seed: 2)], by: ada))
        scene.world.run(for: 2_000)
        bob.fileDefaults.attachmentBytes = 100_000
        bob.crash()
        bob.start()
        scene.world.run(for: 5_000)
        let ids = add([("/n.txt", [1, 2])], by: bob)
        let blob = large["attachments"]?[0]?["blob"] ?? .null
        let sent = send([blob] + ids, by: bob, in: scene.world).message
        #expect(sent?["attachments"]?.arrayValue?.count == 1)
        #expect(sent?["refused"]?[0]?["reason"] == "file.too_large")
        #expect(sent?["refused"]?[0]?["name"] == "file 0.bin")
        let alone = send([blob], by: bob, in: scene.world).error
        #expect(alone?.kind == .tooLarge && alone?.reason == "file.too_large")
        // Nothing of it is read.
        bob.blobs.places.files["/huge"] = FileScene.bytes(100_001, seed: 3)
        let call = bob.call("blob.add", ["path": "/huge"])
        let put = bob.call("blob.put", ["bytes": 100_001])
        scene.world.run(for: 1_000)
        #expect(FileScene.failure(call, by: bob)?.kind == .tooLarge)
        #expect(FileScene.failure(put, by: bob)?.kind == .tooLarge)
    }

    @Test func `has room for 64 KiB of small files, and for more of them beside it`() throws {
        let scene = try #require(FileScene(seed: 64, count: 2))
        defer { scene.world.end() }
        let (ada, bob) = (scene.nodes[0], scene.nodes[1])
        let files = (0..<5).map { ("/f\($0)", FileScene.bytes(16_384, seed: UInt64($0) + 9)) }
        let ids = add(files, by: ada)
        #expect(send(ids, by: ada, in: scene.world).error?.kind == .tooLarge)
        let apart = add([files[4], ("/empty", [])], by: ada, isApart: true)
        let sent = send(Array(ids.prefix(4)) + apart.prefix(1), by: ada, in: scene.world).message
        #expect(sent?["attachments"]?.arrayValue?.count == 5 && sent?["refused"] == nil)
        scene.world.run(for: 2_000)
        for index in 1...5 { #expect(scene.save(sent, index, by: bob) == files[index - 1].1) }
        let empty = send(Array(apart.suffix(1)), by: ada, in: scene.world).message
        scene.world.run(for: 2_000)
        #expect(scene.save(empty, by: bob) == [])
    }
}
