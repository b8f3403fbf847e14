import Testing
import WorkspaceTestKit

@testable import NoteText

struct `The tree of runs` {
    /// A tree with what it should be: one entry for each scalar, in order.
    struct Model {
        var tree = SpanTree()
        var scalars: [(element: Element, isVisible: Bool)] = [(0, false), (1, false)]
        var next = Span.firstWritten

        /// Puts a run of new scalars behind scalar number `index` in order.
        mutating func insert(_ count: UInt32, behind index: Int, isHidden: Bool) {
            let left = scalars[index].element
            let bytes = tree.keep(String(repeating: "x", count: Int(count)))
            // An odd right origin keeps runs apart that the test wants apart.
            let run = Span(
                first: next, count: count, left: left, right: Span.nothing,
                text: UInt32(bytes.lowerBound), bytes: count, deletes: 0, depth: 0,
                isHidden: isHidden)
            let place = tree.place(of: left)
            let offset = left - tree[place].first + 1
            if offset < tree[place].count {
                tree.insert(run, at: tree.cut(place, before: offset))
            } else {
                tree.insert(run, at: SpanTree.Place(leaf: place.leaf, index: place.index + 1))
            }
            let new = (0..<count).map { (element: next + $0, isVisible: !isHidden) }
            scalars.insert(contentsOf: new, at: index + 1)
            next += count
        }

        /// Deletes the run that scalar number `index` in order is in, or brings it back.
        mutating func toggle(_ index: Int) {
            let place = tree.place(of: scalars[index].element)
            let run = tree[place]
            guard run.first >= Span.firstWritten else { return }
            tree.setState(place, deletes: 1 - run.deletes, isHidden: run.isHidden)
            let isVisible = tree[place].isVisible
            for index in scalars.indices
            where scalars[index].element >= run.first && scalars[index].element <= run.last {
                scalars[index].isVisible = isVisible
            }
            tree.join(place)
            tree.join(SpanTree.Place(leaf: place.leaf, index: place.index - 1))
        }
    }

    static func check(_ model: inout Model, _ random: inout SeededGenerator) {
        let elements = model.tree.inOrder.flatMap { $0.first...$0.last }
        #expect(elements == model.scalars.map(\.element))
        let visible = model.scalars.filter(\.isVisible)
        #expect(model.tree.visible == visible.count)
        #expect(model.tree.visibleBytes == visible.count)
        var before = 0
        var positions: [Element: Int] = [:]
        for scalar in model.scalars {
            positions[scalar.element] = before
            before += scalar.isVisible ? 1 : 0
        }
        // In any order, so that the cursor jumps.
        for _ in 0..<40 {
            let element = model.scalars[random.below(model.scalars.count)].element
            #expect(model.tree.position(of: element) == positions[element])
            let position = random.below(visible.count + 1)
            let border = model.tree.border(at: position)
            let run = model.tree[border.place]
            let wanted = position == 0 ? Span.start : visible[position - 1].element
            #expect(run.first + border.offset - 1 == wanted)
            let (one, other) = (
                random.below(model.scalars.count), random.below(model.scalars.count)
            )
            #expect(
                model.tree.precedes(model.scalars[one].element, model.scalars[other].element)
                    == (one < other))
        }
        let last = model.tree.inOrder.last?.last ?? Span.nothing
        #expect(model.tree.precedes(last, Span.nothing))
        #expect(!model.tree.precedes(Span.nothing, last))
    }

    @Test(arguments: Seeds.explore(20))
    func `says where everything is`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var model = Model()
        for round in 0..<600 {
            if random.oneIn(4) {
                model.toggle(random.below(model.scalars.count))
            } else {
                model.insert(
                    UInt32(1 + random.below(5)), behind: random.below(model.scalars.count),
                    isHidden: random.oneIn(6))
            }
            if round % 60 == 59 { Self.check(&model, &random) }
        }
    }

    @Test func `grows over many groups, at its end and in its middle`() {
        var random = SeededGenerator(seed: 4)
        var model = Model()
        // Each run hidden or not in turn, so that none goes on from another.
        for index in 0..<10_000 {
            model.insert(1, behind: model.scalars.count - 1, isHidden: index % 2 == 0)
        }
        #expect(model.tree.order.count > 1)
        Self.check(&model, &random)
        for index in 0..<6_000 { model.insert(1, behind: 7, isHidden: index % 2 == 0) }
        #expect(model.tree.order.count > 2)
        Self.check(&model, &random)
        var backwards: [Element] = []
        var place = model.tree.place(of: model.scalars[model.scalars.count - 1].element)
        while true {
            backwards.append(model.tree[place].first)
            guard let previous = model.tree.previous(place) else { break }
            #expect(model.tree.next(previous) == place)
            place = previous
        }
        #expect(backwards.reversed() == model.tree.inOrder.map(\.first))
    }

    @Test func `takes back the last scalars, and makes one of what they had come between`() {
        var model = Model()
        model.insert(6, behind: 0, isHidden: false)
        model.insert(3, behind: 3, isHidden: false)
        #expect(model.tree.inOrder.map(\.count) == [1, 3, 3, 3, 1])
        var place = model.tree.place(of: 8)
        model.tree.takeBack(place, 2)
        #expect(model.tree.inOrder.map(\.count) == [1, 3, 1, 3, 1])
        #expect(model.tree.text.count == 7)
        place = model.tree.place(of: 8)
        model.tree.takeBack(place, 1)
        #expect(model.tree.inOrder.map(\.count) == [1, 6, 1])
        #expect(model.tree.visible == 6)
        #expect(model.tree.visibleBytes == 6)
        #expect(model.tree.border(at: 5).offset == 5)
    }

    @Test func `has no run that is longer than a bound`() {
        var one = Span(sentinel: Span.firstWritten)
        one.count = Span.countMax - 1
        var next = Span(sentinel: one.last + 1)
        next.left = one.last
        #expect(one.goesOn(in: next))
        next.count = 2
        #expect(!one.goesOn(in: next))
        next.count = .max
        #expect(!one.goesOn(in: next))
    }

    @Test(
        arguments: [
            [(0, 1), (1, 1), (2, 3)],  // one scalar less
            [(0, 1), (1, 1), (2, 5)],  // one more
            [(0, 1), (1, 1), (2, 3), (4, 1)],  // one twice, and one not
            [(0, 1), (0, 1), (1, 1), (2, 4)],  // the sentinel twice
            [(1, 1), (0, 1), (2, 4)],  // not the sentinel first
            [(0, 1), (1, 1), (7, 4)],  // beyond the end
            [(0, 1), (1, 1), (2, UInt32.max)],
            [],
        ] as [[(Element, UInt32)]])
    func `is not made of runs that do not have every number once`(runs: [(Element, UInt32)]) {
        let spans = runs.map { first, count in
            var span = Span(sentinel: first)
            span.count = count
            return span
        }
        #expect(SpanTree(runs: spans, end: 6, text: []) == nil)
    }

    @Test(arguments: [0, 1, 7, 8, 9, 30, 31])
    func `finds the place of a sum among many numbers`(index: Int) {
        let numbers: [Int32] = (0..<32).map { Int32($0 % 3) }
        // The first scalar of a place and its last; a place without any is never one.
        let before = numbers[..<index].reduce(0) { $0 + Int($1) }
        for inside in 1..<1 + Int(numbers[index]) {
            var left = before + inside
            #expect(numbers.passing(&left, in: 0..<32) == index)
            #expect(left == inside)
        }
    }
}
