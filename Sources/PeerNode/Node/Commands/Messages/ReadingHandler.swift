import CRDTStore
import WorkspaceModel

/// Read markers, notice settings, and preferences that all of a person's devices share.
final class ReadingHandler: CorePart, ReadingCommands {
    // MARK: Read and unread

    func markRead(
        _ reference: ChannelReference, upTo message: String?, _ scope: CallScope
    ) throws(NodeError) -> ReadingObject {
        let workspace: Workspace = try core.queries.workspace(scope)
        let channel = try core.queries.channel(reference, in: workspace)
        try core.channels.refuseOutsider(of: channel, in: workspace)
        if let message {
            try mark(channel, upTo: try row(message, of: channel), in: workspace)
        } else {
            try markAll(of: channel, in: workspace)
        }
        return try stored { () throws(StorageError) in try reading(channel, in: workspace) }
    }

    private func row(
        _ id: String, of channel: Workspace.Channel
    ) throws(NodeError) -> ViewStore.MessageRow {
        let row = try stored { () throws(StorageError) in
            try PublicID.messageKey(id).flatMap { (key) throws(StorageError) in
                try store.view.message(key)
            }
        }
        guard let row, channel.contains(document: row.document) else {
            throw .notFound("message", id, field: "message", hint: "wsx-node log CHANNEL")
        }
        return row
    }

    private func markAll(
        of channel: Workspace.Channel, in workspace: Workspace
    ) throws(NodeError) {
        let isWritten = try stored { () throws(StorageError) -> Bool in
            let unread = try core.own.unread(channel, in: workspace)
            guard let key = unread.last, let sort = unread.end else { return true }
            return try core.own.markRead(channel, upTo: key, sort: sort, in: workspace)
        }
        guard isWritten else { throw core.membership.notAllowed(in: workspace) }
    }

    private func mark(
        _ channel: Workspace.Channel, upTo row: ViewStore.MessageRow, in workspace: Workspace
    ) throws(NodeError) {
        let isWritten = try stored { () throws(StorageError) in
            try core.own.markRead(
                channel, upTo: ViewStore.readKey(of: row), sort: row.position.sort, in: workspace)
        }
        guard isWritten else { throw core.membership.notAllowed(in: workspace) }
    }

    func readStatus(
        _ request: PageRequest, _ scope: CallScope
    ) throws(NodeError) -> Page<ReadingObject> {
        let workspace: Workspace = try core.queries.workspace(scope)
        let (items, next) = try core.queries.page(try followed(in: workspace), request)
        return Page(
            try stored { () throws(StorageError) in
                var objects: [ReadingObject] = []
                for channel in items { objects.append(try reading(channel, in: workspace)) }
                return objects
            }, next: next)
    }

    func unread(
        marksAll: Bool, _ request: PageRequest, _ scope: CallScope
    ) throws(NodeError) -> Page<ReadingObject> {
        let workspace: Workspace = try core.queries.workspace(scope)
        if marksAll {
            for channel in try followed(in: workspace) { try markAll(of: channel, in: workspace) }
        }
        let all = workspace.channelIndex.all
        let unread = try stored { () throws(StorageError) in
            try core.channels.overview(of: workspace).filter { $0.entry.unread > 0 }
        }.sorted { first, second in
            let (left, right) = (first.entry.urgencyOfUnread, second.entry.urgencyOfUnread)
            return left == right
                ? all[first.place].publicID > all[second.place].publicID : left > right
        }
        let (items, next) = try core.queries.page(unread, request)
        return Page(
            try stored { () throws(StorageError) in
                try items.map { (row) throws(StorageError) in
                    try reading(all[row.place], in: workspace)
                }
            }, next: next)
    }

    /// The conversations that the caller is in; empty for a workspace that the caller is not in.
    private func followed(in workspace: Workspace) throws(NodeError) -> [Workspace.Channel] {
        let all = workspace.channelIndex.all
        return try stored { () throws(StorageError) in
            try core.channels.overview(of: workspace).filter(\.entry.isFollowed).map {
                all[$0.place]
            }
        }
    }

    private func reading(
        _ channel: Workspace.Channel, in workspace: Workspace
    ) throws(StorageError) -> ReadingObject {
        let shown = try core.queries.object(of: channel, in: workspace)
        var object = ReadingObject(id: shown.id, name: shown.name)
        object.unread = shown.reading.unread
        object.mentions = shown.reading.mentions
        object.last = shown.last
        let unread = try core.own.unread(channel, in: workspace)
        if unread.count > 0, let newest = unread.newest {
            // A late message is not displayed at the end.
            object.last = try core.queries.preview(of: newest.key, in: workspace) ?? shown.last
            object.first = unread.oldest.map { PublicID.message($0.key) }
        }
        object.message = try channel.conversation.flatMap { (name) throws(StorageError) in
            try core.own.marker(core.own.place(.read, name, in: workspace), in: workspace)
        }.map(PublicID.message)
        return object
    }

    // MARK: Notices

    func mute(
        _ reference: ChannelReference, until: Int64?, forMilliseconds: Int64?, _ scope: CallScope
    ) throws(NodeError) -> ChannelObject {
        guard until == nil || forMilliseconds == nil else {
            throw NodeError(
                .badRequest, "give either 'until' or 'for_ms', not both",
                hint: "wsx-node help channel mute", reason: "conflict",
                fields: [.init(name: "for_ms", reason: "conflict")])
        }
        let end =
            forMilliseconds.map { time.wall &+ UInt64(clamping: $0) }
            ?? until.map(UInt64.init(clamping:))
        if until != nil, let end, end <= time.wall {
            throw NodeError(
                .badRequest, "'until' is in the past", hint: "wsx-node help channel mute",
                reason: "mute.until", fields: [.init(name: "until", reason: "range")])
        }
        return try set(reference, scope) { .mute($0, until: end) }
    }

    func setNotices(
        _ level: String, of reference: ChannelReference, _ scope: CallScope
    ) throws(NodeError) -> ChannelObject {
        // Any other word is the default.
        let level = OwnRegister.NoticeLevel(word: level)
        return try set(reference, scope) { .level($0, level) }
    }

    private func set(
        _ reference: ChannelReference, _ scope: CallScope,
        _ register: (ConversationName) -> OwnRegister
    ) throws(NodeError) -> ChannelObject {
        let workspace: Workspace = try core.queries.workspace(scope)
        let channel = try core.queries.channel(reference, in: workspace)
        try core.channels.refuseOutsider(of: channel, in: workspace)
        guard let name = channel.conversation else { throw .internalFailure(reason: "channel") }
        try core.own.keep(register(name), in: workspace)
        return try stored { () throws(StorageError) in
            try core.queries.object(of: channel, in: workspace)
        }
    }

    // MARK: Settings

    func preference(_ name: String, _ scope: CallScope) throws(NodeError) -> PreferenceObject {
        let workspace: Workspace = try core.queries.workspace(scope)
        let found = try stored { () throws(StorageError) in
            try core.own.register(core.own.place(ofPreference: name, in: workspace), in: workspace)
        }
        // The place is a hash of the name, and two names do not share one.
        guard case .preference(_, let value)? = found else {
            return PreferenceObject(name: name, value: nil)
        }
        return PreferenceObject(name: name, value: value)
    }

    /// The preferences that a person has set, without those that the program stores there for
    /// itself.
    func preferences(
        _ request: PageRequest, _ scope: CallScope
    ) throws(NodeError) -> Page<PreferenceObject> {
        let workspace: Workspace = try core.queries.workspace(scope)
        var found: [PreferenceObject] = []
        try stored { () throws(StorageError) in
            for row in try store.view.own.registers(of: workspace.number)
            where row.place.kind == .preference {
                guard
                    case .preference(let name, let value?)? =
                        try core.own.register(row.place, in: workspace),
                    name != PresenceChoice.setting, !name.hasPrefix("profile.")
                else { continue }
                found.append(PreferenceObject(name: name, value: value))
            }
        }
        let (items, next) = try core.queries.page(found.sorted { $0.name < $1.name }, request)
        return Page(Array(items), next: next)
    }

    func setPreference(
        _ name: String, to value: String?, _ scope: CallScope
    ) throws(NodeError) -> PreferenceObject {
        let workspace: Workspace = try core.queries.workspace(scope)
        for (field, text) in [("setting", name), ("value", value ?? "")]
        where text.utf8.contains(0) {
            throw NodeError(
                .badRequest, "'\(field)' contains a zero byte", hint: nil, reason: "bad_text",
                fields: [.init(name: field, reason: "form")])
        }
        try core.own.keep(.preference(name, value: value), in: workspace)
        return PreferenceObject(name: name, value: value)
    }
}

extension OwnRegister.NoticeLevel {
    /// As the interface calls it.
    var word: String {
        switch self {
        case .all: "all"
        case .mentions: "mentions"
        case .none: "none"
        }
    }

    init?(word: String) {
        guard let level = Self.allCases.first(where: { $0.word == word }) else { return nil }
        self = level
    }
}

extension ConversationOverview.Entry {
    /// The unread conversation with the most mentions of the reader comes first, then the latest.
    fileprivate var urgencyOfUnread: (Int64, Int64) { (mentions, newest ?? moved) }
}
