import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// The queue of operations to be judged again, with causes: nothing is lost, and
/// its cost is bounded.
struct `A backlog of deletions` {
    private static func target(_ number: Int) -> OperationReference {
        let bytes = withUnsafeBytes(of: number.bigEndian, Array.init)
        return OperationReference(
            device: DeviceID([UInt8](repeating: 3, count: 32)), incarnation: 1,
            sequence: UInt64(number), id: OperationID(bytes + bytes + bytes + bytes))
    }

    @Test func `keeps every cause of a target, until there is any`() throws {
        var review = RedactionReview()
        review.add(Self.target(1), because: 7)
        review.add(Self.target(1), because: 9)
        review.add(Self.target(1), because: 9)
        #expect(review.targets[Self.target(1)] == .some([7, 9]))
        #expect(review.count == 2)
        review.add(Self.target(1), because: nil)
        review.add(Self.target(1), because: 8)
        let cause = try #require(review.targets[Self.target(1)])
        #expect(cause == nil)
        #expect(review.count == 1)
    }

    @Test func `reads a grant again from the first place that it owes`() {
        var review = RedactionReview()
        review.postpone(4, behind: 20)
        review.postpone(4, behind: 10)
        review.postpone(4, behind: 30)
        review.postpone(5, behind: 3)
        #expect(review.arrived == [4: 10, 5: 3])
        #expect(!review.isDone)
    }

    @Test func `takes a target once on a walk, and again on the next one`() {
        var review = RedactionReview()
        func takes() -> Bool { review.takesOnWalk(Self.target(1)) }
        review.walk(4)
        review.walk(5)
        #expect([takes(), takes()] == [true, false])
        review.goOn(4, behind: nil)
        #expect(review.grants == [5: 0] && !takes())
        // What began before has to be judged again for what is asked now.
        review.walk(6)
        #expect(takes())
        review.goOn(5, behind: nil)
        review.goOn(6, behind: nil)
        #expect(review.isDone && takes())
    }

    @Test func `keeps what there was no time for, with its causes`() {
        var review = RedactionReview()
        review.add(Self.target(1), because: 7)
        review.add(Self.target(1), because: 9)
        review.add(Self.target(2), because: nil)
        var room = 100
        for (target, cause) in review.takeFirst(&room) { review.putBack(target, cause) }
        #expect(review.targets[Self.target(1)] == .some([7, 9]))
        #expect(review.targets[Self.target(2)] == .some(.none))
        #expect(review.count == 3)
    }

    @Test(arguments: Seeds.explore(40))
    func `gives out all of it once, the first first`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var review = RedactionReview()
        var causes: [Int: Set<Int64>?] = [:]
        var order: [Int] = []
        for _ in 0..<400 {
            if random.oneIn(8) {
                var room = 1 + random.below(12)
                let before = (room, review.count)
                let taken = review.takeFirst(&room)
                try #require(
                    taken.map(\.0) == order.prefix(taken.count).map(Self.target),
                    "WSX_SEED=\(seed)")
                for (target, cause) in taken {
                    let known = causes.removeValue(forKey: Int(target.sequence))
                    try #require(known == .some(cause), "WSX_SEED=\(seed)")
                }
                order.removeFirst(taken.count)
                // It stops when the room is gone, and not before.
                try #require(room <= 0 || review.targets.isEmpty, "WSX_SEED=\(seed)")
                try #require(before.0 - room == before.1 - review.count, "WSX_SEED=\(seed)")
            } else {
                let number = random.below(20)
                let cause: Int64? = random.oneIn(6) ? nil : Int64(random.below(5))
                review.add(Self.target(number), because: cause)
                if let known = causes[number] {
                    causes[number] = cause.flatMap { known?.union([$0]) }
                } else {
                    causes[number] = cause.map { [$0] }
                    order.append(number)
                }
                if causes[number] == nil { causes[number] = .some(nil) }
            }
            let weight = causes.values.reduce(0) { $0 + ($1?.count ?? 1) }
            try #require(review.count == weight, "WSX_SEED=\(seed)")
            try #require(review.isDone == causes.isEmpty, "WSX_SEED=\(seed)")
        }
    }
}
