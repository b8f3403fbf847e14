/// From positions and scalars to places, and back.
extension SpanTree {
    /// A border between two scalars: the run of the one before it, and how many scalars of that run
    /// are before it, at least one.
    struct Border {
        var place: Place
        var offset: UInt32
    }

    /// The border behind the visible scalar number `position`, counted from 1; for 0 the one behind
    /// the first sentinel.
    ///
    /// - Precondition: `position` is at most `visible`.
    mutating func border(at position: Int) -> Border {
        precondition(position >= 0 && position <= visible, "a position behind the end")
        guard position > 0 else { return Border(place: Place(leaf: 0, index: 0), offset: 1) }
        seek(position)
        var left = position - cursor.before
        let base = cursor.leaf * Self.leafCapacity
        return spans.withUnsafeBufferPointer { spans in
            var index = 0
            while true {
                let span = spans[base + index]
                if span.isVisible {
                    if left <= Int(span.count) {
                        return Border(
                            place: Place(leaf: cursor.leaf, index: index), offset: UInt32(left))
                    }
                    left -= Int(span.count)
                }
                index += 1
            }
        }
    }

    /// Moves the cursor to the leaf with the visible scalar number `position`, counted from 1.
    private mutating func seek(_ position: Int) {
        let inside = position - cursor.before
        if inside > 0, inside <= leaves[cursor.leaf].visible { return }
        var left = position
        var group = 0
        for candidate in order {
            group = candidate
            guard left > groups[candidate].visible else { break }
            left -= groups[candidate].visible
        }
        let base = group * Self.groupCapacity
        for slot in base..<base + groups[group].count {
            let visible = Int(memberVisible[slot])
            if left <= visible {
                cursor = (Int(members[slot]), position - left)
                return
            }
            left -= visible
        }
        preconditionFailure("the counts of a group are not those of its leaves")
    }

    /// Visible scalars before the run at `place`.
    mutating func position(of place: Place) -> Int {
        if place.leaf != cursor.leaf { cursor = (place.leaf, visibleBefore(leaf: place.leaf)) }
        var position = cursor.before
        let base = place.leaf * Self.leafCapacity
        for index in base..<base + place.index { position += spans[index].visible }
        return position
    }

    private func visibleBefore(leaf: Int) -> Int {
        var before = 0
        let group = leaves[leaf].group
        for index in 0..<groups[group].index { before += groups[order[index]].visible }
        let base = group * Self.groupCapacity
        for slot in base..<base + leaves[leaf].slot { before += Int(memberVisible[slot]) }
        return before
    }

    /// Visible scalars before `element`.
    mutating func position(of element: Element) -> Int {
        let place = place(of: element)
        let span = self[place]
        return position(of: place) + (span.isVisible ? Int(element - span.first) : 0)
    }

    /// Where the run is that `element` belongs to.
    ///
    /// - Precondition: the tree has it.
    func place(of element: Element) -> Place {
        let (start, leaf) = map.run(of: element)
        let base = leaf * Self.leafCapacity
        return spans.withUnsafeBufferPointer { spans in
            var index = 0
            while spans[base + index].first != start { index += 1 }
            return Place(leaf: leaf, index: index)
        }
    }

    /// The run behind the one at `place`.
    func next(_ place: Place) -> Place? {
        if place.index + 1 < leaves[place.leaf].count {
            return Place(leaf: place.leaf, index: place.index + 1)
        }
        var leaf = place.leaf
        while let next = leafBehind(leaf) {
            if leaves[next].count > 0 { return Place(leaf: next, index: 0) }
            leaf = next
        }
        return nil
    }

    /// The run before the one at `place`.
    func previous(_ place: Place) -> Place? {
        if place.index > 0 { return Place(leaf: place.leaf, index: place.index - 1) }
        var leaf = place.leaf
        while let previous = leafBefore(leaf) {
            if leaves[previous].count > 0 {
                return Place(leaf: previous, index: leaves[previous].count - 1)
            }
            leaf = previous
        }
        return nil
    }

    func leafBehind(_ leaf: Int) -> Int? {
        let group = leaves[leaf].group
        let slot = leaves[leaf].slot + 1
        if slot < groups[group].count { return Int(members[group * Self.groupCapacity + slot]) }
        let index = groups[group].index + 1
        return index < order.count ? Int(members[order[index] * Self.groupCapacity]) : nil
    }

    func leafBefore(_ leaf: Int) -> Int? {
        let group = leaves[leaf].group
        let slot = leaves[leaf].slot - 1
        if slot >= 0 { return Int(members[group * Self.groupCapacity + slot]) }
        let index = groups[group].index - 1
        guard index >= 0 else { return nil }
        let before = order[index]
        return Int(members[before * Self.groupCapacity + groups[before].count - 1])
    }

    /// Whether the run at `left` stands before the one at `right`.
    func precedes(_ left: Place, _ right: Place) -> Bool {
        if left.leaf == right.leaf { return left.index < right.index }
        let one = leaves[left.leaf]
        let other = leaves[right.leaf]
        if one.group == other.group { return one.slot < other.slot }
        return groups[one.group].index < groups[other.group].index
    }

    /// Whether `left` stands before `right`, which may be no scalar: that is behind everything.
    func precedes(_ left: Element, _ right: Element) -> Bool {
        guard left != right, left != Span.nothing else { return false }
        guard right != Span.nothing else { return true }
        let one = place(of: left)
        let other = place(of: right)
        // One run's scalars are numbered as they stand.
        return one == other ? left < right : precedes(one, other)
    }
}
