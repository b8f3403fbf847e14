import CRDTStore
import WorkspaceModel

/// Tells of reminders: each device once, by an event and a notice. The store records it beside the
/// event, so that a restart tells nothing twice.
extension OwnDocuments {
    /// When a reminder is due, on the monotonic clock.
    var nextReminder: UInt64? {
        guard home != nil, !turn.session.lock.isLocked, mayWrite else { return nil }
        let due = workspaces.values.compactMap { $0.own.readMarks.reminders.deadline(at: time) }
            .min()
        // A write that is impossible now must not keep the loop awake.
        return due.map { max($0, network.fullDisk.until) }
    }

    /// Takes up which reminders of a workspace there are.
    func reviewReminders(of workspace: Workspace) throws(StorageError) {
        workspace.own.readMarks.reminders.take(
            try reminderRows(of: workspace), try toldReminders(of: workspace))
    }

    /// The waiting and the due reminders.
    func reminderRows(of workspace: Workspace) throws(StorageError) -> [ViewStore.Register] {
        try store.view.own.keyedRegisters(
            .reminder, of: workspace.number, limit: Limits.ownMarksReadMax)
    }

    func toldReminders(
        of workspace: Workspace
    ) throws(StorageError) -> ReminderTimes.Told {
        ReminderTimes.Told(
            try store.registry.value(ReminderTimes.Told.name(of: workspace.number)) ?? [])
    }
}

extension PublicID {
    /// The reminder that `text` names, or `nil` for anything else.
    static func reminderName(_ text: String) -> ReminderName? {
        bytes(text, prefix: "y_").flatMap { ReminderName(untrusted: $0) }
    }
}
