public import CRDTStore
public import WorkspaceModel

/// A private document with named operations, and the past of each as a plain set.
///
/// Keys are numbers: the root introduces key 1. Ids are made up, in an order
/// unrelated to that of writing.
public struct PrivateStory {
    /// In the order they were written, which is a causal one.
    public private(set) var operations: [PrivateOperation] = []
    /// The ancestors of each operation.
    public private(set) var pasts: [OperationID: Set<OperationID>] = [:]
    /// The document, named by its root.
    public private(set) var document = DocumentID.zero
    /// Those whom the workspace ever let in; `nil` for everybody.
    public var people: Set<MemberID>?
    /// What ended whose membership in the workspace.
    public var ends: [MemberID: Set<OperationID>] = [:]
    private var byID: [OperationID: PrivateOperation] = [:]
    private var generator: SeededGenerator

    /// A document that `owner` makes, with others in it from the start.
    public init(
        by owner: String = "olga", with others: [(String, Role)] = [],
        _ subtype: PrivateSubtype = .channel, history: PrivateHistory = .all, seed: UInt64 = 1,
        people: Set<MemberID>? = nil
    ) {
        generator = SeededGenerator(seed: seed)
        self.people = people
        let seats =
            ([(owner, Role.owner)] + others)
            .map { PrivateSeat(Self.member($0.0), $0.1) }.sorted { $0.member < $1.member }
        let root = PrivateRoot(
            subtype: subtype, seats: seats, history: history, name: "plans", topic: "old")
        let id = write(owner, after: [], .root(root), seat: nil)
        document = DocumentID(sameBytesAs: id)
    }

    /// The root.
    public var root: OperationID { OperationID(sameBytesAs: document) }

    /// The operation with this id.
    public subscript(id: OperationID) -> PrivateOperation? { byID[id] }

    /// Whether the workspace ever let somebody in.
    public func hasLetIn(_ member: MemberID) -> Bool { people?.contains(member) != false }

    /// The member of that name.
    public static func member(_ name: String) -> MemberID {
        let bytes = [UInt8](name.utf8.prefix(16))
        return MemberID(bytes + [UInt8](repeating: 0, count: 16 - bytes.count))
    }

    /// The key of that number.
    public static func key(_ number: UInt8) -> KeyID {
        KeyID([UInt8](repeating: number, count: 16))
    }

    /// The epoch of that key.
    public static func epoch(
        _ number: UInt8, older: [UInt8] = [], form: OlderPrivateKey.Form = .whole,
        answers: [OperationID] = []
    ) -> PrivateEpoch {
        let sealed = [UInt8](repeating: 0, count: OlderPrivateKey.sealedByteCount)
        return PrivateEpoch(
            keyID: key(number),
            older: older.map { OlderPrivateKey(keyID: key($0), form: form, sealed: sealed) },
            answers: answers)
    }

    /// `ids` with all their ancestors.
    public func closure(of ids: some Sequence<OperationID>) -> Set<OperationID> {
        ids.reduce(into: []) { closure, id in
            closure.insert(id)
            closure.formUnion(pasts[id] ?? [])
        }
    }

    /// The operations of `past` that nothing else in it cites, ascending.
    public func heads(of past: Set<OperationID>) -> [OperationID] {
        let covered = past.reduce(into: Set<OperationID>()) { $0.formUnion(pasts[$1] ?? []) }
        return past.subtracting(covered).sorted()
    }

    /// All heads.
    public var heads: [OperationID] { heads(of: Set(operations.map(\.id))) }

    /// Writes a change that knows `after`, everything if it is not given, and the past of that.
    ///
    /// - Parameters:
    ///   - seat: what the author names; the latest seat known if it is not given.
    ///   - sealed: the key in the header; the one that is introduced, or key 1.
    @discardableResult
    public mutating func write(
        _ name: String, after: [OperationID]? = nil, _ action: PrivateAction,
        under seat: OperationID? = nil, sealed: UInt8? = nil, isAllowed: Bool = true,
        knowing ends: Set<OperationID> = []
    ) -> OperationID {
        let past = closure(of: after ?? heads)
        let seat = seat ?? latestSeat(of: Self.member(name), in: past) ?? .zero
        return write(
            name, after: after ?? heads, action, seat: seat, sealed: sealed, isAllowed: isAllowed,
            knowing: ends)
    }

    /// Writes an operation that nobody can read.
    @discardableResult
    public mutating func writeSealed(_ name: String, after: [OperationID]? = nil) -> OperationID {
        write(name, after: after ?? heads, nil, seat: nil)
    }

    private mutating func write(
        _ name: String, after: [OperationID], _ action: PrivateAction?, seat: OperationID?,
        sealed: UInt8? = nil, isAllowed: Bool = true, knowing ends: Set<OperationID> = []
    ) -> OperationID {
        let author = Self.member(name)
        let past = closure(of: after)
        let previous = operations.last { past.contains($0.id) && $0.author == author }?.id
        let operation = PrivateOperation(
            id: OperationID(generator.bytes(32)), author: author, previous: previous,
            dependencies: heads(of: past).filter { $0 != previous }.shuffled(using: &generator),
            keyID: sealed.map { Self.key($0) } ?? action?.epoch?.keyID ?? Self.key(1),
            change: action.map { PrivateChange($0, seat: seat) }, isAllowed: isAllowed,
            knownEnds: ends, people: people)
        operations.append(operation)
        byID[operation.id] = operation
        pasts[operation.id] = past
        return operation.id
    }

    /// The last operation in `past` that gives the member a seat.
    public func latestSeat(of member: MemberID, in past: Set<OperationID>) -> OperationID? {
        operations.last { past.contains($0.id) && $0.seats.contains { $0.member == member } }?.id
    }

    /// The document judged, its operations handed over in a random order.
    public func judged(shuffledBy seed: UInt64 = 7) -> PrivateAuthority {
        var generator = SeededGenerator(seed: seed)
        return PrivateAuthority(
            of: document, operations.shuffled(using: &generator), ends: ends)
    }
}

extension PrivateStory {
    /// Lets people in, with a new key if a number is given.
    @discardableResult
    public mutating func add(
        _ names: [String], as role: Role = .member, by author: String,
        after: [OperationID]? = nil, key: UInt8? = nil
    ) -> OperationID {
        let seats = names.map { PrivateSeat(Self.member($0), role) }
            .sorted { $0.member < $1.member }
        let addition = PrivateAddition(seats: seats, epoch: key.map { Self.epoch($0) })
        return write(author, after: after, .add(addition))
    }

    /// Takes somebody out, with a new key.
    @discardableResult
    public mutating func remove(
        _ name: String, by author: String, after: [OperationID]? = nil, key: UInt8,
        cuts: [CutEntry] = []
    ) -> OperationID {
        write(
            author, after: after,
            .remove(Self.member(name), cuts: cuts, epoch: Self.epoch(key)))
    }
}

extension PrivateOperation {
    /// The seats that the operation gives.
    public var seats: [PrivateSeat] {
        switch change?.action {
        case .root(let root): root.seats
        case .add(let addition): addition.seats
        case .role(let member, let role, _): [PrivateSeat(member, role)]
        default: []
        }
    }
}
