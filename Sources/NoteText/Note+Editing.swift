/// Why a local edit is refused.
public enum NoteProblem: Error, Hashable, Sendable {
    /// A position beyond the end of the text.
    case outOfRange
    /// Text that a note may not contain.
    case badText
    /// The text would be larger than `NoteLimits.textBytesMax`, or its history too large.
    case tooLong
    /// A draft of another log is open.
    case otherAuthor
}

// Local editing.
extension Note {
    /// Changes the text and adds the change to the draft.
    ///
    /// - Returns: the rest of the patch if the draft is full, to be applied after publishing it: a
    ///   part of a long paste, or of a long deletion.
    @discardableResult
    public mutating func edit(
        _ patch: NotePatch, as author: NoteOperation.Author
    ) throws(NoteProblem) -> NotePatch? {
        guard patch.at >= 0, patch.deleted >= 0, patch.at <= tree.visible,
            patch.deleted <= tree.visible - patch.at
        else { throw .outOfRange }
        guard NoteCharacters.areAllowed(patch.inserted) else { throw .badText }
        let size = patch.inserted.utf8.count
        guard size <= NoteLimits.textBytesMax - min(tree.visibleBytes, NoteLimits.textBytesMax),
            tree.text.count + size <= NoteLimits.historyBytesMax
        else { throw .tooLong }
        guard try open(author) else { return patch }
        if goOn(patch, size) { return nil }
        var rest = patch
        takeBack(&rest)
        while rest.deleted > 0, !isFull { rest.deleted -= deleteOne(at: rest.at, rest.deleted) }
        guard rest.deleted == 0, !rest.inserted.isEmpty else {
            closeEmptyDraft()
            return rest.deleted == 0 ? nil : rest
        }
        let (text, later) = rest.inserted.divided(afterBytes: room)
        if !text.isEmpty { rest.at += insert(text, at: rest.at) }
        rest.inserted = later
        return later.isEmpty ? nil : rest
    }

    /// Bytes left in the draft.
    var room: Int {
        NoteLimits.editBytesMax - (writing?.weight ?? 0)
    }

    /// The operations that one change may delete from; more take further changes.
    private static let piecesMax = 64

    /// Whether the draft has no room for a deletion in `piecesMax` pieces.
    private var isFull: Bool {
        room < 40 * (Self.piecesMax + 1)
            || (writing?.changes.count ?? 0) >= NoteLimits.changesMax / 4
    }

    /// Drops a draft without changes.
    private mutating func closeEmptyDraft() {
        guard writing?.changes.isEmpty == true, let entry = writing?.entry,
            table.removeDraft(entry)
        else { return }
        writing = nil
    }

    /// Opens a draft if there is none.
    ///
    /// - Returns: whether it has room.
    mutating func open(_ author: NoteOperation.Author) throws(NoteProblem) -> Bool {
        if let writing {
            guard writing.author == author else { throw .otherAuthor }
            return !isFull
        }
        let entry = table.addDraft(
            OperationTable.Entry(
                key: Draft.key, idMiddle: 0, sequence: .max, author: table.author(author),
                state: .valid))
        writing = Draft(author: author, entry: entry)
        return true
    }

    /// Inserts a text that fits into the draft.
    ///
    /// - Returns: its scalars.
    private mutating func insert(_ text: String, at position: Int) -> Int {
        guard let entry = writing?.entry, let offset = writing?.inserted else { return 0 }
        let border = tree.border(at: position)
        let span = tree[border.place]
        let left = span.first + border.offset - 1
        let following =
            border.offset < span.count ? nil : tree.next(border.place).map { tree[$0] }
        let next = border.offset < span.count ? left + 1 : following?.first ?? Span.end
        let bytes = tree.keep(text)
        let count = UInt32(truncatingIfNeeded: bytes.count == 1 ? 1 : text.scalarCount)
        var run = Span(
            first: table.number(count, of: entry, offset: offset), count: count, left: left,
            right: next, text: UInt32(truncatingIfNeeded: bytes.lowerBound),
            bytes: UInt32(truncatingIfNeeded: bytes.count), deletes: 0, depth: 0, isHidden: false)
        // Nothing else can be between adjacent scalars.
        run.setDepth(depth(of: run, next: following))
        let place = put(run, behind: border)
        if tree[place].last == run.last { tree.typed = (place, position + Int(count)) }
        writing?.insert(run)
        return Int(count)
    }

    /// Deletes up to `count` scalars of one run behind `position`.
    ///
    /// - Returns: how many.
    private mutating func deleteOne(at position: Int, _ count: Int) -> Int {
        let border = tree.border(at: position + 1)
        let span = tree[border.place]
        let first = span.first + border.offset - 1
        let most = min(UInt32(truncatingIfNeeded: count), span.count - (border.offset - 1))
        let (more, pieces) = table.extent(from: first, atMost: most, pieces: Self.piecesMax)
        var list = PatchList()
        retouch(first..<first + more, &list, isTold: false) { $0.deletes += 1 }
        writing?.delete(first..<first + more, pieces: pieces)
        return Int(more)
    }

    // MARK: Marks and lines

    /// Sets or removes a mark on the scalars `range`.
    ///
    /// - Returns: whether the draft had room; if not, it must be published first.
    @discardableResult
    public mutating func format(
        _ range: Range<Int>, _ mark: NoteMark, as author: NoteOperation.Author
    ) throws(NoteProblem) -> Bool {
        guard range.lowerBound >= 0, range.upperBound <= tree.visible, !range.isEmpty else {
            throw .outOfRange
        }
        if case .link(let address?) = mark, !NoteMark.isAddress(address) { throw .badText }
        guard try open(author) else { return false }
        guard let entry = writing?.entry else { return false }
        let from = scalar(at: range.lowerBound)
        // A link ends with its last scalar; a growing mark ends before the next one.
        let to =
            mark.grows
            ? (range.upperBound < tree.visible ? scalar(at: range.upperBound) : Span.end)
            : scalar(at: range.upperBound - 1)
        marks.append(MarkEntry(entry: entry, from: from, to: to, mark: mark))
        writing?.changes.append(.mark(from: from, to: to, mark))
        var size = 64
        if case .link(let address?) = mark { size += address.utf8.count }
        writing?.weight += size
        return true
    }

    /// Sets the kind of the line that contains scalar `position`, or the end of the text.
    ///
    /// - Returns: as `format`.
    @discardableResult
    public mutating func setLine(
        at position: Int, _ kind: NoteBlockKind, as author: NoteOperation.Author
    ) throws(NoteProblem) -> Bool {
        guard position >= 0, position <= tree.visible else { throw .outOfRange }
        guard try open(author) else { return false }
        guard let entry = writing?.entry else { return false }
        let element = lineBreak(before: position)
        lineWords.append(LineEntry(entry: entry, element: element, kind: kind))
        writing?.changes.append(.block(element, kind))
        writing?.weight += 40
        return true
    }

    /// The visible scalar with `position` others before it.
    private mutating func scalar(at position: Int) -> Element {
        let border = tree.border(at: position + 1)
        return tree[border.place].first + border.offset - 1
    }

    /// The last line break before `position`, or the beginning of the note.
    private mutating func lineBreak(before position: Int) -> Element {
        var border = tree.border(at: position)
        while true {
            let span = tree[border.place]
            if span.isVisible {
                let end = tree.byteCount(of: span, scalars: border.offset)
                let bytes = tree.text[Int(span.text)..<Int(span.text + end)]
                if let index = bytes.lastIndex(of: 0x0a) {
                    let before = bytes[..<index].count { $0 & 0xc0 != 0x80 }
                    return span.first + UInt32(before)
                }
            }
            guard let place = tree.previous(border.place) else { return Span.start }
            border = SpanTree.Border(place: place, offset: tree[place].count)
        }
    }
}

extension String {
    /// Splits the text; the first part has at most this many bytes of UTF-8.
    func divided(afterBytes bytes: Int) -> (String, String) {
        guard utf8.count > bytes else { return (self, "") }
        var end = utf8.index(utf8.startIndex, offsetBy: max(0, bytes))
        while end > utf8.startIndex, end.samePosition(in: unicodeScalars) == nil {
            end = utf8.index(before: end)
        }
        return (String(self[..<end]), String(self[end...]))
    }
}
