import CRDTStore
import WorkspaceModel

/// When this device changes keys by itself, by workspace, on the monotonic clock.
struct KeyChangePlan {
    /// One change that is due.
    private struct Entry {
        var due: UInt64
        /// Beyond which nothing that happens puts it off.
        let latest: UInt64
    }

    private var entries: [Int64: Entry] = [:]

    /// When the first is due.
    var nextDeadline: UInt64? { entries.values.lazy.map(\.due).min() }

    /// Schedules a change for `wait` from now. Changes meanwhile postpone it, so that one answers
    /// several that come together, but only up to a limit.
    mutating func plan(_ workspace: Int64, at now: UInt64, after wait: UInt64) {
        let latest =
            entries[workspace]?.latest ?? now &+ wait &+ Limits.keyChangePutOffMilliseconds
        entries[workspace] = Entry(due: min(now &+ wait, latest), latest: latest)
    }

    mutating func cancel(_ workspace: Int64) { entries[workspace] = nil }

    mutating func cancelAll() { entries = [:] }

    /// Removes and returns those that are due, ascending.
    mutating func takeDue(at now: UInt64) -> [Int64] {
        guard !entries.isEmpty else { return [] }
        let due = entries.filter { $0.value.due <= now }.keys.sorted()
        for workspace in due { entries[workspace] = nil }
        return due
    }
}

/// Who changes the group key without being asked, and when.
extension KeySchedule {
    /// Sets the time at which this device changes the key, when that is due: admins do it one
    /// after the other, the strongest first, and each only if it is still due.
    func planKeyChange(of workspace: Workspace) {
        guard workspace.standing == .member, let own = workspace.ownRole, own <= .admin,
            workspace.needsKeyChange
        else { return keyChanges.cancel(workspace.number) }
        let ranked = workspace.members.filter { $0.role <= .admin }
            .sorted { $0.rank < $1.rank }
        let place = ranked.firstIndex { $0.member == workspace.member } ?? ranked.count
        let turn = Limits.keyChangeTurnMilliseconds &* UInt64(min(place, 64))
        keyChanges.plan(
            workspace.number, at: time.monotonic,
            after: Limits.keyChangeFirstMilliseconds &+ turn &+ keyChangeWait(in: workspace))
    }

    func changeKeysWhenDue() throws(StorageError) {
        for number in keyChanges.takeDue(at: time.monotonic) {
            guard mayWrite, let workspace = core.workspaces[number], workspace.needsKeyChange else {
                continue
            }
            guard keyChangeWait(in: workspace) == 0 else {
                planKeyChange(of: workspace)
                continue
            }
            try changeKey(of: workspace)
        }
    }

    /// Before an admin writes: a key that somebody who is out may hold is changed first, as far as
    /// the pace allows. Others use the newest.
    func answerEnds(in workspace: Workspace) throws(StorageError) {
        guard workspace.sealingKey?.answersAll == false, keyChangeWait(in: workspace) == 0 else {
            return
        }
        try changeKey(of: workspace)
    }

    /// Records a key change, if a device of this person wrote it as an operation of its own: a
    /// change that is part of another operation is not paced.
    func noteKeyChange(
        _ id: OperationID, _ record: Workspace.AuthorityRecord, in workspace: Workspace
    ) {
        guard case .rekey = record.payload,
            workspace.judged.author(of: id) == workspace.member
        else { return }
        workspace.secrets.changePace.note(written: record.timestamp.milliseconds, now: time.wall)
    }

    /// How long an automatic change has to wait, in milliseconds. An end by an owner or admin is
    /// answered at once.
    private func keyChangeWait(in workspace: Workspace) -> UInt64 {
        guard workspace.sealingKey?.answersAdmins != false else { return 0 }
        return workspace.secrets.changePace.wait(now: time.wall)
    }
}
