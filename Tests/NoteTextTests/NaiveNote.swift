import NoteText
import WorkspaceModel

/// The text of a note by definition: a tree of scalars as in the paper on Fugue, traversed once for
/// each insertion. Shares no code with the program.
///
/// - Source: Weidner, Gentle, Kleppmann, "The Art of the Fugue: Minimizing Interleaving in
///   Collaborative Text Editing", 2023, with FugueMax's order of right children.
struct NaiveNote {
    /// What is known of an operation.
    enum State { case valid, invalid, erased }

    /// One scalar: the operation that inserted it, and its number there.
    struct Name: Hashable {
        let key: MessageKey
        let offset: Int
    }

    private struct Node {
        let name: Name
        let scalar: Unicode.Scalar
        let left: Int
        let right: Int?
        let rank: Rank
        var isShown: Bool
        var isDeleted = false
        var leftChildren: [Int] = []
        var rightChildren: [Int] = []
    }

    /// What decides between equal origins.
    private struct Rank: Comparable {
        let author: NoteOperation.Author
        let sequence: UInt64
        let id: UInt64
        let timestamp: UInt64
        let offset: Int

        static func < (one: Self, other: Self) -> Bool {
            if one.author != other.author { return one.author < other.author }
            return (one.sequence, one.id, one.timestamp, one.offset)
                < (other.sequence, other.id, other.timestamp, other.offset)
        }
    }

    private struct Mark {
        let key: MessageKey
        let index: Int
        let from: Int
        let to: Int
        let mark: NoteMark
    }

    private struct LineWord {
        let key: MessageKey
        let index: Int
        let node: Int
        let kind: NoteBlockKind
    }

    // Nodes 0 and 1 stand before and behind everything.
    private var nodes: [Node] = []
    private var names: [Name: Int] = [:]
    private var states: [MessageKey: State] = [:]
    private var marks: [Mark] = []
    private var words: [LineWord] = []

    /// The note of these operations, each once, with what is known of each.
    init(_ operations: [(operation: NoteOperation, state: State)]) {
        let nobody = Rank(
            author: .init(device: .zero, incarnation: 0), sequence: 0, id: 0, timestamp: 0,
            offset: 0)
        for offset in 0...1 {
            let name = Name(key: MessageKey(timestamp: .zero, idPrefix: 0), offset: offset)
            nodes.append(
                Node(
                    name: name, scalar: " ", left: -1, right: nil, rank: nobody, isShown: false,
                    isDeleted: true))
        }
        var left = operations
        for entry in left where entry.state == .erased { states[entry.operation.key] = .erased }
        left.removeAll { $0.state == .erased }
        while let index = left.firstIndex(where: { entry in
            entry.operation.edit.sources.allSatisfy { states[$0] != nil }
        }) {
            let (operation, state) = left.remove(at: index)
            states[operation.key] = state
            take(operation, isValid: state == .valid)
        }
    }

    // MARK: Taking in

    private mutating func take(_ operation: NoteOperation, isValid: Bool) {
        var offset = 0
        var deleted: [Int] = []
        for (index, change) in operation.edit.changes.enumerated() {
            switch change {
            case .insert(let left, let right, let text):
                insert(text, left, right, offset, operation, isValid: isValid)
                offset += text.unicodeScalars.count
            case .delete(let reference, let count):
                for number in 0..<count {
                    let one = NoteEdit.Reference(
                        source: reference.source, offset: reference.offset + number)
                    if let node = node(one, operation) { deleted.append(node) }
                }
            case .mark(let from, let to, let mark):
                guard isValid, let from = from.map({ node($0, operation) }) ?? 0,
                    let to = to.map({ node($0, operation) }) ?? 1
                else { continue }
                marks.append(
                    Mark(key: operation.key, index: index, from: from, to: to, mark: mark))
            case .block(let reference, let kind):
                guard isValid, let node = reference.map({ node($0, operation) }) ?? 0 else {
                    continue
                }
                words.append(
                    LineWord(key: operation.key, index: index, node: node, kind: kind))
            }
        }
        if isValid { for node in deleted { nodes[node].isDeleted = true } }
    }

    private func key(_ source: Int, _ operation: NoteOperation) -> MessageKey {
        source == 0 ? operation.key : operation.edit.sources[source - 1]
    }

    private func node(_ reference: NoteEdit.Reference, _ operation: NoteOperation) -> Int? {
        names[Name(key: key(reference.source, operation), offset: reference.offset)]
    }

    private mutating func insert(
        _ text: String, _ left: NoteEdit.Reference?, _ right: NoteEdit.Reference?, _ offset: Int,
        _ operation: NoteOperation, isValid: Bool
    ) {
        func isErased(_ reference: NoteEdit.Reference?) -> Bool {
            reference.map { states[key($0.source, operation)] == .erased } ?? false
        }
        let one = left.map { node($0, operation) } ?? 0
        let other = right.map { node($0, operation) } ?? 1
        // A scalar that its operation never inserted: nobody sees what refers to it.
        let isBroken =
            one == nil && !isErased(left) || other == nil && !isErased(right)
        var before = one ?? 1
        var behind: Int? = other
        if one == nil || other == nil {
            before = 1
            behind = nil
        }
        for (number, scalar) in text.unicodeScalars.enumerated() {
            let rank = Rank(
                author: operation.author, sequence: operation.sequence,
                id: operation.key.idPrefix, timestamp: operation.timestamp.rawValue,
                offset: offset + number)
            nodes.append(
                Node(
                    name: Name(key: operation.key, offset: offset + number), scalar: scalar,
                    left: before, right: behind, rank: rank, isShown: isValid && !isBroken))
            hang(nodes.count - 1)
            before = nodes.count - 1
        }
    }

    /// Makes a node the child of one of its origins.
    private mutating func hang(_ index: Int) {
        let node = nodes[index]
        names[node.name] = index
        if let right = node.right, nodes[right].left == node.left {
            let at = nodes[right].leftChildren.firstIndex { node.rank < nodes[$0].rank }
            nodes[right].leftChildren.insert(index, at: at ?? nodes[right].leftChildren.count)
            return
        }
        let places = places()
        func place(_ right: Int?) -> Int { right.map { places[$0] } ?? .max }
        let at = nodes[node.left].rightChildren.firstIndex { other in
            let (mine, others) = (place(node.right), place(nodes[other].right))
            return mine == others ? node.rank < nodes[other].rank : mine > others
        }
        nodes[node.left].rightChildren.insert(
            index, at: at ?? nodes[node.left].rightChildren.count)
    }

    // MARK: Reading

    /// All nodes from left to right.
    private var order: [Int] {
        enum Step { case visit(Int), emit(Int) }
        var order: [Int] = []
        var steps: [Step] = [.visit(1), .visit(0)]
        while let step = steps.popLast() {
            switch step {
            case .emit(let node): order.append(node)
            case .visit(let node):
                for child in nodes[node].rightChildren.reversed() { steps.append(.visit(child)) }
                steps.append(.emit(node))
                for child in nodes[node].leftChildren.reversed() { steps.append(.visit(child)) }
            }
        }
        return order
    }

    private func places() -> [Int] {
        var places = [Int](repeating: -1, count: nodes.count)
        for (place, node) in order.enumerated() { places[node] = place }
        return places
    }

    private func isVisible(_ node: Int) -> Bool { nodes[node].isShown && !nodes[node].isDeleted }

    var text: String {
        var text = String.UnicodeScalarView()
        for node in order where isVisible(node) { text.append(nodes[node].scalar) }
        return String(text)
    }

    /// The lines, scalar by scalar: what each is, and each scalar with the marks that are on.
    var lines: [NoteLine] {
        let places = places()
        var lines: [NoteLine] = []
        var runs: [NoteLine.Run] = []
        var kind = kind(of: 0)
        for node in order where isVisible(node) {
            if nodes[node].scalar == "\n" {
                lines.append(NoteLine(kind, runs))
                runs = []
                kind = self.kind(of: node)
                continue
            }
            let marks = marks(of: node, places)
            let text = (runs.last?.marks == marks ? runs.popLast()?.text : nil) ?? ""
            runs.append(NoteLine.Run(text + String(nodes[node].scalar), marks))
        }
        return lines + [NoteLine(kind, runs)]
    }

    private func marks(of node: Int, _ places: [Int]) -> [NoteMark] {
        NoteMark.Kind.allCases.compactMap { kind in
            marks.filter { mark in
                guard mark.mark.kind == kind, places[mark.from] <= places[node] else {
                    return false
                }
                return mark.mark.grows || mark.to == 1
                    ? places[node] < places[mark.to] : places[node] <= places[mark.to]
            }
            .max { ($0.key, $0.index) < ($1.key, $1.index) }?.mark
        }
        .filter(\.isOn)
    }

    private func kind(of node: Int) -> NoteBlockKind {
        words.filter { $0.node == node }
            .max { ($0.key, $0.index) < ($1.key, $1.index) }?.kind ?? .paragraph
    }
}
