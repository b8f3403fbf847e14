// The order of Fugue, in its list form. Inserted text is right of its left origin. Among inserts
// with the same left origin, the one whose right origin is further right comes first; with equal
// origins the author's device decides. Seen as a tree, a scalar is a left child of its right origin
// if that has the same left origin, else a right child of its left origin. This shows that every
// order of arrival gives the same text, even for invented origins: origins exist before the scalar,
// so nothing is its own ancestor.
extension Note {
    /// Inserts a run at its place, and sets its depth.
    ///
    /// - Returns: its place, which may be the end of a longer run.
    /// - Precondition: its origins are in the tree, and its operation in the table.
    mutating func weave(_ run: Span, of entry: Int) -> SpanTree.Place {
        var run = run
        let place = tree.place(of: run.left)
        let span = tree[place]
        let behind = SpanTree.Border(place: place, offset: run.left - span.first + 1)
        let isInside = behind.offset < span.count
        let next = isInside ? nil : tree.next(place)
        let nextScalar = isInside ? run.left + 1 : next.map { tree[$0].first } ?? Span.nothing
        run.setDepth(depth(of: run, next: next.map { tree[$0] }))
        // No concurrent insert here: always the case when a person edits the current text.
        let isAlone =
            nextScalar == run.right
            || run.depth == 0 && !isInside && next.map({ tree[$0].left != run.left }) ?? true
        if isAlone { return put(run, behind: behind) }
        let level = SpanTree.Level(left: run.left, place: place, depth: run.depth)
        let border =
            run.depth == 0
            ? scanForward(run, of: entry, behind: behind, level)
            : scanBackward(run, of: entry, level)
        return put(run, behind: border ?? search(run, of: entry, behind: behind, level))
    }

    /// The run's depth: the distance to the right-hand child that it precedes. 0 unless its right
    /// origin has the same left one.
    func depth(of run: Span, next: Span?) -> UInt32 {
        guard run.right != Span.nothing else { return 0 }
        guard run.right != run.left + 1 else {
            let span = tree[tree.place(of: run.right)]
            if span.first != run.right { return 1 }
            return span.left == run.left ? span.depth + 1 : 0
        }
        let span = next?.first == run.right ? next : nil
        let right = span ?? tree[tree.place(of: run.right)]
        // A scalar inside a run has the one before it as left origin, which was just excluded.
        return right.first == run.right && right.left == run.left ? right.depth + 1 : 0
    }

    /// Inserts a run behind a border, merged with the run there if it continues it.
    mutating func put(_ run: Span, behind border: SpanTree.Border) -> SpanTree.Place {
        let span = tree[border.place]
        guard border.offset == span.count else {
            let tail = tree.cut(border.place, before: border.offset)
            return tree.insert(run, at: tail)
        }
        if span.goesOn(in: run) {
            tree.extend(border.place, by: run.count, bytes: run.bytes)
            return border.place
        }
        return tree.insert(
            run, at: SpanTree.Place(leaf: border.place.leaf, index: border.place.index + 1))
    }

    /// Whether a new run precedes one with the same left origin and the same depth.
    private func precedes(_ run: Span, of entry: Int, _ sibling: Span) -> Bool {
        guard run.right == sibling.right else { return tree.precedes(sibling.right, run.right) }
        let other = table.origin(of: sibling.first).entry
        return other == entry ? run.first < sibling.first : table.precedes(entry, other)
    }

    // MARK: Few concurrent inserts

    /// Scans the right children of its left origin, run by run.
    ///
    /// - Returns: `nil` if there are too many.
    private func scanForward(
        _ run: Span, of entry: Int, behind border: SpanTree.Border, _ level: SpanTree.Level
    ) -> SpanTree.Border? {
        var previous = border.place
        // Where the examined part of the sibling begins.
        var beginning: SpanTree.Border? = border
        if border.offset < tree[previous].count {
            let sibling = tree[previous].tail(from: border.offset, byteOffset: 0)
            if precedes(run, of: entry, sibling) { return border }
            beginning = nil
        }
        for _ in 0..<NoteLimits.scanMax {
            guard let place = tree.next(previous) else { return end(of: previous) }
            let span = tree[place]
            if span.left == run.left {
                let start = beginning ?? end(of: previous)
                beginning = start
                if span.depth == 0 {
                    if precedes(run, of: entry, span) { return start }
                    beginning = nil
                }
            } else if span.left != tree[previous].last, tree.compare(span, with: level) < 0 {
                return end(of: previous)
            }
            previous = place
        }
        return nil
    }

    /// Scans the left children of its right origin, run by run.
    ///
    /// - Returns: `nil` if there are too many.
    private func scanBackward(
        _ run: Span, of entry: Int, _ level: SpanTree.Level
    ) -> SpanTree.Border? {
        var place = tree.place(of: run.right)
        var beginning = place
        for _ in 0..<NoteLimits.scanMax {
            guard let previous = tree.previous(place) else { break }
            let span = tree[previous]
            if span.left == run.left {
                let isBehind = span.depth == run.depth && !precedes(run, of: entry, span)
                if span.depth < run.depth || isBehind { return border(before: beginning) }
                beginning = previous
            } else if previous == level.place {
                return border(before: beginning)
            }
            place = previous
        }
        return nil
    }

    private func end(of place: SpanTree.Place) -> SpanTree.Border {
        SpanTree.Border(place: place, offset: tree[place].count)
    }

    /// The border before a run. Nothing is ever inserted before the first sentinel.
    private func border(before place: SpanTree.Place) -> SpanTree.Border {
        end(of: tree.previous(place) ?? SpanTree.Place(leaf: 0, index: 0))
    }

    // MARK: Many concurrent inserts

    /// The same place, found without visiting everything inserted there.
    private mutating func search(
        _ run: Span, of entry: Int, behind border: SpanTree.Border, _ level: SpanTree.Level
    ) -> SpanTree.Border {
        var start = border.place
        if run.depth > 0 {
            let outer = SpanTree.Level(left: run.left, place: level.place, depth: run.depth - 1)
            start = tree.last(before: tree.place(of: run.right), upTo: outer)
        } else if border.offset < tree[start].count {
            let sibling = tree[start].tail(from: border.offset, byteOffset: 0)
            if precedes(run, of: entry, sibling) { return border }
        }
        let table = table
        let stop = tree.first(behind: start) { tree, span in
            let side = tree.compare(span, with: level)
            guard side == 0 else { return side < 0 }
            guard run.right == span.right else { return tree.precedes(span.right, run.right) }
            let other = table.origin(of: span.first).entry
            return other == entry ? run.first < span.first : table.precedes(entry, other)
        }
        guard let stop else { return lastBorder }
        guard tree.compare(tree[stop], with: level) == 0 else { return self.border(before: stop) }
        // Before the sibling there, and everything before it that belongs to it.
        return beginning(behind: tree.last(before: stop, upTo: level), run)
    }

    /// The border before the first run behind `place` with the same left origin.
    private mutating func beginning(behind place: SpanTree.Place, _ run: Span) -> SpanTree.Border {
        let stop = tree.first(behind: place) { tree, span in
            span.left == run.left || span.left == Span.nothing || tree.precedes(span.left, run.left)
        }
        guard let stop else { return lastBorder }
        return border(before: stop)
    }

    private var lastBorder: SpanTree.Border {
        let group = tree.order[tree.order.count - 1]
        var leaf = Int(
            tree.members[group * SpanTree.groupCapacity + tree.groups[group].count - 1])
        while tree.leaves[leaf].count == 0, let before = tree.leafBefore(leaf) { leaf = before }
        return end(of: SpanTree.Place(leaf: leaf, index: tree.leaves[leaf].count - 1))
    }
}

extension Span {
    /// Sets the distance to the right-hand child that it precedes.
    mutating func setDepth(_ depth: UInt32) { state = depth << 1 | state & 1 }
}
