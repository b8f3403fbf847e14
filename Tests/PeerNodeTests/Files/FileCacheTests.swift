import BlobStore
import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode
@testable import wsx_node

/// The space used by files: not part of PROTOCOL.md, each device decides.
struct `The room that files take` {
    /// Two people, of whom Bob has saved a file that Ada put.
    private struct Scene {
        let base: FileScene
        let message: JSONValue

        init(seed: UInt64) throws {
            base = try #require(FileScene(seed: seed, count: 2))
            message = try #require(
                base.send([FileScene.bytes(300_000, seed: 14)], by: base.nodes[0]))
            base.world.run(for: 2_000)
            try #require(base.save(message, by: base.nodes[1]) != nil)
            base.world.run(for: 30_000)
        }

        var ada: SimulatedNode { base.nodes[0] }
        var bob: SimulatedNode { base.nodes[1] }

        func number(_ field: String, of node: SimulatedNode) -> Int64? {
            node.ask("cache.stat")?[field]?.integerValue
        }
    }

    @Test func `is told, with what may go`() throws {
        let scene = try Scene(seed: 41)
        defer { scene.base.world.end() }
        let bytes = try #require(scene.number("bytes", of: scene.bob))
        #expect(bytes > 300_000 && scene.number("files", of: scene.bob) == 1)
        #expect(scene.number("clearable_bytes", of: scene.bob) == bytes)
        #expect(scene.number("own_bytes", of: scene.bob) == 0)
        #expect(scene.number("own_bytes", of: scene.ada) == bytes)
        #expect(scene.number("clearable_bytes", of: scene.ada) == 0)
        #expect(scene.bob.ask("cache.stat")?["keep"] == "forever")
    }

    @Test func `is a tenth of the disk, and 10 GiB at most`() throws {
        let scene = try Scene(seed: 42)
        defer { scene.base.world.end() }
        #expect(scene.number("quota", of: scene.bob) == 10 << 30)
        scene.bob.home.diskBytes = 50 << 30
        #expect(scene.number("quota", of: scene.bob) == 5 << 30)
    }

    @Test func `is as large as its owner says, by a command or in the settings`() throws {
        let scene = try Scene(seed: 47)
        defer { scene.base.world.end() }
        #expect(scene.bob.ask("cache.stat")?["quota_chosen"] == false)
        let set = scene.bob.ask("cache.quota", ["bytes": 50_000_000])
        #expect(set?["quota"] == 50_000_000 && set?["quota_chosen"] == true)
        #expect(scene.number("files", of: scene.bob) == 1)
        scene.bob.fileDefaults.quota = 70_000_000
        scene.bob.crash()
        scene.bob.start()
        scene.base.world.run(for: 5_000)
        #expect(scene.number("quota", of: scene.bob) == 50_000_000, "the command counts first")
        let usual = scene.bob.ask("cache.quota", ["default": true])
        #expect(usual?["quota"] == 70_000_000 && usual?["quota_chosen"] == true)
        for wrong in [[:], ["bytes": 50_000_000, "default": true]] as [JSONValue] {
            let call = scene.bob.call("cache.quota", wrong)
            scene.base.world.run(for: 100)
            #expect(FileScene.failure(call, by: scene.bob)?.kind == .badRequest)
        }
    }

    @Test func `takes no more than its owner allowed, and says so by name`() throws {
        let base = try #require(FileScene(seed: 48, count: 2))
        defer { base.world.end() }
        let (ada, bob) = (base.nodes[0], base.nodes[1])
        _ = bob.ask("cache.quota", ["bytes": .integer(Limits.quotaBytesMin)])
        let half = try #require(base.send([FileScene.bytes(2_500_000, seed: 16)], by: ada))
        let other = try #require(base.send([FileScene.bytes(2_600_000, seed: 17)], by: ada))
        let huge = try #require(base.send([FileScene.bytes(5_000_000, seed: 18)], by: ada))
        base.world.run(for: 2_000)
        #expect(base.save(half, by: bob) != nil)
        // Others have the first: it makes room.
        #expect(base.save(other, by: bob) != nil)
        #expect(bob.ask("cache.stat")?["files"] == 1)
        let blob = huge["attachments"]?[0]?["blob"] ?? .null
        for (method, given) in [
            ("blob.fetch", ["blob": blob]), ("blob.keep", ["blob": blob]),
            ("blob.read", ["blob": blob]),
        ] as [(String, JSONValue)] {
            let call = bob.call(method, given)
            base.world.run(for: 1_000)
            let error = FileScene.failure(call, by: bob)
            #expect(error?.kind == .storageFull && error?.reason == "file.over_quota", "\(method)")
        }
        #expect(bob.ask("cache.stat")?["files"] == 1, "nothing went for what does not fit")
        _ = bob.ask("cache.quota", ["default": true])
        #expect(base.save(huge, by: bob) != nil)
        #expect(base.world.failures == [])
    }

    /// Bytes that are still to come to a node: as it has counted them along, and counted anew.
    private func coming(to node: SimulatedNode) throws -> (along: UInt64, anew: UInt64) {
        let core = try #require(node.host?.core)
        let rows = try core.turn.store.blobs.wanted(from: 0, limit: .max)
        return (
            try core.files.blobs.missingBytes(besides: 0), rows.reduce(0) { $0 + $1.missingBytes }
        )
    }

    @Test func `includes what is still to come of everything wanted`() throws {
        let base = try #require(FileScene(seed: 53, count: 2))
        defer { base.world.end() }
        let (ada, bob) = (base.nodes[0], base.nodes[1])
        _ = bob.ask("cache.quota", ["bytes": .integer(1 << 30)])
        let files = [21, 22, 23].map { FileScene.bytes(900_000, seed: $0) }
        let message = try #require(base.send(files, by: ada))
        base.world.run(for: 2_000)
        ada.crash()
        #expect(try coming(to: bob) == (0, 0))
        let blobs = (0...2).map { message["attachments"]?[$0]?["blob"] ?? .null }
        var before: UInt64 = 0
        for blob in blobs {
            #expect(bob.ask("blob.fetch", ["blob": blob])?["wanted"] == true)
            let now = try coming(to: bob)
            #expect(now.along == now.anew && now.along > before + 900_000)
            before = now.along
        }
        #expect(bob.ask("blob.drop", ["blob": blobs[0]])?["wanted"] == false)
        let now = try coming(to: bob)
        #expect(now.along == now.anew && now.along < before - 900_000)
        ada.start()
        for _ in 0..<60 {
            base.world.run(for: 500)
            let now = try coming(to: bob)
            #expect(now.along == now.anew)
        }
        base.world.run(for: 90_000)
        #expect(try coming(to: bob) == (0, 0))
        #expect(bob.ask("blob.stat", ["blob": blobs[2]])?["complete"] == true)
        #expect(base.world.failures == [])
    }

    @Test func `takes no two files of which only one fits, also where neither is here yet`() throws
    {
        let base = try #require(FileScene(seed: 49, count: 2))
        defer { base.world.end() }
        let (ada, bob) = (base.nodes[0], base.nodes[1])
        let quota = Limits.quotaBytesMin
        _ = bob.ask("cache.quota", ["bytes": .integer(quota)])
        let files = [19, 20].map { FileScene.bytes(2_500_000, seed: $0) }
        let message = try #require(base.send(files, by: ada))
        base.world.run(for: 2_000)
        ada.crash()
        let blobs = (0...1).map { message["attachments"]?[$0]?["blob"] ?? .null }
        #expect(bob.ask("blob.fetch", ["blob": blobs[0]])?["wanted"] == true)
        let call = bob.call("blob.fetch", ["blob": blobs[1]])
        base.world.run(for: 1_000)
        #expect(FileScene.failure(call, by: bob)?.reason == "file.over_quota")
        ada.start()
        base.world.run(for: 120_000)
        #expect(bob.ask("blob.stat", ["blob": blobs[0]])?["complete"] == true)
        // The same of what comes by itself, and of copies that a channel asks for.
        _ = bob.ask("media.policy", ["kind": "other", "policy": "always"])
        for (index, copies) in [0, 2].enumerated() {
            _ = bob.ask("cache.clear")
            if copies > 0 {
                _ = bob.ask("media.policy", ["kind": "other", "policy": "manual"])
                _ = ada.ask("channel.edit", ["channel": "general", "copies": .integer(2)])
                base.world.run(for: 2_000)
            }
            let seed = UInt64(21 + 2 * index)
            let more = [seed, seed + 1].map { FileScene.bytes(2_500_000, seed: $0) }
            let sent = try #require(base.send(more, by: ada))
            base.world.run(for: 60_000)
            let here = (0...1).count {
                let blob = sent["attachments"]?[$0]?["blob"] ?? .null
                return bob.ask("blob.stat", ["blob": blob])?["complete"] == true
            }
            #expect(here == 1, "\(copies) copies")
            #expect((bob.ask("cache.stat")?["bytes"]?.integerValue ?? .max) <= quota)
        }
        #expect(base.world.failures == [])
    }

    @Test func `is cleared of what others have, and of nothing else`() throws {
        let scene = try Scene(seed: 43)
        defer { scene.base.world.end() }
        let bytes = scene.number("bytes", of: scene.bob)
        #expect(scene.ada.ask("cache.clear")?["cleared_bytes"] == 0)
        #expect(scene.bob.ask("cache.clear", ["unused": "7d"])?["cleared_bytes"] == 0)
        let blob = scene.message["attachments"]?[0]?["blob"] ?? .null
        _ = scene.bob.ask("blob.keep", ["blob": blob])
        #expect(scene.bob.ask("cache.clear")?["cleared_bytes"] == 0)
        #expect(scene.number("kept_bytes", of: scene.bob) == bytes)
        _ = scene.bob.ask("blob.keep", ["blob": blob, "off": true])
        let cleared = scene.bob.ask("cache.clear")
        #expect(cleared?["cleared_bytes"]?.integerValue == bytes)
        #expect(cleared?["bytes"] == 0 && cleared?["files"] == 0)
        // It comes again when somebody wants it.
        #expect(scene.base.save(scene.message, by: scene.bob) != nil)
    }

    /// While messages are read again none of them names it, and it may be the only copy.
    @Test func `is not cleared of what no message names just now`() throws {
        let scene = try Scene(seed: 46)
        defer { scene.base.world.end() }
        let store = try #require(scene.bob.store)
        let row = try #require(try store.blobs.rows().first)
        try store.connection.execute("DELETE FROM blob_reference")
        try store.connection.execute("DELETE FROM blob_holder")
        #expect(try !store.blobs.isReferenced(row.number))
        #expect(scene.number("clearable_bytes", of: scene.bob) == 0)
        #expect(scene.bob.ask("cache.clear")?["cleared_bytes"] == 0)
        #expect(scene.bob.ask("cache.keep", ["period": "7d"])?["files"] == 1)
    }

    @Test func `is freed of what nobody has used for as long as its owner says`() throws {
        let scene = try Scene(seed: 44)
        defer { scene.base.world.end() }
        #expect(scene.bob.ask("cache.keep", ["period": "7d"])?["keep"] == "7d")
        // Nobody talks to Bob meanwhile: days of pings are most of what a life of days takes.
        scene.ada.crash()
        scene.base.world.run(for: 6 * 24 * 3_600_000)
        #expect(scene.number("files", of: scene.bob) == 1)
        scene.bob.crash()
        scene.bob.start()
        scene.ada.start()
        scene.base.world.run(for: 2 * 24 * 3_600_000)
        #expect(scene.number("files", of: scene.bob) == 0)
        #expect(scene.number("files", of: scene.ada) == 1)
        #expect(scene.bob.ask("cache.keep", ["period": "forever"])?["keep"] == "forever")
        #expect(scene.base.world.failures == [])
    }

    @Test func `is looked at by doctor, and so is what waits`() throws {
        let base = try #require(FileScene(seed: 45, count: 2))
        defer { base.world.end() }
        let (ada, bob) = (base.nodes[0], base.nodes[1])
        func findings() -> [String] {
            (bob.ask("node.doctor")?["items"]?.arrayValue ?? [])
                .filter { $0["id"] == "files" }.compactMap { $0["message"]?.stringValue }
        }
        let message = try #require(base.send([FileScene.bytes(900_000, seed: 15)], by: ada))
        base.world.run(for: 2_000)
        #expect(findings() == [])
        bob.blobs.chunks.byteCountMax = 100_000
        let blob = message["attachments"]?[0]?["blob"] ?? .null
        _ = bob.ask("blob.fetch", ["blob": blob])
        base.world.run(for: 10_000)
        #expect(findings() == ["1 file is waiting for space on the disk"])
        bob.blobs.chunks.byteCountMax = .max
        ada.crash()
        base.world.run(for: 25 * 3_600_000)
        #expect(
            findings() == ["1 file is waiting for a device that has it, for more than a day"])
        ada.start()
        base.world.run(for: 600_000)
        #expect(findings() == [])
        // What was put here stays, also where it is more than may be.
        ada.home.diskBytes = 1_000_000
        let full = ada.ask("node.doctor")?["items"]?.arrayValue?.first { $0["id"] == "files" }
        #expect(full?["state"] == "warn")
    }

    @Test func `is said in words`() {
        var object = CacheObject(quota: 10 << 30, keep: "30d")
        (object.files, object.bytes, object.clearableBytes) = (2, 5_000_000, 4_000_000)
        object.clearedBytes = 0
        let rendering = Rendering(globals: GlobalFlags(), environment: [:], io: MemoryIO())
        let text = rendering.cache(object.json)
        #expect(
            text == """
                nothing to clear
                2 files take 5.0 MB of at most 10.7 GB
                  4.0 MB can be cleared
                files that other devices have are removed after 30 days unused

                """)
    }
}
