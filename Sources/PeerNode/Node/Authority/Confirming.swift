import CRDTStore
import WorkspaceModel

/// When this device confirms operations of other members, by workspace, on the monotonic clock.
struct ConfirmationPlan {
    private(set) var due: [Int64: UInt64] = [:]
    /// When it answers leaves from a private channel.
    var departures: [JudgingQueue.Name: UInt64] = [:]
    /// When a member, on this device or another, last confirmed only a few operations.
    private var confirmed: [Int64: UInt64] = [:]

    /// Schedules a confirmation for `wait` from now, and later if something was confirmed just
    /// before.
    mutating func plan(_ workspace: Int64, at now: UInt64, after wait: UInt64) {
        guard due[workspace] == nil else { return }
        let rested = confirmed[workspace].map { $0 &+ Limits.confirmingRestMilliseconds }
        due[workspace] = max(now, rested ?? now) &+ wait
    }

    /// Lets the remaining operations wait until there are more of them.
    mutating func rest(_ workspace: Int64, at now: UInt64) {
        due[workspace] = nil
        confirmed[workspace] = now
    }

    /// The remaining operations need not wait.
    mutating func noteMuch(_ workspace: Int64) { confirmed[workspace] = nil }

    mutating func cancel(_ workspace: Int64) { due[workspace] = nil }

    mutating func cancelAll() { (due, departures) = ([:], [:]) }

    /// When the first of all these is due.
    var nextDeadline: UInt64? {
        var first = Earliest()
        for moment in due.values { first.take(moment) }
        for moment in departures.values { first.take(moment) }
        return first.moment
    }
}

/// A member who revokes a device or leaves may not know everything that was done with it: the
/// members that it admitted, and what it created for everybody, would become void together with all
/// that others have said there. So a stronger member confirms that these operations were found
/// valid (PROTOCOL.md, 4.0.3, V-6, and 4.0.6, F-16 to F-18).
extension Memberships {
    /// Schedules this device's confirmation if there are unconfirmed operations: admins one after
    /// the other, the strongest first, and each only if it is still due.
    func planConfirming(of workspace: Workspace) {
        guard !unconfirmed(in: workspace).isEmpty else {
            return confirmations.cancel(workspace.number)
        }
        let ranked = admins(of: workspace)
        let place = ranked.firstIndex(of: workspace.member) ?? ranked.count
        let wait = Limits.confirmingMilliseconds &* UInt64(1 + min(place, 64))
        confirmations.plan(workspace.number, at: time.monotonic, after: wait)
    }

    /// Takes note of a confirmation. One by a weaker member, or one that confirms nothing new, does
    /// not delay this device's; and after a large one more may be due, which need not wait (F-17).
    func noteConfirmation(_ id: OperationID, in workspace: Workspace) {
        let count = workspace.judged.evaluator.confirmedAlone(by: id)
        guard count > 0 else { return }
        guard count < Limits.confirmedMuchMin else {
            return confirmations.noteMuch(workspace.number)
        }
        let ranked = admins(of: workspace)
        guard let author = workspace.judged.evaluator.author(of: id),
            let place = ranked.firstIndex(of: author),
            place <= ranked.firstIndex(of: workspace.member) ?? ranked.count
        else { return }
        confirmations.rest(workspace.number, at: time.monotonic)
        planConfirming(of: workspace)
    }

    func confirmWhenDue() throws(StorageError) {
        guard !confirmations.due.isEmpty else { return }
        let due = confirmations.due.filter { $0.value <= time.monotonic }.keys.sorted()
        for number in due {
            confirmations.cancel(number)
            guard mayWrite, let workspace = core.workspaces[number],
                case let found = unconfirmed(in: workspace), !found.isEmpty
            else { continue }
            let named = Array(found.prefix(Limits.confirmedMax))
            _ = try core.log.authorAuthority(in: workspace, naming: named) { authoring in
                // If there are more heads than it may cite, what is behind the others is confirmed
                // later.
                let cited = authoring.cited
                return .confirm(named.filter { workspace.judged.evaluator.isKnown($0, by: cited) })
            }
            planConfirming(of: workspace)
        }
    }

    /// Owners and admins, the strongest first.
    private func admins(of workspace: Workspace) -> [MemberID] {
        workspace.members.filter { $0.role <= .admin }.sorted { $0.rank < $1.rank }.map(\.member)
    }

    /// The operations that this device would confirm, if its member is an admin or owner.
    private func unconfirmed(in workspace: Workspace) -> [OperationID] {
        guard home != nil, workspace.standing == .member, let own = workspace.ownRole,
            own <= .admin, let device = turn.session.ownDevice,
            let grant = workspace.judged.evaluator.bestGrant(of: device, as: workspace.member)
        else { return [] }
        return workspace.judged.evaluator.unconfirmed(for: device, under: grant)
    }
}
