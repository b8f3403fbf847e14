public import WorkspaceModel

/// A member of a private document.
public struct PrivateMember: Hashable, Sendable {
    /// The member. Whether the workspace still has this member is decided in the workspace.
    public let member: MemberID
    /// The strongest role there.
    public let role: Role
    /// The operation that gives the role: the member's next operation names it as its seat.
    public let seat: OperationID
}

/// The name and other fields of a private document, and whether it is still in use.
public struct PrivateFields: Hashable, Sendable {
    /// The name; `nil` if none was ever given.
    public var name: String?
    /// Empty if it was cleared.
    public var topic: String?
    /// Empty if it was cleared.
    public var description: String?
    /// A request to programs: content in an archived document is valid.
    public var archived = false
    /// Empty if it was cleared.
    public var image: String?
    /// How many devices keep each file; 0 asks none to.
    public var copies: UInt64 = 0
    /// The valid operation that deletes it, the smallest if there are several.
    public var deletion: OperationID?

    /// Fields that nobody has set.
    public init() {}
}

/// Queries about single operations.
extension PrivateAuthority {
    /// Whether the operation is in the graph, which needs all that it cites to be there.
    public func contains(_ id: OperationID) -> Bool { !records(of: id).isEmpty }

    /// Whether the operation has effect. For an `add`, whether one of its seats has.
    public func isValid(_ id: OperationID) -> Bool {
        records(of: id).contains { evaluator.records[$0].isValid }
    }

    /// The verdict on an operation; `nil` when it is not in the graph.
    ///
    /// `notBound` means that the operation is not valid in the workspace. `unknownKind` means that
    /// it is not opened, has no meaning, or does not belong in a document of this subtype.
    public func verdict(on id: OperationID) -> AuthVerdict? {
        guard let index = indices[id], let first = parts[index].first else { return nil }
        if isValid(id) { return .valid }
        guard operations[index].isAllowed else { return .faulty(.notBound) }
        guard operations[index].isSound else { return .faulty(.unknownKind) }
        // Of several seats, one without a fault gives the more useful verdict.
        let telling = parts[index].first { evaluator.records[$0].fault == nil } ?? first
        switch evaluator.verdict(on: evaluator.records[telling].operation.id) {
        case .unsupported(let other): return operation(named: other).map { .unsupported(by: $0) }
        case .revoked(let other): return operation(named: other).map { .revoked(by: $0) }
        case let verdict: return verdict
        }
    }

    /// 1 + the greatest depth among what the operation cites; 1 for the root, `nil` for an
    /// operation that is not in the graph.
    public func lamport(of id: OperationID) -> UInt64? {
        records(of: id).first.map { evaluator.records[$0].lamport }
    }

    /// Whether `ancestor` is in the past of `descendant`. No operation is its own ancestor.
    public func isAncestor(_ ancestor: OperationID, of descendant: OperationID) -> Bool {
        guard let own = indices[ancestor], let other = indices[descendant] else { return false }
        return knows(other, own)
    }

    /// What a new operation of kind 3 cites: the valid operations that are in the past of no other
    /// valid one. Ascending.
    public var heads: [OperationID] { evaluator.heads.compactMap { operation(named: $0) }.sorted() }

    /// The ends of memberships that an operation written now is known to know, besides those that
    /// its own grant knows.
    public var knownEnds: Set<OperationID> {
        var known: Set<OperationID> = []
        for operation in operations where !operation.knownEnds.isEmpty && isValid(operation.id) {
            known.formUnion(operation.knownEnds)
        }
        return known
    }

    /// The same for an operation about some members: if there are more than fit, those first that
    /// are or know what seats these members, then the strongest (D-31).
    ///
    /// - Parameter bringsKey: it introduces a key, which seals only if it knows the valid removes
    ///   and leaves.
    public func citations(naming members: [MemberID], bringsKey: Bool = false) -> [OperationID] {
        let ends = bringsKey ? latestOnEachBranch(validEnds) : []
        let named =
            evaluator.bindings(of: members.map(\.asDevice))
            + ends.map { evaluator.records[$0].operation.id }
        return evaluator.citations(naming: named).compactMap { operation(named: $0) }
    }

    /// The valid operations in the order of (depth, id).
    public var validOperations: [OperationID] {
        inOrder { isValid(operations[$0].id) }.map { operations[$0].id }
    }
}

/// Queries about the state that results from all operations.
extension PrivateAuthority {
    /// Every member who is in, by id.
    public var members: [PrivateMember] {
        evaluator.members.compactMap { standing in
            operation(named: standing.grant).map {
                PrivateMember(member: standing.member, role: standing.role, seat: $0)
            }
        }
    }

    /// The member's role and seat now; `nil` for a member who is not in.
    public func standing(of member: MemberID) -> PrivateMember? {
        guard let grant = evaluator.bestGrant(of: member.asDevice),
            let role = evaluator.role(of: member), let seat = operation(named: grant)
        else { return nil }
        return PrivateMember(member: member, role: role, seat: seat)
    }

    /// Whether `other` could remove `member`: has a seat as owner or admin that nothing here has
    /// ended and that is stronger. If `other` has left the workspace since, their earlier
    /// operations stay. Nobody could remove the owner: there is only one, and a former owner leads
    /// by the role that was kept.
    public func couldRemove(_ member: MemberID, by other: MemberID) -> Bool {
        guard member != other,
            let own = evaluator.bestGrant(of: member.asDevice).flatMap(evaluator.rank(ofGrant:))
        else { return false }
        return strongestSeat(of: other).map { $0 < own } ?? false
    }

    /// Whether both lead the document, or led it until they left the workspace, and the first one
    /// by the stronger seat.
    public func outranks(_ member: MemberID, _ other: MemberID) -> Bool {
        guard let own = strongestSeat(of: member), let theirs = strongestSeat(of: other) else {
            return false
        }
        return own < theirs
    }

    /// The strongest of a member's seats as owner or admin that nothing here has ended. A former
    /// owner leads by the role that was kept, as in 4.0.3 (V-3).
    private func strongestSeat(of member: MemberID) -> GrantRank? {
        ends(ofSeatsOf: member).compactMap { seat, ends -> GrantRank? in
            guard ends.isEmpty, let role = evaluator.records[seat].gives.role, role <= .admin,
                gives(seat, to: member, atLeast: .admin)
            else { return nil }
            return evaluator.verdicts.standing(ofGrant: seat, for: member.asDevice)
        }.min()
    }

    /// Whether a member who is out could still write something valid in a past that does not know
    /// the end: they led the document by a seat that only their own leave has ended. An operation
    /// under a stronger seat ends that too.
    public func leadsInThePast(_ member: MemberID) -> Bool {
        guard standing(of: member) == nil else { return false }
        return ends(ofSeatsOf: member).contains { seat, ends in
            guard let role = evaluator.records[seat].gives.role, role <= .admin, !ends.isEmpty
            else {
                return false
            }
            return ends.allSatisfy { evaluator.records[$0].operation.action.isDeparture }
        }
    }

    /// Whether a member ever had a valid seat of this role or a stronger one.
    public func hasSeated(_ member: MemberID, asAtLeast role: Role) -> Bool {
        seats(of: member).contains { seat in
            evaluator.records[seat].gives.role.map { $0 <= role } ?? false
        }
    }

    /// Members who are not in, though operations by people whom `leader` has removed name them in
    /// additions: each with the removes by `leader` that an addition does not know. People
    /// whom an addition names can open what is in its past. They cannot open these removes, unless
    /// another addition names them, too.
    ///
    /// - Parameter people: the members to ask about: an addition may name 2,000 unknown ones.
    public func namedWithoutEffect(
        byThoseRemovedBy leader: MemberID, among people: Set<MemberID>
    ) -> [MemberID: Set<OperationID>] {
        var removals: [MemberID: [Int]] = [:]
        for (index, operation) in operations.enumerated() where operation.author == leader {
            guard case .remove(let member, _, _)? = operation.change?.action,
                isValid(operation.id), hasSeated(member, asAtLeast: .admin)
            else { continue }
            removals[member, default: []].append(index)
        }
        guard !removals.isEmpty else { return [:] }
        var named: [MemberID: Set<OperationID>] = [:]
        for (index, operation) in operations.enumerated() {
            guard case .add(let addition)? = operation.change?.action, !isValid(operation.id),
                let ofAuthor = operation.author.flatMap({ removals[$0] })
            else { continue }
            let unknown = ofAuthor.filter { !knows(index, $0) }.map { operations[$0].id }
            for seat in addition.seats
            where people.contains(seat.member) && standing(of: seat.member) == nil {
                named[seat.member, default: []].formUnion(unknown)
            }
        }
        return named
    }

    /// The valid removes and leaves that ended the member's seat; empty for a member who is in or
    /// never was. Ascending.
    public func ends(of member: MemberID) -> [OperationID] {
        evaluator.revocations(ending: member).compactMap { operation(named: $0) }.sorted()
    }

    /// The valid removes and leaves, ascending.
    public var membershipEnds: [OperationID] {
        validEnds.compactMap { operation(named: evaluator.records[$0].operation.id) }.sorted()
    }

    /// Each field as set by the valid operation with the largest (depth, id) that sets it.
    public var fields: PrivateFields {
        var fields = PrivateFields()
        guard let root, isValid(OperationID(sameBytesAs: document)) else { return fields }
        fields.name = root.name
        fields.topic = root.topic
        fields.description = root.description
        for index in inOrder({ operations[$0].changesFields }) {
            guard isValid(operations[index].id) else { continue }
            switch operations[index].change?.action {
            case .set(let settings):
                fields.name = settings.name ?? fields.name
                fields.topic = settings.topic ?? fields.topic
                fields.description = settings.description ?? fields.description
                fields.archived = settings.archived ?? fields.archived
                fields.image = settings.image ?? fields.image
                fields.copies = settings.copies ?? fields.copies
            case .delete:
                let id = operations[index].id
                fields.deletion = min(fields.deletion ?? id, id)
            default:
                break
            }
        }
        return fields
    }
}

extension PrivateAuthority {
    /// The engine's records of an operation, in the order of its parts.
    func records(of id: OperationID) -> Range<Int> { indices[id].map { parts[$0] } ?? 0..<0 }

    func operation(named name: OperationID) -> OperationID? {
        guard let index = PrivatePlacement.operation(named: name), index < operations.count else {
            return nil
        }
        return operations[index].id
    }

    /// Whether the operation at `index` has the one at `other` in its past.
    func knows(_ index: Int, _ other: Int) -> Bool {
        guard let own = parts[index].first, let last = parts[other].last else { return false }
        return index != other && evaluator.records[own].knows(evaluator.records[last].place)
    }

    /// The valid removes and leaves.
    var validEnds: [Int] {
        evaluator.records.indices.filter {
            evaluator.records[$0].isValid && evaluator.records[$0].operation.action.endsMembership
        }
    }

    /// The placed operations that satisfy `isWanted`, in the order of (depth, id).
    private func inOrder(_ isWanted: (Int) -> Bool) -> [Int] {
        let wanted = operations.indices.filter { !parts[$0].isEmpty && isWanted($0) }
        return wanted.sorted {
            (depth($0), $0) < (depth($1), $1)
        }
    }

    private func depth(_ index: Int) -> UInt64 {
        parts[index].first.map { evaluator.records[$0].lamport } ?? 0
    }
}

extension PrivateOperation {
    fileprivate var changesFields: Bool {
        switch change?.action {
        case .set, .delete: true
        default: false
        }
    }
}
