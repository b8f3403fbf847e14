// New leaves and groups.
extension SpanTree {
    /// Splits a full leaf in half; if `place` is its end, starts a new leaf instead, so that
    /// appending fills leaves.
    mutating func makeRoom(at place: Place) -> Place {
        let old = place.leaf
        if place.index == Self.leafCapacity, let behind = leafBehind(old),
            leaves[behind].count < Self.leafCapacity
        {
            return Place(leaf: behind, index: 0)
        }
        let kept = place.index == Self.leafCapacity ? Self.leafCapacity : Self.leafCapacity / 2
        let new = addLeaf(behind: old)
        let moved = Self.leafCapacity - kept
        var visible = 0
        for index in 0..<moved {
            let span = spans[old * Self.leafCapacity + kept + index]
            spans[new * Self.leafCapacity + index] = span
            visible += span.visible
            map.set(span.first, span.count, leaf: new)
        }
        leaves[old].count = kept
        leaves[new].count = moved
        leaves[old].visible -= visible
        leaves[new].visible += visible
        addVisible(-visible, to: old)
        addVisible(visible, to: new)
        if cursor.leaf == old, cursor.index > kept { cursor = Cursor() }
        typed = nil
        forgetOutermost(of: old)
        forgetOutermost(of: new)
        guard place.index >= kept else { return place }
        return Place(leaf: new, index: place.index - kept)
    }

    /// An empty leaf directly behind `leaf`.
    private mutating func addLeaf(behind leaf: Int) -> Int {
        if groups[leaves[leaf].group].count == Self.groupCapacity {
            splitGroup(leaves[leaf].group, appending: leaves[leaf].slot + 1 == Self.groupCapacity)
        }
        let new = makeLeaf()
        // If the whole group stayed and the leaf was its last, use the empty group after it.
        var group = leaves[leaf].group
        var slot = leaves[leaf].slot + 1
        if groups[group].count == Self.groupCapacity {
            group = order[groups[group].index + 1]
            slot = 0
        }
        let base = group * Self.groupCapacity
        var index = groups[group].count
        while index > slot {
            members[base + index] = members[base + index - 1]
            memberVisible[base + index] = memberVisible[base + index - 1]
            leaves[Int(members[base + index])].slot = index
            index -= 1
        }
        members[base + slot] = Int32(truncatingIfNeeded: new)
        memberVisible[base + slot] = 0
        leaves[new].group = group
        leaves[new].slot = slot
        groups[group].count += 1
        return new
    }

    private mutating func splitGroup(_ old: Int, appending: Bool) {
        let new = makeGroup()
        let index = groups[old].index + 1
        order.insert(new, at: index)
        orderVisible.insert(0, at: index)
        for later in index..<order.count { groups[order[later]].index = later }
        let kept = appending ? Self.groupCapacity : Self.groupCapacity / 2
        var moved = 0
        for slot in kept..<Self.groupCapacity {
            let leaf = members[old * Self.groupCapacity + slot]
            members[new * Self.groupCapacity + slot - kept] = leaf
            memberVisible[new * Self.groupCapacity + slot - kept] = Int32(
                truncatingIfNeeded: leaves[Int(leaf)].visible)
            leaves[Int(leaf)].group = new
            leaves[Int(leaf)].slot = slot - kept
            moved += leaves[Int(leaf)].visible
        }
        orderVisible[index - 1] -= Int32(truncatingIfNeeded: moved)
        orderVisible[index] += Int32(truncatingIfNeeded: moved)
        groups[old].count = kept
        groups[new].count = Self.groupCapacity - kept
        groups[old].outermost = Span.nothing
    }

    private mutating func makeLeaf() -> Int {
        leaves.append(Leaf())
        spans += repeatElement(Span(sentinel: Span.start), count: Self.leafCapacity)
        return leaves.count - 1
    }

    private mutating func makeGroup() -> Int {
        groups.append(Group())
        members += repeatElement(0, count: Self.groupCapacity)
        memberVisible += repeatElement(0, count: Self.groupCapacity)
        return groups.count - 1
    }

    /// A leaf behind all others.
    @discardableResult
    mutating func appendLeaf() -> Int {
        guard let last = order.last else {
            let leaf = makeLeaf()
            order.append(makeGroup())
            orderVisible.append(0)
            groups[0].count = 1
            return leaf
        }
        let leaf = Int(members[last * Self.groupCapacity + groups[last].count - 1])
        return addLeaf(behind: leaf)
    }
}
