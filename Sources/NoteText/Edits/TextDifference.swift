/// The difference between two texts, for callers that return a whole edited
/// text, such as an editor.
///
/// Exact for what people change in one sitting. Texts with little in common are compared by whole
/// lines, and if even those are too many, the part between the common ends is replaced: the work is
/// bounded, and the result always correct, only larger.
///
/// - Source: Myers, "An O(ND) Difference Algorithm and Its Variations", Algorithmica 1986.
public enum TextDifference {
    /// The patches that turn `old` into `new`; each position refers to the text after
    /// the patches before it.
    public static func patches(from old: String, to new: String) -> [NotePatch] {
        let before = Array(old.unicodeScalars)
        let after = Array(new.unicodeScalars)
        var steps = NoteLimits.differenceStepsMax
        var edits: [Edit] = []
        compare(before[...], after[...], &edits, &steps)
        // Positions are computed independently of each other, and then shifted in order.
        var shift = 0
        return edits.map { edit in
            defer { shift += edit.after.count - edit.before.count }
            var text = String.UnicodeScalarView()
            text.append(contentsOf: after[edit.after])
            return NotePatch(
                at: edit.before.lowerBound + shift, deleted: edit.before.count,
                inserted: String(text))
        }
    }

    /// A part of the old text, and its replacement.
    private struct Edit {
        var before: Range<Int>
        var after: Range<Int>
    }

    private typealias Scalars = ArraySlice<Unicode.Scalar>

    private static func compare(
        _ before: Scalars, _ after: Scalars, _ edits: inout [Edit], _ steps: inout Int
    ) {
        let (one, other) = withoutCommonEnds(before, after)
        guard !one.isEmpty, !other.isEmpty else {
            append(Edit(before: one.indices, after: other.indices), to: &edits)
            return
        }
        if let matches = matches(one, other, &steps) {
            close(matches, one.indices, other.indices, &edits)
            return
        }
        compareLines(one, other, &edits, &steps)
    }

    /// Two texts without their common beginning and end.
    private static func withoutCommonEnds<Item: Equatable>(
        _ before: ArraySlice<Item>, _ after: ArraySlice<Item>
    ) -> (ArraySlice<Item>, ArraySlice<Item>) {
        var start = 0
        let most = min(before.count, after.count)
        while start < most,
            before[before.startIndex + start] == after[after.startIndex + start]
        {
            start += 1
        }
        var end = 0
        while end < most - start,
            before[before.endIndex - 1 - end] == after[after.endIndex - 1 - end]
        {
            end += 1
        }
        return (before.dropFirst(start).dropLast(end), after.dropFirst(start).dropLast(end))
    }

    /// Compares line by line first, then exactly inside each group of differing lines.
    private static func compareLines(
        _ before: Scalars, _ after: Scalars, _ edits: inout [Edit], _ steps: inout Int
    ) {
        let one = lines(before)
        let other = lines(after)
        steps = max(steps, NoteLimits.differenceStepsMax / 4)
        guard one.count > 1 || other.count > 1,
            let matches = matches(one[...], other[...], &steps)
        else {
            append(Edit(before: before.indices, after: after.indices), to: &edits)
            return
        }
        var groups: [Edit] = []
        close(matches, one.indices, other.indices, &groups)
        for group in groups {
            let from = range(of: group.before, in: one, end: before.endIndex)
            let to = range(of: group.after, in: other, end: after.endIndex)
            let (old, new) = withoutCommonEnds(before[from], after[to])
            if !old.isEmpty, !new.isEmpty, let inner = Self.matches(old, new, &steps) {
                close(inner, old.indices, new.indices, &edits)
            } else {
                append(Edit(before: old.indices, after: new.indices), to: &edits)
            }
        }
    }

    /// The lines of a text, each with its line break.
    private static func lines(_ text: Scalars) -> [Scalars] {
        var lines: [Scalars] = []
        var start = text.startIndex
        for index in text.indices where text[index] == "\n" {
            lines.append(text[start...index])
            start = index + 1
        }
        if start < text.endIndex { lines.append(text[start...]) }
        return lines
    }

    private static func range(of part: Range<Int>, in lines: [Scalars], end: Int) -> Range<Int> {
        let from = part.lowerBound < lines.count ? lines[part.lowerBound].startIndex : end
        let to = part.upperBound < lines.count ? lines[part.upperBound].startIndex : end
        return from..<to
    }

    // MARK: The shortest path

    /// The pairs of equal items on a shortest edit path, as ranges; `nil` if it takes more steps
    /// than are left.
    private static func matches<Item: Equatable>(
        _ before: ArraySlice<Item>, _ after: ArraySlice<Item>, _ steps: inout Int
    ) -> [(before: Int, after: Int, count: Int)]? {
        let (n, m) = (before.count, after.count)
        // The furthest positions of each round, for backtracking.
        var rounds: [[Int32]] = []
        for distance in 0...n + m {
            steps -= distance + 1
            guard steps > 0 else { return nil }
            var next = [Int32](repeating: 0, count: 2 * distance + 1)
            for (slot, diagonal) in stride(from: -distance, through: distance, by: 2).enumerated() {
                let index = 2 * slot
                var x = start(in: rounds.last ?? [], index, diagonal, distance)
                var y = x - diagonal
                let entered = x
                while x < n, y >= 0, y < m,
                    before[before.startIndex + x] == after[after.startIndex + y]
                {
                    x += 1
                    y += 1
                }
                // Skipping equal items costs less than storing a position.
                steps -= (x - entered) / 32
                next[index] = Int32(truncatingIfNeeded: x)
                if x >= n, y >= m {
                    rounds.append(next)
                    return walkBack(rounds, before, after)
                }
            }
            rounds.append(next)
        }
        return nil
    }

    /// Where a path enters a diagonal: from the one above, by an insertion, or from the left one,
    /// by a deletion. Diagonal d of round r has index d + r.
    private static func start(
        in previous: [Int32], _ index: Int, _ diagonal: Int, _ distance: Int
    ) -> Int {
        guard distance > 0 else { return 0 }
        let lower = index - 2
        let isDown =
            diagonal == -distance
            || diagonal != distance && previous[lower] < previous[index]
        return Int(isDown ? previous[index] : previous[lower] + 1)
    }

    private static func walkBack<Item>(
        _ rounds: [[Int32]], _ before: ArraySlice<Item>, _ after: ArraySlice<Item>
    ) -> [(before: Int, after: Int, count: Int)] {
        var matches: [(before: Int, after: Int, count: Int)] = []
        var (x, y) = (before.count, after.count)
        for distance in stride(from: rounds.count - 1, through: 0, by: -1) {
            let diagonal = x - y
            let entered = start(
                in: distance > 0 ? rounds[distance - 1] : [], diagonal + distance, diagonal,
                distance)
            if x > entered {
                let count = x - entered
                matches.append(
                    (before.startIndex + entered, after.startIndex + y - count, count))
            }
            guard distance > 0 else { break }
            let index = diagonal + distance
            let isDown =
                diagonal == -distance
                || diagonal != distance
                    && rounds[distance - 1][index - 2] < rounds[distance - 1][index]
            x = isDown ? entered : entered - 1
            y = entered - diagonal - (isDown ? 1 : 0)
        }
        return matches.reversed()
    }

    /// The edits between the equal ranges.
    private static func close(
        _ matches: [(before: Int, after: Int, count: Int)], _ before: Range<Int>,
        _ after: Range<Int>, _ edits: inout [Edit]
    ) {
        var (x, y) = (before.lowerBound, after.lowerBound)
        for match in matches {
            append(Edit(before: x..<match.before, after: y..<match.after), to: &edits)
            (x, y) = (match.before + match.count, match.after + match.count)
        }
        append(Edit(before: x..<before.upperBound, after: y..<after.upperBound), to: &edits)
    }

    private static func append(_ edit: Edit, to edits: inout [Edit]) {
        if !edit.before.isEmpty || !edit.after.isEmpty { edits.append(edit) }
    }
}
