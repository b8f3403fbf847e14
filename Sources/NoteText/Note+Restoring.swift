// Restoring a saved draft.
extension Note {
    /// Restores a saved draft.
    ///
    /// - Returns: `false` if something that it refers to is missing.
    public mutating func restoreDraft(
        _ edit: NoteEdit, as author: NoteOperation.Author
    ) throws(NoteProblem) -> Bool {
        guard writing == nil, edit.sources.allSatisfy({ table.index(of: $0) != nil }) else {
            return false
        }
        guard try open(author), let entry = writing?.entry else { return false }
        guard table.resolve(edit, as: entry) == nil else { return false }
        // Applying it numbers its own scalars, so its content is read afterwards.
        let first = table.nextElement
        let text = tree.text.count
        _ = takeIn(edit, isValid: true, isTold: false)
        restore(edit, first: first, text: text)
        return true
    }

    /// Records the changes of a saved draft.
    private mutating func restore(_ edit: NoteEdit, first: Element, text: Int) {
        var element = first
        var byte = text
        for change in edit.changes {
            switch change {
            case .insert(let left, let right, let text):
                let origins = table.origins(left, right)
                let count = UInt32(truncatingIfNeeded: text.scalarCount)
                let run = Span(
                    first: element, count: count, left: origins.left, right: origins.right,
                    text: UInt32(truncatingIfNeeded: byte),
                    bytes: UInt32(truncatingIfNeeded: text.utf8.count), deletes: 0, depth: 0,
                    isHidden: false)
                writing?.insert(run)
                element += count
                byte += text.utf8.count
            case .delete(let reference, let count):
                var ranges: [Range<Element>] = []
                table.append(reference, count, to: &ranges)
                for range in ranges { writing?.delete(range, pieces: 1) }
            case .mark(let from, let to, let mark):
                guard let from = table.element(from, or: Span.start),
                    let to = table.element(to, or: Span.end)
                else { continue }
                writing?.changes.append(.mark(from: from, to: to, mark))
                writing?.weight += 64
            case .block(let reference, let kind):
                guard let element = table.element(reference, or: Span.start) else { continue }
                writing?.changes.append(.block(element, kind))
                writing?.weight += 40
            }
        }
    }
}
