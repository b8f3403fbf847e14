import PeerNode
import SyncProtocol
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import BlobStore

struct `A member who lies about files` {
    /// What Mallory does, who says to hold all of every blob.
    enum Lie: CaseIterable {
        case wrongPiece, shortPiece, wrongLeaves, silence, refusal, otherShape
    }

    // Mallory holds nothing, and says that she holds all. Bob asks her first, and has Ada's file in the
    // end all the same.
    @Test(arguments: Lie.allCases)
    func `does not keep a file from coming, and is asked no more`(lie: Lie) throws {
        let scene = try HostileScene(seed: 71)
        defer { scene.world.end() }
        let (world, ada, bob) = (scene.world, scene.ada, scene.bob)
        // The root judges the only chunk of a small file.
        let isSmall = [.wrongPiece, .shortPiece].contains(lie)
        let bytes = FileScene.bytes(isSmall ? 200_000 : 1_200_000, seed: 9)
        let message = try #require(FileScene.send(bytes, by: ada))
        world.run(for: 3_000)
        world.network.part(ada, bob)
        world.run(for: 200_000)
        let link = scene.peer().connect(to: bob)
        var (wants, leafWants) = (0, 0)
        link.onBlob = { [weak link] message in
            guard let link, case .want(let want)? = try? BlobMessage.decoded(message) else {
                return
            }
            wants += want.pieces.isEmpty ? 0 : 1
            leafWants += want.leaves == nil ? 0 : 1
            Self.answer(want, lie, byteCount: UInt64(bytes.count), on: link)
        }
        let blob = try #require(message["attachments"]?[0]?["blob"])
        _ = bob.ask("blob.fetch", ["blob": blob])
        world.run(for: 20_000)
        #expect(bob.ask("blob.stat", ["blob": blob])?["complete"] == false)
        world.network.heal()
        let isThere = world.run(within: 300_000, every: 500) {
            bob.ask("blob.stat", ["blob": blob])?["complete"] == true
        }
        #expect(isThere, "\(bob.log)")
        if lie != .otherShape { #expect(wants + leafWants > 0) }
        if [.wrongPiece, .shortPiece, .wrongLeaves].contains(lie) { #expect(wants <= 2) }
        #expect(world.failures == [])
    }

    private static func answer(
        _ want: BlobWant, _ lie: Lie, byteCount: UInt64, on link: HostileLink
    ) {
        guard let shape = BlobShape(byteCount: byteCount), let other = BlobShape(byteCount: 5)
        else {
            return
        }
        if want.pieces.isEmpty, want.leaves == nil {
            let said = lie == .otherShape ? other : shape
            let holding = BlobHolding(shape: said, map: .whole(said))
            return link.send(blob: BlobMessage.have(want.root, holding).encoded())
        }
        if let leaves = want.leaves, lie == .wrongLeaves {
            // A tree of other bytes.
            let hashes = leaves.map { _ in TreeHash([UInt8](repeating: 7, count: 32)) }
            let proof = TreeProof(
                shape: shape, first: leaves.lowerBound, leaves: hashes, hashes: [])
            link.send(blob: BlobMessage.leaves(want.root, proof).encoded(), in: .blob)
        }
        for piece in want.pieces.joined() {
            let count = shape.byteCount(ofPiece: piece)
            switch lie {
            case .wrongPiece, .wrongLeaves, .otherShape:
                let wrong = BlobPiece(
                    root: want.root, number: piece, bytes: [UInt8](repeating: 1, count: count)[...])
                link.send(blob: BlobMessage.piece(wrong).encoded(), in: .blob)
            case .shortPiece:
                let short = BlobPiece(root: want.root, number: piece, bytes: [1, 2, 3])
                link.send(blob: BlobMessage.piece(short).encoded(), in: .blob)
            case .refusal:
                link.send(
                    blob: BlobMessage.cancel(want.root, pieces: [piece..<piece + 1]).encoded())
            case .silence: break
            }
        }
    }

    @Test func `is cut off after sixteen pieces that nobody asked for`() throws {
        let scene = try HostileScene(seed: 72)
        defer { scene.world.end() }
        let link = scene.peer().connect(to: scene.bob)
        let piece = BlobPiece(
            root: BlobRoot([UInt8](repeating: 3, count: 32)), number: 0, bytes: [1])
        for _ in 0..<15 { link.send(blob: BlobMessage.piece(piece).encoded(), in: .blob) }
        scene.world.run(for: 1_000)
        #expect(link.isOpen)
        link.send(blob: BlobMessage.piece(piece).encoded(), in: .blob)
        scene.world.run(for: 1_000)
        #expect(!link.isOpen && link.errorCode == "sync.unasked")
    }

    @Test func `is cut off for an invalid message`() throws {
        let scene = try HostileScene(seed: 73)
        defer { scene.world.end() }
        let link = scene.peer().connect(to: scene.bob)
        link.send(blob: [0x80, 0xa0])
        scene.world.run(for: 1_000)
        #expect(!link.isOpen)
    }

    @Test func `learns only what is held of a root that she knows`() throws {
        let scene = try HostileScene(seed: 74)
        defer { scene.world.end() }
        let message = try #require(
            FileScene.send(FileScene.bytes(300_000, seed: 1), by: scene.ada))
        scene.world.run(for: 2_000)
        let link = scene.peer().connect(to: scene.ada)
        var heard: [BlobMessage] = []
        link.onBlob = { bytes in
            if let message = try? BlobMessage.decoded(bytes) { heard.append(message) }
        }
        let unknown = BlobRoot([UInt8](repeating: 3, count: 32))
        link.send(blob: BlobMessage.want(BlobWant(root: unknown)).encoded())
        link.send(blob: BlobMessage.want(BlobWant(root: unknown, pieces: [0..<4])).encoded())
        scene.world.run(for: 5_000)
        #expect(heard == [.have(unknown, nil), .have(unknown, nil)])
        #expect(message["attachments"]?[0]?["blob"] != nil)
    }
}
