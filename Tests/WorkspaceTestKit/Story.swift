public import CRDTStore
public import WorkspaceModel

/// A small workspace with named members: `root` owns it, with the device `root` and, listed before
/// it, `recovery`; everybody else has one device of the same name.
public struct Story {
    /// What was written.
    public private(set) var history = AuthHistory()
    /// The heads when everybody had come in.
    public private(set) var start: [OperationID] = []
    private var generator = SeededGenerator(seed: 1)
    private var grants: [String: OperationID] = [:]

    /// A workspace of `root`, the admins and the members, let in in this order.
    public init(admins: [String], members: [String] = []) {
        let root = history.write(
            by: device("root"), under: nil, knowing: [],
            .create(member: member("root"), devices: [device("recovery"), device("root")]),
            with: &generator)
        grants["root"] = root.id
        let people = admins.map { ($0, Role.admin) } + members.map { ($0, .member) }
        for (name, role) in people {
            let invite = write("root", after: heads, .invite(InviteTerms(role: role)))
            grants[name] = admit(name, on: invite, by: "root", after: [invite])
        }
        start = heads
    }

    /// The operations that nothing cites.
    public var heads: [OperationID] {
        let covered = history.operations.reduce(into: Set<OperationID>()) { covered, operation in
            covered.formUnion(operation.dependencies)
            if let previous = operation.previous { covered.insert(previous) }
        }
        return history.operations.map(\.id).filter { !covered.contains($0) }
    }

    /// The device of that name.
    public func device(_ name: String) -> DeviceID { DeviceID(padded(name, to: 32)) }

    /// The member of that name.
    public func member(_ name: String) -> MemberID { MemberID(padded(name, to: 16)) }

    /// The grant by which somebody first came in.
    public func grant(_ name: String) -> OperationID { grants[name] ?? .zero }

    /// Writes an operation that knows `heads` and their past.
    public mutating func write(
        _ name: String, under grant: OperationID? = nil, after heads: [OperationID],
        _ action: AuthAction, timestamp: UInt64 = 0, isWellBound: Bool = true,
        cuts: [CutEntry] = [], takesPlace: Bool = false
    ) -> OperationID {
        let past = history.closure(of: heads)
        return history.write(
            by: device(name), under: grant ?? self.grant(name), knowing: past, action,
            timestamp: timestamp, isWellBound: isWellBound, cuts: cuts, takesPlace: takesPlace,
            with: &generator
        ).id
    }

    /// Lets somebody in with the device of the same name.
    public mutating func admit(
        _ name: String, on invite: OperationID, by author: String, after heads: [OperationID],
        timestamp: UInt64 = 0, request: OperationID? = nil
    ) -> OperationID {
        write(
            author, after: heads,
            .admit(
                invite: invite, member: member(name), devices: [device(name)], request: request),
            timestamp: timestamp)
    }

    /// Has `root` give a role, knowing everything.
    public mutating func promote(
        _ name: String, to role: Role, replacing: Bool = false, cuts: [CutEntry] = []
    ) -> OperationID {
        let grant = RoleGrant(
            member: member(name), devices: [device(name)], role: role, replaces: replacing)
        return write("root", after: heads, .grant(grant), cuts: cuts)
    }

    /// Hands the workspace over: everybody named goes on with one device of that name, the author
    /// with `own`.
    public func transfer(to name: String, keeping own: [String]) -> AuthAction {
        .grant(
            RoleGrant(
                member: member(name), devices: [device(name)], role: .owner,
                drops: own.map { device($0) }))
    }

    /// Brings somebody back whose end the author knows: a role for the device of that name.
    public func comeback(_ name: String, as role: Role = .member) -> AuthAction {
        .grant(RoleGrant(member: member(name), devices: [device(name)], role: role))
    }

    /// The rule of PROTOCOL.md, 4, that the operation breaks, by the definition; `nil` where it has
    /// no fault. What cites something faulty breaks `S-1`.
    public func brokenRule(of id: OperationID) -> String? {
        var generator = generator
        let definition = AuthDefinition(history, visitingWith: &generator)
        switch definition.refusals[id] {
        case .fault(let rule)?: return rule
        case .citesRefused?: return "S-1"
        case nil: return nil
        }
    }

    /// Judges the story in every causal order, at most 3,000 of them, and at once.
    ///
    /// An order begins as the one before it did, and goes on from what was judged there: most of the time
    /// of these tests went into judging the same beginnings again.
    public func inEveryOrder(_ check: (AuthEvaluator) throws -> Void) throws {
        try check(try AuthEvaluator.evaluateFromScratch(history.operations))
        var last: [OperationID] = []
        // What is judged of the last order: of none of its operations, of the first, of the first two...
        var judged = [AuthEvaluator()]
        for order in history.causalOrders(limit: 3_000) {
            let shared = zip(order, last).prefix { $0.id == $1 }.count
            judged.removeSubrange((shared + 1)...)
            var evaluator = judged[shared]
            for operation in order[shared...] {
                try evaluator.feed([operation])
                judged.append(evaluator)
            }
            last = order.map(\.id)
            try check(evaluator)
        }
    }

    private func padded(_ name: String, to count: Int) -> [UInt8] {
        let bytes = [UInt8](name.utf8.prefix(count))
        return bytes + [UInt8](repeating: 0, count: count - bytes.count)
    }
}
