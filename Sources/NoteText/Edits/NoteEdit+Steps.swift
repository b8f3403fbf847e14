import WorkspaceModel

/// A change as it is applied: its text is a slice of the body.
enum EditStep {
    /// Its left and right origin, its text, and the number of scalars in that.
    case insert(NoteEdit.Reference?, NoteEdit.Reference?, UnsafeRawBufferPointer, count: Int)
    case delete(NoteEdit.Reference, Int)
    case mark(NoteEdit.Reference?, NoteEdit.Reference?, NoteMark)
    case block(NoteEdit.Reference?, NoteBlockKind)
}

/// A change as read from a body, of any kind but a mark: only numbers, so that a list of them takes
/// one allocation and no reference counting.
struct ReadStep: Sendable {
    enum Kind: UInt8 {
        case insert
        case delete
        case block
    }

    /// One scalar, or none.
    struct Place: Sendable {
        let source: UInt32
        let offset: UInt32

        /// The beginning, or the end, of the note.
        static let none = Place(source: .max, offset: 0)

        /// The same as a value that can be stored.
        var reference: NoteEdit.Reference? {
            source == .max ? nil : NoteEdit.Reference(source: Int(source), offset: Int(offset))
        }
    }

    let kind: Kind
    /// The left origin of a text, the first deleted scalar, or the line break before a line.
    let left: Place
    /// The right origin of a text.
    var right = Place.none
    /// Where a text begins in the body, and its length in bytes.
    var start: UInt32 = 0
    var byteCount: UInt32 = 0
    /// Inserted or deleted scalars; for a line, the number of its kind.
    let count: UInt32

    /// The UTF-8 of its text, a slice of `body`.
    func text(in body: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: body[Int(start)..<Int(start) + Int(byteCount)])
    }

    /// The new kind of a line; `nil` for any other change.
    var lineKind: NoteBlockKind? {
        kind == .block ? NoteBlockKind(rawValue: UInt64(count)) : nil
    }
}

extension NoteEdit {
    /// Calls `call` with each change in order. Text is valid while it runs.
    func forEachStep(_ call: (EditStep) -> Void) {
        switch form {
        case .made(let changes):
            for change in changes {
                switch change {
                case .insert(let left, let right, var text):
                    text.withUTF8 { text in
                        let text = UnsafeRawBufferPointer(text)
                        call(.insert(left, right, text, count: text.scalarCount))
                    }
                case .delete(let reference, let count): call(.delete(reference, count))
                case .mark(let from, let to, let mark): call(.mark(from, to, mark))
                case .block(let reference, let kind): call(.block(reference, kind))
                }
            }
        case .read(let body, let steps):
            body.withUnsafeBytes { body in
                for step in steps {
                    switch (step.kind, step.left.reference, step.lineKind) {
                    case (.insert, let left, _):
                        let (text, count) = (step.text(in: body), Int(step.count))
                        call(.insert(left, step.right.reference, text, count: count))
                    case (.delete, let first?, _): call(.delete(first, Int(step.count)))
                    case (.block, let line, let kind?): call(.block(line, kind))
                    default: preconditionFailure("a change that no body says")
                    }
                }
            }
        }
    }
}

/// A fast path that reads valid bodies of texts, deletions and line kinds without creating strings
/// or arrays. It gives up on anything else, which `NoteEdit.Reader` then judges.
struct BodyScanner {
    private let bytes: UnsafeRawBufferPointer
    private(set) var index: Int
    /// The operations that it refers to, plus itself.
    private let names: UInt32
    /// Scalars that were inserted so far.
    private var inserted: UInt32 = 0

    /// - Parameters:
    ///   - start: where the first change begins.
    ///   - sources: how many operations the edit refers to.
    init(_ bytes: UnsafeRawBufferPointer, from start: Int, sources: Int) {
        self.bytes = bytes
        index = start
        names = UInt32(truncatingIfNeeded: sources) + 1
    }

    /// The range of a body's sources, the number of changes, and the start of the first.
    static func frame(
        _ bytes: UnsafeRawBufferPointer
    ) -> (sources: Range<Int>, start: Int, count: Int)? {
        var scanner = BodyScanner(bytes, from: 0, sources: 0)
        guard scanner.head(0x80) == 2, let size = scanner.head(0x40),
            size % 16 == 0, size <= 16 * UInt64(NoteLimits.sourcesMax),
            size <= UInt64(bytes.count - scanner.index)
        else { return nil }
        let sources = scanner.index..<scanner.index + Int(size)
        scanner.index = sources.upperBound
        guard let count = scanner.head(0x80), count > 0, count <= UInt64(NoteLimits.changesMax)
        else { return nil }
        return (sources, scanner.index, Int(count))
    }

    /// The next change, `nil` if it is of another kind or invalid.
    mutating func step() -> ReadStep? {
        guard let parts = head(0x80), let type = head(0) else { return nil }
        switch (type, parts) {
        case (0, 4): return insertion()
        case (1, 3):
            guard let first = place(), first.source != ReadStep.Place.none.source,
                let count = head(0), count > 0
            else { return nil }
            let end = first.source == 0 ? inserted : UInt32(NoteLimits.offsetsMax)
            guard count <= UInt64(end - first.offset) else { return nil }
            return ReadStep(
                kind: .delete, left: first, count: UInt32(truncatingIfNeeded: count))
        case (3, 3):
            guard let line = place(), let kind = head(0), NoteBlockKind(rawValue: kind) != nil
            else { return nil }
            return ReadStep(kind: .block, left: line, count: UInt32(truncatingIfNeeded: kind))
        default: return nil
        }
    }

    private mutating func insertion() -> ReadStep? {
        guard let left = place(), let right = place(), let size = head(0x60),
            size > 0, size <= UInt64(bytes.count - index)
        else { return nil }
        let start = index
        index += Int(size)
        let text = UnsafeRawBufferPointer(rebasing: bytes[start..<index])
        guard let scalars = Self.count(of: text) else { return nil }
        let count = UInt32(truncatingIfNeeded: scalars)
        inserted += count
        return ReadStep(
            kind: .insert, left: left, right: right, start: UInt32(truncatingIfNeeded: start),
            byteCount: UInt32(truncatingIfNeeded: size), count: count)
    }

    /// Scalars of a text, `nil` unless it consists of ASCII that a note may contain.
    private static func count(of text: UnsafeRawBufferPointer) -> Int? {
        var others: UInt8 = 0
        // No early exit, so that the loop is vectorised.
        for byte in text {
            others |= byte &- 0x20 < 0x5f || byte == 0x0a || byte == 0x09 ? 0 : 1
        }
        if others == 0 { return text.count }
        guard let text = String(validating: text, as: UTF8.self), NoteCharacters.areAllowed(text)
        else { return nil }
        return text.scalarCount
    }

    /// A reference from one number, see `NoteEdit.number(_:)`.
    @inline(__always)
    private mutating func place() -> ReadStep.Place? {
        guard let number = head(0), number <= 1 << 32 else { return nil }
        guard number > 0 else { return ReadStep.Place.none }
        let (offset, source) = UInt32(truncatingIfNeeded: number - 1)
            .quotientAndRemainder(dividingBy: names)
        guard offset < (source == 0 ? inserted : UInt32(NoteLimits.offsetsMax)) else { return nil }
        return ReadStep.Place(source: source, offset: offset)
    }

    /// The number in a head of `kind`, which must have its shortest form.
    @inline(__always)
    private mutating func head(_ kind: UInt8) -> UInt64? {
        guard index < bytes.count else { return nil }
        // Another kind leaves one of the upper bits set.
        let short = bytes[index] ^ kind
        index += 1
        return short < 24 ? UInt64(short) : longHead(short)
    }

    /// The number that follows a head in one, two or four bytes.
    private mutating func longHead(_ short: UInt8) -> UInt64? {
        guard short >= 24, short < 27 else { return nil }
        let size = 1 << Int(short - 24)
        guard size <= bytes.count - index else { return nil }
        var value: UInt64 = 0
        for place in index..<index + size { value = value << 8 | UInt64(bytes[place]) }
        index += size
        return value >= (size == 1 ? 24 : 1 << UInt64(4 * size)) ? value : nil
    }
}
