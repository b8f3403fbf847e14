import BlobStore
import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

struct `Files in a home of an earlier version` {
    private func blob(_ message: JSONValue?, _ index: Int = 0) -> JSONValue {
        message?["attachments"]?[index]?["blob"] ?? .null
    }

    private func listed(by node: SimulatedNode) -> [JSONValue] {
        (node.ask("blob.list")?["items"]?.arrayValue ?? []).map { $0["id"] ?? .null }
    }

    /// Ends a node, and leaves its store as earlier builds did.
    private func age(_ node: SimulatedNode, to version: Int, _ changes: String...) throws {
        let connection = try #require(node.store?.connection)
        node.crash()
        for change in changes { try connection.execute(change) }
        try connection.execute("PRAGMA user_version = \(version)")
    }

    private static let droppingBlobs =
        "DROP TABLE blob; DROP TABLE blob_reference; DROP TABLE blob_holder"

    @Test(arguments: [13, 14])
    func `are known from the first start on`(version: Int) throws {
        let scene = try #require(FileScene(seed: UInt64(version), count: 2))
        defer { scene.world.end() }
        let (ada, bob) = (scene.nodes[0], scene.nodes[1])
        let bytes = FileScene.bytes(300_000, seed: 6)
        let message = try #require(scene.send([Array("hello".utf8), bytes, []], by: ada))
        scene.world.run(for: 3_000)
        // Of what somebody deleted, and what cannot be opened any more, nothing is known again.
        let gone = try #require(scene.send([Array("gone".utf8)], by: ada))
        #expect(ada.ask("message.delete", ["message": gone["id"] ?? .null]) != nil)
        scene.world.run(for: 3_000)
        if version == 14 {
            try age(bob, to: 14, EarlierStore.schema15, "DELETE FROM blob_reference WHERE bid = 0")
        } else {
            try age(
                bob, to: 13, EarlierStore.schema15, BenchNode.droppingNotes, Self.droppingBlobs)
        }
        bob.start()
        #expect(listed(by: bob) == (0..<3).map { blob(message, $0) })
        #expect(bob.ask("blob.stat", ["blob": blob(message)])?["name"] == "file 0.bin")
        #expect(try bob.store?.registry.value(BlobTable.unreadFiles) == nil)
        let check = bob.ask("node.check", [:], within: 60_000)
        #expect(check?["ok"] == true, "\(check?.text ?? "no check")")
        #expect(scene.save(message, 2, by: bob) == bytes)
        #expect(scene.world.failures == [])
    }

    /// Very many are noted in parts, and a process that ends meanwhile begins again.
    @Test func `are noted a part in each turn, before a check looks at them`() throws {
        let scene = try #require(FileScene(seed: 15, count: 1))
        defer { scene.world.end() }
        let ada = scene.nodes[0]
        let first = try #require(scene.send([Array("first".utf8)], by: ada))
        for number in 0..<Limits.earlierMessagesPerTurnMax {
            _ = try #require(
                ada.ask("message.send", ["channel": "general", "text": .string("\(number)")]))
        }
        let last = try #require(scene.send([Array("last".utf8)], by: ada))
        try age(ada, to: 14, EarlierStore.schema15, "DELETE FROM blob_reference")
        for _ in 0..<2 {
            ada.start()
            guard case .left(behind: _?) = ada.host?.core.integrity.earlierFiles else {
                Issue.record("all of it was noted at once")
                return
            }
            #expect(try ada.store?.registry.value(BlobTable.unreadFiles) != nil)
            ada.crash()
        }
        ada.start()
        #expect(ada.ask("node.check", [:], within: 60_000)?["ok"] == true)
        #expect(ada.host?.core.integrity.earlierFiles == .noted)
        #expect(listed(by: ada) == [blob(last), blob(first)])
        // The next start finds nothing to do.
        ada.crash()
        ada.start()
        scene.world.run(for: 1_000)
        #expect(ada.host?.core.integrity.earlierFiles == .noted)
        #expect(scene.world.failures == [])
    }

    @Test func `are not taken for files that no message names`() throws {
        let scene = try #require(FileScene(seed: 16, count: 1))
        defer { scene.world.end() }
        let ada = scene.nodes[0]
        _ = try #require(scene.send([FileScene.bytes(300_000, seed: 7)], by: ada))
        scene.world.run(for: 3_000)
        let store = try #require(ada.store)
        // As long as it is not noted, nobody knows which messages name it.
        try store.connection.execute("DELETE FROM blob_reference")
        try store.connection.execute(
            "INSERT INTO meta VALUES('\(BlobTable.unreadFiles)', x'01')")
        scene.world.run(for: 3 * Limits.blobCollectMilliseconds)
        #expect(ada.blobs.chunks.byteCount > 0)
        try store.connection.execute(
            "DELETE FROM meta WHERE name = '\(BlobTable.unreadFiles)'")
        scene.world.run(for: 3 * Limits.blobCollectMilliseconds)
        #expect(ada.blobs.chunks.byteCount == 0)
    }
}
