// Searches that would take too long run by run. Runs with one left origin, and everything between
// them, are behind that origin; the further out a run's origin, and the smaller its depth, the
// larger the part of the note that ends, or begins, at it. Leaves and groups cache their outermost
// run, so whole ones are skipped.
// remember their outermost run, so whole ones are passed over.
extension SpanTree {
    /// A left origin with its place, and a depth, for comparing runs.
    struct Level {
        let left: Element
        let place: Place
        let depth: UInt32
    }

    /// -1 if the run is further out than `level`, 0 if equal, 1 if inside.
    func compare(_ span: Span, with level: Level) -> Int {
        if span.left == level.left {
            return span.depth == level.depth ? 0 : (span.depth < level.depth ? -1 : 1)
        }
        guard span.left != Span.nothing else { return -1 }
        let place = place(of: span.left)
        let isBefore =
            place == level.place ? span.left < level.left : precedes(place, level.place)
        return isBefore ? -1 : 1
    }

    /// The first run behind `place` that `isWanted`. If that holds for any run of a leaf or group,
    /// it must hold for its outermost run (the last of several).
    mutating func first(
        behind place: Place, where isWanted: (borrowing SpanTree, Span) -> Bool
    ) -> Place? {
        if let found = first(in: place.leaf, from: place.index + 1, where: isWanted) {
            return found
        }
        let start = leaves[place.leaf]
        if let found = first(inGroup: start.group, from: start.slot + 1, where: isWanted) {
            return found
        }
        var index = groups[start.group].index + 1
        while index < order.count {
            let outermost = outermost(ofGroup: order[index])
            if isWanted(self, self[self.place(of: outermost)]),
                let found = first(inGroup: order[index], from: 0, where: isWanted)
            {
                return found
            }
            index += 1
        }
        return nil
    }

    private func first(
        in leaf: Int, from index: Int, where isWanted: (borrowing SpanTree, Span) -> Bool
    ) -> Place? {
        for index in index..<max(index, leaves[leaf].count) {
            let place = Place(leaf: leaf, index: index)
            if isWanted(self, self[place]) { return place }
        }
        return nil
    }

    private mutating func first(
        inGroup group: Int, from slot: Int, where isWanted: (borrowing SpanTree, Span) -> Bool
    ) -> Place? {
        for slot in slot..<max(slot, groups[group].count) {
            let leaf = Int(members[group * Self.groupCapacity + slot])
            guard leaves[leaf].count > 0 else { continue }
            let outermost = outermost(ofLeaf: leaf)
            if isWanted(self, self[place(of: outermost)]),
                let found = first(in: leaf, from: 0, where: isWanted)
            {
                return found
            }
        }
        return nil
    }

    /// The last run before `place` that is at `level` or further out.
    ///
    /// - Precondition: `place` is behind the level's left origin, whose own run always qualifies.
    mutating func last(before place: Place, upTo level: Level) -> Place {
        if let found = last(in: place.leaf, before: place.index, upTo: level) { return found }
        let start = leaves[place.leaf]
        if let found = last(inGroup: start.group, before: start.slot, upTo: level) { return found }
        var index = groups[start.group].index - 1
        while index >= 0 {
            let group = order[index]
            if compare(self[self.place(of: outermost(ofGroup: group))], with: level) <= 0,
                let found = last(inGroup: group, before: groups[group].count, upTo: level)
            {
                return found
            }
            index -= 1
        }
        return Place(leaf: 0, index: 0)
    }

    private func last(in leaf: Int, before index: Int, upTo level: Level) -> Place? {
        var index = index - 1
        while index >= 0 {
            let place = Place(leaf: leaf, index: index)
            if compare(self[place], with: level) <= 0 { return place }
            index -= 1
        }
        return nil
    }

    private mutating func last(
        inGroup group: Int, before slot: Int, upTo level: Level
    ) -> Place? {
        var slot = slot - 1
        while slot >= 0 {
            let leaf = Int(members[group * Self.groupCapacity + slot])
            slot -= 1
            guard leaves[leaf].count > 0,
                compare(self[place(of: outermost(ofLeaf: leaf))], with: level) <= 0,
                let found = last(in: leaf, before: leaves[leaf].count, upTo: level)
            else { continue }
            return found
        }
        return nil
    }

    // MARK: Outermost runs

    /// Whether `span` is as far out as `other`, or further.
    private func isOutside(_ span: Span, _ other: Span) -> Bool {
        if span.left == other.left { return span.depth <= other.depth }
        if span.left == Span.nothing { return true }
        return other.left != Span.nothing && precedes(span.left, other.left)
    }

    /// The outermost run of a non-empty leaf, the last of several, by its first scalar.
    private mutating func outermost(ofLeaf leaf: Int) -> Element {
        if leaves[leaf].outermost != Span.nothing { return leaves[leaf].outermost }
        let base = leaf * Self.leafCapacity
        var best = spans[base]
        for index in base + 1..<base + max(1, leaves[leaf].count)
        where isOutside(spans[index], best) {
            best = spans[index]
        }
        leaves[leaf].outermost = best.first
        return best.first
    }

    private mutating func outermost(ofGroup group: Int) -> Element {
        if groups[group].outermost != Span.nothing { return groups[group].outermost }
        var best: Span?
        for slot in 0..<groups[group].count {
            let leaf = Int(members[group * Self.groupCapacity + slot])
            guard leaves[leaf].count > 0 else { continue }
            let span = self[place(of: outermost(ofLeaf: leaf))]
            if let known = best, !isOutside(span, known) { continue }
            best = span
        }
        groups[group].outermost = best?.first ?? Span.start
        return groups[group].outermost
    }

    /// Updates the cached outermost runs after a run was added to a leaf.
    mutating func noteOutermost(_ span: Span, in leaf: Int) {
        let known = leaves[leaf].outermost
        let group = leaves[leaf].group
        if known != Span.nothing, replaces(span, known) { leaves[leaf].outermost = span.first }
        let ofGroup = groups[group].outermost
        if ofGroup != Span.nothing, replaces(span, ofGroup) {
            groups[group].outermost = span.first
        }
    }

    /// Whether a new run replaces `known` as outermost: further out, or equal and behind it.
    private func replaces(_ span: Span, _ known: Element) -> Bool {
        let other = self[place(of: known)]
        guard span.left == other.left, span.depth == other.depth else {
            return isOutside(span, other)
        }
        return precedes(known, span.first)
    }
}
