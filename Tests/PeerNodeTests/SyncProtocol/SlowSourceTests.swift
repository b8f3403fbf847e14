import SyncProtocol
import Testing
import WorkspaceModel
import WorkspaceTestKit

/// PROTOCOL.md, 5.4: a slow or lying peer does not hold back what others would deliver.
struct `A source that is slow` {
    private static let liars = Swarm.Kind.allCases.filter { $0 != .honest }
    private static let most: UInt64 = 5_000

    /// How long one honest source takes, which is always the same.
    private static let alone = Swarm([.honest]).run(for: 60_000)

    private static func honestAlone() throws -> UInt64 { try #require(alone) }

    @Test(arguments: 0..<4)
    func `starves nobody who has others too`(place: Int) throws {
        var kinds = [Swarm.Kind](repeating: .honest, count: 3)
        kinds.insert(.trickling, at: place)
        let swarm = Swarm(kinds)
        #expect(try #require(swarm.run(for: 60_000)) <= Self.most)
    }

    @Test(arguments: Seeds.explore(30))
    func `does not keep the one that delivers from it, whatever the others do`(seed: UInt64) throws
    {
        var random = SeededGenerator(seed: seed)
        let kinds = ([.honest] + Self.liars).shuffled(using: &random)
        let alone = try Self.honestAlone()
        let swarm = Swarm(kinds)
        let took = try #require(swarm.run(for: 60_000), "WSX_SEED=\(seed): \(swarm.report)")
        #expect(
            took <= min(Self.most, 2 * alone),
            "alone \(alone); WSX_SEED=\(seed): \(swarm.trace)")
    }

    @Test(arguments: Seeds.explore(30))
    func `does so among any peers`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let kinds = (0..<8).map { _ in Self.liars[random.below(Self.liars.count)] }
        let swarm = Swarm((kinds + [.honest]).shuffled(using: &random))
        let took = try #require(swarm.run(for: 60_000), "WSX_SEED=\(seed): \(swarm.report)")
        #expect(
            try took <= min(Self.most, 2 * Self.honestAlone()), "WSX_SEED=\(seed): \(kinds)")
    }

    @Test func `is used where it is the only one`() {
        let swarm = Swarm([.trickling])
        _ = swarm.run(for: 120_000)
        #expect(swarm.goal.operations.count >= 25)
        #expect(Swarm([.single], logs: 4).run(for: 60_000) != nil)
    }

    @Test func `costs little where all deliver`() throws {
        let swarm = Swarm([.honest, .honest, .honest])
        #expect(try #require(swarm.run(for: 60_000)) <= Self.honestAlone())
        #expect(swarm.repeated == 0, "\(swarm.trace)")
    }
}
