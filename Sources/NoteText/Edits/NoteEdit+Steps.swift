import WorkspaceModel

/// A change as it is carried out: its text is bytes that lie in the body.
enum EditStep {
    /// Its left and its right origin, its text, and the scalars of that.
    case insert(NoteEdit.Reference?, NoteEdit.Reference?, UnsafeRawBufferPointer, count: Int)
    case delete(NoteEdit.Reference, Int)
    case mark(NoteEdit.Reference?, NoteEdit.Reference?, NoteMark)
    case block(NoteEdit.Reference?, NoteBlockKind)
}

/// A change that says nothing of marks. It has no parts to be counted or freed, so it is passed on
/// for nothing.
enum PlainStep {
    case insert(NoteEdit.Reference?, NoteEdit.Reference?, UnsafeRawBufferPointer, count: Int)
    case delete(NoteEdit.Reference, Int)
    case block(NoteEdit.Reference?, NoteBlockKind)

    /// The same as any change.
    var step: EditStep {
        switch self {
        case .insert(let left, let right, let text, let count):
            .insert(left, right, text, count: count)
        case .delete(let reference, let count): .delete(reference, count)
        case .block(let reference, let kind): .block(reference, kind)
        }
    }
}

extension NoteEdit {
    /// Calls `body` with each change in order. Text is valid while it runs.
    func forEachStep(_ body: (EditStep) -> Void) {
        switch form {
        case .made(let changes):
            for change in changes {
                switch change {
                case .insert(let left, let right, var text):
                    text.withUTF8 { text in
                        let text = UnsafeRawBufferPointer(text)
                        body(.insert(left, right, text, count: text.scalarCount))
                    }
                case .delete(let reference, let count): body(.delete(reference, count))
                case .mark(let from, let to, let mark): body(.mark(from, to, mark))
                case .block(let reference, let kind): body(.block(reference, kind))
                }
            }
        case .read(let bytes, let start, let count):
            bytes.withUnsafeBytes { bytes in
                var scanner = BodyScanner(
                    bytes, from: start, sources: sources.count, isJudged: true)
                for _ in 0..<count {
                    guard let step = scanner.step() else {
                        preconditionFailure("a body that was read once and does not parse")
                    }
                    body(step.step)
                }
            }
        }
    }
}

/// Reads bodies of texts, deletions and words about lines in which all is as it should be, without
/// making strings or arrays. Of anything else it says nothing: `NoteEdit.Reader` judges that.
struct BodyScanner {
    private let bytes: UnsafeRawBufferPointer
    private(set) var index: Int
    private let sources: UInt64
    /// Whether it was read once, so that its texts need not be looked at again.
    private let isJudged: Bool
    /// Scalars that were inserted so far.
    private var inserted = 0

    /// - Parameters:
    ///   - start: where the first change begins.
    ///   - sources: how many operations the edit refers to.
    init(
        _ bytes: UnsafeRawBufferPointer, from start: Int, sources: Int, isJudged: Bool = false
    ) {
        self.isJudged = isJudged
        self.bytes = bytes
        index = start
        self.sources = UInt64(sources)
    }

    /// Where the sources of a body lie, how many changes there are, and where the first begins.
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

    /// The next change, `nil` where it is not one of those that are read here, or wrong.
    mutating func step() -> PlainStep? {
        guard let count = head(0x80), let type = head(0) else { return nil }
        switch (type, count) {
        case (0, 4):
            guard let left = reference(), let right = reference(), let size = head(0x60),
                size > 0, size <= UInt64(bytes.count - index)
            else { return nil }
            let text = UnsafeRawBufferPointer(rebasing: bytes[index..<index + Int(size)])
            guard let scalars = isJudged ? text.scalarCount : Self.count(of: text) else {
                return nil
            }
            index += Int(size)
            inserted += scalars
            return .insert(left.value, right.value, text, count: scalars)
        case (1, 3):
            guard let reference = reference()?.value, let count = head(0), count > 0 else {
                return nil
            }
            let end = reference.source == 0 ? inserted : NoteLimits.offsetsMax
            guard count <= UInt64(end - reference.offset) else { return nil }
            return .delete(reference, Int(count))
        case (3, 3):
            guard let reference = reference(), let kind = head(0).flatMap(NoteBlockKind.init)
            else { return nil }
            return .block(reference.value, kind)
        default: return nil
        }
    }

    /// Scalars of a text, `nil` if it is not all ASCII that a note may hold, and no other either.
    private static func count(of text: UnsafeRawBufferPointer) -> Int? {
        var others: UInt8 = 0
        // No way out in the middle, so that many bytes are looked at in one step.
        for byte in text {
            others |= byte &- 0x20 < 0x5f || byte == 0x0a || byte == 0x09 ? 0 : 1
        }
        if others == 0 { return text.count }
        guard let text = String(validating: text, as: UTF8.self), NoteCharacters.areAllowed(text)
        else { return nil }
        return text.scalarCount
    }

    private struct Named {
        let value: NoteEdit.Reference?
    }

    private mutating func reference() -> Named? {
        guard let number = head(0), number <= 1 << 32 else { return nil }
        guard number > 0 else { return Named(value: nil) }
        let (offset, source) =
            sources == 0
            ? (number - 1, 0) : (number - 1).quotientAndRemainder(dividingBy: sources + 1)
        guard offset < UInt64(source == 0 ? inserted : NoteLimits.offsetsMax) else { return nil }
        return Named(value: NoteEdit.Reference(source: Int(source), offset: Int(offset)))
    }

    /// The number in a head of `kind`, as short as it can be.
    private mutating func head(_ kind: UInt8) -> UInt64? {
        guard index < bytes.count, bytes[index] & 0xe0 == kind else { return nil }
        let short = bytes[index] & 0x1f
        index += 1
        if short < 24 { return UInt64(short) }
        guard short < 27 else { return nil }
        let size = 1 << Int(short - 24)
        guard size <= bytes.count - index else { return nil }
        var value: UInt64 = 0
        for place in index..<index + size { value = value << 8 | UInt64(bytes[place]) }
        index += size
        return value >= (size == 1 ? 24 : 1 << UInt64(4 * size)) ? value : nil
    }
}
