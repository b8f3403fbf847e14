public import CRDTStore
public import WorkspaceModel

/// A judge of authority: the program's evaluator, or the definition of the rules.
public protocol AuthJudge {
    /// Takes an operation whose citations were offered before.
    ///
    /// - Returns: whether it was taken; what has a fault, or cites what is not here, is refused.
    mutating func take(_ operation: AuthOperation) -> Bool
    /// Takes back the operation taken last, where it is void.
    mutating func withdraw(_ id: OperationID) -> Bool
    /// Whether it is here.
    func contains(_ id: OperationID) -> Bool
    /// Whether it has effect.
    func isValid(_ id: OperationID) -> Bool
    /// All that has effect.
    var valid: Set<OperationID> { get }
    /// Whom a grant serves by a device.
    func subject(ofGrant id: OperationID, device: DeviceID) -> MemberID?
    /// What a grant gives to a device.
    func role(ofGrant id: OperationID, device: DeviceID) -> Role?
    /// The grants under which a device acts now, the strongest first (V-2).
    func standings(of device: DeviceID) -> [AuthDefinition.Standing]
}

extension AuthJudge {
    /// The strongest grant under which a device acts now; `nil` where it may do nothing.
    public func standing(of device: DeviceID) -> AuthDefinition.Standing? {
        standings(of: device).first
    }
}

extension AuthEvaluator {
    /// Adds operations in causal order, and leaves out what is refused (S-1).
    ///
    /// - Returns: what was refused.
    @discardableResult
    public mutating func feed(_ operations: some Sequence<AuthOperation>) throws -> Set<OperationID>
    {
        var refused: Set<OperationID> = []
        for operation in operations {
            do throws(AuthError) {
                _ = try add(operation)
            } catch {
                switch error {
                case .faulty, .unknownReference: refused.insert(operation.id)
                default: throw error
                }
            }
        }
        return refused
    }
}

/// The evaluator as a judge.
public struct EvaluatorJudge: AuthJudge {
    /// The evaluator asked.
    public private(set) var evaluator = AuthEvaluator()

    /// Nothing yet.
    public init() {}

    /// Takes what has no fault and can be placed.
    public mutating func take(_ operation: AuthOperation) -> Bool {
        (try? evaluator.add(operation)) != nil
    }

    /// Takes back.
    public mutating func withdraw(_ id: OperationID) -> Bool { evaluator.withdraw(id) }

    /// Whether it is here.
    public func contains(_ id: OperationID) -> Bool { evaluator.contains(id) }

    /// Whether it has effect.
    public func isValid(_ id: OperationID) -> Bool { evaluator.isValid(id) }

    /// All that has effect.
    public var valid: Set<OperationID> { Set(evaluator.validOperations) }

    /// Whom a grant serves.
    public func subject(ofGrant id: OperationID, device: DeviceID) -> MemberID? {
        evaluator.subject(ofGrant: id, device: device)
    }

    /// What a grant gives.
    public func role(ofGrant id: OperationID, device: DeviceID) -> Role? {
        evaluator.role(ofGrant: id, device: device)
    }

    /// Who a device is now.
    public func standings(of device: DeviceID) -> [AuthDefinition.Standing] {
        evaluator.grants(of: device).compactMap { grant in
            guard let member = evaluator.subject(ofGrant: grant, device: device),
                let role = evaluator.standing(ofGrant: grant, device: device)?.role
            else { return nil }
            return AuthDefinition.Standing(member: member, role: role, grant: grant)
        }
    }
}

/// The definition as a judge. Many share one table of unchanging facts.
public final class DefinitionJudge: AuthJudge {
    /// What is said of operations by their bytes and pasts.
    public let book: AuthDefinition
    private var known = PlainSet()
    private var order: [Int] = []
    private var asked: PlainSet?

    /// A judge that knows nothing of what is in the book.
    public init(_ book: AuthDefinition) { self.book = book }

    private var verdicts: PlainSet {
        if let asked { return asked }
        let verdicts = book.valid(among: known)
        asked = verdicts
        return verdicts
    }

    /// Takes what has no fault, with its past here.
    public func take(_ operation: AuthOperation) -> Bool {
        guard book.add(operation) == nil, let place = book.places[operation.id] else {
            return false
        }
        if known.contains(place) { return true }
        guard book.facts[place].past.allSatisfy({ known.contains($0) }) else { return false }
        known.insert(place)
        order.append(place)
        asked = nil
        return true
    }

    /// Takes back.
    public func withdraw(_ id: OperationID) -> Bool {
        guard let last = order.last, book.places[id] == last, !isValid(id) else {
            return false
        }
        order.removeLast()
        known.remove(last)
        asked = nil
        return true
    }

    /// Whether it is here.
    public func contains(_ id: OperationID) -> Bool {
        book.places[id].map { known.contains($0) } ?? false
    }

    /// Whether it has effect.
    public func isValid(_ id: OperationID) -> Bool {
        book.places[id].map { book.hasEffect($0, in: verdicts) } ?? false
    }

    /// All that has effect.
    public var valid: Set<OperationID> { Set(verdicts.map { book.facts[$0].operation.id }) }

    /// Whom a grant serves.
    public func subject(ofGrant id: OperationID, device: DeviceID) -> MemberID? {
        book.places[id].flatMap { book.given(by: $0, to: device)?.member }
    }

    /// What a grant gives.
    public func role(ofGrant id: OperationID, device: DeviceID) -> Role? {
        book.places[id].flatMap { book.given(by: $0, to: device) }
            .flatMap { Role(rawValue: UInt64($0.role)) }
    }

    /// Who a device is now.
    public func standings(of device: DeviceID) -> [AuthDefinition.Standing] {
        book.standings(of: device, among: verdicts)
    }
}
