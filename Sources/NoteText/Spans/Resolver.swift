import WorkspaceModel

// Resolves the references of an edit to scalars of this copy.
extension OperationTable {
    /// The scalars between which a text is inserted.
    struct Origins {
        let left: Element
        let right: Element
        /// Whether it refers to a scalar that its operation never inserted: then it is hidden.
        let isBroken: Bool
    }

    /// The result of resolving a reference.
    private enum Target {
        case element(Element)
        /// Its operation is erased.
        case erased
        /// Its operation inserts fewer scalars.
        case beyond
    }

    /// Looks up the operations that an edit refers to: `resolved` contains them from index 1 on,
    /// and `entry`, which can be set later, as the operation itself.
    ///
    /// - Returns: the first missing one.
    mutating func resolve(_ edit: NoteEdit, as entry: Int = 0) -> MessageKey? {
        resolved.removeAll(keepingCapacity: true)
        resolved.append(entry)
        for source in edit.sources {
            guard let index = index(of: source) else { return source }
            resolved.append(index)
        }
        return nil
    }

    private func target(_ reference: NoteEdit.Reference) -> Target {
        // A decoded edit has no other sources; one made by hand may.
        guard resolved.indices.contains(reference.source) else { return .beyond }
        let entry = resolved[reference.source]
        guard entries[entry].state != .erased else { return .erased }
        return element(entry, reference.offset).map { .element($0) } ?? .beyond
    }

    /// The origins of an inserted text. Text that refers to an erased operation goes to the end of
    /// the note; so does, hidden, text that refers to a nonexistent scalar.
    func origins(_ left: NoteEdit.Reference?, _ right: NoteEdit.Reference?) -> Origins {
        let one = left.map { target($0) } ?? .element(Span.start)
        let other = right.map { target($0) } ?? .element(Span.end)
        switch (one, other) {
        case (.beyond, _), (_, .beyond):
            return Origins(left: Span.end, right: Span.nothing, isBroken: true)
        case (.element(let left), .element(let right)):
            return Origins(left: left, right: right, isBroken: false)
        default:
            return Origins(left: Span.end, right: Span.nothing, isBroken: false)
        }
    }

    /// The referenced scalar, `nil` where there is none.
    func element(_ reference: NoteEdit.Reference?, or sentinel: Element) -> Element? {
        guard let reference else { return sentinel }
        guard case .element(let element) = target(reference) else { return nil }
        return element
    }

    /// Adds up to `count` consecutive scalars of an operation, starting with one.
    func append(
        _ reference: NoteEdit.Reference, _ count: Int, to ranges: inout [Range<Element>]
    ) {
        guard resolved.indices.contains(reference.source) else { return }
        append(resolved[reference.source], from: reference.offset, count: count, to: &ranges)
    }
}

extension [Range<UInt32>] {
    /// Adds a range, merged with the last one if they are adjacent, as after deleting character by
    /// character in either direction.
    mutating func add(_ range: Range<UInt32>) {
        guard let last else { return append(range) }
        if last.upperBound == range.lowerBound {
            self[count - 1] = last.lowerBound..<range.upperBound
        } else if range.upperBound == last.lowerBound {
            self[count - 1] = range.lowerBound..<last.upperBound
        } else {
            append(range)
        }
    }

    /// Sorts the ranges and merges overlapping ones.
    mutating func unite() {
        guard count > 1 else { return }
        let isDone = indices.dropFirst().allSatisfy {
            self[$0 - 1].upperBound < self[$0].lowerBound
        }
        if isDone { return }
        sort { $0.lowerBound < $1.lowerBound }
        var last = 0
        for index in indices.dropFirst() {
            let range = self[index]
            if range.lowerBound <= self[last].upperBound {
                let end = Swift.max(self[last].upperBound, range.upperBound)
                self[last] = self[last].lowerBound..<end
            } else {
                last += 1
                self[last] = range
            }
        }
        removeLast(count - last - 1)
    }
}
