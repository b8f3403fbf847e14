public import CRDTStore
public import WorkspaceModel

/// Operations of an authority document with made-up ids, and the past of each as a plain set.
public struct AuthHistory: Sendable {
    /// In the order they were written, which is a causal one.
    public private(set) var operations: [AuthOperation] = []
    /// The ancestors of each operation.
    public private(set) var pasts: [OperationID: Set<OperationID>] = [:]
    private var byID: [OperationID: AuthOperation] = [:]
    private var incarnations: UInt32 = 0

    /// No operations yet.
    public init() {}

    /// The operation with this id.
    public subscript(id: OperationID) -> AuthOperation? { byID[id] }

    /// `ids` with all their ancestors.
    public func closure(of ids: some Sequence<OperationID>) -> Set<OperationID> {
        ids.reduce(into: []) { closure, id in
            closure.insert(id)
            closure.formUnion(pasts[id] ?? [])
        }
    }

    /// Writes an operation whose past is exactly `past`, which must be causally closed.
    ///
    /// It goes on one of the device's logs in that past, chosen by the generator, where it may
    /// be the second at its place; without a log there, or now and then, it begins a new one.
    @discardableResult
    public mutating func write(
        by device: DeviceID, under grant: OperationID?, knowing past: Set<OperationID>,
        _ action: AuthAction, timestamp: UInt64 = 0, isWellBound: Bool = true,
        cuts: [CutEntry] = [], introduces: KeyID? = nil, names: KeyID? = nil,
        takesPlace: Bool = false, with generator: inout SeededGenerator
    ) -> AuthOperation {
        let known = operations.filter { past.contains($0.id) }
        let continued = Set(known.compactMap(\.previous))
        let own = known.filter { $0.device == device && !continued.contains($0.id) }
        let previous = generator.oneIn(8) ? nil : own.randomElement(using: &generator)
        let cited = known.reduce(into: continued) { $0.formUnion($1.dependencies) }
        let heads = known.map(\.id).filter { !cited.contains($0) && $0 != previous?.id }
        incarnations += 1
        let operation = AuthOperation(
            id: OperationID(generator.bytes(32)), device: device,
            incarnation: previous?.incarnation ?? incarnations,
            sequence: previous.map { $0.sequence + 1 } ?? 0, previous: previous?.id,
            dependencies: heads.sorted(), timestamp: timestamp, grant: grant,
            isWellBound: isWellBound, action: action, cuts: CutTable(cuts),
            introducedKey: introduces,
            namedKey: names, takesPlace: takesPlace)
        operations.append(operation)
        byID[operation.id] = operation
        pasts[operation.id] = past
        return operation
    }

    /// Takes back the operation written last.
    public mutating func removeLast() {
        guard let last = operations.popLast() else { return }
        byID[last.id] = nil
        pasts[last.id] = nil
    }

    /// Takes over an operation that somebody else wrote. What it cites must be there already.
    public mutating func append(_ operation: AuthOperation) {
        operations.append(operation)
        byID[operation.id] = operation
        pasts[operation.id] = closure(of: directly(operation))
    }

    /// The operations in some order in which none comes before what it cites.
    public func shuffledCausally(with generator: inout SeededGenerator) -> [AuthOperation] {
        var waiting = operations
        var done: Set<OperationID> = []
        var order: [AuthOperation] = []
        while !waiting.isEmpty {
            let ready = waiting.indices.filter { done.isSuperset(of: directly(waiting[$0])) }
            guard let next = ready.randomElement(using: &generator) else { break }
            done.insert(waiting[next].id)
            order.append(waiting.remove(at: next))
        }
        return order
    }

    /// Every causal order, or the first `limit` of them.
    public func causalOrders(limit: Int) -> [[AuthOperation]] {
        var orders: [[AuthOperation]] = []
        var partial: [[AuthOperation]] = [[]]
        while let order = partial.popLast(), orders.count < limit {
            let done = Set(order.map(\.id))
            if order.count == operations.count { orders.append(order) }
            for operation in operations
            where !done.contains(operation.id) && done.isSuperset(of: directly(operation)) {
                partial.append(order + [operation])
            }
        }
        return orders
    }

    private func directly(_ operation: AuthOperation) -> [OperationID] {
        operation.dependencies + (operation.previous.map { [$0] } ?? [])
    }
}

extension AuthHistory {
    /// The devices listed in a grant; empty for other operations.
    public func devices(of operation: AuthOperation) -> [DeviceID] {
        switch operation.action {
        case .create(_, let devices), .admit(_, _, let devices, _), .addDevices(let devices):
            devices
        case .grant(let given): given.devices + (given.drops ?? [])
        default: []
        }
    }

    /// Whom a grant serves, or by a device of its second list its author; `nil` for other
    /// operations.
    public func subject(of id: OperationID?, by device: DeviceID? = nil) -> MemberID? {
        guard let operation = id.flatMap({ self[$0] }) else { return nil }
        switch operation.action {
        case .create(let member, _), .admit(_, let member, _, _): return member
        case .grant(let given):
            guard let device, !given.devices.contains(device), given.drops != nil else {
                return given.member
            }
            return subject(of: operation.grant, by: operation.device)
        case .addDevices: return subject(of: operation.grant, by: operation.device)
        default: return nil
        }
    }

    /// The devices that operations in `past` make `member`'s, in the order of writing.
    public func devices(of member: MemberID, in past: Set<OperationID>) -> [DeviceID] {
        var found: [DeviceID] = []
        for operation in operations where past.contains(operation.id) {
            if case .grant = operation.action { continue }
            guard subject(of: operation.id) == member else { continue }
            found += devices(of: operation).filter { !found.contains($0) }
        }
        return found
    }

    /// The grants within `past` that list `device`.
    public func grants(of device: DeviceID, in past: Set<OperationID>) -> [AuthOperation] {
        operations.filter { past.contains($0.id) && devices(of: $0).contains(device) }
    }
}
