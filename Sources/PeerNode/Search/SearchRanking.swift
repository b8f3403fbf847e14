import WorkspaceModel

/// The messages that are ranked: the newest that match, so that a query for a common word costs no
/// more in a long history than in a short one.
///
/// All of them contain every phrase. So what remains of BM25 (Robertson and Zaragoza, "The
/// Probabilistic Relevance Framework", 2009) is how often a text contains it, with less weight for
/// each further occurrence, and the text's length relative to the others.
struct SearchRanking {
    private struct Entry {
        let position: SearchPosition
        let matchCount: Double
        let byteCount: Double
    }

    private var entries: [Entry] = []

    /// Whether it takes no more.
    var isFull: Bool { entries.count >= Limits.searchRankedMax }

    mutating func add(_ hit: SearchHit, at position: SearchPosition) {
        let byteCount: Int
        switch hit.item {
        case .message(let message): byteCount = message.text?.utf8.count ?? 0
        case .note(_, let text): byteCount = text.byteCount
        case .channel, .member: return
        }
        entries.append(
            Entry(
                position: position, matchCount: Double(hit.matches.count),
                byteCount: Double(byteCount)))
    }

    /// The best first; of two that are as good the newer one.
    func best() -> [SearchPosition] {
        let average = entries.reduce(0) { $0 + $1.byteCount } / Double(max(entries.count, 1))
        func score(_ entry: Entry) -> Double {
            // The usual constants: k1 = 1.2, b = 0.75.
            let length = 0.25 + 0.75 * entry.byteCount / max(average, 1)
            return entry.matchCount * 2.2 / (entry.matchCount + 1.2 * length)
        }
        return entries.map { (score($0), $0.position) }
            .sorted { ($0.0, $0.1) > ($1.0, $1.1) }
            .map(\.1)
    }
}
