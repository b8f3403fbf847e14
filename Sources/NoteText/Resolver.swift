/// From the references of one edit to scalars of this copy.
struct Resolver {
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

    /// The operation itself, then its sources.
    private let entries: [Int]

    /// - Precondition: all sources are in the table.
    init(_ edit: NoteEdit, as entry: Int, in table: OperationTable) {
        var entries: [Int] = []
        entries.reserveCapacity(1 + edit.sources.count)
        entries.append(entry)
        for source in edit.sources {
            guard let index = table.index(of: source) else {
                preconditionFailure("a source that nobody waited for")
            }
            entries.append(index)
        }
        self.entries = entries
    }

    private func target(_ reference: NoteEdit.Reference, in table: OperationTable) -> Target {
        // A decoded edit names no other source; one that was made by hand may.
        guard entries.indices.contains(reference.source) else { return .beyond }
        let entry = entries[reference.source]
        guard table.entries[entry].state != .erased else { return .erased }
        return table.element(entry, reference.offset).map { .element($0) } ?? .beyond
    }

    /// The origins of an inserted text. At the end of the note stands what refers to an erased
    /// operation, and also, where nobody sees it, what refers to nothing.
    func origins(
        _ left: NoteEdit.Reference?, _ right: NoteEdit.Reference?, in table: OperationTable
    ) -> Origins {
        let one = left.map { target($0, in: table) } ?? .element(Span.start)
        let other = right.map { target($0, in: table) } ?? .element(Span.end)
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
    func element(
        _ reference: NoteEdit.Reference?, or sentinel: Element, in table: OperationTable
    ) -> Element? {
        guard let reference else { return sentinel }
        guard case .element(let element) = target(reference, in: table) else { return nil }
        return element
    }

    /// The scalars from one on that its operation inserted, at most `count`.
    func ranges(
        _ reference: NoteEdit.Reference, _ count: Int, in table: OperationTable
    ) -> [Range<Element>] {
        guard entries.indices.contains(reference.source) else { return [] }
        return table.ranges(of: entries[reference.source], from: reference.offset, count: count)
    }
}

extension [Range<UInt32>] {
    /// The same numbers, each once, ascending.
    var united: [Range<UInt32>] {
        guard count > 1 else { return self }
        var result: [Range<UInt32>] = []
        for range in sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if let last = result.last, range.lowerBound <= last.upperBound {
                let end = Swift.max(last.upperBound, range.upperBound)
                result[result.count - 1] = last.lowerBound..<end
            } else {
                result.append(range)
            }
        }
        return result
    }
}
