/// The lines of the home screen, limited to the rows of the terminal.
struct HomeScreen {
    /// A list whose last entries may be left out.
    struct List {
        /// One or more lines each.
        var entries: [String] = []
        /// Shown in place of entries left out.
        let more: String
        /// Whether there are more entries than these anyway.
        var isEndless = false

        init(more: String) { self.more = more }

        /// Whether `more` is shown after this many entries.
        fileprivate func isCut(after count: Int) -> Bool { count < entries.count || isEndless }
    }

    private enum Part {
        case lines([String])
        case list(List)
    }

    private var parts: [Part] = []

    mutating func add(_ lines: [String]) {
        if !lines.isEmpty { parts.append(.lines(lines)) }
    }

    mutating func add(_ list: List) {
        if !list.entries.isEmpty { parts.append(.list(list)) }
    }

    /// The whole text; every line ends with a newline.
    ///
    /// - Parameters:
    ///   - rows: of the terminal, the last of which is for the next command; `nil` for no limit.
    ///   - columns: of the terminal; wider lines take several rows.
    func text(rows: Int?, columns: Int?) -> String {
        var left = counts(rows.map { $0 - 1 }, columns)[...]
        return parts.map { part -> String in
            switch part {
            case .lines(let lines): return lines.map { $0 + "\n" }.joined()
            case .list(let list):
                let count = left.popFirst() ?? 0
                let shown = Array(list.entries.prefix(count))
                return (shown + (list.isCut(after: count) ? [list.more] : []))
                    .map { $0 + "\n" }.joined()
            }
        }.joined()
    }

    /// How many entries of each list are shown: round-robin, one more of each while there is room.
    private func counts(_ rows: Int?, _ columns: Int?) -> [Int] {
        var lists: [List] = []
        var taken = 0
        for part in parts {
            switch part {
            case .lines(let lines): for line in lines { taken += Self.height(line, columns) }
            case .list(let list): lists.append(list)
            }
        }
        guard let rows else { return lists.map(\.entries.count) }
        var counts = lists.map { _ in 0 }
        func height() -> Int {
            zip(lists, counts).reduce(taken) { sum, pair in
                let (list, count) = pair
                let more = list.isCut(after: count) ? Self.height(list.more, columns) : 0
                return list.entries.prefix(count).reduce(sum + more) {
                    $0 + Self.height($1, columns)
                }
            }
        }
        var isGrowing = true
        while isGrowing {
            isGrowing = false
            for index in lists.indices where counts[index] < lists[index].entries.count {
                counts[index] += 1
                if height() <= rows {
                    isGrowing = true
                } else {
                    counts[index] -= 1
                }
            }
        }
        return counts
    }

    /// The rows that some lines take.
    private static func height(_ text: String, _ columns: Int?) -> Int {
        text.split(separator: "\n", omittingEmptySubsequences: false).reduce(0) { sum, line in
            guard let columns, columns > 0 else { return sum + 1 }
            let width = columnWidth(LiveScreen.bare(String(line)))
            return sum + max(1, (width + columns - 1) / columns)
        }
    }
}
