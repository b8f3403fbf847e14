import Testing
import WorkspaceCrypto
import WorkspaceTestKit

@testable import PeerNode

struct `Keys that were asked for last` {
    private static func key(_ number: UInt8) -> SymmetricKey {
        SymmetricKey([UInt8](repeating: number, count: 32))
    }

    /// Whatever is asked for and kept, there are never more than fit, and what is there is right.
    @Test(arguments: Seeds.explore(20))
    func `are never more than fit, nor others than were kept`(seed: UInt64) {
        let random = SeededRandom(seed: seed)
        let capacity = 1 + Int(random.number(below: 12))
        var recent = RecentKeys<Int>(capacity: capacity)
        var last: Int?
        for _ in 0..<2_000 {
            let name = Int(random.number(below: 30))
            switch random.number(below: 20) {
            case 0: recent.forget { $0 % 3 == 0 }
            case 1..<10:
                recent.keep(Self.key(UInt8(name)), as: name)
                last = name
                #expect(recent.key(name) != nil, "WSX_SEED=\(seed)")
            default:
                let found = recent.key(name)?.exposedCopy()
                #expect(found == nil || found == [UInt8](repeating: UInt8(name), count: 32))
            }
            #expect(recent.count <= capacity, "WSX_SEED=\(seed)")
        }
        recent.forget { _ in true }
        #expect(recent.count == 0 && last.flatMap { recent.key($0) } == nil)
    }

    @Test func `stay when many others are asked for once`() {
        var recent = RecentKeys<Int>(capacity: 10)
        for name in 0..<10 { recent.keep(Self.key(UInt8(name)), as: name) }
        for name in 10..<200 {
            #expect(recent.key(3) != nil)
            recent.keep(Self.key(UInt8(name)), as: name)
        }
        #expect(recent.key(3) != nil)
        #expect(recent.key(4) == nil)
    }
}
