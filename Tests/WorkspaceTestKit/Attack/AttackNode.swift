import CRDTStore
import WorkspaceModel

/// A node that follows S-1 and S-2: it stores valid operations with their past.
struct AttackNode<Judge: AuthJudge> {
    var judge: Judge
    private(set) var stored: Set<OperationID> = []
    private(set) var order: [OperationID] = []
    let rules: AuthRuleSet

    init(_ judge: Judge, rules: AuthRuleSet) {
        self.judge = judge
        self.rules = rules
    }

    /// Takes an operation with what of its past is not here; drops them where that leaves nothing
    /// valid behind.
    ///
    /// - Parameter operations: the past and the operation, in causal order.
    mutating func offer(_ operations: [AuthOperation]) {
        var taken: [OperationID] = []
        for operation in operations where !stored.contains(operation.id) {
            guard judge.take(operation) else { break }
            taken.append(operation.id)
        }
        if rules.has(.s2) {
            while let last = taken.last, !judge.isValid(last), judge.withdraw(last) {
                taken.removeLast()
            }
        }
        stored.formUnion(taken)
        order += taken
    }
}
