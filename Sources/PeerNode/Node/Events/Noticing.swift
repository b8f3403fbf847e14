import CRDTStore
import WorkspaceModel

/// Notices that have not been shown yet.
struct NoticeState {
    /// Messages of others that arrived in this turn, in order: workspace, document, arrival number.
    var fresh: [(workspace: Int64, document: Int64, arrival: Int64)] = []
    /// How many of this turn are not among them, since there were too many.
    var passedOver = 0
    /// How often the command has failed since it last did not.
    var failures = 0
    /// Whether no command is known to be stored.
    var hasNoCommand = false
}

/// Notifies the owner of messages, by running the notice command for each.
extension Events {
    private static let commandName = "notify.command"

    // MARK: What is told

    /// Remembers a message that has just appeared, for the end of the turn.
    func noteFresh(
        _ row: ViewStore.MessageRow, in workspace: Workspace, _ source: OperationSource
    ) {
        guard source != .ourselves, !source.isBackfill, !turn.session.lock.isLocked else { return }
        if notices.fresh.count >= Limits.noticesWaitingMax {
            notices.fresh.removeFirst()
            notices.passedOver += 1
        }
        notices.fresh.append((workspace.number, row.document, row.position.arrival))
    }

    /// Hands out what appeared in this turn and is wanted. Read, muted and deleted in the same turn
    /// counts already.
    func showNotices() throws(StorageError) {
        let mentions = core.notes.news.takeMentions()
        let news = core.ledgers.takeNews()
        guard !notices.fresh.isEmpty || !mentions.isEmpty || !news.isEmpty else { return }
        let fresh = notices.fresh
        notices.fresh = []
        let passedOver = notices.passedOver
        notices.passedOver = 0
        guard !turn.session.lock.isLocked, let command = try noticeCommand() else { return }
        for _ in 0..<passedOver { turn.tally.noteNotice("dropped") }
        for mention in mentions {
            if let notice = try notice(command, of: mention) { turn.emit(.notify(notice)) }
        }
        for item in news {
            if let notice = try notice(command, of: item) { turn.emit(.notify(notice)) }
        }
        for item in fresh {
            guard let workspace = core.workspaces[item.workspace], workspace.standing == .member,
                let channel = core.queries.channel(item.document, in: workspace),
                let stored = try store.operations.operation(item.arrival),
                let row = try store.view.message(
                    arrival: item.arrival, sort: stored.place.sort, document: item.document),
                try wantsNotice(of: row, channel, workspace),
                let message = try core.queries.object(of: row, in: workspace),
                message.deleted == nil,
                !message.isSelf
            else { continue }
            turn.emit(
                .notify(notice(command, message, row, channel, workspace)))
        }
    }

    /// Whether the owner wants notice of a message: it is unread or came late, its channel is not
    /// muted, and the level of the channel has a reason for it. Further reasons belong here.
    private func wantsNotice(
        of row: ViewStore.MessageRow, _ channel: Workspace.Channel, _ workspace: Workspace
    ) throws(StorageError) -> Bool {
        guard let read = try core.own.readUpTo(channel, in: workspace) else { return false }
        try core.own.settleLate(channel, in: workspace)
        let isLate = try store.view.isLate(row)
        guard isLate || read < row.key, try !core.own.isMuted(channel, in: workspace).isMuted
        else { return false }
        switch try core.own.noticeLevel(of: channel, in: workspace) {
        case .all: return true
        case .mentions:
            if row.isMention || channel.isDirect { return true }
            return try isAnswer(row, toOwnIn: workspace)
        case .none: return false
        }
    }

    /// Whether a message answers a message of the local member: the author of a thread's root
    /// follows the thread.
    private func isAnswer(
        _ row: ViewStore.MessageRow, toOwnIn workspace: Workspace
    ) throws(StorageError) -> Bool {
        guard let root = row.thread,
            let first = try store.view.anyMessage(root, in: row.document)?.row
        else { return false }
        return core.membership.author(ofGrant: first.grant, in: workspace) == workspace.member
    }

    private func notice(
        _ command: String, _ message: MessageObject, _ row: ViewStore.MessageRow,
        _ channel: Workspace.Channel, _ workspace: Workspace
    ) -> Notice {
        let type: EventType =
            row.isMention && !channel.isDirect ? .mentionReceived : .messageCreated
        let pairs = [
            ("WSX_EVENT_TYPE", type.word), ("WSX_CHANNEL", message.channel),
            ("WSX_CHANNEL_NAME", workspace.shownName(of: channel)), ("WSX_MESSAGE", message.id),
            ("WSX_TEXT", message.text ?? ""), ("WSX_AUTHOR", message.author.name),
            ("WSX_WORKSPACE", message.workspace), ("WSX_WORKSPACE_NAME", workspace.displayName),
            ("WSX_NODE_SOCKET", environment.socket), ("WSX_BOT", "notify"),
            ("WSX_AUTHOR_BOT", message.isBot ? "1" : ""),
        ]
        return Notice(
            command: command, input: Array((message.json.text + "\n").utf8),
            variables: pairs.map { Notice.Variable(name: $0.0, value: Self.variable($0.1)) })
    }

    /// A text as a variable: its beginning, with what could steer a terminal made visible.
    static func variable(_ text: String) -> String {
        TerminalText.forVariable(text, maxBytes: Limits.noticeVariableBytesMax)
    }

    /// Handles the outcome of a notice. Repeated failures of the command are reported once.
    func noticed(_ outcome: NoticeOutcome) throws(StorageError) {
        switch outcome {
        case .dropped: turn.tally.noteNotice("dropped")
        case .answered(let question, let output):
            try core.ledgers.receiptChecked(question, output)
        case .ended(status: 0):
            notices.failures = 0
            turn.tally.noteNotice("shown")
        case .ended(let status):
            notices.failures += 1
            turn.tally.noteNotice("failed")
            guard notices.failures == Limits.noticeFailuresMax, mayWrite else { return }
            turn.emit(.log(.warning, "notify.failed status=\(status ?? -1)"))
            try core.warn([
                "kind": "notify.failed",
                "message": .string(
                    "the notification command failed \(notices.failures) times in a row"),
                "status": status.map { .integer(Int64($0)) } ?? .null,
            ])
        }
    }

    // MARK: Commands

    func notices(_ scope: CallScope) throws(NodeError) -> NoticeObject {
        let workspace: Workspace = try core.queries.workspace(scope)
        return try stored { () throws(StorageError) in
            NoticeObject(
                id: PublicID.workspace(workspace.id),
                level: try core.own.noticeLevel(of: workspace).word,
                command: try noticeCommand())
        }
    }

    func setNotices(_ level: String, _ scope: CallScope) throws(NodeError) -> NoticeObject {
        let workspace: Workspace = try core.queries.workspace(scope)
        guard let name = core.own.levelName(of: workspace) else {
            throw .internalFailure(reason: "workspace")
        }
        let level = OwnRegister.NoticeLevel(word: level) ?? .all
        try core.own.keep(.level(name, level), in: workspace)
        return try notices(scope)
    }

    func setNoticeCommand(
        _ command: String?, _ scope: CallScope
    ) throws(NodeError) -> NoticeCommandObject {
        if let command {
            guard !command.utf8.contains(0) else { throw .zeroByte(in: "command") }
            notices.hasNoCommand = false
            try stored { () throws(StorageError) in
                // Sealed: it may contain a password, and somebody who can only write to the disk
                // must not be able to run a command.
                try setSealedValue(Array(command.utf8), of: Self.commandName)
            }
            notices.failures = 0
        }
        return NoticeCommandObject(
            command: try stored { () throws(StorageError) in try noticeCommand() })
    }

    /// The command that runs for each notice on this node; `nil` without one.
    func noticeCommand() throws(StorageError) -> String? {
        guard let home, let sealed = try sealedNoticeCommand() else {
            return environment.notices.command
        }
        // An empty command disables notices, whatever the settings say.
        guard let bytes = home.open(sealed, name: Array(Self.commandName.utf8)), !bytes.isEmpty
        else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }

    /// What is stored of it. That nothing is stays known: each turn with a message of others asks.
    private func sealedNoticeCommand() throws(StorageError) -> [UInt8]? {
        guard !notices.hasNoCommand else { return nil }
        let sealed = try store.registry.value(Self.commandName)
        notices.hasNoCommand = sealed == nil
        return sealed
    }
}
