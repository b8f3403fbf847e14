import Testing
import WorkspaceCrypto
import WorkspaceModel

@testable import BlobStore

/// Which of many transfers a plan visits.
struct `The marks of transfers` {
    private static func root(_ number: UInt8) throws -> BlobRoot {
        try #require(BlobRoot(untrusted: [number] + [UInt8](repeating: 7, count: 31)))
    }

    @Test(arguments: BlobBench.seeds(8))
    func `keep those that changed in the order of their roots, each once`(_ seed: UInt64) throws {
        var dice = Dice(seed)
        var (marks, model) = (TransferMarks(), Set<BlobRoot>())
        for _ in 0..<400 {
            let root = try Self.root(UInt8(dice.below(40)))
            switch dice.below(4) {
            case 0, 1:
                marks.change(root)
                model.insert(root)
            case 2:
                marks.rest(root)
                model.remove(root)
            default:
                marks.end(root)
                model.remove(root)
            }
            #expect(marks.askable == model.sorted())
        }
    }

    @Test func `say what changed once`() throws {
        var marks = TransferMarks()
        let (one, two) = (try Self.root(1), try Self.root(2))
        marks.change(two)
        marks.ask(one)
        #expect(marks.askable == [two], "who was asked for something has no more to give")
        #expect(marks.takeChanged() == [one, two])
        #expect(marks.takeChanged() == [])
        marks.change(one)
        marks.end(one)
        #expect(marks.takeChanged() == [] && marks.askable == [two])
    }

    @Test func `count several sources, and leaves that were asked for`() throws {
        var marks = TransferMarks()
        let one = try Self.root(1)
        marks.setSources(1, of: one)
        #expect(marks.shared == [] && marks.askable == [one])
        marks.setSources(2, of: one)
        #expect(marks.shared == [one])
        marks.setAwaitsLeaves(true, one)
        #expect(marks.awaitingLeaves == [one])
        marks.rest(one)
        marks.setAwaitsLeaves(false, one)
        #expect(marks.awaitingLeaves == [] && marks.askable == [one])
        marks.setSources(1, of: one)
        #expect(marks.shared == [])
    }

    @Test func `know since when nobody is asked`() throws {
        var marks = TransferMarks()
        let one = try Self.root(1)
        marks.setIdle(true, one, at: 5)
        marks.setIdle(true, one, at: 9)
        #expect(marks.idleSince[one] == 5)
        marks.setIdle(false, one, at: 10)
        #expect(marks.idleSince[one] == nil)
        marks.setIdle(true, one, at: 11)
        marks.end(one)
        #expect(marks.idleSince[one] == nil)
    }
}

/// The planning of many small files at once.
struct `Planning many small files` {
    private static let peer: PieceScheduler.PeerID = 1

    /// So many blobs of one piece, and the scheduler that fetches them all.
    private static func begun(
        _ count: Int, sources: [PieceScheduler.PeerID] = [peer]
    ) throws -> (PieceScheduler, [BlobName]) {
        let shape = try #require(BlobShape(byteCount: 1_000))
        var scheduler = PieceScheduler()
        var blobs: [BlobName] = []
        for number in 0..<count {
            let bytes = [UInt8(number)] + [UInt8](repeating: 1, count: 31)
            let blob = BlobName(root: try #require(BlobRoot(untrusted: bytes)), shape: shape)
            let isBegun = scheduler.fetch(blob, held: HaveMap(shape), chunks: 0..<1, at: 0)
            #expect(isBegun, "there is room for \(count)")
            for source in sources {
                scheduler.note(
                    BlobHolding(shape: shape, map: .whole(shape)), of: blob.root, from: source)
            }
            blobs.append(blob)
        }
        return (scheduler, blobs)
    }

    private static func piece(of blob: BlobName) -> BlobPiece {
        let count = blob.shape.ciphertextByteCount(of: 0)
        return BlobPiece(
            root: blob.root, number: 0, bytes: [UInt8](repeating: 0, count: count)[...])
    }

    @Test func `asks for all of them at once, and then looks at none that waits`() throws {
        var (scheduler, blobs) = try Self.begun(BlobLimits.transfersMax)
        #expect(scheduler.marks.askable.count == blobs.count)
        let wants = scheduler.plan(at: 1)
        #expect(wants.count == blobs.count)
        #expect(scheduler.marks.askable == [])
        #expect(scheduler.idle(since: .max) == [])
        #expect(scheduler.plan(at: 2) == [])
        #expect(!scheduler.isQuiet)
        let (arrival, _) = scheduler.take(Self.piece(of: blobs[9]), from: Self.peer, at: 3)
        #expect(arrival == .store(blobs[9], leaf: nil))
        #expect(
            scheduler.marks.askable == [blobs[9].root], "one changed, and no other is looked at")
        #expect(scheduler.plan(at: 3) == [])
        #expect(scheduler.marks.askable == [])
        #expect(scheduler.idle(since: 3) == [blobs[9].root])
        #expect(scheduler.idle(since: 2) == [])
    }

    @Test func `is quiet once all that was asked for is stored`() throws {
        var (scheduler, blobs) = try Self.begun(3)
        #expect(scheduler.isQuiet)
        _ = scheduler.plan(at: 1)
        for blob in blobs {
            _ = scheduler.take(Self.piece(of: blob), from: Self.peer, at: 2)
            #expect(!scheduler.isQuiet)
        }
        for blob in blobs { _ = scheduler.settle(0, of: blob, .whole(chunk: 0)) }
        #expect(scheduler.isQuiet)
    }

    @Test func `asks again for what came wrong, was lost or was refused`() throws {
        var (scheduler, blobs) = try Self.begun(3)
        _ = scheduler.plan(at: 1)
        scheduler.refuse([0..<1], of: blobs[0].root, from: Self.peer)
        scheduler.note(
            BlobHolding(shape: blobs[0].shape, map: .whole(blobs[0].shape)), of: blobs[0].root,
            from: Self.peer)
        for blob in blobs[1...] {
            _ = scheduler.take(Self.piece(of: blob), from: Self.peer, at: 2)
        }
        _ = scheduler.settle(0, of: blobs[1], .whole(chunk: 0))
        scheduler.lose(.whole(blobs[1].shape), of: blobs[1].root)
        scheduler.fail(0, of: blobs[2])
        let roots = Self.roots(scheduler.plan(at: 3))
        #expect(roots == [blobs[0].root, blobs[1].root], "the third waits for room")
        scheduler.resume(blobs[2].root)
        #expect(Self.roots(scheduler.plan(at: 4)) == [blobs[2].root])
    }

    @Test func `asks a second where there is one, when the first has taken too long`() throws {
        var (scheduler, blobs) = try Self.begun(2, sources: [1, 2])
        let first = scheduler.plan(at: 1)
        #expect(Self.roots(first) == blobs.map(\.root))
        let due = try #require(scheduler.nextDeadline(after: 1))
        #expect(scheduler.plan(at: due - 1) == [])
        let second = scheduler.plan(at: due)
        #expect(!second.isEmpty)
        for message in second {
            #expect(!first.contains(message), "each of the two is asked once for a piece")
        }
    }

    @Test func `goes on with another source when the only one leaves`() throws {
        var (scheduler, blobs) = try Self.begun(2)
        _ = scheduler.plan(at: 1)
        scheduler.leave(Self.peer)
        #expect(scheduler.plan(at: 2) == [])
        #expect(scheduler.idle(since: 2).count == 2)
        for blob in blobs {
            scheduler.note(
                BlobHolding(shape: blob.shape, map: .whole(blob.shape)), of: blob.root, from: 2)
        }
        #expect(Self.roots(scheduler.plan(at: 3)) == blobs.map(\.root))
    }

    private static func roots(_ messages: [PieceScheduler.Message]) -> [BlobRoot] {
        messages.compactMap {
            guard case .want(let want) = $0.message else { return nil }
            return want.root
        }.sorted()
    }
}
