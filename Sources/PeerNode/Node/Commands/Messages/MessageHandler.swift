import BlobStore
import CRDTStore
import WorkspaceModel

/// Sends and reads messages.
final class MessageHandler: CorePart, MessageCommands {
    func send(_ draft: MessageDraft, _ scope: CallScope) throws(NodeError) -> Made<MessageObject> {
        if let made = try core.replay(scope) { return try replayedMessage(made) }
        let workspace: Workspace = try core.queries.workspace(scope)
        let named = try core.queries.channel(draft.channel, in: workspace)
        try core.channels.refuseArchived(named, in: workspace)
        try core.channels.refuseOutsider(of: named, in: workspace)
        try core.channels.refuseDeserted(named, in: workspace)
        let thread = try draft.thread.map { (id) throws(NodeError) in
            try threadRoot(id, in: named)
        }
        let (manifest, refused) = try core.files.names.manifest(of: draft.files, in: workspace)
        let text = try checkedText(
            draft.text, isOptional: draft.location != nil || manifest != nil)
        let format: ContentPayload.Message.Format = draft.format == "code" ? .code : .text
        // Writes where nobody has opened the conversation, so it comes after every refusal.
        let channel = try ChannelHandler(core).opened(named, in: workspace)
        let content = ContentPayload.message(
            .init(
                text: text, format: format, thread: thread, location: draft.location,
                mentions: try core.messages.mentions(in: text, format, channel, of: workspace),
                isBot: draft.isBot, manifest: manifest?.encoded))
        let sent = try stored { () throws(StorageError) in
            try core.privates.authorContent(content, to: channel.id, in: workspace)
        }
        guard let sent else { throw core.membership.notAllowed(in: workspace) }
        core.files.drafts.sent(draft.files)
        try core.remember(scope, made: bigEndianBytes(of: UInt64(sent.arrival)))
        if !draft.isBot { try readByAnswering(sent.arrival, in: channel, of: workspace) }
        var object = try message(arrival: sent.arrival, in: workspace)
        object.refused = refused
        return Made(object)
    }

    /// A person who sends a message has read the ones before it; a bot has not.
    private func readByAnswering(
        _ arrival: Int64, in channel: Workspace.Channel, of workspace: Workspace
    ) throws(NodeError) {
        let documents = [channel.number] + channel.others
        guard !workspace.own.readMarks.answered.isSuperset(of: documents) else { return }
        workspace.own.readMarks.answered.formUnion(documents)
        try stored { () throws(StorageError) in
            let unread = try core.own.unread(channel, in: workspace)
            guard unread.count > 0,
                let stored = try store.operations.operation(arrival, hasPayload: false),
                let row = try store.view.message(
                    arrival: arrival, sort: stored.place.sort, document: stored.document)
            else { return }
            // A message from a clock that is ahead may be displayed after this one.
            let own = ViewStore.readKey(of: row)
            _ = try core.own.markRead(
                channel, upTo: max(own, unread.last ?? own),
                sort: max(row.position.sort, unread.end ?? 0), in: workspace)
        }
    }

    /// The text of a message, validated.
    ///
    /// - Parameter isOptional: whether there is a place or a file, so that invisible text counts as
    ///   no text.
    func checkedText(_ text: String, isOptional: Bool) throws(NodeError) -> String {
        do throws(TextProblem) {
            try MessageText.check(text)
        } catch {
            guard error != .tooManyBytes else {
                throw .textTooLarge(
                    "text", bytes: text.utf8.count, bytesMax: Limits.messageTextBytesMax)
            }
            throw .badText(
                error, field: "text", hint: "remove NUL, U+FFFE and similar characters",
                reason: "bad_text")
        }
        guard MessageText.isBlank(text) else { return text }
        guard isOptional else {
            throw NodeError(
                .badRequest, "'text' has no visible characters",
                hint: "write something, or give a location or a file", reason: "bad_text",
                fields: [.init(name: "text", reason: "empty")])
        }
        return ""
    }

    private func threadRoot(
        _ id: String, in channel: Workspace.Channel
    ) throws(NodeError) -> MessageKey {
        guard let key = PublicID.messageKey(id),
            let row = try stored({ () throws(StorageError) in try store.view.message(key) }),
            channel.contains(document: row.document)
        else {
            throw .notFound("message", id, field: "thread", hint: "wsx-node log CHANNEL")
        }
        // An answer to an answer belongs to the same thread.
        return row.thread ?? key
    }

    /// The message may be in another workspace than the one that is selected by now.
    private func replayedMessage(_ made: [UInt8]) throws(NodeError) -> Made<MessageObject> {
        let arrival = made.reduce(0) { $0 << 8 | Int64($1) }
        let stored = try stored { () throws(StorageError) in
            try store.operations.operation(arrival)
        }
        guard let document = stored.flatMap({ store.operations.document(numbered: $0.document) }),
            let workspace = core.workspaces[document.workspace]
        else { throw .internalFailure(reason: "replay") }
        return Made(try message(arrival: arrival, in: workspace), isReplayed: true)
    }

    private func message(arrival: Int64, in workspace: Workspace) throws(NodeError) -> MessageObject
    {
        let found = try stored { () throws(StorageError) -> MessageObject? in
            guard let stored = try store.operations.operation(arrival),
                core.queries.channel(stored.document, in: workspace) != nil,
                let row = try store.view.message(
                    arrival: arrival, sort: stored.place.sort, document: stored.document)
            else { return nil }
            return try core.queries.object(of: row, stored, in: workspace)
        }
        guard let found else { throw .messageNoLongerShown }
        return found
    }

    // MARK: Reading

    func messages(
        _ ids: [String], _ request: PageRequest, _ scope: CallScope
    ) throws(NodeError) -> Page<MessageObject> {
        let workspace: Workspace = try core.queries.workspace(scope)
        var objects: [MessageObject] = []
        let (items, next) = try core.queries.page(ids, request)
        for id in items {
            let found = try stored { () throws(StorageError) -> MessageObject? in
                guard let key = PublicID.messageKey(id), let row = try store.view.message(key),
                    core.queries.channel(row.document, in: workspace) != nil
                else { return nil }
                return try core.queries.object(of: row, in: workspace)
            }
            guard let found else {
                throw .notFound("message", id, field: "ids", hint: "wsx-node log CHANNEL")
            }
            objects.append(found)
        }
        return Page(objects, next: next)
    }

    func history(_ request: HistoryRequest, _ scope: CallScope) throws(NodeError) -> HistoryPage {
        let workspace: Workspace = try core.queries.workspace(scope)
        let channel = try core.queries.channel(request.channel, in: workspace)
        var filter = channel.filter
        filter.thread = try request.thread.map { (id) throws(NodeError) in
            try threadRoot(id, in: channel)
        }
        filter.since = request.since.map { UInt64(max($0, 0)) }
        filter.until = request.until.map { UInt64(max($0, 0)) }
        filter.isPinned = request.isPinned
        let place = try place(request.position, in: channel)
        var rows = try rows(place, filter, limit: request.limit)
        var objects: [MessageObject] = []
        try stored { () throws(StorageError) in
            var shown: [ViewStore.MessageRow] = []
            for row in rows {
                guard let object = try core.queries.object(of: row, in: workspace) else { continue }
                objects.append(object)
                shown.append(row)
            }
            if objects.reduce(0, { $0 + $1.bytesMax }) > Limits.controlLineBytesMax / 2 {
                let fitting = Self.fitting(objects, place, shown)
                objects = Array(objects[fitting])
                rows = Array(shown[fitting])
            }
        }
        let older = try (rows.first?.position ?? place.end).flatMap { (end) throws(NodeError) in
            try exists(filter, before: end) ? positionText(end) : nil
        }
        let newer = try (rows.last?.position ?? place.start).flatMap { (start) throws(NodeError) in
            try exists(filter, after: start) ? positionText(start) : nil
        }
        let next = if case .after = place { newer } else { older }
        return HistoryPage(objects, next: next, older: older, newer: newer)
    }

    /// The messages that fit into one line, beginning with those that were asked for first.
    private static func fitting(
        _ objects: [MessageObject], _ place: Place, _ rows: [ViewStore.MessageRow]
    ) -> Range<Int> {
        let all = objects.map(\.json)
        switch place {
        case .after: return 0..<AnswerRoom.count(of: all)
        case .latest, .before:
            return all.count - AnswerRoom.count(of: all.reversed())..<all.count
        case .around(let middle):
            let centre = rows.firstIndex { $0.position >= middle } ?? max(all.count - 1, 0)
            var (start, end) = (centre, centre)
            var room = AnswerRoom()
            // The nearer end grows, each message measured once.
            while start > 0 || end < all.count {
                let isNewer = end < all.count && (start == 0 || end - centre <= centre - start)
                guard room.takes(all[isNewer ? end : start - 1]) else { break }
                if isNewer { end += 1 } else { start -= 1 }
            }
            return start..<end
        }
    }

    /// Where a page of the past is asked for.
    private enum Place {
        case latest
        case before(ViewStore.Position)
        case after(ViewStore.Position)
        case around(ViewStore.Position)

        /// What precedes this is older than an empty page from here.
        var end: ViewStore.Position? {
            switch self {
            case .latest: nil
            case .before(let position), .around(let position): position
            case .after(let position): position.next
            }
        }

        /// What follows this is newer than an empty page from here.
        var start: ViewStore.Position? {
            switch self {
            case .latest: nil
            case .before(let position), .around(let position): position.previous
            case .after(let position): position
            }
        }
    }

    private func place(
        _ asked: HistoryRequest.Position, in channel: Workspace.Channel
    ) throws(NodeError) -> Place {
        switch asked {
        case .latest: .latest
        case .before(let text): .before(try position(text, field: "before", in: channel))
        case .after(let text): .after(try position(text, field: "after", in: channel))
        case .around(let text): .around(try position(text, field: "around", in: channel))
        }
    }

    private func rows(
        _ place: Place, _ filter: ViewStore.Filter, limit: Int
    ) throws(NodeError) -> [ViewStore.MessageRow] {
        let view = store.view
        return try stored { () throws(StorageError) in
            switch place {
            case .latest: return try view.messages(filter, before: nil, limit: limit)
            case .before(let end): return try view.messages(filter, before: end, limit: limit)
            case .after(let start): return try view.messages(filter, after: start, limit: limit)
            case .around(let middle):
                let older = try view.messages(filter, before: middle, limit: (limit - 1) / 2)
                return try older
                    + view.messages(filter, after: middle.previous, limit: limit - older.count)
            }
        }
    }

    private func exists(
        _ filter: ViewStore.Filter, before position: ViewStore.Position
    ) throws(NodeError) -> Bool {
        try stored { () throws(StorageError) in
            try !store.view.messages(filter, before: position, limit: 1).isEmpty
        }
    }

    private func exists(
        _ filter: ViewStore.Filter, after position: ViewStore.Position
    ) throws(NodeError) -> Bool {
        try stored { () throws(StorageError) in
            try !store.view.messages(filter, after: position, limit: 1).isEmpty
        }
    }

    // MARK: Positions

    /// `p_` and base32 of display order and arrival number: what `older` and `newer` are.
    private func positionText(_ position: ViewStore.Position) -> String {
        "p_"
            + Base32.encode(
                bigEndianBytes(of: UInt64(bitPattern: position.sort))
                    + bigEndianBytes(of: UInt64(bitPattern: position.arrival)))
    }

    /// The place that a position names, or the id of a message of this channel.
    private func position(
        _ text: String, field: String, in channel: Workspace.Channel
    ) throws(NodeError) -> ViewStore.Position {
        if let bytes = PublicID.bytes(text, prefix: "p_") {
            let numbers = [bytes.prefix(8), bytes.suffix(8)].map { half in
                Int64(bitPattern: half.reduce(0) { $0 << 8 | UInt64($1) })
            }
            return ViewStore.Position(sort: numbers[0], arrival: max(numbers[1], 0))
        }
        if let key = PublicID.messageKey(text),
            let row = try stored({ () throws(StorageError) in try store.view.message(key) }),
            channel.contains(document: row.document)
        {
            return row.position
        }
        throw NodeError(
            .notFound, "there is no message or position \(NodeError.quoted(text)) in this channel",
            hint: "wsx-node log CHANNEL", reason: "message.not_found",
            fields: [.init(name: field, reason: "not_found")])
    }
}

extension ViewStore.Position {
    /// The place right behind this one; positions may come from anywhere, so none is passed.
    fileprivate var next: Self { Self(sort: sort, arrival: arrival == .max ? .max : arrival + 1) }
    /// The place right before this one.
    fileprivate var previous: Self { Self(sort: sort, arrival: max(arrival, 1) - 1) }
}
