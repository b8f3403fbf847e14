public import WorkspaceModel

/// Local text that is not an operation yet. It is part of the note, ordered after everything else.
struct Draft {
    /// A change, in terms of this copy's scalars.
    enum Change {
        /// Text between two scalars; its bytes are a range of the tree's text.
        case insert(left: Element, right: Element, first: Element, count: UInt32, bytes: Range<Int>)
        case delete(first: Element, count: UInt32)
        case mark(from: Element, to: Element, NoteMark)
        case block(Element, NoteBlockKind)
    }

    let author: NoteOperation.Author
    /// Its index in the table.
    let entry: Int
    var changes: [Change] = []
    /// Scalars that it inserts.
    var inserted: UInt32 = 0
    /// An upper bound of the bytes of its body.
    var weight = 64

    /// A key that sorts after every other, until the draft gets its own.
    static let key = MessageKey(timestamp: HybridTimestamp(rawValue: .max), idPrefix: .max)

    /// Records inserted text, merged with the last change if it continues it.
    mutating func insert(_ run: Span) {
        let bytes = Int(run.text)..<Int(run.text) + Int(run.bytes)
        inserted += run.count
        weight += Int(run.bytes)
        if case .insert(let left, let right, let first, let count, let before)? = changes.last,
            first + count == run.first, run.left == run.first - 1, right == run.right,
            before.upperBound == bytes.lowerBound
        {
            changes[changes.count - 1] = .insert(
                left: left, right: right, first: first, count: count + run.count,
                bytes: before.lowerBound..<bytes.upperBound)
            return
        }
        weight += 64
        changes.append(
            .insert(
                left: run.left, right: run.right, first: run.first, count: run.count, bytes: bytes))
    }

    /// How many of the most recently numbered scalars belong to the end of its last
    /// change, if that is a text.
    func endCount(_ next: Element) -> UInt32 {
        guard case .insert(_, _, let first, let count, _)? = changes.last, first + count == next
        else { return 0 }
        return count
    }

    /// Removes the last `count` scalars of its last change, a text with at least as many.
    mutating func takeBack(_ count: UInt32, byteCount: Int) {
        guard case .insert(let left, let right, let first, let old, let bytes)? = changes.last
        else { return }
        inserted -= count
        weight -= byteCount
        guard old > count else {
            changes.removeLast()
            weight -= 64
            return
        }
        changes[changes.count - 1] = .insert(
            left: left, right: right, first: first, count: old - count,
            bytes: bytes.lowerBound..<bytes.upperBound - byteCount)
    }

    /// Records deleted scalars, in this many pieces, merged with the last deletion
    /// if they are adjacent.
    mutating func delete(_ range: Range<Element>, pieces: Int) {
        weight += 40 * pieces
        var (first, count) = (range.lowerBound, UInt32(range.count))
        while case .delete(let other, let more)? = changes.last,
            other + more == first || first + count == other
        {
            first = min(first, other)
            count += more
            changes.removeLast()
        }
        changes.append(.delete(first: first, count: count))
    }
}

/// The draft as callers see it.
public struct NoteDraft: Sendable {
    /// The edit to be signed as an operation. Save it at once.
    public let edit: NoteEdit
    /// Whether it is large enough to become an operation now.
    public let isLarge: Bool
}

extension Note {
    /// The local draft, `nil` if there is none.
    public var draft: NoteDraft? {
        guard let writing, !writing.changes.isEmpty else { return nil }
        return NoteDraft(
            edit: edit(of: writing), isLarge: writing.weight >= NoteLimits.draftBytesMax)
    }

    /// The draft with the names that other copies know.
    private func edit(of draft: Draft) -> NoteEdit {
        var names = Names(of: draft.entry)
        var changes: [NoteEdit.Change] = []
        changes.reserveCapacity(draft.changes.count)
        for change in draft.changes {
            switch change {
            case .insert(let left, let right, _, _, _): names.see(left, right, in: table)
            case .delete(let first, let count):
                for range in pieces(of: first, count) { names.see(range.lowerBound, in: table) }
            case .mark(let from, let to, _): names.see(from, to, in: table)
            case .block(let element, _): names.see(element, in: table)
            }
        }
        names.finish(in: table)
        for change in draft.changes {
            switch change {
            case .insert(_, _, _, _, let bytes):
                let text = String(decoding: tree.text[bytes], as: UTF8.self)
                let (left, right) = (names.next(in: table), names.next(in: table))
                changes.append(.insert(left: left, right: right, text: text))
            case .delete(let first, let count):
                for range in pieces(of: first, count) {
                    guard let reference = names.next(in: table) else { continue }
                    changes.append(.delete(reference, count: range.count))
                }
            case .mark(_, _, let mark):
                let (from, to) = (names.next(in: table), names.next(in: table))
                changes.append(.mark(from: from, to: to, mark))
            case .block(_, let kind): changes.append(.block(names.next(in: table), kind))
            }
        }
        return NoteEdit(sources: names.sources, changes: changes)
    }

    /// Maps scalars of a draft, in order, to their names.
    private struct Names {
        private let draft: Int
        /// For each scalar its operation, -1 for none, and its offset in it.
        private var origins: [(entry: Int, offset: Int)] = []
        private var entries: [Int] = []
        /// The keys of the operations referred to, ascending, without duplicates.
        private(set) var sources: [MessageKey] = []
        private var index = 0

        init(of draft: Int) { self.draft = draft }

        mutating func see(_ element: Element, in table: borrowing OperationTable) {
            guard element >= Span.firstWritten, element != Span.nothing else {
                return origins.append((-1, 0))
            }
            let origin = table.origin(of: element)
            origins.append(origin)
            if origin.entry != draft, entries.last != origin.entry {
                entries.append(origin.entry)
            }
        }

        mutating func see(
            _ one: Element, _ other: Element, in table: borrowing OperationTable
        ) {
            see(one, in: table)
            see(other, in: table)
        }

        /// Called after all scalars were added.
        mutating func finish(in table: borrowing OperationTable) {
            let keys = entries.map { table.entries[$0].key }.sorted()
            for key in keys where sources.last != key { sources.append(key) }
        }

        /// The name of the next scalar, `nil` for a sentinel.
        mutating func next(in table: borrowing OperationTable) -> NoteEdit.Reference? {
            let (entry, offset) = origins[index]
            index += 1
            guard entry >= 0 else { return nil }
            guard entry != draft else { return NoteEdit.Reference(source: 0, offset: offset) }
            let key = table.entries[entry].key
            var low = 0
            var high = sources.count
            while low < high {
                let middle = (low + high) / 2
                if sources[middle] < key { low = middle + 1 } else { high = middle }
            }
            return NoteEdit.Reference(source: low + 1, offset: offset)
        }
    }

    /// Scalars grouped by the parts that one operation numbered at once.
    private func pieces(of first: Element, _ count: UInt32) -> [Range<Element>] {
        var ranges: [Range<Element>] = []
        var element = first
        while element < first + count {
            let piece = table.piece(of: element)
            let end = min(first + count, table.pieces[piece].first + table.count(ofPiece: piece))
            ranges.append(element..<end)
            element = end
        }
        return ranges
    }

    /// Turns the draft into an operation that was signed with exactly its edit.
    ///
    /// - Returns: `false` if the note has to be rebuilt, because a copy of this home wrote more.
    public mutating func publishDraft(
        as id: OperationID, timestamp: HybridTimestamp, sequence: UInt64
    ) -> Bool {
        guard let draft = writing else { return true }
        writing = nil
        let key = MessageKey(timestamp: timestamp, idPrefix: id.leadingWord)
        guard table.isLast(sequence, of: draft.entry), table.index(of: key) == nil else {
            return false
        }
        table.publish(draft.entry, as: key, idMiddle: id.words.1, sequence: sequence)
        return true
    }
}
