public import WorkspaceModel

/// Decides who may do what: judges the authority document of one workspace.
///
/// The verdicts are a pure function of the set of operations added. Operations arrive in any causal
/// order. Each is judged on arrival, and a revocation causes new judgements only of what it hits
/// and of what rests on that.
///
///     var evaluator = AuthEvaluator()
///     try evaluator.add(create)
///     let change = try evaluator.add(removal)
///     change.becameInvalid  // the operations that lost their effect by the removal
///
/// How it works: every operation has a rank, and whatever its validity depends on is stronger. Its
/// grant, invite and policy are stronger by the definition of rank, and a revocation hits only
/// weaker operations. So one pass from the strongest to the weakest decides everything, and a
/// change spreads only downwards.
///
/// - Cost: an addition is linear in the number of its citations and of the revocations that name
///   its author; memory is that of `CausalPast`.
/// - Source: PROTOCOL.md, 4; the verdicts equal those of its reference evaluator.
public struct AuthEvaluator: Sendable {
    /// The placed operations and their verdicts.
    var verdicts: AuthVerdicts

    /// A document without operations.
    public init() { self.init(rules: .workspace) }

    /// A document without operations, under other rules than a workspace's.
    init(rules: AuthRules) {
        verdicts = AuthVerdicts(
            PlacedOperations(rules: rules, voiding: { AuthVerdicts($0).voids }))
    }

    /// How many other operations were examined to judge those that were added: the cost so far.
    public var looks: Int { verdicts.looks &+ verdicts.placed.looks }

    /// How many operations were added.
    public var count: Int { indices.count }

    /// Adds one operation and judges all that it affects.
    ///
    /// An operation that was added before changes nothing.
    ///
    /// - Throws: `AuthError` when it has a fault or cannot be placed; then nothing changes.
    @discardableResult
    public mutating func add(_ operation: AuthOperation) throws(AuthError) -> AuthChange {
        guard indices[operation.id] == nil else { return AuthChange() }
        let before = verdicts.placed.looksAtRolls
        let index = try verdicts.link(operation)
        var change = verdicts.settle(from: index)
        change.looksAtRolls = verdicts.placed.looksAtRolls &- before
        change.furtherGrants = records.indices[index...].count { records[$0].again.original != nil }
        return change
    }

    /// The document made of `operations`, in causal order, judged in one pass.
    ///
    /// For start-up and for checks: the result equals that of adding one after the other.
    /// Operations with a fault are left out, and so are those that cite them.
    ///
    /// - Throws: `AuthError` for a second root.
    public static func evaluateFromScratch(
        _ operations: some Sequence<AuthOperation>
    ) throws(AuthError) -> AuthEvaluator {
        var evaluator = AuthEvaluator()
        for operation in operations where evaluator.indices[operation.id] == nil {
            do {
                _ = try evaluator.verdicts.link(operation)
            } catch .secondRoot {
                throw .secondRoot
            } catch {
                continue
            }
        }
        evaluator.verdicts.judgeAll()
        return evaluator
    }

    /// Takes back the operation that was added last, if it has no effect: nothing can rest on it
    /// yet, so the document is as if it had never arrived.
    ///
    /// - Returns: whether it was taken back.
    @discardableResult
    public mutating func withdraw(_ id: OperationID) -> Bool {
        guard let index = indices[id], !records[index].hasEffect, verdicts.placed.isLast(index)
        else { return false }
        verdicts.forget(from: index)
        verdicts.placed.withdraw(index)
        return true
    }
}

/// What its questions read, without a copy.
extension AuthEvaluator {
    var placed: PlacedOperations { _read { yield verdicts.placed } }
    var records: SharedArray<AuthRecord> { _read { yield verdicts.placed.records } }
    var indices: [OperationID: Int] { _read { yield verdicts.placed.indices } }
}
