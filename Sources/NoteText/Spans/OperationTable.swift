import WorkspaceModel

/// The applied operations of a note, and the scalars of each.
struct OperationTable {
    /// The metadata of an operation.
    struct Entry {
        var key: MessageKey
        /// Bytes 8 to 15 of the id, which distinguish two operations with one key; 0 after loading.
        var idMiddle: UInt64
        var sequence: UInt64
        /// The index of its author.
        var author: UInt32
        /// The index of its first piece; `noPiece` if it inserts nothing.
        var piece: UInt32 = noPiece
        var state: State
    }

    /// The effect of an operation.
    enum State: UInt8 {
        case valid = 0
        case invalid = 1
        /// Its payload was erased: treated as if it had never been written.
        case erased = 2
    }

    /// Scalars of one operation that were numbered together. Only a draft that was edited
    /// concurrently with remote inserts has more than one piece.
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
    /// For every 1,024th scalar its piece, so that a search is short in a note of any size.
    private(set) var landmarks: [Int] = []
    static let landmarkShift: UInt32 = 10
    private(set) var authors: [NoteOperation.Author] = []
    /// One more than the last place in each author's log, 0 for none.
    private var reached: [UInt64] = []
    private var indexes = KeyIndex()
    private var authorIndexes: [NoteOperation.Author: UInt32] = [:]
    /// The operations that the current edit refers to, itself first (`resolve`).
    var resolved: [Int] = []
    /// The number of the next scalar.
    private(set) var nextElement = Span.firstWritten

    /// The operation with that key.
    func index(of key: MessageKey) -> Int? { indexes.index(of: key, in: entries) }

    /// The index of an author, who may be new.
    mutating func author(_ author: NoteOperation.Author) -> UInt32 {
        if let last = entries.last, authors[Int(last.author)] == author { return last.author }
        if let index = authorIndexes[author] { return index }
        let index = UInt32(truncatingIfNeeded: authors.count)
        authors.append(author)
        reached.append(0)
        authorIndexes[author] = index
        return index
    }

    /// Adds an operation.
    ///
    /// - Returns: its index.
    mutating func add(_ entry: Entry) -> Int {
        entries.append(entry)
        indexes.insert(entries.count - 1, of: entries)
        reach(entry.author, entry.sequence)
        return entries.count - 1
    }

    /// Reserves capacity for this many operations.
    mutating func reserve(_ count: Int) {
        // With some spare, so that the first addition does not move all.
        let room = count + count / 8 + 16
        entries.reserveCapacity(room)
        pieces.reserveCapacity(room)
        indexes.reserve(room)
    }

    /// Adds a draft, which has no key yet.
    mutating func addDraft(_ entry: Entry) -> Int {
        entries.append(entry)
        return entries.count - 1
    }

    /// Gives a draft its final name.
    mutating func publish(_ index: Int, as key: MessageKey, idMiddle: UInt64, sequence: UInt64) {
        entries[index].key = key
        entries[index].idMiddle = idMiddle
        entries[index].sequence = sequence
        indexes.insert(index, of: entries)
        reach(entries[index].author, sequence)
    }

    /// Removes an empty draft, if it is the last entry.
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

    /// Whether `sequence` is after all other operations of this one's author.
    func isLast(_ sequence: UInt64, of entry: Int) -> Bool {
        reached[Int(entries[entry].author)] <= sequence
    }

    /// Sets the state of an operation.
    mutating func setState(_ index: Int, _ state: State) { entries[index].state = state }

    /// Numbers the next `count` scalars as those of the operation from `offset` on.
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

    /// Releases the last `count` numbers, which belong to the operation's last piece.
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
