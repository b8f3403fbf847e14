/// A text as search sees it: runs of folded letters, each knowing where it came from.
///
/// A run is a word, or letters of a script that puts no blanks between words. The latter are
/// indexed as overlapping pairs, so that any two adjacent letters are found.
struct SearchText {
    /// What a run consists of.
    enum Kind {
        /// Letters and digits that make one word.
        case word
        /// Hangul, Han or kana, in which words have no ends.
        case letters
    }

    /// Letters without anything between them.
    struct Run {
        let kind: Kind
        /// Places in `folded`.
        fileprivate(set) var places: Range<Int>
    }

    /// Folded letters of all runs, one after the other.
    private(set) var folded: [UInt32] = []
    /// Where each folded letter begins and ends, in Unicode scalars of the text.
    private(set) var sources: [Range<Int>] = []
    /// In the order of the text.
    private(set) var runs: [Run] = []

    /// Letters of a word that the index knows; longer words are compared when they are found.
    static let wordLettersMax = 64

    init(_ text: String) {
        folded.reserveCapacity(text.utf8.count)
        sources.reserveCapacity(text.utf8.count)
        var copy = text
        guard !copy.withUTF8({ takeAll(plain: $0) }) else { return }
        var isOpen = false
        var index = 0
        for scalar in text.unicodeScalars {
            isOpen = take(SearchFolding.fold(scalar), at: index, isOpen: isOpen)
            index += 1
        }
    }

    /// Takes a text of ASCII: each byte is a letter of a word, or stands between words, and none
    /// joins the one before it. Most texts are of that kind, and letter by letter they take many
    /// times as long.
    ///
    /// - Returns: `false` for any other text, of which nothing was taken.
    private mutating func takeAll(plain bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        guard bytes.allSatisfy({ $0 < 0x80 }) else { return false }
        let letters = SearchFolding.table
        var start = 0
        for (index, byte) in bytes.enumerated() {
            let letter = letters[Int(byte)]
            guard letter == SearchFolding.separator else {
                append(letter, at: index)
                continue
            }
            endWord(from: start)
            start = folded.count
        }
        endWord(from: start)
        return true
    }

    private mutating func endWord(from start: Int) {
        guard start < folded.count else { return }
        runs.append(Run(kind: .word, places: start..<folded.count))
    }

    /// - Returns: whether the next letter may continue the same run.
    private mutating func take(_ value: UInt32, at index: Int, isOpen: Bool) -> Bool {
        if value == SearchFolding.separator { return false }
        guard isOpen, let last = folded.last, let source = sources.last, let run = runs.last else {
            if value == SearchFolding.attached { return false }
            begin(value, at: index)
            return true
        }
        if value == SearchFolding.attached {
            sources[sources.count - 1] = source.lowerBound..<index + 1
        } else if let composed = SearchFolding.composed(last, value) {
            folded[folded.count - 1] = composed
            sources[sources.count - 1] = source.lowerBound..<index + 1
        } else if Self.kind(of: value) == run.kind {
            append(value, at: index)
            runs[runs.count - 1].places = run.places.lowerBound..<folded.count
        } else {
            begin(value, at: index)
        }
        return true
    }

    private mutating func begin(_ value: UInt32, at index: Int) {
        append(value, at: index)
        runs.append(Run(kind: Self.kind(of: value), places: folded.count - 1..<folded.count))
    }

    private mutating func append(_ value: UInt32, at index: Int) {
        folded.append(value)
        sources.append(index..<index + 1)
    }

    private static func kind(of value: UInt32) -> Kind {
        SearchFolding.isRunLetter(value) ? .letters : .word
    }

    // MARK: Terms

    /// The words, separated by blanks.
    var words: String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(folded.count + runs.count)
        for run in runs where run.kind == .word {
            Self.append(folded[run.places].prefix(Self.wordLettersMax), to: &bytes)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Pairs of adjacent letters, separated by blanks. After the pairs of each run comes its last
    /// letter alone, so that every letter begins a term.
    var pairs: String {
        var bytes: [UInt8] = []
        for run in runs where run.kind == .letters {
            for place in run.places {
                let end = min(place + 2, run.places.upperBound)
                Self.append(folded[place..<end], to: &bytes)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Adds a term, and a blank before all but the first.
    static func append(_ letters: ArraySlice<UInt32>, to bytes: inout [UInt8]) {
        if !bytes.isEmpty { bytes.append(0x20) }
        for letter in letters {
            guard letter >= 0x80 else {
                bytes.append(UInt8(letter))
                continue
            }
            guard let scalar = Unicode.Scalar(letter) else { continue }
            bytes.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
        }
    }
}
