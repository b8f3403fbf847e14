public import WorkspaceModel

/// The text of one note, a CRDT of operations that arrive in any order.
///
/// Copies with the same operations and verdicts have the same text, lines and marks
/// (docs/PROTOCOL.md, 3.7). Nothing here reads a clock or a disk. The cost of an operation does not
/// grow linearly with the note: each of its changes is a search in a tree.
///
///     var note = Note()
///     note.apply(operation)                           // what others wrote
///     try note.edit(NotePatch(at: 0, deleted: 0, inserted: "Hello"), as: author)
///     let payload = note.draft?.encoded               // what is to be signed
///     note.publishDraft(as: identity)
public struct Note: Sendable {
    var tree = SpanTree()
    var table = OperationTable()
    /// All marks ever set.
    var marks: [MarkEntry] = []
    /// All line kinds ever set.
    var lineWords: [LineEntry] = []
    var waiting = WaitingEdits()
    /// Its scalars while its history is read (`NoteReplay`). The tree has only their text then.
    var chain: ScalarChain?
    /// The local draft.
    var writing: Draft?
    /// Whether it came from a snapshot, where deleted text is left out.
    var isFromSnapshot = false
    /// Whether a waiting operation was dropped.
    var hasDropped = false

    /// A mark between two scalars.
    struct MarkEntry: Sendable {
        let entry: Int
        let from: Element
        let to: Element
        let mark: NoteMark
    }

    /// The kind of the line behind a scalar.
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
    /// Whether no operation waits for a missing one.
    public var isComplete: Bool { waiting.isEmpty && !hasDropped }
    /// The missing operations that others refer to, ascending.
    public var missing: [MessageKey] { waiting.missing }
    /// The operations that wait for them, ascending.
    public var waitingKeys: [MessageKey] { waiting.keys }
    /// Applied operations.
    public var operationCount: Int { table.entries.count - (writing == nil ? 0 : 1) }
    /// Runs of the text, including deleted ones: memory and snapshots grow with them.
    public var runCount: Int {
        tree.leaves.reduce(-2) { $0 + $1.count }
    }

    /// Whether an operation was applied, or waits.
    public func knows(_ key: MessageKey) -> Bool {
        table.index(of: key) != nil || waiting.operation(key) != nil
    }

    /// The whole text, including the local draft.
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

    /// Calls `body` with each visible run, in order.
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

    /// The text of the scalars `range`, clamped to the text. Found without
    /// visiting what precedes it.
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

/// The effect of an operation on a note.
public enum NoteOutcome: Hashable, Sendable {
    /// It was applied, perhaps with others that waited for it: the changes of each.
    case applied([NoteChange])
    /// It refers to a missing operation.
    case waits
    /// It is known already, or a smaller one with the same key is.
    case known
    /// Too much waits, or the note has too much history: it was not applied.
    case full
    /// An applied operation has to be removed, which needs all operations: rebuild the note.
    case mustBeMadeAnew
}

/// The changes that one operation made to the text.
public struct NoteChange: Hashable, Sendable {
    /// The operation.
    public let key: MessageKey
    /// Its changes, in order; empty if none is visible.
    public let patches: [NotePatch]
    /// The deleted text of each patch, so that it can be undone.
    public let removed: [String]

    init(_ key: MessageKey, _ list: PatchList) {
        self.key = key
        patches = list.patches
        removed = list.removed
    }
}
