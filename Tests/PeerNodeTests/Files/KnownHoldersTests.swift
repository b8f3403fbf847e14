import BlobStore
import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// Announcements of a file's holders, and when they are written.
struct `Devices that have a file` {
    private let scene: FileScene
    private let core: NodeCore
    private let number: Int64
    private let map: [UInt8]

    init() throws {
        scene = try #require(FileScene(seed: 311, count: 2))
        let message = try #require(
            scene.send([FileScene.bytes(30_000, seed: 7)], by: scene.nodes[0]))
        scene.world.run(for: 2_000)
        #expect(scene.save(message, by: scene.nodes[1]) != nil)
        scene.world.run(for: 5_000)
        core = try #require(scene.nodes[1].host?.core)
        let row = try #require(try core.turn.store.blobs.rows().first)
        number = row.number
        map = row.map
    }

    private var known: KnownHolders { core.files.heldElsewhere }
    private var stored: [[UInt8]] {
        get throws { try core.turn.store.blobs.holders(of: number).map(\.device) }
    }
    private func device(_ number: UInt8) -> [UInt8] { [UInt8](repeating: number, count: 32) }

    @Test func `are known at once, and written when something else is`() throws {
        defer { scene.world.end() }
        let before = try stored
        #expect(before.count == 1, "who sent it")
        try known.note(map, from: device(1), of: number)
        try known.note(map, from: device(2), of: number)
        #expect(
            try known.holders(of: number).map(\.device)
                == (before + [device(1), device(2)])
                .sorted { $0.lexicographicallyPrecedes($1) })
        #expect(try stored == before)
        #expect(known.due != nil)
        _ = try #require(
            scene.nodes[1].ask("message.send", ["channel": "general", "text": "x"]))
        #expect(try stored.count == 3)
        #expect(known.due == nil)
    }

    @Test func `are written after a moment though nothing else is`() throws {
        defer { scene.world.end() }
        try known.note(map, from: device(1), of: number)
        #expect(try stored.count == 1)
        // A turn, for the word came in none.
        _ = scene.nodes[1].ask("blob.stat", ["blob": "b_none"])
        scene.world.run(for: Limits.holderWordMilliseconds + 100)
        #expect(try stored.count == 2)
        #expect(known.due == nil)
        #expect(scene.world.failures == [])
    }

    @Test func `are no more, once they say so, written or not`() throws {
        defer { scene.world.end() }
        let sender = try #require(try stored.first)
        try known.note(map, from: device(1), of: number)
        try known.note(nil, from: device(1), of: number)
        try known.note(nil, from: sender, of: number)
        #expect(try known.holders(of: number).isEmpty)
        #expect(try stored == [sender])
        scene.world.run(for: 10)
        _ = scene.nodes[1].ask("status")
        scene.world.run(for: Limits.holderWordMilliseconds + 100)
        #expect(try stored.isEmpty)
    }

    @Test func `say nothing new twice, and nothing of a blob that went`() throws {
        defer { scene.world.end() }
        try known.note(map, from: try #require(try stored.first), of: number)
        #expect(known.due == nil, "that was known")
        try known.note(map, from: device(1), of: number + 1_000)
        _ = scene.nodes[1].ask("status")
        scene.world.run(for: Limits.holderWordMilliseconds + 100)
        #expect(known.due == nil)
        #expect(try core.turn.store.blobs.holders(of: number + 1_000).isEmpty)
    }

    @Test func `are written before there are very many`() throws {
        defer { scene.world.end() }
        for word in 0..<Limits.holderWordsPendingMax {
            let device = [UInt8(word & 255), UInt8(word >> 8)] + [UInt8](repeating: 9, count: 30)
            try known.note(map, from: device, of: number)
        }
        #expect(known.due == nil)
        #expect(try stored.count == Limits.holderWordsPendingMax + 1)
        try core.turn.store.commit()
    }
}
