import CRDTStore
import WorkspaceModel

/// Tells of due reminders.
extension Events {
    /// Tells of the reminders that are due.
    func tellReminders() throws(StorageError) {
        guard home != nil, !turn.session.lock.isLocked, !turn.isBuilding, core.mayTidy
        else { return }
        let wall = time.wall
        let due = workspaces.values.filter { $0.own.readMarks.reminders.wantsLook(at: wall) }
        for workspace in due.sorted(by: { $0.number < $1.number }) {
            if workspace.own.readMarks.reminders.isStale {
                try core.own.reviewReminders(of: workspace)
            }
            guard workspace.own.readMarks.reminders.wantsLook(at: wall),
                !workspace.own.readMarks.reminders.waits(at: time)
            else { continue }
            try tellReminders(of: workspace)
        }
    }

    private func tellReminders(of workspace: Workspace) throws(StorageError) {
        let rows = try core.own.reminderRows(of: workspace)
        var told = try core.own.toldReminders(of: workspace)
        let due = rows.filter { told.pending($0).map { $0 <= time.wall } ?? false }
            .sorted { ($0.due ?? 0, $0.id) < ($1.due ?? 0, $1.id) }
        try write()
        let command = try noticeCommand()
        for row in due {
            told.note(row)
            // A reminder that cannot be opened is not told.
            guard let object = try core.queries.reminder(arrival: row.arrival) else { continue }
            let isOld = time.wall - (row.due ?? 0) > Limits.reminderNewsMilliseconds
            try turn.record(
                .reminderDue, workspace: workspace.number,
                document: workspace.channelIndex.place(of: object.channel).map {
                    workspace.channelIndex.all[$0].number
                }, arrival: row.arrival, isBackfill: isOld)
            if let command, !isOld {
                turn.emit(.notify(notice(command, object, in: workspace)))
            }
        }
        told.keep(rows)
        try store.registry.setValue(
            told.bytes, of: ReminderTimes.Told.name(of: workspace.number))
        workspace.own.readMarks.reminders.take(rows, told)
    }

    private func notice(
        _ command: String, _ reminder: ReminderObject, in workspace: Workspace
    ) -> Notice {
        let author = reminder.preview?.author.name ?? workspace.displayName(of: workspace.member)
        let pairs = [
            ("WSX_EVENT_TYPE", EventType.reminderDue.word), ("WSX_REMINDER", reminder.id),
            ("WSX_CHANNEL", reminder.channel), ("WSX_CHANNEL_NAME", reminder.channelName ?? ""),
            ("WSX_MESSAGE", reminder.message ?? ""),
            ("WSX_TEXT", reminder.text ?? reminder.preview?.text ?? ""), ("WSX_AUTHOR", author),
            ("WSX_WORKSPACE", reminder.workspace), ("WSX_WORKSPACE_NAME", workspace.displayName),
            ("WSX_NODE_SOCKET", environment.socket), ("WSX_BOT", "notify"),
            ("WSX_AUTHOR_BOT", ""),
        ]
        return Notice(
            command: command, input: Array((reminder.json.text + "\n").utf8),
            variables: pairs.map { Notice.Variable(name: $0.0, value: Self.variable($0.1)) })
    }
}
