import CRDTStore
import WorkspaceCrypto
import WorkspaceModel

/// Stars and reminders: registers of an own document, which only this person's devices can read.
final class MarkHandler: CorePart, MarkCommands {
    // MARK: Stars

    func star(
        _ id: String, isOn: Bool, _ scope: CallScope
    ) throws(NodeError) -> MessageObject {
        let aim = try MessageHandler(core).aim(id, scope, isWriting: true)
        let (workspace, row) = (aim.workspace, aim.row)
        let isStarred = try stored { () throws(StorageError) in
            try core.queries.starredAt(row.key, in: workspace) != nil
        }
        if isOn, !isStarred {
            try refuseDeleted(row)
            try refuseMoreStars(in: workspace)
        }
        if isOn != isStarred { try core.own.keep(.star(row.key, isOn: isOn), in: workspace) }
        return try MessageHandler(core).shown(row, in: workspace)
    }

    private func refuseDeleted(_ row: ViewStore.MessageRow) throws(NodeError) {
        let deletion = try stored { () throws(StorageError) in
            try store.view.redactions.deletion(of: row.position.arrival)
        }
        guard deletion != nil else { return }
        throw NodeError(
            .conflict, "that message was deleted", hint: "wsx-node log CHANNEL",
            reason: "message.deleted")
    }

    private func refuseMoreStars(in workspace: Workspace) throws(NodeError) {
        let count = try stored { () throws(StorageError) in
            try core.own.countWrittenHere(try core.own.starRows(of: workspace))
        }
        guard count >= Limits.starsMax else { return }
        throw NodeError(
            .tooMany, "you can star at most \(Limits.starsMax) messages on one device",
            hint: "wsx-node message unstar MSG", reason: "message.stars")
    }

    func starredMessages(
        _ request: PageRequest, _ scope: CallScope
    ) throws(NodeError) -> Page<MessageObject> {
        let workspace: Workspace = try core.queries.workspace(scope)
        let rows = try stored { () throws(StorageError) in
            var rows: [ViewStore.MessageRow] = []
            let starred = try core.own.starRows(of: workspace).sorted {
                ($0.timestamp.rawValue, $0.id) > ($1.timestamp.rawValue, $1.id)
            }
            for star in starred {
                guard let key = star.key, let row = try store.view.message(key),
                    core.queries.channel(row.document, in: workspace) != nil
                else { continue }
                rows.append(row)
            }
            return rows
        }
        let (items, next) = try core.queries.page(rows, request)
        return Page(
            try stored { () throws(StorageError) in
                var objects: [MessageObject] = []
                for row in items {
                    if let object = try core.queries.object(of: row, in: workspace) {
                        objects.append(object)
                    }
                }
                return objects
            }, next: next)
    }

    // MARK: Reminders

    func remind(
        _ draft: ReminderDraft, _ scope: CallScope
    ) throws(NodeError) -> Made<ReminderObject> {
        if let made = try core.replay(scope) {
            return Made(
                try reminder(made.reduce(0) { $0 << 8 | Int64($1) }), isReplayed: true)
        }
        guard draft.at > Int64(clamping: time.wall) else {
            throw NodeError(
                .badRequest, "'at' is in the past", hint: "wsx-node help remind",
                reason: "reminder.at", fields: [.init(name: "at", reason: "range")])
        }
        let text = try checkedReminder(draft.text)
        let (workspace, channel, message) = try subject(draft.subject, scope)
        guard let conversation = channel.conversation else {
            throw .internalFailure(reason: "channel")
        }
        try refuseMoreReminders(in: workspace)
        let name = ReminderName(environment.random.bytes(ReminderName.byteCount))
        let register = OwnRegister.reminder(
            name,
            Reminder(
                due: UInt64(draft.at), conversation: conversation, message: message, text: text))
        try core.own.keep(register, in: workspace)
        let arrival = try stored { () throws(StorageError) in
            try core.own.place(of: register, in: workspace).flatMap {
                (place) throws(StorageError) in
                try store.view.own.register(place)?.arrival
            }
        }
        guard let arrival else { throw .internalFailure(reason: "reminder") }
        try core.remember(scope, made: bigEndianBytes(of: UInt64(arrival)))
        return Made(try reminder(arrival))
    }

    private func reminder(_ arrival: Int64) throws(NodeError) -> ReminderObject {
        let found = try stored { () throws(StorageError) in
            try core.queries.reminder(arrival: arrival)
        }
        guard let found else { throw .internalFailure(reason: "reminder") }
        return found
    }

    private func checkedReminder(_ text: String?) throws(NodeError) -> String? {
        guard let text else { return nil }
        guard !text.utf8.contains(0) else { throw .zeroByte(in: "text") }
        return MessageText.isBlank(text) ? nil : text
    }

    private func subject(
        _ subject: ReminderDraft.Subject, _ scope: CallScope
    ) throws(NodeError) -> (Workspace, Workspace.Channel, MessageKey?) {
        switch subject {
        case .message(let id):
            let aim = try MessageHandler(core).aim(id, scope, isWriting: true)
            try refuseDeleted(aim.row)
            return (aim.workspace, aim.channel, aim.row.key)
        case .channel(let reference):
            let workspace: Workspace = try core.queries.workspace(scope)
            return (workspace, try core.queries.channel(reference, in: workspace), nil)
        }
    }

    private func refuseMoreReminders(in workspace: Workspace) throws(NodeError) {
        let count = try stored { () throws(StorageError) in
            try core.own.countWrittenHere(try core.own.reminderRows(of: workspace))
        }
        guard count >= Limits.remindersMax else { return }
        throw NodeError(
            .tooMany, "you can set at most \(Limits.remindersMax) reminders on one device",
            hint: "wsx-node remind list", reason: "reminder.count")
    }

    func reminders(
        _ request: PageRequest, _ scope: CallScope
    ) throws(NodeError) -> Page<ReminderObject> {
        let workspace: Workspace = try core.queries.workspace(scope)
        let rows = try stored { () throws(StorageError) in try core.own.reminderRows(of: workspace)
        }
        .sorted { ($0.due ?? 0, $0.id) < ($1.due ?? 0, $1.id) }
        let (items, next) = try core.queries.page(rows, request)
        return Page(
            try stored { () throws(StorageError) in
                var objects: [ReminderObject] = []
                for row in items {
                    if let object = try core.queries.reminder(arrival: row.arrival) {
                        objects.append(object)
                    }
                }
                return objects
            }, next: next)
    }

    func cancelReminder(_ id: String, _ scope: CallScope) throws(NodeError) -> ReminderObject {
        guard let name = PublicID.reminderName(id),
            let (workspace, row) = try foundReminder(name, scope)
        else { throw .notFound("reminder", id, field: "id", hint: "wsx-node remind list") }
        var object = try reminder(row.arrival)
        try core.own.keep(.reminder(name, nil), in: workspace)
        object.state = .cancelled
        return object
    }

    /// A reminder that waits, or is due, in the workspace that is named; where none is, in any.
    private func foundReminder(
        _ name: ReminderName, _ scope: CallScope
    ) throws(NodeError) -> (Workspace, ViewStore.Register)? {
        let named: Workspace = try core.queries.workspace(scope)
        var all = [named]
        if scope.workspace == nil {
            all += workspaces.values.filter { $0.standing == .member }
                .sorted { $0.number < $1.number }
        }
        for workspace in all {
            let row = try stored { () throws(StorageError) in
                try store.view.own.register(
                    .init(workspace: workspace.number, kind: .reminder, subject: name.bytes))
            }
            if let row, row.key != nil { return (workspace, row) }
        }
        return nil
    }
}
