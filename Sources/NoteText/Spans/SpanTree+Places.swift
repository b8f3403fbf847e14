/// Conversions between positions, scalars and places.
extension SpanTree {
    /// A border between two scalars: the run that contains the one before it, and how many scalars
    /// of that run precede it, at least one.
    struct Border {
        var place: Place
        var offset: UInt32
    }

    /// The border behind the visible scalar number `position`, counted from 1; for 0, behind the
    /// first sentinel.
    ///
    /// - Precondition: `position` is at most `visible`.
    mutating func border(at position: Int) -> Border {
        precondition(position >= 0 && position <= visible, "a position behind the end")
        guard position > 0 else { return Border(place: Place(leaf: 0, index: 0), offset: 1) }
        seek(position)
        let base = cursor.leaf * Self.leafCapacity
        var left = position - cursor.before - cursor.inside
        var index = cursor.index
        spans.withUnsafeBufferPointer { spans in
            while left <= 0 {
                index -= 1
                left += spans[base + index].visible
            }
            while true {
                let count = spans[base + index].visible
                if left <= count { return }
                left -= count
                index += 1
            }
        }
        cursor.index = index
        cursor.inside = position - cursor.before - left
        recent = Place(leaf: cursor.leaf, index: index)
        return Border(place: recent, offset: UInt32(left))
    }

    /// Moves the cursor to the leaf with the visible scalar number `position`, counted from 1.
    private mutating func seek(_ position: Int) {
        let inside = position - cursor.before
        if inside > 0, inside <= leaves[cursor.leaf].visible { return }
        var left = position
        let index = orderVisible.passing(&left, in: 0..<order.count)
        let group = order[index]
        let base = group * Self.groupCapacity
        let slot = memberVisible.passing(&left, in: base..<base + groups[group].count)
        cursor = Cursor(leaf: Int(members[slot]), before: position - left)
    }

    /// Visible scalars before the run at `place`.
    mutating func position(of place: Place) -> Int {
        if place.leaf != cursor.leaf {
            cursor = Cursor(leaf: place.leaf, before: visibleBefore(leaf: place.leaf))
        }
        if place.index < cursor.index { (cursor.index, cursor.inside) = (0, 0) }
        let base = place.leaf * Self.leafCapacity
        for index in base + cursor.index..<base + place.index {
            cursor.inside += spans[index].visible
        }
        cursor.index = place.index
        return cursor.before + cursor.inside
    }

    private func visibleBefore(leaf: Int) -> Int {
        var before = 0
        let group = leaves[leaf].group
        for index in 0..<groups[group].index { before += Int(orderVisible[index]) }
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

    /// The place of the run that contains `element`.
    ///
    /// - Precondition: the tree has it.
    func place(of element: Element) -> Place {
        let likely = self[recent]
        if element &- likely.first < likely.count, recent.index < leaves[recent.leaf].count {
            return recent
        }
        let leaf = map.leaf(of: element)
        let base = leaf * Self.leafCapacity
        let end = base + leaves[leaf].count
        let index = spans.withUnsafeBufferPointer { spans in
            var index = base
            while index < end, element &- spans[index].first >= spans[index].count { index += 1 }
            return index - base
        }
        precondition(base + index < end, "a scalar that is not where the map says")
        return Place(leaf: leaf, index: index)
    }

    /// The run after the one at `place`.
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

    /// Whether `left` precedes `right`, which may be no scalar: that is after everything.
    func precedes(_ left: Element, _ right: Element) -> Bool {
        guard left != right, left != Span.nothing else { return false }
        guard right != Span.nothing else { return true }
        let one = place(of: left)
        let other = place(of: right)
        // Scalars of one run are numbered in order.
        return one == other ? left < right : precedes(one, other)
    }
}

extension [Int32] {
    /// The first index at which the running sum from the beginning of `range` reaches `left`, which
    /// becomes the remainder there.
    ///
    /// - Precondition: the total reaches it.
    func passing(_ left: inout Int, in range: Range<Int>) -> Int {
        precondition(range.lowerBound >= 0 && range.upperBound <= count, "a place outside")
        return withUnsafeBufferPointer { numbers in
            var index = range.lowerBound
            // Eight at a time: as long as none is the wanted one, their order does not matter.
            while range.upperBound - index >= 8 {
                var sum: Int32 = 0
                for place in index..<index + 8 { sum &+= numbers[place] }
                guard left > Int(sum) else { break }
                left -= Int(sum)
                index += 8
            }
            while index < range.upperBound {
                let number = Int(numbers[index])
                if left <= number { return index }
                left -= number
                index += 1
            }
            preconditionFailure("the counts of a group are not those of its leaves")
        }
    }
}
