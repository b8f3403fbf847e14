import CRDTStore
import WorkspaceModel

/// Stands in for the evaluator.
struct PrivateAuthority {
    struct Operation {
        let id: OperationID
        let author: MemberID
        let log: LogName
        let sequence: UInt64
        let previous: OperationID?
        let dependencies: [OperationID]
        let change: PrivateChange?
        let counts: Bool
    }
    private var operations: [Operation] = []
    private var valid: Set<OperationID> = []
    private var past: [OperationID: Set<OperationID>] = [:]
    private(set) var roles: [MemberID: Role] = [:]
    private(set) var everIn: Set<MemberID> = []
    private var seats: [MemberID: OperationID] = [:]

    mutating func add(_ operation: Operation) {
        operations.append(operation)
        var known: Set<OperationID> = []
        for id in operation.dependencies + [operation.previous].compactMap({ $0 }) {
            known.insert(id)
            known.formUnion(past[id] ?? [])
        }
        past[operation.id] = known
        guard operation.counts, let action = operation.change?.action else { return }
        let role = roles[operation.author]
        switch action {
        case .root(let root):
            for seat in root.seats {
                roles[seat.member] = seat.role
                seats[seat.member] = operation.id
            }
        case .add(let add):
            guard let role, role <= .admin else { return }
            for seat in add.seats {
                roles[seat.member] = seat.role
                seats[seat.member] = operation.id
            }
        case .remove(let member, _, _):
            guard let role, role <= .admin else { return }
            roles[member] = nil
        case .leave:
            guard role != nil else { return }
            roles[operation.author] = nil
        case .role(let member, let new, let drops):
            guard role == .owner else { return }
            roles[member] = new
            seats[member] = operation.id
            if drops { roles[operation.author] = .admin }
        case .set, .rekey, .delete:
            guard role != nil else { return }
        }
        everIn.formUnion(roles.keys)
        valid.insert(operation.id)
    }

    var counting: [OperationID] { operations.map(\.id).filter(valid.contains) }
    func isOutdated(_ notice: OperationID) -> Bool { past[notice] != nil }
    func isValid(_ id: OperationID) -> Bool { valid.contains(id) }
    func isAncestor(_ one: OperationID, of other: OperationID) -> Bool {
        past[other]?.contains(one) ?? false
    }
    var heads: [OperationID] {
        let covered = past.values.reduce(into: Set<OperationID>()) { $0.formUnion($1) }
        return operations.map(\.id).filter { !covered.contains($0) }.sorted()
    }
    func seat(of member: MemberID) -> OperationID? { roles[member] == nil ? nil : seats[member] }
    func lamport(of id: OperationID) -> UInt64? { past[id].map { UInt64($0.count) } }
    var ends: [OperationID] {
        operations.filter { operation in
            guard valid.contains(operation.id) else { return false }
            switch operation.change?.action {
            case .remove, .leave: return true
            default: return false
            }
        }.map(\.id)
    }
    func contentLimit(of member: MemberID, log: LogName, under key: [OperationID]) -> ContentLimit {
        guard key.contains(where: isValid) else { return .nothing }
        if roles[member] != nil { return .everything }
        return everIn.contains(member) ? .cuts([[]]) : .nothing
    }
}
