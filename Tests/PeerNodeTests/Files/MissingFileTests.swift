import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

struct `A file that nobody sends` {
    /// People in one channel, and a file of the first that is too large to come by itself.
    private func shared(
        seed: UInt64, count: Int
    ) throws -> (scene: FileScene, message: JSONValue, bytes: [UInt8]) {
        let scene = try #require(FileScene(seed: seed, count: count))
        let bytes = FileScene.bytes(700_000, seed: seed)
        let message = try #require(scene.send([bytes], by: scene.nodes[0]))
        scene.world.run(for: 5_000)
        return (scene, message, bytes)
    }

    private func save(
        _ message: JSONValue, by node: SimulatedNode, timeout: Int64
    ) -> UInt64? {
        node.call(
            "attachment.save",
            [
                "message": message["id"] ?? .null, "folder": "/saved", "name": "a",
                "timeout_ms": .integer(timeout),
            ])
    }

    @Test func `is missed soon where nobody is online who may have it`() throws {
        let (scene, message, _) = try shared(seed: 301, count: 2)
        defer { scene.world.end() }
        scene.nodes[0].crash()
        scene.world.run(for: 60_000)
        let call = scene.beginSaving(message, by: scene.nodes[1])
        scene.world.run(for: Limits.fileAloneMilliseconds + 1_000)
        let error = try #require(FileScene.failure(call, by: scene.nodes[1]))
        #expect(error.kind == .blobMissing)
        #expect(error.message == "no device that has 'file 0.bin' can be reached")
        #expect(
            error.hint?.hasPrefix("no device that may have it is online; nobody has sent") == true)
        #expect(error.details["asked"] == [])
        #expect(error.details["waiting_since"]?.integerValue != nil)
    }

    @Test func `is missed soon where those who are online do not have it, by their names`() throws {
        let (scene, message, _) = try shared(seed: 302, count: 3)
        defer { scene.world.end() }
        scene.nodes[0].crash()
        scene.world.run(for: 60_000)
        let call = scene.beginSaving(message, by: scene.nodes[1])
        scene.world.run(for: Limits.fileAloneMilliseconds + 1_000)
        let error = try #require(FileScene.failure(call, by: scene.nodes[1]))
        #expect(error.kind == .blobMissing)
        let name = "Guest \(scene.nodes[2].index)"
        #expect(error.hint?.hasPrefix("asked: \(name); ") == true, "\(error.hint ?? "")")
        let asked = error.details["asked"]?.arrayValue ?? []
        #expect(asked.map { $0["member"]?["name"] } == [.string(name)])
    }

    @Test func `is told with how long calls wait for it, which is as long as they do`() throws {
        let (scene, message, _) = try shared(seed: 305, count: 2)
        defer { scene.world.end() }
        let bob = scene.nodes[1]
        scene.nodes[0].crash()
        scene.world.run(for: 60_000)
        let blob = try #require(message["attachments"]?[0]?["blob"])
        #expect(bob.ask("blob.stat", ["blob": blob])?["patience_ms"] == .null)
        _ = bob.ask("blob.fetch", ["blob": blob])
        scene.world.run(for: 1_000)
        let file = try #require(bob.ask("blob.stat", ["blob": blob]))
        let patience = try #require(file["patience_ms"]?.integerValue)
        #expect(patience == Int64(Limits.fileAloneMilliseconds))
        #expect(file["waiting_since"]?.integerValue != nil)
        let call = scene.beginSaving(message, by: bob)
        scene.world.run(for: UInt64(patience) - 200)
        #expect(FileScene.failure(call, by: bob) == nil)
        scene.world.run(for: 1_200)
        #expect(FileScene.failure(call, by: bob)?.kind == .blobMissing)
    }

    @Test func `is waited for as long as the call says, and not at all where it says so`() throws {
        let (scene, message, _) = try shared(seed: 303, count: 2)
        defer { scene.world.end() }
        let bob = scene.nodes[1]
        scene.nodes[0].crash()
        scene.world.run(for: 60_000)
        let atOnce = save(message, by: bob, timeout: 0)
        scene.world.run(for: 200)
        #expect(FileScene.failure(atOnce, by: bob)?.kind == .blobMissing)
        let long = save(message, by: bob, timeout: 30_000)
        scene.world.run(for: 28_000)
        #expect(FileScene.failure(long, by: bob) == nil)
        scene.world.run(for: 3_000)
        #expect(FileScene.failure(long, by: bob)?.kind == .blobMissing)
    }

    @Test func `comes to who waits when somebody who has it does`() throws {
        let (scene, message, bytes) = try shared(seed: 304, count: 2)
        defer { scene.world.end() }
        let (ada, bob) = (scene.nodes[0], scene.nodes[1])
        ada.crash()
        scene.world.run(for: 10_000)
        let call = save(message, by: bob, timeout: 600_000)
        scene.world.run(for: 20_000)
        ada.start()
        scene.world.run(within: 300_000) { call.map { bob.answers[$0] != nil } ?? true }
        #expect(scene.saved(call, by: bob) == bytes)
        #expect(scene.world.failures == [])
    }
}
