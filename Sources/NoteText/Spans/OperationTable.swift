import WorkspaceModel

/// The operations of a note that were taken in, and whose scalars are whose.
struct OperationTable {
    /// What is known of an operation.
    struct Entry {
        var key: MessageKey
        /// Bytes 8 to 15 of the id, which tell two operations with one key apart; 0 after loading.
        var idMiddle: UInt64
        var sequence: UInt64
        /// The index of its author.
        var author: UInt32
        /// The index of its first piece; `noPiece` if it inserts nothing.
        var piece: UInt32 = noPiece
        var state: State
    }

    /// Whether an operation has an effect.
    enum State: UInt8 {
        case valid = 0
        case invalid = 1
        /// Its payload is gone: as if it had never been written.
        case erased = 2
    }

    /// Scalars of one operation that were numbered in one go. Only a draft into which others wrote
    /// has more than one.
    struct Piece {
        var first: Element
        var entry: UInt32
        /// The offset of its first scalar among all of the operation.
        var offset: UInt32
        /// The next piece of the same operation.
        var next: UInt32 = noPiece
    }

    static let noPiece: UInt32 = .max

    private(set) var entries: [Entry] = []
    private(set) var pieces: [Piece] = []
    /// For each 1,024 scalars the piece that the first of them is in, so that a search for another
    /// one is short in a note of any size.
    private(set) var landmarks: [Int] = []
    static let landmarkShift: UInt32 = 10
    private(set) var authors: [NoteOperation.Author] = []
    /// The last place in its log that an operation of each author has; one more, 0 for none.
    private var reached: [UInt64] = []
    private var indexes = KeyIndex()
    private var authorIndexes: [NoteOperation.Author: UInt32] = [:]
    /// The operations that the edit in hand refers to, itself first (`resolve`).
    var resolved: [Int] = []
    /// The number that the next scalar gets.
    private(set) var nextElement = Span.firstWritten

    /// The operation with that key.
    func index(of key: MessageKey) -> Int? { indexes.index(of: key, in: entries) }

    /// The number of an author, who may be new.
    mutating func author(_ author: NoteOperation.Author) -> UInt32 {
        if let last = entries.last, authors[Int(last.author)] == author { return last.author }
        if let index = authorIndexes[author] { return index }
        let index = UInt32(truncatingIfNeeded: authors.count)
        authors.append(author)
        reached.append(0)
        authorIndexes[author] = index
        return index
    }

    /// Takes in an operation.
    ///
    /// - Returns: its index.
    mutating func add(_ entry: Entry) -> Int {
        entries.append(entry)
        indexes.insert(entries.count - 1, of: entries)
        reach(entry.author, entry.sequence)
        return entries.count - 1
    }

    /// Makes room for so many operations at once.
    mutating func reserve(_ count: Int) {
        // And for some more, so that the first of those does not move all.
        let room = count + count / 8 + 16
        entries.reserveCapacity(room)
        pieces.reserveCapacity(room)
        indexes.reserve(room)
    }

    /// Takes in a draft, which has no key yet.
    mutating func addDraft(_ entry: Entry) -> Int {
        entries.append(entry)
        return entries.count - 1
    }

    /// Gives a draft the name under which others know it.
    mutating func publish(_ index: Int, as key: MessageKey, idMiddle: UInt64, sequence: UInt64) {
        entries[index].key = key
        entries[index].idMiddle = idMiddle
        entries[index].sequence = sequence
        indexes.insert(index, of: entries)
        reach(entries[index].author, sequence)
    }

    /// Takes back a draft that says nothing, if it is the last of all.
    ///
    /// - Returns: whether it was.
    mutating func removeDraft(_ index: Int) -> Bool {
        guard index == entries.count - 1, entries[index].piece == Self.noPiece else { return false }
        entries.removeLast()
        return true
    }

    private mutating func reach(_ author: UInt32, _ sequence: UInt64) {
        let next = sequence == .max ? sequence : sequence + 1
        reached[Int(author)] = max(reached[Int(author)], next)
    }

    /// Whether `sequence` is behind all of an operation's author's others.
    func isLast(_ sequence: UInt64, of entry: Int) -> Bool {
        reached[Int(entries[entry].author)] <= sequence
    }

    /// Makes an operation count, or not count.
    mutating func setState(_ index: Int, _ state: State) { entries[index].state = state }

    /// Numbers the next `count` scalars, which are those of the operation from `offset` on.
    ///
    /// - Returns: the number of the first.
    mutating func number(_ count: UInt32, of entry: Int, offset: UInt32) -> Element {
        let first = nextElement
        nextElement += count
        defer {
            while landmarks.count <= Int((nextElement - 1) >> Self.landmarkShift) {
                landmarks.append(pieces.count - 1)
            }
        }
        if let last = pieces.last, last.entry == UInt32(truncatingIfNeeded: entry),
            offset - last.offset == first - last.first
        {
            return first
        }
        let new = UInt32(truncatingIfNeeded: pieces.count)
        pieces.append(Piece(first: first, entry: UInt32(truncatingIfNeeded: entry), offset: offset))
        var piece = entries[entry].piece
        guard piece != Self.noPiece else {
            entries[entry].piece = new
            return first
        }
        while pieces[Int(piece)].next != Self.noPiece { piece = pieces[Int(piece)].next }
        pieces[Int(piece)].next = new
        return first
    }

    /// Takes back the last `count` numbers, which the operation has in its last piece.
    mutating func unnumber(_ count: UInt32, of entry: Int) {
        nextElement -= count
        while landmarks.count > 1, (landmarks.count - 1) << Int(Self.landmarkShift) >= nextElement {
            landmarks.removeLast()
        }
        guard let last = pieces.last, last.first == nextElement else { return }
        pieces.removeLast()
        let gone = UInt32(truncatingIfNeeded: pieces.count)
        var piece = entries[entry].piece
        guard piece != gone else {
            entries[entry].piece = Self.noPiece
            return
        }
        while pieces[Int(piece)].next != gone { piece = pieces[Int(piece)].next }
        pieces[Int(piece)].next = Self.noPiece
    }
}
