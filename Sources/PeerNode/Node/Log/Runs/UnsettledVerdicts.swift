import CRDTStore
import WorkspaceModel

/// Verdict changes for content, put off until the turn ends: one message may revoke and regrant
/// something many times, and each time all rows of a device would be rewritten. A verdict that is
/// unchanged in the end costs nothing.
///
/// Only stored operations wait. New ones are judged by the authority of the moment, so no run is
/// accepted into a log in which a verdict waits.
struct UnsettledVerdicts {
    /// What waits of one workspace.
    struct Work {
        /// Short numbers of the grants under which another place may be the last that counts.
        var grants: Set<Int64>
        /// Members who may have been admitted, or removed.
        var people: Set<MemberID>
        var source: OperationSource
        /// Who pays for what is restored under which grants.
        var bills: [Bill] = []
    }

    /// Who pays for an operation (S-5).
    struct Payer {
        /// The share that has paid for it, and that of its author's member: each pays.
        let shares: Set<AuthorityBudget.Share>
        /// Whether it costs no more than the smallest share has, however many verdicts are
        /// reversed.
        let isCapped: Bool
    }

    struct Bill {
        let payer: Payer
        let grants: Set<Int64>
    }

    /// By the workspace's short number.
    private var work: [Int64: Work] = [:]
    /// Who has paid for the current operation.
    var payer: Payer?
    /// How many operations count again under a grant.
    private var givenBack: [Int64: Int] = [:]

    var isEmpty: Bool { work.isEmpty }

    /// The grants under which verdicts of a workspace wait.
    func grants(of workspace: Int64) -> Set<Int64> { work[workspace]?.grants ?? [] }

    mutating func add(_ new: Work, of workspace: Int64) {
        guard var known = work[workspace] else { return work[workspace] = new }
        known.grants.formUnion(new.grants)
        known.people.formUnion(new.people)
        known.bills += new.bills
        // If any of the operations is reported to people, all are.
        if known.source.isBackfill { known.source = new.source }
        work[workspace] = known
    }

    mutating func noteGivenBack(_ count: Int, under grant: Int64) {
        givenBack[grant, default: 0] += count
    }

    /// How many operations count again under these grants; everyone who contributes to that pays
    /// once for each. Revoking costs nothing, or the person who revokes a stolen device would pay
    /// for what the thief wrote.
    func givenBackCount(under grants: Set<Int64>) -> Int {
        grants.reduce(0) { $0 + (givenBack[$1] ?? 0) }
    }

    mutating func forgetGivenBack() { givenBack = [:] }

    /// Everything that waits, in the order of the workspaces.
    mutating func takeAll() -> [(workspace: Int64, work: Work)] {
        defer { work = [:] }
        return work.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }
}
