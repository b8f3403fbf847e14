// Importing a whole text that was edited elsewhere.
extension Note {
    /// Changes the note to `wanted`, editing only the differences, so that unchanged
    /// text keeps its authors.
    ///
    /// - Returns: whether it is complete; if not, the draft is full and must be published before
    ///   the next call.
    public mutating func become(
        _ wanted: [NoteLine], as author: NoteOperation.Author
    ) throws(NoteProblem) -> Bool {
        let target = wanted.map(\.text).joined(separator: "\n")
        for patch in TextDifference.patches(from: text, to: target) {
            guard try edit(patch, as: author) == nil else { return false }
        }
        var place = 0
        for (line, wish) in zip(lines(), wanted) {
            if line.kind != wish.kind {
                guard try setLine(at: place, wish.kind, as: author) else { return false }
            }
            for (range, mark) in Self.differences(of: line.runs, to: wish.runs, from: place) {
                guard try format(range, mark, as: author) else { return false }
            }
            place += line.text.scalarCount + 1
        }
        return true
    }

    /// The marks to set or remove so that one line looks like another with the same text.
    private static func differences(
        of runs: [NoteLine.Run], to wanted: [NoteLine.Run], from start: Int
    ) -> [(Range<Int>, NoteMark)] {
        var result: [(range: Range<Int>, mark: NoteMark)] = []
        // The last change of each kind, which is extended if the next part needs the same.
        var last: [NoteMark.Kind: Int] = [:]
        var (one, other) = (runs[...], wanted[...])
        var (left, right) = (0, 0)
        var place = start
        while let have = one.first, let wish = other.first {
            if left == 0 { left = have.text.scalarCount }
            if right == 0 { right = wish.text.scalarCount }
            let count = min(left, right)
            for kind in NoteMark.Kind.allCases {
                let before = have.marks.first { $0.kind == kind }
                let after = wish.marks.first { $0.kind == kind }
                guard before != after else { continue }
                let mark = after ?? kind.off
                if let index = last[kind], result[index].mark == mark,
                    result[index].range.upperBound == place
                {
                    result[index].range = result[index].range.lowerBound..<place + count
                } else {
                    last[kind] = result.count
                    result.append((place..<place + count, mark))
                }
            }
            place += count
            left -= count
            right -= count
            if left == 0 { one = one.dropFirst() }
            if right == 0 { other = other.dropFirst() }
        }
        return result.map { ($0.range, $0.mark) }
    }
}

extension NoteMark.Kind {
    /// The mark that removes this kind.
    public var off: NoteMark {
        switch self {
        case .bold: .bold(false)
        case .italic: .italic(false)
        case .underline: .underline(false)
        case .code: .code(false)
        case .link: .link(nil)
        }
    }
}
