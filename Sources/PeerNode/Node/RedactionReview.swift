import CRDTStore
import WorkspaceModel

/// What of a document's redactions has to be judged anew.
struct RedactionReview {
    /// The redactions that came, because of which alone a verdict can be another one than before;
    /// `nil` for any reason.
    typealias Cause = Set<Int64>?

    /// Operations that a redaction names, or that came after it.
    private(set) var targets: [OperationReference: Cause] = [:]
    /// The same, in the order in which they were first noted.
    private var order: [OperationReference] = []
    /// How much `targets` holds: one for each target, and for each further cause.
    private(set) var count = 0
    /// What redactions and undos under these grants name, by the grant's number: those that came
    /// behind this arrival number, and each as a cause. What is too much for `targets` waits here,
    /// since a table has it anyway.
    var arrived: [Int64: Int64] = [:]
    /// What redactions under these grants name, by the grant's number, for any reason: those that
    /// came behind this arrival number.
    var grants: [Int64: Int64] = [:]
    /// Everything that is deleted, behind this arrival number: a redaction may be stored no more.
    var deleted: Int64?
    /// Whether all of it came by a first sync.
    var isBackfill = true

    var isDone: Bool { targets.isEmpty && arrived.isEmpty && grants.isEmpty && deleted == nil }

    /// - Parameter redaction: the cause, `nil` for any.
    mutating func add(_ target: OperationReference, because redaction: Int64?) {
        guard targets[target] != nil else {
            order.append(target)
            count += 1
            return targets[target] = .some(redaction.map { [$0] })
        }
        count -= Self.weight(targets[target] ?? nil)
        if let redaction {
            // In place: many may name the same.
            targets[target]??.insert(redaction)
        } else {
            targets[target] = .some(nil)
        }
        count += Self.weight(targets[target] ?? nil)
    }

    /// Reads later what came behind this arrival number under a grant.
    mutating func postpone(_ grant: Int64, behind arrival: Int64) {
        arrived[grant] = min(arrived[grant] ?? arrival, arrival)
    }

    /// Takes out what was noted first.
    ///
    /// - Parameter room: how much, as `count` counts it; less by what was taken.
    mutating func takeFirst(_ room: inout Int) -> [(OperationReference, Cause)] {
        var taken: [(OperationReference, Cause)] = []
        for target in order {
            guard room > 0 else { break }
            let cause = targets.removeValue(forKey: target) ?? nil
            taken.append((target, cause))
            room -= Self.weight(cause)
            count -= Self.weight(cause)
        }
        order.removeFirst(taken.count)
        return taken
    }

    private static func weight(_ cause: Cause) -> Int { max(1, cause?.count ?? 1) }
}
