/// Where a text matches a query. This, and not the index, decides what is found.
extension SearchQuery {
    /// More places of one text than this are not told.
    static let matchesMax = 64

    /// The ranges of the phrases, in Unicode scalars of the text, ascending and disjoint; `nil`
    /// unless all of them occur.
    func matches(in text: SearchText) -> [Range<Int>]? {
        var found: [Range<Int>] = []
        for phrase in phrases {
            let places = Self.places(of: phrase, in: text)
            guard !places.isEmpty else { return nil }
            found += places
        }
        var apart: [Range<Int>] = []
        for range in found.sorted(by: {
            ($0.lowerBound, $0.upperBound) < ($1.lowerBound, $1.upperBound)
        }) {
            if let last = apart.last, range.lowerBound < last.upperBound {
                apart[apart.count - 1] =
                    last.lowerBound..<max(last.upperBound, range.upperBound)
            } else {
                apart.append(range)
            }
        }
        return Array(apart.prefix(Self.matchesMax))
    }

    private static func places(of phrase: [Piece], in text: SearchText) -> [Range<Int>] {
        var found: [Range<Int>] = []
        guard let first = phrase.first, let last = phrase.last, text.runs.count >= phrase.count
        else { return found }
        for start in 0...text.runs.count - phrase.count where found.count < matchesMax {
            if phrase.count == 1 {
                for place in places(of: first, in: text.runs[start], of: text) {
                    found.append(source(of: place, in: text))
                }
                continue
            }
            guard let head = place(of: first, in: text.runs[start], of: text, at: .end) else {
                continue
            }
            let middle = (1..<phrase.count - 1).allSatisfy { index in
                place(of: phrase[index], in: text.runs[start + index], of: text, at: .both) != nil
            }
            let run = text.runs[start + phrase.count - 1]
            guard middle, let tail = place(of: last, in: run, of: text, at: .start) else {
                continue
            }
            found.append(source(of: head.lowerBound..<tail.upperBound, in: text))
        }
        return found
    }

    /// Which ends of a run a piece of several must touch.
    private enum Side { case start, end, both }

    private static func place(
        of piece: Piece, in run: SearchText.Run, of text: SearchText, at side: Side
    ) -> Range<Int>? {
        let (places, count) = (run.places, piece.letters.count)
        guard piece.kind == run.kind, places.count >= count else { return nil }
        let isWhole = piece.kind == .word ? !piece.isPrefix : side == .both
        if isWhole, places.count != count { return nil }
        let start = side == .end ? places.upperBound - count : places.lowerBound
        guard text.folded[start..<start + count].elementsEqual(piece.letters) else { return nil }
        return start..<start + count
    }

    /// All places of a phrase's only piece in one run.
    private static func places(
        of piece: Piece, in run: SearchText.Run, of text: SearchText
    ) -> [Range<Int>] {
        guard piece.kind == run.kind, let first = piece.letters.first else { return [] }
        guard piece.kind == .letters else {
            return place(of: piece, in: run, of: text, at: .start).map { [$0] } ?? []
        }
        let count = piece.letters.count
        var found: [Range<Int>] = []
        var start = run.places.lowerBound
        while start + count <= run.places.upperBound, found.count < matchesMax {
            if text.folded[start] == first,
                text.folded[start..<start + count].elementsEqual(piece.letters)
            {
                found.append(start..<start + count)
                start += count
            } else {
                start += 1
            }
        }
        return found
    }

    private static func source(of places: Range<Int>, in text: SearchText) -> Range<Int> {
        text.sources[places.lowerBound].lowerBound..<text.sources[places.upperBound - 1].upperBound
    }
}
