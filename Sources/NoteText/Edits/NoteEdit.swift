public import WorkspaceModel

/// What one operation does to a note: the body of its payload.
///
/// Its changes take effect one after the other. Scalars are named by the operation that inserted
/// them and their number among all that it inserted, so a change means the same whatever else
/// happened to the note.
public struct NoteEdit: Hashable, Sendable {
    /// One scalar.
    public struct Reference: Hashable, Sendable {
        /// 0 is this operation itself, n the one that `sources[n - 1]` names.
        public let source: Int
        /// Its number among the scalars that the operation inserts, from 0.
        public let offset: Int

        /// The scalar `offset` of an operation.
        public init(source: Int, offset: Int) {
            self.source = source
            self.offset = offset
        }
    }

    /// One change.
    public enum Change: Hashable, Sendable {
        /// Puts text between two scalars that stood next to each other for its author; `nil` is the
        /// beginning, or the end, of the note.
        case insert(left: Reference?, right: Reference?, text: String)
        /// Deletes `count` scalars that one operation inserted, from the named one on.
        case delete(Reference, count: Int)
        /// Marks what stands from `from` on. The text up to, not including, `to` is marked, and for a
        /// link, which does not grow, `to` itself. `nil` is the beginning, or the end, of the note.
        case mark(from: Reference?, to: Reference?, NoteMark)
        /// Says what the line is that begins behind a line break, or at the beginning of the note.
        case block(Reference?, NoteBlockKind)
    }

    /// The operations that it refers to, ascending, each once.
    public let sources: [MessageKey]
    /// What it does, at least one change. Of an edit that was read they are made anew at each call.
    public var changes: [Change] {
        if case .made(let changes) = form { return changes }
        var changes: [Change] = []
        forEachStep { changes.append(Change($0)) }
        return changes
    }
    /// How its changes are kept.
    let form: Form

    /// How the changes of an edit are kept.
    enum Form: Sendable {
        case made([Change])
        /// A body, in which the texts lie, and what was read there.
        case read([UInt8], [ReadStep])
    }

    /// An edit. Nothing is checked: `encoded` and decoding it again says whether others take it.
    public init(sources: [MessageKey], changes: [Change]) {
        self.sources = sources
        form = .made(changes)
    }

    /// By what they say, however they are kept.
    public static func == (left: Self, right: Self) -> Bool {
        left.sources == right.sources && left.changes == right.changes
    }

    /// By what it says.
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
    /// A change as it was read.
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

/// How a part of the text looks, or what it leads to.
public enum NoteMark: Hashable, Sendable {
    case bold(Bool)
    case italic(Bool)
    case underline(Bool)
    case code(Bool)
    /// An address, or none any more.
    case link(String?)

    /// The five marks, in the order in which they are written.
    public enum Kind: UInt64, CaseIterable, Comparable, Sendable {
        case bold = 0
        case italic = 1
        case underline = 2
        case code = 3
        case link = 4

        /// By number.
        public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
    }

    /// Which of the five it is about.
    public var kind: Kind {
        switch self {
        case .bold: .bold
        case .italic: .italic
        case .underline: .underline
        case .code: .code
        case .link: .link
        }
    }

    /// Whether it puts the mark on, and does not take it away.
    public var isOn: Bool {
        switch self {
        case .bold(let isOn), .italic(let isOn), .underline(let isOn), .code(let isOn): isOn
        case .link(let address): address != nil
        }
    }

    /// Whether what is written at its end belongs to it.
    public var grows: Bool { kind != .link }
}

/// What a line of a note is.
public enum NoteBlockKind: UInt64, CaseIterable, Sendable {
    case paragraph = 0
    case heading1 = 1
    case heading2 = 2
    case quote = 3
    case bulleted = 4
    case numbered = 5
}

/// Which text a note may hold.
public enum NoteCharacters {
    /// Whether a scalar may stand in a note: no control character but the line break and the tab,
    /// and none that Unicode promises never to assign.
    public static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
        let value = scalar.value
        if value < 0x7f { return value >= 0x20 || value == 0x0a || value == 0x09 }
        return value > 0x9f && !(0xfdd0...0xfdef).contains(value) && value & 0xfffe != 0xfffe
    }

    /// Whether all of `text` may stand in a note.
    static func areAllowed(_ text: String) -> Bool {
        var copy = text
        let isPlain = copy.withUTF8 {
            $0.allSatisfy { (0x20..<0x7f).contains($0) || $0 == 0x0a || $0 == 0x09 }
        }
        return isPlain || text.unicodeScalars.allSatisfy(isAllowed)
    }
}
