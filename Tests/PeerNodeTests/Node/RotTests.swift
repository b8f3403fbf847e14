import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// Bits that flip on a disk, pages that are gone and rows that are lost: found, and with a peer
/// that has everything, everything comes back. `make campaign-rot` does 1,000.
@Suite struct `A store that rots` {
    private static let pageSize = 8_192

    /// The pages that say which tables there are. Without one of them SQLite reads nothing of a file,
    /// as without its first page (RELIABILITY.md).
    private func schemaPages(of image: [UInt8]) -> Set<Int> {
        func number(at place: Int) -> Int {
            image[place..<place + 4].reduce(0) { $0 << 8 | Int($1) } - 1
        }
        guard image[100] == 5 else { return [0] }
        let count = Int(image[103]) << 8 | Int(image[104])
        let cells = (0..<count).map { 112 + 2 * $0 }.map {
            Int(image[$0]) << 8 | Int(image[$0 + 1])
        }
        return Set([0, number(at: 108)] + cells.map(number))
    }

    /// - Returns: what was done, for the report.
    private func rot(_ image: inout [UInt8], _ random: inout SeededGenerator) -> String {
        switch random.below(4) {
        case 0:
            let schema = schemaPages(of: image)
            let pages = (1..<image.count / Self.pageSize).filter { !schema.contains($0) }
            let page = pages[random.below(pages.count)]
            let range = page * Self.pageSize..<(page + 1) * Self.pageSize
            image.replaceSubrange(range, with: [UInt8](repeating: 0, count: Self.pageSize))
            return "page \(page)"
        default:
            let place = 100 + random.below(image.count - 100)
            image[place] ^= 1 << UInt8(random.below(8))
            return "byte \(place)"
        }
    }

    @Test(arguments: Seeds.explore(12))
    func `is found out, and comes back`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let bench = CoreBench()
        let (mina, joon) = try bench.life()
        let node = [mina, joon][random.below(2)]
        let shown = try ShownLife(node)
        bench.cut(mina, joon)
        node.kill()
        var image = try node.image
        let what = rot(&image, &random)
        try node.replaceStore(image)
        try node.boot()
        // Either it is said, or nothing is wrong that anybody sees. Whoever meets the damage is told
        // to ask again.
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
        if node.lastLoss.tables.contains("epoch_key") { now.sealed = shown.sealed }
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
