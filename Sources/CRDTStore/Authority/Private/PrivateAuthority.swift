public import WorkspaceModel

/// Decides who may do what in one private document: the same engine as for the workspace, with
/// members in the place of devices.
///
///     let authority = PrivateAuthority(of: document, operations)
///     authority.members          // who is in, in which role, by which seat
///     authority.sealingEpoch(answering: revocations)
///
/// The verdicts are a pure function of the set of operations, of which of them are opened, and of
/// which are valid in the workspace. Nothing is updated in place: when one of these changes, make a
/// new one.
///
/// How it works: an operation is handed to `AuthEvaluator` as one part for each seat that it gives.
/// A part's name is the position of the operation's id among all ids, followed by the part's
/// number. So parts are ordered as the ids are, and every comparison of ids has the same result.
///
/// - Cost: n log n for n operations and seats, besides that of `AuthEvaluator`.
/// - Source: PROTOCOL.md, 4.3.
public struct PrivateAuthority: Sendable {
    /// The document, whose root has the same bytes as its id.
    public let document: DocumentID
    /// How the document began; `nil` when its root is not there, not opened, or violates the rules
    /// of a root. Then nothing in the document is valid.
    public let root: PrivateRoot?

    let evaluator: AuthEvaluator
    /// The member whose membership in the workspace each end ended.
    let subjects: [OperationID: MemberID]
    /// The placed operations, ascending by id.
    let operations: [PrivateOperation]
    let indices: [OperationID: Int]
    /// The engine's records of each operation; empty for one that cannot be placed.
    let parts: [Range<Int>]
    /// The introductions of keys without a fault, ascending by (depth, id).
    let introductions: [Introduction]
    /// The same by key.
    let introductionsByKey: [KeyID: [Int]]
    /// The seats of owners and admins who have left and whose leave no stronger seat has answered.
    let openDepartures: [DeviceRank]

    /// A key that an operation without a fault introduces.
    struct Introduction: Sendable {
        let operation: Int
        let epoch: PrivateEpoch
        let lamport: UInt64
        /// Whether the operation has effect: then the key may seal.
        let isValid: Bool
    }

    /// Judges the operations of `document`, given in any order.
    ///
    /// An operation that cites one that is not given waits: it is in nobody's past and has no
    /// verdict. Repeats count once.
    ///
    /// - Parameter ends: the valid operations of the workspace that ended a membership, by member;
    ///   see `LapsedSeats`.
    public init(
        of document: DocumentID, _ operations: some Sequence<PrivateOperation>,
        ends: [MemberID: Set<OperationID>] = [:]
    ) {
        var known: [OperationID: PrivateOperation] = [:]
        for operation in operations { known[operation.id] = operation }
        let canLapse = !ends.isEmpty && Self.root(of: document, known)?.subtype == .channel
        var lapses = LapsedSeats(known, ends: canLapse ? ends : [:])
        if canLapse { known = known.mapValues { lapses.judged($0) } }
        let sorted = known.values.sorted { $0.id < $1.id }
        var indices: [OperationID: Int] = [:]
        indices.reserveCapacity(sorted.count)
        for (index, operation) in sorted.enumerated() { indices[operation.id] = index }

        self.document = document
        var subjects: [OperationID: MemberID] = [:]
        for (member, ended) in ends { for end in ended { subjects[end] = member } }
        self.subjects = subjects
        self.operations = sorted
        self.indices = indices
        root = Self.root(of: document, known)
        var placement = PrivatePlacement(sorted, indices, ends: ends)
        if let root {
            placement.place(from: OperationID(sameBytesAs: document), in: root.subtype)
        }
        parts = placement.parts
        var evaluator = placement.evaluator
        if canLapse {
            for (index, operation) in sorted.enumerated() {
                for member in lapses.lapsed(in: operation) {
                    guard let part = operation.seat(of: member), part < parts[index].count else {
                        continue
                    }
                    let name = PrivatePlacement.name(index, part)
                    evaluator.placed.grant(name, of: member.asDevice).map {
                        _ = evaluator.verdicts.lapsed.insert($0)
                    }
                }
            }
        }
        self.evaluator = evaluator
        openDepartures = evaluator.verdicts.openDepartures
        introductions = Self.introductions(of: sorted, evaluator, parts)
        introductionsByKey = Dictionary(
            grouping: introductions.indices,
            by: { [introductions] in introductions[$0].epoch.keyID })
    }

    /// The root of `document`, if it gives its author the owner's seat and gives no seat to anybody
    /// else in an own document, and not more than the bound in a conversation (D-3).
    private static func root(
        of document: DocumentID, _ operations: [OperationID: PrivateOperation]
    ) -> PrivateRoot? {
        guard let operation = operations[OperationID(sameBytesAs: document)],
            let author = operation.author, case .root(let root)? = operation.change?.action,
            root.seats.contains(PrivateSeat(author, .owner))
        else { return nil }
        switch root.subtype {
        case .own: return root.seats.count > 1 ? nil : root
        case .directMessage: return root.seats.count > Limits.directPeopleMax + 1 ? nil : root
        case .channel: return root
        }
    }

    /// Every introduction by an operation without a fault, unless one in its past had introduced
    /// the key (N-3): a key stands for what was known when it was new. An author who loses a seat
    /// later does not void what others sealed under it.
    private static func introductions(
        of operations: [PrivateOperation], _ evaluator: AuthEvaluator, _ parts: [Range<Int>]
    ) -> [Introduction] {
        var all: [Introduction] = []
        for (index, operation) in operations.enumerated() {
            guard let first = parts[index].first, let epoch = operation.introduced,
                parts[index].contains(where: { evaluator.records[$0].fault == nil })
            else { continue }
            let lamport = evaluator.records[first].lamport
            all.append(
                Introduction(
                    operation: index, epoch: epoch, lamport: lamport,
                    isValid: parts[index].contains { evaluator.records[$0].isValid }))
        }
        // Operations are in the order of their ids; a stable sort by depth keeps that order.
        all.sort { ($0.lamport, $0.operation) < ($1.lamport, $1.operation) }
        var firsts: [KeyID: [Int]] = [:]
        return all.filter { introduction in
            guard let own = parts[introduction.operation].first else { return false }
            let known = firsts[introduction.epoch.keyID] ?? []
            if known.contains(where: { evaluator.records[own].knows(evaluator.records[$0].place) })
            {
                return false
            }
            guard let last = parts[introduction.operation].last else { return false }
            firsts[introduction.epoch.keyID, default: []].append(last)
            return true
        }
    }
}

/// Hands the operations of one private document to the engine in causal order.
struct PrivatePlacement {
    private let operations: [PrivateOperation]
    private let indices: [OperationID: Int]
    private(set) var evaluator = AuthEvaluator(rules: .privateDocument)
    private(set) var parts: [Range<Int>]

    /// - Parameter ends: the operations that ended memberships in the workspace, by member.
    init(
        _ operations: [PrivateOperation], _ indices: [OperationID: Int],
        ends: [MemberID: Set<OperationID>]
    ) {
        evaluator.verdicts.placed.workspaceEnds = ends.mapValues(\.count)
        self.operations = operations
        self.indices = indices
        parts = [Range<Int>](repeating: 0..<0, count: operations.count)
    }

    /// Places the root and then all that rests on placed operations alone, and judges everything.
    mutating func place(from root: OperationID, in subtype: PrivateSubtype) {
        guard let root = indices[root] else { return }
        var missing = [Int](repeating: 0, count: operations.count)
        var citing = [[Int]](repeating: [], count: operations.count)
        var ready: [Int] = []
        for index in operations.indices where index != root {
            for cited in citations(of: index) {
                missing[index] += 1
                if let cited = indices[cited] { citing[cited].append(index) }
            }
            if missing[index] == 0 { ready.append(index) }
        }
        ready.append(root)
        while let index = ready.popLast() {
            link(index, in: subtype)
            for other in citing[index] {
                missing[other] -= 1
                if missing[other] == 0 { ready.append(other) }
            }
        }
        evaluator.verdicts.answerDepartures()
        evaluator.verdicts.judgeAll()
    }

    private func citations(of index: Int) -> Set<OperationID> {
        var cited = Set(operations[index].dependencies)
        operations[index].previous.map { _ = cited.insert($0) }
        return cited
    }

    private mutating func link(_ index: Int, in subtype: PrivateSubtype) {
        let operation = operations[index]
        let first = evaluator.records.count
        var before = previous(of: index)
        var cited = citations(of: index)
        if let before { cited.remove(operations[before.operation].id) }
        for (part, action) in operation.actions(in: subtype).enumerated() {
            let linked = AuthOperation(
                id: Self.name(index, part), device: (operation.author ?? .zero).asDevice,
                incarnation: 0, sequence: before.map { $0.sequence + 1 } ?? 0,
                previous: before.map(\.name),
                dependencies: part == 0 ? names(of: cited) : [],
                grant: grant(of: index, action), isWellBound: operation.isAllowed,
                action: action, isContinuation: part > 0)
            // All that is cited is placed, so the engine has no reason to refuse it.
            guard (try? evaluator.verdicts.link(linked)) != nil else { break }
            before = (index, linked.sequence, linked.id)
        }
        parts[index] = first..<evaluator.records.count
    }

    /// The previous operation on the same log, which is a branch of the graph as long as one member
    /// writes it.
    private func previous(
        of index: Int
    ) -> (operation: Int, sequence: UInt64, name: OperationID)? {
        guard let previous = operations[index].previous.flatMap({ indices[$0] }),
            operations[previous].author == operations[index].author,
            let last = parts[previous].last
        else { return nil }
        let record = evaluator.records[last].operation
        return (previous, record.sequence, record.id)
    }

    /// The last part of each operation knows its other parts.
    private func names(of cited: Set<OperationID>) -> [OperationID] {
        cited.compactMap { indices[$0] }.compactMap { parts[$0].last }
            .map { evaluator.records[$0].operation.id }.sorted()
    }

    /// The seat to act under: for a root the author's own, otherwise the one that it names.
    private func grant(of index: Int, _ action: AuthAction) -> OperationID? {
        let operation = operations[index]
        if case .create = action { return nil }
        if case .root? = operation.change?.action { return Self.name(index, 0) }
        guard let author = operation.author,
            let seat = operation.change?.seat.flatMap({ indices[$0] }),
            let part = operations[seat].seat(of: author), part < parts[seat].count
        else { return nil }
        return Self.name(seat, part)
    }

    /// The engine's name of a part: ordered as the operations' ids are, and unique, which no
    /// combination of an id and a member could guarantee.
    static func name(_ operation: Int, _ part: Int) -> OperationID {
        OperationID(words: (UInt64(operation) + 1, UInt64(part), 0, 0))
    }

    /// The operation that a name of a part belongs to.
    static func operation(named name: OperationID) -> Int? {
        let (number, _, _, _) = name.words
        return number > 0 ? Int(exactly: number - 1) : nil
    }
}
