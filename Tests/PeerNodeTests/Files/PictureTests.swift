import BlobStore
import CRDTStore
import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

struct `Pictures of people, workspaces and channels` {
    private static let png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

    private func picture(_ count: Int, seed: UInt64) -> [UInt8] {
        Self.png + FileScene.bytes(count - Self.png.count, seed: seed)
    }

    /// Adds a picture, and gives its id.
    private func add(
        _ bytes: [UInt8], by node: SimulatedNode, at path: String = "/me.png"
    ) throws -> JSONValue {
        node.blobs.places.files[path] = bytes
        let added = node.ask("blob.add", ["path": .string(path), "picture": true])
        return try #require(added?["id"])
    }

    private func failure(
        _ method: String, _ given: JSONValue, by node: SimulatedNode, in world: SimulatedWorld
    ) -> NodeError? {
        let call = node.call(method, given)
        world.run(for: 1_000)
        return FileScene.failure(call, by: node)
    }

    /// What a node saves of a file.
    private func saved(
        _ blob: JSONValue?, by node: SimulatedNode, in world: SimulatedWorld
    ) -> [UInt8]? {
        let name = "\(node.blobs.places.files.count)"
        let call = node.call(
            "blob.get", ["blob": blob ?? .null, "folder": "/saved", "name": .string(name)])
        world.run(within: 90_000) { call.map { node.answers[$0] != nil } ?? true }
        return node.value(call)?["path"]?.stringValue.flatMap { node.blobs.places.files[$0] }
    }

    @Test func `come to everybody who sees them, without being asked for`() throws {
        let scene = try #require(FileScene(seed: 71, count: 3))
        defer { scene.world.end() }
        let (ada, bob, cleo) = (scene.nodes[0], scene.nodes[1], scene.nodes[2])
        let face = picture(200_000, seed: 1)
        let logo = picture(9_000, seed: 2)
        let plans = picture(40_000, seed: 3)
        let id = try add(face, by: ada)
        #expect(ada.ask("profile.image.set", ["blob": id])?["image"] == id)
        let second = try add(logo, by: ada)
        #expect(ada.ask("workspace.edit", ["image": second])?["image"] == second)
        let third = try add(plans, by: ada)
        let edited = ada.ask("channel.edit", ["channel": "general", "image": third])
        #expect(edited?["image"] == third)
        scene.world.run(for: 20_000)
        for node in [bob, cleo] {
            #expect(node.ask("profile.of", ["member": "Founder 0"])?["image"] == id)
            #expect(node.ask("workspace.get")?["image"] == second)
            #expect(node.ask("channel.get", ["channel": "general"])?["image"] == third)
            for (blob, bytes) in [(id, face), (second, logo), (third, plans)] {
                let file = node.ask("blob.stat", ["blob": blob])
                #expect(file?["complete"] == true && file?["type"] == "image/png")
                #expect(saved(blob, by: node, in: scene.world) == bytes)
            }
            // They are no files of messages.
            #expect(node.ask("blob.list")?["items"]?.arrayValue?.isEmpty == true)
        }
        #expect(scene.world.failures == [])
    }

    @Test func `stay while they are shown, and go once another is`() throws {
        let scene = try #require(FileScene(seed: 72, count: 2))
        defer { scene.world.end() }
        let (ada, bob) = (scene.nodes[0], scene.nodes[1])
        let first = try add(picture(100_000, seed: 4), by: ada)
        _ = ada.ask("profile.image.set", ["blob": first])
        scene.world.run(for: 3 * 1_200_000)
        bob.crash()
        bob.start()
        scene.world.run(for: 3 * 1_200_000)
        for node in [ada, bob] {
            #expect(node.ask("blob.stat", ["blob": first])?["complete"] == true)
        }
        let second = try add(picture(50_000, seed: 5), by: ada)
        _ = ada.ask("profile.image.set", ["blob": second])
        scene.world.run(for: 3 * 1_200_000)
        for node in [ada, bob] {
            #expect(node.ask("blob.stat", ["blob": first]) == nil, "node \(node.index)")
            #expect(node.ask("blob.stat", ["blob": second])?["complete"] == true)
        }
        #expect(ada.ask("profile.image.set", ["preset": 7])?["image"] == "preset:7")
        scene.world.run(for: 3 * 1_200_000)
        #expect(bob.blobs.chunks.byteCount == 0)
        #expect(scene.world.failures == [])
    }

    @Test func `come again where they were dropped, or did not fit`() throws {
        let scene = try #require(FileScene(seed: 76, count: 2))
        defer { scene.world.end() }
        let (ada, bob) = (scene.nodes[0], scene.nodes[1])
        let face = try add(picture(100_000, seed: 10), by: ada)
        _ = ada.ask("profile.image.set", ["blob": face])
        scene.world.run(for: 20_000)
        #expect(bob.ask("blob.stat", ["blob": face])?["complete"] == true)
        #expect(bob.ask("cache.clear")?["bytes"] == 0)
        // A disk that is full of other things: the quota is a tenth of it.
        bob.home.diskBytes = 1_000_000
        let logo = try add(picture(150_000, seed: 11), by: ada, at: "/logo.png")
        _ = ada.ask("workspace.edit", ["image": logo])
        scene.world.run(for: 20_000)
        #expect(bob.ask("blob.stat", ["blob": logo])?["complete"] == false)
        bob.home.diskBytes = 50 << 30
        bob.crash()
        bob.start()
        scene.world.run(for: 60_000)
        for blob in [face, logo] {
            #expect(bob.ask("blob.stat", ["blob": blob])?["complete"] == true)
        }
        #expect(scene.world.failures == [])
    }

    @Test func `of a private channel come to nobody outside of it`() throws {
        let scene = try #require(FileScene(seed: 73, count: 3))
        defer { scene.world.end() }
        let (ada, bob, cleo) = (scene.nodes[0], scene.nodes[1], scene.nodes[2])
        scene.world.run(for: 3_000)
        #expect(ada.ask("channel.create", ["name": "design", "private": true]) != nil)
        #expect(ada.ask("channel.add", ["channel": "design", "members": ["Guest 1"]]) != nil)
        let bytes = picture(80_000, seed: 6)
        let id = try add(bytes, by: ada)
        let edited = ada.ask("channel.edit", ["channel": "design", "image": id, "copies": 2])
        #expect(edited?["image"] == id && edited?["copies"] == 2)
        scene.world.run(for: 20_000)
        #expect(bob.ask("channel.get", ["channel": "design"])?["image"] == id)
        #expect(saved(id, by: bob, in: scene.world) == bytes)
        #expect(try cleo.store?.blobs.rows().isEmpty == true)
    }

    @Test func `are PNG, JPEG, GIF or WebP of at most 1 MiB, by their first bytes`() throws {
        let scene = try #require(FileScene(seed: 74, count: 1))
        defer { scene.world.end() }
        let ada = scene.nodes[0]
        for head in [
            Self.png, [0xFF, 0xD8, 0xFF, 0xE0], Array("GIF89a".utf8), Array("RIFF....WEBP".utf8),
        ] {
            let id = try add(head + [0, 1, 2], by: ada)
            #expect(ada.ask("profile.image.set", ["blob": id])?["image"] == id)
        }
        let wrong: [([UInt8], String)] = [
            (Array("%PDF-1.7".utf8), "picture.type"), (Array("<svg/>".utf8), "picture.type"),
            ([], "picture.type"), (picture(1_048_577, seed: 7), "picture.too_large"),
        ]
        for (bytes, reason) in wrong {
            ada.blobs.places.files["/wrong"] = bytes
            let error = failure(
                "blob.add", ["path": "/wrong", "picture": true], by: ada, in: scene.world)
            #expect(error?.reason == reason, "\(bytes.count) bytes")
        }
        _ = try add(picture(1_048_576, seed: 8), by: ada)
        // What lies in a message, or was added as something else, is none.
        ada.blobs.places.files["/small.png"] = Self.png + [1]
        let inline = try #require(ada.ask("blob.add", ["path": "/small.png"])?["id"])
        #expect(
            failure("profile.image.set", ["blob": inline], by: ada, in: scene.world)?.reason
                == "picture.inline")
        for (method, given) in [
            ("workspace.edit", ["image": "b_00000000000000000000000000"]),
            ("workspace.edit", ["image": "blob:png:9:abc"]),
            ("channel.edit", ["channel": "general", "image": "preset:0"]),
            ("profile.image.set", [:]), ("profile.image.set", ["preset": 7, "blob": inline]),
        ] as [(String, JSONValue)] {
            #expect(failure(method, given, by: ada, in: scene.world) != nil, "\(method)")
        }
        let hide = failure("profile.set", ["hide": ["image"]], by: ada, in: scene.world)
        #expect(hide?.reason == "picture.hidden")
    }

    @Test func `are named by a text that nobody is shown`() throws {
        let key = BlobKey(using: SeededRandom(seed: 3))
        let root = try #require(BlobRoot(untrusted: [UInt8](repeating: 7, count: 32)))
        let shape = try #require(BlobShape(byteCount: 12_345))
        let type = try #require(MediaType(untrusted: "image/webp"))
        let name = FileName(fitting: Array("a.webp".utf8))
        let item = Manifest.Item(name: name, type: type, contents: .blob(root, shape, key))
        let picture = try #require(Picture(item))
        #expect(picture.text.hasPrefix("blob:webp:12345:"))
        #expect(Picture(untrusted: picture.text) == picture)
        #expect(Picture.shown(picture.text) == PublicID.blob(root.bytes))
        #expect(Picture.shown("preset:7") == "preset:7" && Picture.shown(nil) == nil)
        let code = picture.text.split(separator: ":")[3]
        for text in [
            "blob:webp:0:\(code)", "blob:webp:012345:\(code)", "blob:webp:1048577:\(code)",
            "blob:svg:12345:\(code)", "blob:webp:12345:\(code)a", "blob:webp:12345:",
            "blob:webp:-1:\(code)", "blob:webp:12345:\(code):", "blob:", "blob:webp:12345",
            "blob:webp:1e3:\(code)", "blob:webp:99999999999999999999:\(code)",
        ] {
            #expect(Picture(untrusted: text) == nil && Picture.shown(text) == nil, "\(text)")
        }
        // A program that shows a member shows only the id.
        let scene = try #require(FileScene(seed: 75, count: 2))
        defer { scene.world.end() }
        let (ada, bob) = (scene.nodes[0], scene.nodes[1])
        let id = try add(self.picture(30_000, seed: 9), by: ada)
        #expect(ada.ask("profile.image.set", ["blob": id])?["image"] == id)
        scene.world.run(for: 5_000)
        for node in [ada, bob] {
            #expect(node.ask("member.get", ["member": "Founder 0"])?["image"] == id)
            let listed = node.ask("member.list")?["items"]?.arrayValue ?? []
            #expect(listed.count == 2)
            #expect(listed.compactMap { $0["image"]?.stringValue } == [id.stringValue])
        }
    }
}
