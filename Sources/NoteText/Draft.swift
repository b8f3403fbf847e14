public import WorkspaceModel

/// What is being written here and has not become an operation: in the text already, and the last
/// of everything.
struct Draft {
    /// A change, with the scalars of this copy.
    enum Change {
        /// Text between two scalars; its bytes are those of the tree's text.
        case insert(left: Element, right: Element, first: Element, count: UInt32, bytes: Range<Int>)
        case delete(first: Element, count: UInt32)
        case mark(from: Element, to: Element, NoteMark)
        case block(Element, NoteBlockKind)
    }

    let author: NoteOperation.Author
    /// Its place in the table.
    let entry: Int
    var changes: [Change] = []
    /// Scalars that it inserts.
    var inserted: UInt32 = 0
    /// About the bytes of its body; more than it takes.
    var weight = 64

    /// The key that sorts behind every other, until it gets its own.
    static let key = MessageKey(timestamp: HybridTimestamp(rawValue: .max), idPrefix: .max)

    /// Notes a text that was inserted, as more of the last one if it goes on from it.
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

    /// Notes scalars that were deleted, in so many pieces, as more of the last ones if they are
    /// neighbours.
    mutating func delete(_ range: Range<Element>, pieces: Int) {
        let more = UInt32(range.count)
        weight += 40 * pieces
        if case .delete(let first, let count)? = changes.last {
            if first + count == range.lowerBound {
                changes[changes.count - 1] = .delete(first: first, count: count + more)
                return
            }
            if range.upperBound == first {
                changes[changes.count - 1] = .delete(first: range.lowerBound, count: count + more)
                return
            }
        }
        changes.append(.delete(first: range.lowerBound, count: more))
    }
}

/// What is being written here, from outside.
public struct NoteDraft: Sendable {
    /// What is to become the payload of an operation: it is to be kept safe at once.
    public let edit: NoteEdit
    /// Whether it is large enough to become an operation now.
    public let isLarge: Bool
}

extension Note {
    /// What is being written here, `nil` if nothing is.
    public var draft: NoteDraft? {
        guard let writing, !writing.changes.isEmpty else { return nil }
        return NoteDraft(
            edit: edit(of: writing), isLarge: writing.weight >= NoteLimits.draftBytesMax)
    }

    /// The draft in the names that others know.
    private func edit(of draft: Draft) -> NoteEdit {
        let sources = sources(of: draft)
        func name(_ element: Element) -> NoteEdit.Reference? {
            guard element >= Span.firstWritten, element != Span.nothing else { return nil }
            let (entry, offset) = table.origin(of: element)
            guard entry != draft.entry else { return NoteEdit.Reference(source: 0, offset: offset) }
            let key = table.entries[entry].key
            var low = 0
            var high = sources.count
            while low < high {
                let middle = (low + high) / 2
                if sources[middle] < key { low = middle + 1 } else { high = middle }
            }
            return NoteEdit.Reference(source: low + 1, offset: offset)
        }
        var changes: [NoteEdit.Change] = []
        for change in draft.changes {
            switch change {
            case .insert(let left, let right, _, _, let bytes):
                let text = String(decoding: tree.text[bytes], as: UTF8.self)
                changes.append(.insert(left: name(left), right: name(right), text: text))
            case .delete(let first, let count):
                for range in pieces(of: first, count) {
                    guard let reference = name(range.lowerBound) else { continue }
                    changes.append(.delete(reference, count: range.count))
                }
            case .mark(let from, let to, let mark):
                changes.append(.mark(from: name(from), to: name(to), mark))
            case .block(let element, let kind): changes.append(.block(name(element), kind))
            }
        }
        return NoteEdit(sources: sources, changes: changes)
    }

    /// The operations that a draft refers to, ascending.
    private func sources(of draft: Draft) -> [MessageKey] {
        let table = table
        var used: [MessageKey] = []
        var last = draft.entry
        func see(_ element: Element) {
            guard element >= Span.firstWritten, element != Span.nothing else { return }
            let entry = table.origin(of: element).entry
            guard entry != draft.entry, entry != last else { return }
            last = entry
            used.append(table.entries[entry].key)
        }
        for change in draft.changes {
            switch change {
            case .insert(let left, let right, _, _, _):
                see(left)
                see(right)
            case .delete(let first, let count):
                for range in pieces(of: first, count) { see(range.lowerBound) }
            case .mark(let from, let to, _):
                see(from)
                see(to)
            case .block(let element, _): see(element)
            }
        }
        used.sort()
        return used.reduce(into: []) { if $0.last != $1 { $0.append($1) } }
    }

    /// Scalars in the parts that one operation numbered in one go.
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

    /// Makes the draft an operation that was signed with exactly its edit.
    ///
    /// - Returns: `false` where the note has to be made anew, because a copy of this home wrote more.
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
