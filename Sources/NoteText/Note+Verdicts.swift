import WorkspaceModel

// Operations that become valid or invalid.
extension Note {
    /// Changes the verdict of an operation: its text disappears or reappears, and so do its
    /// deletions, marks and line kinds.
    ///
    /// - Parameter operation: as it was applied; its edit is not stored here.
    /// - Returns: `.known` if that changes nothing, `.mustBeMadeAnew` if the snapshot that the note
    ///   came from left out deleted text.
    @discardableResult
    public mutating func judge(
        _ operation: NoteOperation, isValid: Bool, isTold: Bool = true
    ) -> NoteOutcome {
        guard let index = table.index(of: operation.key) else {
            if waiting.operation(operation.key)?.id == operation.id,
                waiting.judge(operation.key, isValid: isValid)
            {
                return .waits
            }
            return apply(operation, isValid: isValid, isTold: isTold)
        }
        let entry = table.entries[index]
        let state: OperationTable.State = isValid ? .valid : .invalid
        guard entry.state != state, entry.state != .erased else { return .known }
        guard !isFromSnapshot else { return .mustBeMadeAnew }
        guard entry.idMiddle == operation.id.words.1 else { return .known }
        table.setState(index, state)
        var list = PatchList()
        for range in table.ranges(of: index) {
            retouch(range, &list, isTold: isTold) { $0.isHidden = !isValid }
        }
        _ = table.resolve(operation.edit, as: index)
        var deleted: [Range<Element>] = []
        operation.edit.forEachStep { step in
            guard case .delete(let reference, let count) = step else { return }
            table.append(reference, count, to: &deleted)
        }
        deleted.unite()
        for range in deleted {
            retouch(range, &list, isTold: isTold) { span in
                if isValid { span.deletes += 1 } else { span.deletes -= 1 }
            }
        }
        return .applied([NoteChange(operation.key, list)])
    }

    /// Changes the state of scalars, and returns the resulting changes of the text.
    mutating func retouch(
        _ range: Range<Element>, _ list: inout PatchList, isTold: Bool,
        _ change: (inout Span) -> Void
    ) {
        var element = range.lowerBound
        while element < range.upperBound {
            var place = tree.place(of: element)
            let offset = element - tree[place].first
            if offset > 0 { place = tree.cut(place, before: offset) }
            let rest = range.upperBound - element
            if tree[place].count > rest {
                tree.cut(place, before: rest)
                place = tree.place(of: element)
            }
            let old = tree[place]
            var new = old
            change(&new)
            if isTold, old.isVisible != new.isVisible {
                let position = tree.position(of: place)
                if new.isVisible {
                    list.insert(at: position, text(of: new), count: Int(new.count))
                } else {
                    list.delete(at: position, text(of: old), count: Int(new.count))
                }
            }
            tree.setState(place, deletes: new.deletes, isHidden: new.isHidden)
            element += old.count
            tree.join(place)
            tree.join(SpanTree.Place(leaf: place.leaf, index: place.index - 1))
        }
    }

    /// The text of a run.
    func text(of span: Span) -> String {
        guard span.text != Span.noText else { return "" }
        return String(
            decoding: tree.text[Int(span.text)..<Int(span.text) + Int(span.bytes)], as: UTF8.self)
    }
}
