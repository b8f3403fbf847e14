public import WorkspaceModel

/// A position in a note that means the same in every copy.
public enum NoteAnchor: Hashable, Sendable {
    /// Before everything.
    case beginning
    /// Behind the scalar with this offset in an operation; `nil` is the author's unpublished draft.
    case behind(MessageKey?, offset: Int)
}

/// Someone else's unpublished changes, overlaid on the local text. They are not part of the text:
/// after concurrent inserts at the same place, they may end up elsewhere once published.
public struct NoteOverlay: Hashable, Sendable {
    /// Its changes to the text, in order.
    public internal(set) var patches: [NotePatch] = []
    /// Where its author's own scalars are in the changed text, as far as they are visible.
    var runs: [Run] = []
    /// Runs of the text that were examined.
    var lookedAt = 0

    /// Adjacent scalars of the author.
    struct Run: Hashable, Sendable {
        /// The offset of the first among all that the author inserts.
        var first: Int
        var count: Int
        var place: Int
    }

    /// An empty overlay.
    public init() {}

    /// The position of the author's scalar with this offset; `nil` if it is not shown.
    func place(of offset: Int) -> Int? {
        runs.first { $0.first <= offset && offset - $0.first < $0.count }
            .map { $0.place + offset - $0.first }
    }

    mutating func insert(_ text: String, count: Int, first: Int, at place: Int) {
        patches.append(NotePatch(at: place, deleted: 0, inserted: text))
        var moved: [Run] = []
        for var run in runs {
            if run.place + run.count <= place {
                moved.append(run)
            } else if run.place >= place {
                run.place += count
                moved.append(run)
            } else {
                let head = place - run.place
                moved.append(Run(first: run.first, count: head, place: run.place))
                moved.append(
                    Run(first: run.first + head, count: run.count - head, place: place + count))
            }
        }
        runs = moved + [Run(first: first, count: count, place: place)]
    }

    mutating func delete(at place: Int, _ count: Int) {
        patches.append(NotePatch(at: place, deleted: count, inserted: ""))
        let end = place + count
        var kept: [Run] = []
        for run in runs {
            let before = min(run.count, max(0, place - run.place))
            let behind = min(run.count, max(0, run.place + run.count - end))
            if before > 0 { kept.append(Run(first: run.first, count: before, place: run.place)) }
            guard behind > 0 else { continue }
            let start = run.place + run.count - behind
            kept.append(
                Run(first: run.first + run.count - behind, count: behind, place: start - count))
        }
        runs = kept
    }
}

// Unpublished changes of others.
extension Note {
    /// The anchor of the position behind this many scalars.
    public mutating func anchor(at position: Int) -> NoteAnchor {
        guard position > 0, tree.visible > 0 else { return .beginning }
        let border = tree.border(at: min(position, tree.visible))
        let origin = table.origin(of: tree[border.place].first + border.offset - 1)
        let isDraft = origin.entry == writing?.entry
        return .behind(isDraft ? nil : table.entries[origin.entry].key, offset: origin.offset)
    }

    /// Overlays someone else's unpublished edit on the text.
    ///
    /// - Returns: `nil` if it refers to missing operations.
    public mutating func overlay(of edit: NoteEdit) -> NoteOverlay? {
        guard table.resolve(edit) == nil else { return nil }
        var overlay = NoteOverlay()
        var inserted = 0
        edit.forEachStep { step in
            switch step {
            case .insert(let left, let right, let text, let count):
                defer { inserted += count }
                guard overlay.patches.count < NoteLimits.overlayPatchesMax else { return }
                overlay.insert(
                    String(decoding: text, as: UTF8.self), count: count, first: inserted,
                    at: place(between: left, right, in: overlay))
            case .delete(let reference, let count): delete(reference, count, in: &overlay)
            case .mark, .block: return
            }
        }
        return overlay
    }

    /// The position of an anchor in the text with an overlay; `nil` if its operation is missing.
    ///
    /// - Parameter overlay: the overlay of the anchor's author.
    public mutating func position(of anchor: NoteAnchor, in overlay: NoteOverlay) -> Int? {
        switch anchor {
        case .beginning: return 0
        case .behind(nil, let offset): return overlay.place(of: offset).map { $0 + 1 }
        case .behind(let key?, let offset):
            guard let entry = table.index(of: key), entry != writing?.entry,
                let element = table.element(entry, offset)
            else { return nil }
            return overlay.patches.reduce(end(of: element)) { $1.moved($0) }
        }
    }

    /// The number of visible scalars up to and including one.
    private mutating func end(of element: Element) -> Int {
        let isVisible = tree[tree.place(of: element)].isVisible
        return tree.position(of: element) + (isVisible ? 1 : 0)
    }

    private mutating func place(
        between left: NoteEdit.Reference?, _ right: NoteEdit.Reference?, in overlay: NoteOverlay
    ) -> Int {
        if let right, right.source == 0, let place = overlay.place(of: right.offset) {
            return place
        }
        guard let left else { return 0 }
        if left.source == 0 { return overlay.place(of: left.offset).map { $0 + 1 } ?? 0 }
        guard let element = table.element(left, or: Span.start) else {
            return overlay.patches.reduce(tree.visible) { $0 + $1.insertedCount - $1.deleted }
        }
        return overlay.patches.reduce(end(of: element)) { $1.moved($0, keeping: .behind) }
    }

    private mutating func delete(
        _ reference: NoteEdit.Reference, _ count: Int, in overlay: inout NoteOverlay
    ) {
        func isFull() -> Bool { overlay.patches.count >= NoteLimits.overlayPatchesMax }
        guard reference.source > 0 else {
            var offset = reference.offset
            let end = offset + count
            while offset < end, !isFull() {
                guard
                    let run = overlay.runs.first(where: {
                        $0.first <= offset && offset - $0.first < $0.count
                    })
                else {
                    // It was deleted, or was never shown.
                    let next = overlay.runs.map(\.first).filter { $0 > offset }.min() ?? end
                    offset = min(next, end)
                    continue
                }
                let part = min(end, run.first + run.count) - offset
                overlay.delete(at: run.place + offset - run.first, part)
                offset += part
            }
            return
        }
        var ranges: [Range<Element>] = []
        table.append(reference, count, to: &ranges)
        for range in ranges {
            var element = range.lowerBound
            while element < range.upperBound, !isFull(),
                overlay.lookedAt < NoteLimits.overlayRunsMax
            {
                overlay.lookedAt += 1
                let span = tree[tree.place(of: element)]
                let part = min(range.upperBound, span.last + 1) - element
                if span.isVisible {
                    let patch = NotePatch(
                        at: tree.position(of: element), deleted: Int(part), inserted: "")
                    for rest in patch.transformed(over: overlay.patches) where rest.deleted > 0 {
                        overlay.delete(at: rest.at, rest.deleted)
                    }
                }
                element += part
            }
        }
    }
}
