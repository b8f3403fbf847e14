import PeerNode
import Testing
import WorkspaceModel
import WorkspaceTestKit

struct `Files between nodes of the simulation` {
    @Test(arguments: Seeds.explore(2))
    func `come as they were sent, of any size`(seed: UInt64) throws {
        let scene = try #require(FileScene(seed: seed, count: 2))
        defer { scene.world.end() }
        let (ada, bob) = (scene.nodes[0], scene.nodes[1])
        let sizes = [0, 1, 16_384, 16_385, 262_128, 262_129, 1_500_000]
        for (number, size) in sizes.enumerated() {
            let bytes = FileScene.bytes(size, seed: seed &+ UInt64(number))
            let message = try #require(scene.send([bytes], by: ada))
            scene.world.run(for: 2_000)
            #expect(message["attachments"]?[0]?["size"] == .integer(Int64(size)))
            #expect(scene.save(message, by: bob) == bytes, "\(size) bytes")
        }
        #expect(scene.world.failures == [])
    }

    @Test func `of several in one message each is told apart`() throws {
        let scene = try #require(FileScene(seed: 5, count: 2))
        defer { scene.world.end() }
        let files = [300_000, 10, 20_000].map { FileScene.bytes($0, seed: UInt64($0)) }
        let message = try #require(scene.send(files, by: scene.nodes[0]))
        scene.world.run(for: 2_000)
        for index in 1...3 {
            #expect(scene.save(message, index, by: scene.nodes[1]) == files[index - 1])
        }
        let call = scene.beginSaving(message, 4, by: scene.nodes[1])
        scene.world.run(for: 1_000)
        #expect(FileScene.failure(call, by: scene.nodes[1])?.kind == .notFound)
    }

    @Test(arguments: Seeds.explore(2))
    func `go on after a restart of either side`(seed: UInt64) throws {
        let scene = try #require(FileScene(seed: seed, count: 2))
        defer { scene.world.end() }
        let (ada, bob) = (scene.nodes[0], scene.nodes[1])
        let bytes = FileScene.bytes(3_000_000, seed: seed)
        let message = try #require(scene.send([bytes], by: ada))
        scene.world.run(for: 2_000)
        let blob = try #require(message["attachments"]?[0]?["blob"])
        _ = bob.ask("blob.fetch", ["blob": blob])
        for _ in 0..<3 {
            scene.world.run(for: 700)
            bob.crash()
            bob.start()
            scene.world.run(for: 700)
            ada.crash()
            ada.start()
        }
        scene.world.run(within: 600_000, every: 500) {
            bob.ask("blob.stat", ["blob": blob])?["complete"] == true
        }
        #expect(scene.save(message, by: bob) == bytes)
    }

    @Test func `come from those who have them when their sender is gone`() throws {
        let scene = try #require(FileScene(seed: 11, count: 3))
        defer { scene.world.end() }
        let bytes = FileScene.bytes(900_000, seed: 3)
        let message = try #require(scene.send([bytes], by: scene.nodes[0]))
        scene.world.run(for: 5_000)
        #expect(scene.save(message, by: scene.nodes[1]) == bytes)
        scene.nodes[0].crash()
        #expect(scene.save(message, by: scene.nodes[2]) == bytes)
        let blob = try #require(message["attachments"]?[0]?["blob"])
        let holders = scene.nodes[2].ask("blob.holders", ["blob": blob])?["items"]?.arrayValue
        #expect((holders?.count ?? 0) >= 2)
    }

    @Test func `nobody sends are missed by name, and come when somebody does`() throws {
        let scene = try #require(FileScene(seed: 12, count: 2))
        defer { scene.world.end() }
        let (ada, bob) = (scene.nodes[0], scene.nodes[1])
        let bytes = FileScene.bytes(400_000, seed: 4)
        let message = try #require(scene.send([bytes], by: ada))
        scene.world.run(for: 2_000)
        ada.crash()
        let call = scene.beginSaving(message, by: bob)
        scene.world.run(for: 90_000)
        #expect(FileScene.failure(call, by: bob)?.kind == .blobMissing)
        ada.start()
        scene.world.run(for: 120_000)
        let blob = try #require(message["attachments"]?[0]?["blob"])
        #expect(bob.ask("blob.stat", ["blob": blob])?["complete"] == true)
    }

    /// Subscribers get at most two events a second for each transfer, and one at its end.
    @Test func `tell how far they are twice a second, and when they are over`() throws {
        let scene = try #require(FileScene(seed: 13, count: 2))
        defer { scene.world.end() }
        let (ada, bob) = (scene.nodes[0], scene.nodes[1])
        let bytes = FileScene.bytes(3_000_000, seed: 5)
        let message = try #require(scene.send([bytes], by: ada))
        scene.world.run(for: 2_000)
        _ = try #require(
            bob.ask(
                "events.subscribe",
                ["types": ["transfer.progress"], "ephemeral": true, "since": "latest"]))
        let call = scene.beginSaving(message, by: bob)
        var moments: [UInt64] = []
        var told: [JSONValue] = []
        scene.world.run(within: 600_000) {
            let events = (bob.host?.events(for: 1, room: 1 << 20) ?? []).map(\.event.json)
                .filter { $0["type"] == "transfer.progress" }
            told += events
            moments += events.map { _ in scene.world.now }
            return bob.answers[call ?? 0] != nil && told.last?["data"]?["complete"] == true
        }
        #expect(scene.saved(call, by: bob) == bytes)
        let have = told.compactMap { $0["data"]?["have"]?.integerValue }
        #expect(have == have.sorted() && have.last == 3_000_000)
        #expect(told.count > 2, "\(told)")
        // The last word is that it is over, which nothing holds back.
        for (earlier, later) in zip(moments, moments.dropFirst().dropLast()) {
            #expect(later >= earlier + Limits.transferProgressMilliseconds)
        }
    }

    /// What is told of the transfers of `bob` until all files of a message are saved.
    private func told(
        _ message: JSONValue, _ count: Int, _ scene: FileScene
    ) throws -> [JSONValue] {
        let bob = scene.nodes[1]
        _ = try #require(
            bob.ask(
                "events.subscribe",
                ["types": ["transfer.progress"], "ephemeral": true, "since": "latest"]))
        let calls = (1...count).map { scene.beginSaving(message, $0, by: bob) }
        var told: [JSONValue] = []
        scene.world.run(within: 600_000) {
            told += (bob.host?.events(for: 1, room: 1 << 20) ?? []).map(\.event.json)
                .filter { $0["type"] == "transfer.progress" }
            return calls.allSatisfy { bob.answers[$0 ?? 0] != nil }
        }
        scene.world.run(for: 50)
        told += (bob.host?.events(for: 1, room: 1 << 20) ?? []).map(\.event.json)
        return told.compactMap { $0["data"] }
    }

    @Test func `of one piece are reported once, when they are here`() throws {
        let scene = try #require(FileScene(seed: 14, count: 2))
        defer { scene.world.end() }
        let files = (0..<5).map { FileScene.bytes(30_000, seed: 20 + $0) }
        let message = try #require(scene.send(files, by: scene.nodes[0]))
        scene.world.run(for: 2_000)
        let told = try told(message, files.count, scene)
        #expect(told.map { $0["complete"] } == Array(repeating: true, count: files.count))
        #expect(Set(told.compactMap { $0["blob"]?.stringValue }).count == files.count)
    }

    /// Nothing else happens at a node that nobody is connected to.
    @Test func `of one piece are reported while they wait, too`() throws {
        let scene = try #require(FileScene(seed: 15, count: 2))
        defer { scene.world.end() }
        let (ada, bob) = (scene.nodes[0], scene.nodes[1])
        let message = try #require(scene.send([FileScene.bytes(30_000, seed: 31)], by: ada))
        scene.world.run(for: 2_000)
        ada.crash()
        scene.world.run(for: 60_000)
        let told = try told(message, 1, scene)
        #expect(told.first?["complete"] == false && told.first?["have"] == 0)
        #expect(told.first?["waiting_since"]?.integerValue != nil)
        #expect(bob.answers.isEmpty == false)
    }
}
