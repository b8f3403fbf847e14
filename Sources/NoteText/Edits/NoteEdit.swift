public import WorkspaceModel

/// The changes that one operation makes to a note: the body of its payload.
///
/// Its changes are applied in order. A scalar is named by the operation that inserted it and its
/// offset in that operation, so a change means the same whatever else happens to the note.
public struct NoteEdit: Hashable, Sendable {
    /// One scalar.
    public struct Reference: Hashable, Sendable {
        /// 0 is this operation itself, n is `sources[n - 1]`.
        public let source: Int
        /// Its offset among the scalars that the operation inserts, from 0.
        public let offset: Int

        /// The scalar `offset` of an operation.
        public init(source: Int, offset: Int) {
            self.source = source
            self.offset = offset
        }
    }

    /// One change.
    public enum Change: Hashable, Sendable {
        /// Inserts text between two scalars that were adjacent for its author; `nil` is the
        /// beginning, or the end, of the note.
        case insert(left: Reference?, right: Reference?, text: String)
        /// Deletes `count` consecutive scalars of one operation, starting with the named one.
        case delete(Reference, count: Int)
        /// Marks the text from `from` up to, not including, `to`; a link, which does not grow,
        /// includes `to`. `nil` is the beginning, or the end, of the note.
        case mark(from: Reference?, to: Reference?, NoteMark)
        /// Sets the kind of the line behind a line break, or of the first line.
        case block(Reference?, NoteBlockKind)
    }

    /// The operations that it refers to, ascending, without duplicates.
    public let sources: [MessageKey]
    /// Its changes, at least one. Of a decoded edit they are computed at each call.
    public var changes: [Change] {
        if case .made(let changes) = form { return changes }
        var changes: [Change] = []
        forEachStep { changes.append(Change($0)) }
        return changes
    }
    /// The representation of its changes.
    let form: Form

    /// Representations of an edit's changes.
    enum Form: Sendable {
        case made([Change])
        /// A body, which contains the texts, and the steps read from it.
        case read([UInt8], [ReadStep])
    }

    /// An edit without validation: decoding `encoded` tells whether others accept it.
    public init(sources: [MessageKey], changes: [Change]) {
        self.sources = sources
        form = .made(changes)
    }

    /// Compares the changes, independent of their representation.
    public static func == (left: Self, right: Self) -> Bool {
        left.sources == right.sources && left.changes == right.changes
    }

    /// Hashes the changes.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(sources)
        hasher.combine(changes)
    }

    /// How many changes there are.
    var changeCount: Int {
        switch form {
        case .made(let changes): changes.count
        case .read(_, let steps): steps.count
        }
    }

    /// Scalars that it inserts.
    public var insertedCount: Int {
        var sum = 0
        forEachStep { step in
            if case .insert(_, _, _, let count) = step { sum += count }
        }
        return sum
    }
}

extension NoteEdit.Change {
    /// A change from a decoded step.
    init(_ step: EditStep) {
        switch step {
        case .insert(let left, let right, let text, _):
            self = .insert(left: left, right: right, text: String(decoding: text, as: UTF8.self))
        case .delete(let reference, let count): self = .delete(reference, count: count)
        case .mark(let from, let to, let mark): self = .mark(from: from, to: to, mark)
        case .block(let reference, let kind): self = .block(reference, kind)
        }
    }
}

/// A style of a part of the text, or a link.
public enum NoteMark: Hashable, Sendable {
    case bold(Bool)
    case italic(Bool)
    case underline(Bool)
    case code(Bool)
    /// An address, or the removal of the link.
    case link(String?)

    /// The five kinds of marks, in the order of their encoding.
    public enum Kind: UInt64, CaseIterable, Comparable, Sendable {
        case bold = 0
        case italic = 1
        case underline = 2
        case code = 3
        case link = 4

        /// By number.
        public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
    }

    /// The kind.
    public var kind: Kind {
        switch self {
        case .bold: .bold
        case .italic: .italic
        case .underline: .underline
        case .code: .code
        case .link: .link
        }
    }

    /// Whether it sets the mark, and does not remove it.
    public var isOn: Bool {
        switch self {
        case .bold(let isOn), .italic(let isOn), .underline(let isOn), .code(let isOn): isOn
        case .link(let address): address != nil
        }
    }

    /// Whether text inserted at its end belongs to it.
    public var grows: Bool { kind != .link }
}

/// The kind of a line.
public enum NoteBlockKind: UInt64, CaseIterable, Sendable {
    case paragraph = 0
    case heading1 = 1
    case heading2 = 2
    case quote = 3
    case bulleted = 4
    case numbered = 5
}

/// The characters that a note may contain.
public enum NoteCharacters {
    /// Whether a note may contain a scalar: no control character except line break and tab,
    /// and no noncharacter.
    public static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
        let value = scalar.value
        if value < 0x7f { return value >= 0x20 || value == 0x0a || value == 0x09 }
        return value > 0x9f && !(0xfdd0...0xfdef).contains(value) && value & 0xfffe != 0xfffe
    }

    /// Whether a note may contain `text`.
    static func areAllowed(_ text: String) -> Bool {
        var copy = text
        let isPlain = copy.withUTF8 {
            $0.allSatisfy { (0x20..<0x7f).contains($0) || $0 == 0x0a || $0 == 0x09 }
        }
        return isPlain || text.unicodeScalars.allSatisfy(isAllowed)
    }
}
