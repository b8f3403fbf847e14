// Fast paths for typing on, and for undoing what was just typed: most of an editor's changes.
extension Note {
    /// Continues directly behind the last typed text, without a search.
    ///
    /// - Returns: whether the patch does that.
    mutating func goOn(_ patch: NotePatch, _ size: Int) -> Bool {
        guard let typed = tree.typed, typed.end == patch.at, patch.deleted == 0, size > 0,
            size <= room, let entry = writing?.entry, let offset = writing?.inserted
        else { return false }
        let span = tree[typed.place]
        let count = UInt32(truncatingIfNeeded: size == 1 ? 1 : patch.inserted.scalarCount)
        guard span.last &+ 1 == table.nextElement,
            Int(span.text) + Int(span.bytes) == tree.text.count, count <= Span.countMax,
            span.count <= Span.countMax - count
        else { return false }
        let bytes = tree.keep(patch.inserted)
        let run = Span(
            first: table.number(count, of: entry, offset: offset), count: count, left: span.last,
            right: span.right, text: UInt32(truncatingIfNeeded: bytes.lowerBound),
            bytes: UInt32(truncatingIfNeeded: bytes.count), deletes: 0, depth: 0, isHidden: false)
        tree.extend(typed.place, by: count, bytes: run.bytes)
        tree.typed = (typed.place, typed.end + Int(count))
        writing?.insert(run)
        return true
    }

    /// Removes the last typed, unpublished text, if the patch does that: others never see it.
    mutating func takeBack(_ patch: inout NotePatch) {
        guard patch.deleted > 0, let typed = tree.typed, typed.end == patch.at + patch.deleted,
            let entry = writing?.entry, tree[typed.place].last &+ 1 == table.nextElement
        else { return }
        let written = min(writing?.endCount(table.nextElement) ?? 0, tree[typed.place].count)
        let count = min(UInt32(truncatingIfNeeded: patch.deleted), written)
        guard count > 0 else { return }
        // An empty draft is removed; but in the middle of the table there has to be one.
        if written == count, writing?.changes.count == 1, entry != table.entries.count - 1 {
            return
        }
        let size = tree.text.count
        tree.takeBack(typed.place, count)
        table.unnumber(count, of: entry)
        writing?.takeBack(count, byteCount: size - tree.text.count)
        patch.deleted -= Int(count)
        if written > count {
            tree.typed = (typed.place, typed.end - Int(count))
        }
    }
}
