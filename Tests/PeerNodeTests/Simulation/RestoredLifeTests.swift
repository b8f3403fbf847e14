import Testing
import WorkspaceTestKit

@testable import PeerNode

struct `Lives with backups` {
    /// Every second seed has the old home run on beside the restored one.
    private static func restoring(_ seed: UInt64) -> RandomLife.Restoring {
        seed.isMultiple(of: 2) ? .beside : .instead
    }

    private static func life(
        _ seed: UInt64, of faults: [RandomLife.Fault] = RandomLife.Fault.allCases
    ) -> RandomLife {
        RandomLife(seed: seed, of: faults, restoring: restoring(seed))
    }

    @Test(arguments: Seeds.explore(2))
    func `end with the same state everywhere, whatever homes have forgotten`(seed: UInt64) {
        let found = `Lives by chance`.smallest { Self.life(seed, of: $0) }
        guard let (faults, why) = found else { return }
        Issue.record("seed \(seed), \(Self.restoring(seed)), only with \(faults): \(why)")
    }

    @Test(arguments: [1, 2] as [UInt64])
    func `play alike under the same seed`(seed: UInt64) {
        func run() -> TraceHash? {
            let life = Self.life(seed)
            life.world.beginTrace()
            defer { life.world.end() }
            life.work(steps: 30)
            return life.world.trace
        }
        let trace = run()
        #expect(trace != nil && trace == run())
    }

    /// The draws of other lives stay what they were, and so does the record of behaviour.
    @Test func `begin as those without`() {
        for seed in UInt64(1)...8 {
            let (one, other) = (RandomLife(seed: seed), RandomLife(seed: seed, restoring: .instead))
            defer {
                one.world.end()
                other.world.end()
            }
            #expect(one.faults.filter { $0 != .putBack } == other.faults)
            #expect(one.hasRemovals == other.hasRemovals && one.hasDevices == other.hasDevices)
            #expect(one.world.nodes.count == other.world.nodes.count)
        }
    }

    @Test func `restore homes, in the place of the old ones and beside them`() {
        var restored: [RandomLife.Restoring: Int] = [:]
        for seed in UInt64(1)...8 where restored[Self.restoring(seed), default: 0] < 2 {
            let life = Self.life(seed)
            defer { life.world.end() }
            life.work(steps: 20)
            _ = life.heal()
            life.work(steps: 40)
            restored[Self.restoring(seed), default: 0] += life.restoredCount
            #expect(life.world.failures == [], "seed \(seed)")
        }
        for kind in RandomLife.Restoring.allCases {
            #expect(restored[kind, default: 0] > 1, "\(restored)")
        }
    }
}
