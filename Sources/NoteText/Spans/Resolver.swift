import WorkspaceModel

// From the references of one edit to scalars of this copy.
extension OperationTable {
    /// Between what an inserted text stands.
    struct Origins {
        let left: Element
        let right: Element
        /// Whether it refers to a scalar that its operation never inserted: then nobody sees it.
        let isBroken: Bool
    }

    /// What a reference leads to.
    private enum Target {
        case element(Element)
        /// Its operation is erased.
        case erased
        /// Its operation inserts less.
        case beyond
    }

    /// Looks for the operations that an edit refers to: `resolved` are those from 1 on, the operation
    /// itself is `entry`, which can be set later.
    ///
    /// - Returns: the first that is not there.
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
        // A decoded edit names no other source; one that was made by hand may.
        guard resolved.indices.contains(reference.source) else { return .beyond }
        let entry = resolved[reference.source]
        guard entries[entry].state != .erased else { return .erased }
        return element(entry, reference.offset).map { .element($0) } ?? .beyond
    }

    /// The origins of an inserted text. At the end of the note stands what refers to an erased
    /// operation, and also, where nobody sees it, what refers to nothing.
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

    /// The scalar that is meant, `nil` where there is none.
    func element(_ reference: NoteEdit.Reference?, or sentinel: Element) -> Element? {
        guard let reference else { return sentinel }
        guard case .element(let element) = target(reference) else { return nil }
        return element
    }

    /// Adds the scalars from one on that its operation inserted, at most `count`.
    func append(
        _ reference: NoteEdit.Reference, _ count: Int, to ranges: inout [Range<Element>]
    ) {
        guard resolved.indices.contains(reference.source) else { return }
        append(resolved[reference.source], from: reference.offset, count: count, to: &ranges)
    }
}

extension [Range<UInt32>] {
    /// Adds numbers, to the last range where they go on there, as those do that somebody deletes one
    /// after the other, in either direction.
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

    /// Makes it the same numbers, each once, ascending.
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
