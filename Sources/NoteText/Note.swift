public import WorkspaceModel

/// The text of one note, made of operations that arrive in any order.
///
/// Whoever has the same operations, with the same verdicts, has the same text, lines and marks
/// (docs/PROTOCOL.md, 3.7). Nothing here looks at a clock or at a disk, and the work for an operation
/// does not grow with the note: it is a search in a tree for each of its changes.
///
///     var note = Note()
///     note.apply(operation)                           // what others wrote
///     try note.edit(NotePatch(at: 0, deleted: 0, inserted: "Hello"), as: author)
///     let payload = note.draft?.encoded               // what is to be signed
///     note.publishDraft(as: identity)
public struct Note: Sendable {
    var tree = SpanTree()
    var table = OperationTable()
    /// All marks that were ever set.
    var marks: [MarkEntry] = []
    /// All that was ever said of lines.
    var lineWords: [LineEntry] = []
    var waiting = WaitingEdits()
    /// Its scalars as long as its history is read (`NoteReplay`). The tree has only their text then.
    var chain: ScalarChain?
    /// What is being written here.
    var writing: Draft?
    /// Whether it came from a snapshot, where what is deleted has no text.
    var isFromSnapshot = false
    /// Whether something that waits was not kept.
    var hasDropped = false

    /// A mark between two scalars.
    struct MarkEntry: Sendable {
        let entry: Int
        let from: Element
        let to: Element
        let mark: NoteMark
    }

    /// What a line is that begins behind a scalar.
    struct LineEntry: Sendable {
        let entry: Int
        let element: Element
        let kind: NoteBlockKind
    }

    /// An empty note.
    public init() {}

    /// Scalars of the text.
    public var scalarCount: Int { tree.visible }
    /// Bytes of the text in UTF-8.
    public var byteCount: Int { tree.visibleBytes }
    /// Whether nothing waits for an operation that is not there.
    public var isComplete: Bool { waiting.isEmpty && !hasDropped }
    /// The operations that are referred to and not there, ascending.
    public var missing: [MessageKey] { waiting.missing }
    /// Those that wait for them, ascending.
    public var waitingKeys: [MessageKey] { waiting.keys }
    /// Operations that were taken in.
    public var operationCount: Int { table.entries.count - (writing == nil ? 0 : 1) }
    /// Runs that the text is made of, deleted ones with them: what memory and a snapshot grow with.
    public var runCount: Int {
        tree.leaves.reduce(-2) { $0 + $1.count }
    }

    /// Whether an operation was taken in, or waits.
    public func knows(_ key: MessageKey) -> Bool {
        table.index(of: key) != nil || waiting.operation(key) != nil
    }

    /// The whole text, with what is being written here.
    public var text: String { String(decoding: bytes(), as: UTF8.self) }

    /// The text's bytes.
    func bytes() -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(tree.visibleBytes)
        forEachVisible { span in
            bytes += tree.text[Int(span.text)..<Int(span.text) + Int(span.bytes)]
        }
        return bytes
    }

    /// Calls `body` with each run of the text in its order.
    func forEachVisible(_ body: (Span) -> Void) {
        for group in tree.order {
            let base = group * SpanTree.groupCapacity
            for member in tree.members[base..<base + tree.groups[group].count] {
                let start = Int(member) * SpanTree.leafCapacity
                let leaf = tree.leaves[Int(member)]
                guard leaf.visible > 0 else { continue }
                for index in start..<start + leaf.count where tree.spans[index].isVisible {
                    body(tree.spans[index])
                }
            }
        }
    }

    /// The text of scalars `range`, clamped to what there is. It is found without going through what
    /// stands before it.
    public mutating func text(in range: Range<Int>) -> String {
        let range = range.clamped(to: 0..<tree.visible)
        guard !range.isEmpty else { return "" }
        var bytes: [UInt8] = []
        let border = tree.border(at: range.lowerBound + 1)
        var place: SpanTree.Place? = border.place
        var first = border.offset - 1
        var left = UInt32(truncatingIfNeeded: range.count)
        while left > 0, let here = place {
            let span = tree[here]
            if span.isVisible {
                let count = min(left, span.count - first)
                let from = tree.byteCount(of: span, scalars: first)
                let to = tree.byteCount(of: span, scalars: first + count)
                bytes += tree.text[Int(span.text + from)..<Int(span.text + to)]
                left -= count
            }
            first = 0
            place = tree.next(here)
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// What an operation did to a note.
public enum NoteOutcome: Hashable, Sendable {
    /// It was taken in, and perhaps others that waited for it: what each changed in the text.
    case applied([NoteChange])
    /// It refers to an operation that is not there.
    case waits
    /// It is there already, or a smaller one with the same key is.
    case known
    /// Too much waits, or the note has too much history: it was not taken in.
    case full
    /// What was taken in has to be taken out, which needs all operations: make the note anew.
    case mustBeMadeAnew
}

/// What one operation changed in the text.
public struct NoteChange: Hashable, Sendable {
    /// The operation.
    public let key: MessageKey
    /// What it changed, one after the other; empty if nothing that is seen.
    public let patches: [NotePatch]
    /// Of each patch the text that went, so that it can be taken back.
    public let removed: [String]

    init(_ key: MessageKey, _ list: PatchList) {
        self.key = key
        patches = list.patches
        removed = list.removed
    }
}
