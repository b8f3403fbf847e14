import CRDTStore
import WorkspaceModel

/// Which redactions of a document have to be judged again.
struct RedactionReview {
    /// The arrived redactions, the only ones that may have changed a verdict; `nil` for any reason.
    typealias Cause = Set<Int64>?

    /// Operations that a redaction names, or that came after it.
    private(set) var targets: [OperationReference: Cause] = [:]
    /// The same, in the order in which they were first noted.
    private var order: [OperationReference] = []
    /// How much `targets` holds: one for each target, and for each further cause.
    private(set) var count = 0
    /// The targets of redactions and undos under these grants, by the grant's number: of those that
    /// arrived after this arrival number, each as a cause. What exceeds `targets` waits here, since
    /// a table has it anyway.
    var arrived: [Int64: Int64] = [:]
    /// The targets of redactions under these grants, by the grant's number, for any reason: of
    /// those that arrived after this arrival number.
    private(set) var grants: [Int64: Int64] = [:]
    /// The targets already taken for these: judging once is enough, however many name it.
    private var walked: Set<OperationReference> = []
    /// Everything that is deleted, after this arrival number: its redaction may no longer be
    /// stored.
    private(set) var deleted: Int64?
    /// Cached results, until a query may change them.
    private(set) var pass = RedactionPass()
    /// Whether all of it came by a first sync.
    var isBackfill = true

    /// - Parameter pass: the cached results, where nothing was asked since.
    init(with pass: RedactionPass = RedactionPass(), isBackfill: Bool = true) {
        self.pass = pass
        self.isBackfill = isBackfill
    }

    var isDone: Bool { targets.isEmpty && arrived.isEmpty && grants.isEmpty && deleted == nil }

    /// Schedules everything that redactions under a grant name.
    mutating func walk(_ grant: Int64) {
        grants[grant] = 0
        walked = []
        pass = RedactionPass()
    }

    /// Schedules everything that is deleted.
    mutating func walkDeleted() {
        deleted = 0
        pass = RedactionPass()
    }

    /// Goes on behind a deleted operation, `nil` where that was the last one.
    mutating func goOn(behindDeleted arrival: Int64?) { deleted = arrival }

    /// Goes on behind a redaction under a grant, `nil` where that was the last one.
    mutating func goOn(_ grant: Int64, behind arrival: Int64?) {
        grants[grant] = arrival
        if grants.isEmpty { walked = [] }
    }

    /// Whether a target was not taken yet, which it is now.
    mutating func takesOnWalk(_ target: OperationReference) -> Bool {
        guard walked.count < Limits.redactionsWalkedMax else { return !walked.contains(target) }
        return walked.insert(target).inserted
    }

    /// Puts back what there was no time for.
    mutating func putBack(_ target: OperationReference, _ cause: Cause) {
        guard let cause else { return add(target, because: nil) }
        for redaction in cause.sorted() { add(target, because: redaction) }
    }

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
        pass = RedactionPass()
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
