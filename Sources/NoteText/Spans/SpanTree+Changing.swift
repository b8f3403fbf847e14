// Inserting, splitting, joining and removing runs.
extension SpanTree {
    /// Inserts `span` before the run at `place`.
    ///
    /// - Returns: its place, in another leaf if that one was full.
    @discardableResult
    mutating func insert(_ span: Span, at wanted: Place) -> Place {
        var place = wanted
        if leaves[place.leaf].count == Self.leafCapacity { place = makeRoom(at: place) }
        let base = place.leaf * Self.leafCapacity
        let count = leaves[place.leaf].count
        spans.openPlace(at: base + place.index, before: base + count)
        spans[base + place.index] = span
        leaves[place.leaf].count = count + 1
        map.set(span.first, span.count, leaf: place.leaf)
        willChange(at: place)
        addCounts(span.visible, span.visibleBytes, in: place.leaf)
        noteOutermost(span, in: place.leaf)
        recent = place
        return place
    }

    /// Splits the run at `place` before its scalar `offset`.
    ///
    /// - Returns: the place of the second part.
    /// - Precondition: `offset` is inside the run.
    @discardableResult
    mutating func cut(_ place: Place, before offset: UInt32) -> Place {
        let span = self[place]
        let bytes = byteCount(of: span, scalars: offset)
        let tail = span.tail(from: offset, byteOffset: bytes)
        var head = span
        head.count = offset
        head.bytes = bytes
        self[place] = head
        willChange(at: place)
        let count = leaves[place.leaf].count
        if count < Self.leafCapacity {
            // The leaf's counts and the scalars' leaf stay the same.
            let index = place.leaf * Self.leafCapacity + place.index + 1
            spans.openPlace(at: index, before: place.leaf * Self.leafCapacity + count)
            spans[index] = tail
            leaves[place.leaf].count = count + 1
            noteOutermost(tail, in: place.leaf)
            recent = Place(leaf: place.leaf, index: place.index + 1)
            return recent
        }
        addCounts(-tail.visible, -tail.visibleBytes, in: place.leaf)
        return insert(tail, at: Place(leaf: place.leaf, index: place.index + 1))
    }

    /// Joins the run at `place` with the next one in its leaf, if they are continuous.
    ///
    /// - Returns: whether it did.
    @discardableResult
    mutating func join(_ place: Place) -> Bool {
        guard place.index >= 0, place.index + 1 < leaves[place.leaf].count else { return false }
        let base = place.leaf * Self.leafCapacity + place.index
        let next = spans[base + 1]
        guard spans[base].goesOn(in: next) else { return false }
        spans[base].count += next.count
        spans[base].bytes += next.bytes
        let end = place.leaf * Self.leafCapacity + leaves[place.leaf].count
        spans.closePlace(at: base + 1, before: end)
        leaves[place.leaf].count -= 1
        willChange(at: place)
        forgetOutermost(of: place.leaf)
        return true
    }

    /// Extends the run at `place` by new scalars, whose text was just appended.
    mutating func extend(_ place: Place, by count: UInt32, bytes: UInt32) {
        let index = place.leaf * Self.leafCapacity + place.index
        spans[index].count += count
        spans[index].bytes += bytes
        map.set(spans[index].last &+ 1 &- count, count, leaf: place.leaf)
        willChange(at: place)
        if spans[index].isVisible { addCounts(Int(count), Int(bytes), in: place.leaf) }
    }

    /// Removes the last scalars of the run at `place`, or all of it if it has no more. They must be
    /// the last numbered ones, so that nothing refers to them.
    mutating func takeBack(_ place: Place, _ count: UInt32) {
        let index = place.leaf * Self.leafCapacity + place.index
        let old = spans[index]
        let bytes = byteCount(of: old, scalars: old.count - count)
        text.removeLast(Int(old.bytes - bytes))
        spans[index].count -= count
        spans[index].bytes = bytes
        willChange(at: place)
        addCounts(-Int(count), -Int(old.bytes - bytes), in: place.leaf)
        guard count == old.count else { return }
        spans.closePlace(
            at: index, before: place.leaf * Self.leafCapacity + leaves[place.leaf].count)
        leaves[place.leaf].count -= 1
        cursor = Cursor()
        forgetOutermost(of: place.leaf)
        // The runs that it separated may be one again.
        join(Place(leaf: place.leaf, index: place.index - 1))
    }

    /// Sets how many operations delete the run at `place`, and whether its own operation is valid.
    mutating func setState(_ place: Place, deletes: UInt32, isHidden: Bool) {
        let index = place.leaf * Self.leafCapacity + place.index
        let old = spans[index]
        spans[index].deletes = deletes
        spans[index].isHidden = isHidden
        let new = spans[index]
        if old.isVisible != new.isVisible {
            willChange(at: place)
            addCounts(
                new.visible - old.visible, new.visibleBytes - old.visibleBytes, in: place.leaf)
        }
    }

    /// Adds to the counts of a leaf and of everything above it.
    private mutating func addCounts(_ scalars: Int, _ bytes: Int, in leaf: Int) {
        guard scalars != 0 || bytes != 0 else { return }
        leaves[leaf].visible += scalars
        addVisible(scalars, to: leaf)
        visible += scalars
        visibleBytes += bytes
        // Leaf 0 is always the first.
        if leaf != cursor.leaf { cursor = Cursor() }
    }

    /// Invalidates the cursor before a change to a run, or to later runs of its leaf.
    private mutating func willChange(at place: Place) {
        typed = nil
        guard place.leaf == cursor.leaf, place.index < cursor.index else { return }
        cursor.index = 0
        cursor.inside = 0
    }

    /// Adds to a leaf's count in its group, and to the group's.
    mutating func addVisible(_ scalars: Int, to leaf: Int) {
        let group = leaves[leaf].group
        orderVisible[groups[group].index] += Int32(truncatingIfNeeded: scalars)
        memberVisible[group * Self.groupCapacity + leaves[leaf].slot] += Int32(
            truncatingIfNeeded: scalars)
    }

    /// Invalidates the outermost run of a leaf and of its group.
    mutating func forgetOutermost(of leaf: Int) {
        leaves[leaf].outermost = Span.nothing
        groups[leaves[leaf].group].outermost = Span.nothing
    }
}
