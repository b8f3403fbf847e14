// Lookahead: pairs of delimiters in the line, found once.
extension MarkdownLineReader {
    mutating func findFences() {
        var index = 0
        while index < line.count {
            let count = run(of: "`", at: index)
            if count > 0 { fences[count, default: []].append(index) }
            index += max(1, count)
        }
    }

    /// The first closing run of this many backticks at `start` or after it.
    func fence(of count: Int, from start: Int) -> Int? {
        guard let places = fences[count] else { return nil }
        var low = 0
        var high = places.count
        while low < high {
            let middle = (low + high) / 2
            if places[middle] < start { low = middle + 1 } else { high = middle }
        }
        return low < places.count ? places[low] : nil
    }

    /// Finds matching brackets that are followed by an address.
    mutating func findLinks() {
        var open: [Int] = []
        var index = 0
        while index < line.count {
            switch line[index] {
            case "\\": index += 1
            case "`":
                // Brackets inside code do not count.
                let count = run(of: "`", at: index)
                let end = fence(of: count, from: index + count)
                index = end.map { $0 + count - 1 } ?? index + count - 1
            case "[": open.append(index)
            case "]":
                if let start = open.popLast(), let link = address(at: index + 1) {
                    links[start] = (index, link.end, link.address)
                    // Links do not nest.
                    open = []
                    index = link.end - 1
                }
            default: break
            }
            index += 1
        }
    }

    /// The address in parentheses at an index.
    private func address(at start: Int) -> (address: String, end: Int)? {
        guard start < line.count, line[start] == "(" else { return nil }
        var index = start + 1
        let isAngled = index < line.count && line[index] == "<"
        if isAngled { index += 1 }
        var address = String.UnicodeScalarView()
        let most = min(line.count, index + 2 * NoteLimits.linkBytesMax)
        guard closings[index] < most else { return nil }
        while index < most {
            let scalar = line[index]
            if scalar == "\\", index + 1 < line.count, line[index + 1].isASCIIPunctuation {
                address.append(line[index + 1])
                index += 2
                continue
            }
            if scalar == (isAngled ? ">" : ")") {
                let end = isAngled ? index + 1 : index
                guard end < line.count, line[end] == ")",
                    NoteMark.isAddress(String(address))
                else { return nil }
                return (String(address), end + 1)
            }
            address.append(scalar)
            index += 1
        }
        return nil
    }
}
