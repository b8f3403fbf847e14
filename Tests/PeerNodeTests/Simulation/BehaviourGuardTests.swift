import Foundation
import Glibc
import Testing
import WorkspaceTestKit

/// The recorded behaviour of nodes, which must not change while code is moved.
///
/// An intended change records it again, in a commit that says so: `WSX_RECORD_BEHAVIOUR=1 make test
/// TESTS='--filter BehaviourGuardTests'`.
struct `The behaviour of nodes` {
    @Test(.enabled(if: !BehaviourRecord.isWanted), arguments: BehaviourRecord.compared)
    func `is what was recorded`(seed: UInt64) throws {
        let record = try BehaviourRecord.load()
        let recorded = try #require(
            record.lives[seed], "seed \(seed) is not in \(BehaviourRecord.path)")
        let played = RandomLife.behaviour(seed: seed)
        let difference = played.firstDifference(from: recorded)
        #expect(difference == nil, "seed \(seed): the \(difference ?? "") differ first")
    }

    /// Prints its progress now and then: a silent process counts as hanging.
    @Test(.enabled(if: BehaviourRecord.isWanted))
    func `is recorded when somebody asks for that`() async throws {
        let record = BehaviourRecord(await Self.playAll())
        try record.write()
        #expect(try BehaviourRecord.load().lives == record.lives)
    }

    private static func playAll() async -> [UInt64: BehaviourHashes] {
        await withTaskGroup(
            of: (seed: UInt64, hashes: BehaviourHashes).self,
            returning: [UInt64: BehaviourHashes].self
        ) { group in
            for seed in BehaviourRecord.seeds {
                group.addTask { (seed, RandomLife.behaviour(seed: seed)) }
            }
            var lives: [UInt64: BehaviourHashes] = [:]
            for await (seed, hashes) in group {
                lives[seed] = hashes
                guard lives.count.isMultiple(of: 20) else { continue }
                print("\(lives.count) lives are recorded")
                fflush(nil)
            }
            return lives
        }
    }

    // MARK: The guard itself

    /// The recorded ones, since those that are played are compared with them.
    @Test func `is told by hashes that differ where anything does`() throws {
        let lives = try BehaviourRecord.load().lives
        let (one, other) = (try #require(lives[1]), try #require(lives[2]))
        #expect(one.effects != other.effects)
        #expect(one.events != other.events)
        #expect(one.views != other.views)
    }

    @Test func `names what differs first`() {
        let one = BehaviourHashes(effects: "a", events: "b", views: "c")
        #expect(one.firstDifference(from: one) == nil)
        let others = [
            ("effects", BehaviourHashes(effects: "x", events: "x", views: "x")),
            ("events", BehaviourHashes(effects: "a", events: "x", views: "x")),
            ("views", BehaviourHashes(effects: "a", events: "b", views: "x")),
        ]
        for (difference, other) in others {
            #expect(one.firstDifference(from: other) == difference)
        }
    }

    @Test func `stands in a file that says what was written to it`() throws {
        let hash = String(repeating: "0f", count: 8)
        let hashes = BehaviourHashes(effects: hash, events: hash, views: hash)
        let record = BehaviourRecord([3: hashes, 20: hashes])
        let read = try BehaviourRecord(parsing: record.text)
        #expect(read.lives == record.lives)
        for text in ["3 \(hash) \(hash)", "x \(hash) \(hash) \(hash)", "3 \(hash) \(hash) 0F"] {
            #expect(throws: BehaviourRecord.Misread.self) { try BehaviourRecord(parsing: text) }
        }
    }
}
