import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// Flipped bits, lost pages and lost rows: the damage is found, and a peer that has everything
/// restores everything. `make campaign-rot` runs 1,000.
struct `A store that rots` {
    private static let pageSize = 8_192

    /// - Returns: what was done, for the report.
    private func rot(_ image: inout [UInt8], _ random: inout SeededGenerator) -> String {
        switch random.below(4) {
        case 0:
            let page = random.below(image.count / Self.pageSize)
            let range = page * Self.pageSize..<(page + 1) * Self.pageSize
            image.replaceSubrange(range, with: [UInt8](repeating: 0, count: Self.pageSize))
            return "page \(page)"
        default:
            let place = random.below(image.count)
            image[place] ^= 1 << UInt8(random.below(8))
            return "byte \(place)"
        }
    }

    /// The table of documents, that of settings, the name of a log.
    private static let found: [UInt64] =
        Seeds.isCampaign ? [] : [1_099_098_588, 1_099_098_708, 1_099_098_856]

    @Test(arguments: Seeds.explore(12) + found)
    func `is found out, and comes back`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let bench = CoreBench()
        // What was found once hangs on where things lie in that store.
        let (mina, joon) =
            try Self.found.contains(seed) ? bench.life() : bench.laterLife()
        let node = [mina, joon][random.below(2)]
        let shown = try ShownLife(node)
        bench.cut(mina, joon)
        node.kill()
        var image = try node.image
        let what = rot(&image, &random)
        try node.replaceStore(image)
        try node.boot()
        // Either the damage is reported, or nobody sees an error. A caller that meets the damage is
        // told to ask again.
        var found = node.call("node.check")
        if case .failure(let error) = found, error.kind == .busy { found = node.call("node.check") }
        if try found.get()["ok"] == true, node.rebuildCount == 0 {
            #expect(try ShownLife(node) == shown, "\(what)")
        }
        try node.ok("node.check", ["repair": true])
        bench.heal(mina, joon)
        bench.advance(1_500_000)
        try node.ok("node.check", ["repair": true])
        bench.advance(1_500_000)
        var now = try ShownLife(node)
        // What only this home has, or only its keys open, exists nowhere else.
        if !Set(node.lastLoss.tables).isDisjoint(with: ["epoch_key", "document"]) {
            now.sealed = shown.sealed
        }
        #expect(now == shown, "\(what) \(node.lastLoss)")
        let left = try node.ok("node.check")
        #expect(left["problem_count"] == 0, "\(what) \(left.text)")
        #expect(try mina.digest() == joon.digest(), "\(what)")
        try node.send("after")
        bench.advance(60_000)
        #expect(try mina.digest() == joon.digest(), "\(what)")
        #expect(try !mina.eventTypes().contains("fork.found"), "\(what)")
        #expect(try !joon.eventTypes().contains("fork.found"), "\(what)")
    }
}
