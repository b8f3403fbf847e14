import Testing
import WorkspaceTestKit

@testable import PeerNode

struct `Members who lie by chance` {
    @Test(arguments: Seeds.explore(4))
    func `leave honest nodes equal, and nothing in them that was not authorised`(
        seed: UInt64
    ) throws {
        let life = try WorldOfLiars(seed: seed)
        defer { life.world.end() }
        life.work(steps: 40)
        try #require(life.heal(), "\(life.honest.map { $0.log.suffix(6) })")
        life.world.run(for: 2_000)
        let shown = Set(life.honest.map { Scenes.texts(of: "general", on: $0) }.map { $0.sorted() })
        #expect(shown.count == 1)
        for node in life.honest {
            #expect(node.startCount == 1)
            let audit = try SlowAudit(node, seed: seed)
            #expect(audit.problems == [])
            #expect(`Lives by chance`.checkAgain(node) == [])
        }
        #expect(life.world.failures == [])
    }

    @Test func `tell every kind of lie`() throws {
        var told: Set<String> = []
        var removed = 0
        for seed in UInt64(1)...2 where told.count < 7 || removed == 0 {
            let life = try WorldOfLiars(seed: seed)
            defer { life.world.end() }
            life.work(steps: 60)
            told.formUnion(life.told.keys)
            removed += life.removed
        }
        #expect(
            told == [
                "plain", "back-dated", "forked", "foreign grant", "garbage", "withheld",
                "authority",
            ])
        #expect(removed > 0)
    }
}
