public import WorkspaceModel

/// Decides who may do what: the authority document of one workspace, judged.
///
/// The verdicts are a pure function of the set of operations added. Operations arrive in any
/// causal order; each is judged on arrival, and a revocation judges anew only what it reaches
/// and what rests on that.
///
///     var evaluator = AuthEvaluator()
///     try evaluator.add(create)
///     let change = try evaluator.add(removal)
///     change.becameInvalid  // what the removal took the effect from
///
/// How it works: every operation has a rank, and whatever bears on its validity is stronger than
/// itself. Its grant, invite and policy are, by the way ranks are made; a revocation reaches only
/// what is weaker. So one pass from the strongest to the weakest decides everything, and a change
/// spreads only downwards.
///
/// - Cost: an addition is linear in the number of its citations and of the revocations that name
///   its author; memory is that of `CausalPast`.
/// - Source: PROTOCOL.md, 4, whose reference evaluator this one equals.
public struct AuthEvaluator: Sendable {
    /// What was placed, and which of it has effect.
    var verdicts: AuthVerdicts

    /// A document without operations.
    public init() { self.init(rules: .workspace) }

    /// A document without operations, under other rules than a workspace's.
    init(rules: AuthRules) {
        verdicts = AuthVerdicts(
            PlacedOperations(rules: rules, voiding: { AuthVerdicts($0).voids }))
    }

    /// How many others were examined to judge what was added: the cost so far.
    public var looks: Int { verdicts.looks &+ verdicts.placed.looks }

    /// How many operations were added.
    public var count: Int { indices.count }

    /// Adds one operation and judges whatever it bears on.
    ///
    /// An operation that was added before changes nothing.
    ///
    /// - Throws: `AuthError` when it has a fault, or cannot be placed; then nothing is changed.
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
    /// For starting up and for checking: the result equals that of adding one after the other.
    /// What has a fault is left out, and what cites that.
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
    /// yet, so the document is as if it had never come.
    ///
    /// - Returns: whether it is gone.
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
