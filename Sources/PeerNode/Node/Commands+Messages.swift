import CRDTStore
import WorkspaceModel

/// Sending and reading messages.
extension NodeCore {
    func send(_ draft: MessageDraft, _ scope: CallScope) throws(NodeError) -> Made<MessageObject> {
        if let made = try replay(scope) { return try replayedMessage(made) }
        let workspace: Workspace = try workspace(scope)
        let channel = try channel(draft.channel, in: workspace)
        try refuseArchived(channel, in: workspace)
        let thread = try draft.thread.map { (id) throws(NodeError) in
            try threadRoot(id, in: channel)
        }
        let text = try checkedText(draft.text)
        let content = ContentPayload.message(
            .init(text: text, format: draft.format == "code" ? .code : .text, thread: thread))
        let sent = try stored { () throws(StorageError) in
            try authorContent(content, to: channel.id, in: workspace)
        }
        guard let sent else { throw notAllowed(in: workspace) }
        try remember(scope, made: bigEndianBytes(of: UInt64(sent.arrival)))
        return Made(try message(arrival: sent.arrival, in: workspace))
    }

    private func checkedText(_ text: String) throws(NodeError) -> String {
        do throws(TextProblem) {
            try MessageText.check(text)
            return text
        } catch {
            throw .badText(
                error, field: "text", hint: "send it as a file, or in parts", reason: "bad_text")
        }
    }

    private func threadRoot(
        _ id: String, in channel: Workspace.Channel
    ) throws(NodeError) -> MessageKey {
        guard let key = PublicID.messageKey(id),
            let row = try stored({ () throws(StorageError) in try store.view.message(key) }),
            row.document == channel.number
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
        guard let document = stored.flatMap({ store.operations.document($0.log.document) }),
            let workspace = workspaces[document.workspace]
        else { throw .internalFailure(reason: "replay") }
        return Made(try message(arrival: arrival, in: workspace), isReplayed: true)
    }

    private func message(arrival: Int64, in workspace: Workspace) throws(NodeError) -> MessageObject
    {
        let found = try stored { () throws(StorageError) -> MessageObject? in
            guard let stored = try store.operations.operation(arrival),
                let document = store.operations.document(stored.log.document),
                let row = try store.view.message(
                    arrival: arrival, sort: stored.place.sort, document: document.number)
            else { return nil }
            return try object(of: row, in: workspace)
        }
        guard let found else {
            throw NodeError(
                .notFound, "the message is not shown any more", reason: "message.not_found")
        }
        return found
    }

    // MARK: Reading

    func messages(_ ids: [String], _ scope: CallScope) throws(NodeError) -> Page<MessageObject> {
        let workspace: Workspace = try workspace(scope)
        var objects: [MessageObject] = []
        for id in ids {
            let found = try stored { () throws(StorageError) -> MessageObject? in
                guard let key = PublicID.messageKey(id), let row = try store.view.message(key),
                    channel(row.document, in: workspace) != nil
                else { return nil }
                return try object(of: row, in: workspace)
            }
            guard let found else { throw .notFound("message", id, field: "ids") }
            objects.append(found)
        }
        return Page(objects)
    }

    func history(_ request: HistoryRequest, _ scope: CallScope) throws(NodeError) -> HistoryPage {
        let workspace: Workspace = try workspace(scope)
        let channel = try channel(request.channel, in: workspace)
        var filter = ViewStore.Filter(document: channel.number)
        filter.thread = try request.thread.map { (id) throws(NodeError) in
            try threadRoot(id, in: channel)
        }
        filter.since = request.since.map { UInt64(max($0, 0)) }
        filter.until = request.until.map { UInt64(max($0, 0)) }
        let rows = try rows(request, filter)
        let objects = try stored { () throws(StorageError) in
            var objects: [MessageObject] = []
            for row in rows {
                if let object = try object(of: row, in: workspace) { objects.append(object) }
            }
            return objects
        }
        let older = try rows.first.flatMap { (row) throws(NodeError) in
            try exists(filter, before: row.position) ? positionText(row.position) : nil
        }
        let newer = try rows.last.flatMap { (row) throws(NodeError) in
            try exists(filter, after: row.position) ? positionText(row.position) : nil
        }
        var next = older
        if case .after = request.position { next = newer }
        return HistoryPage(objects, next: next, older: older, newer: newer)
    }

    private func rows(
        _ request: HistoryRequest, _ filter: ViewStore.Filter
    ) throws(NodeError) -> [ViewStore.MessageRow] {
        let view = store.view
        switch request.position {
        case .latest:
            return try stored { () throws(StorageError) in
                try view.messages(filter, before: nil, limit: request.limit)
            }
        case .before(let text):
            let position = try position(text, field: "before")
            return try stored { () throws(StorageError) in
                try view.messages(filter, before: position, limit: request.limit)
            }
        case .after(let text):
            let position = try position(text, field: "after")
            return try stored { () throws(StorageError) in
                try view.messages(filter, after: position, limit: request.limit)
            }
        case .around(let text):
            let position = try position(text, field: "around")
            let before = (request.limit - 1) / 2
            return try stored { () throws(StorageError) in
                let older = try view.messages(filter, before: position, limit: before)
                // The place itself is the first of what comes after the place before it.
                let justBefore = ViewStore.Position(
                    sort: position.sort, arrival: position.arrival - 1)
                return try older
                    + view.messages(filter, after: justBefore, limit: request.limit - older.count)
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

    /// The place that a position or a message id names.
    private func position(
        _ text: String, field: String
    ) throws(NodeError) -> ViewStore.Position {
        if let bytes = PublicID.bytes(text, prefix: "p_") {
            let numbers = [bytes.prefix(8), bytes.suffix(8)].map { half in
                Int64(bitPattern: half.reduce(0) { $0 << 8 | UInt64($1) })
            }
            return ViewStore.Position(sort: numbers[0], arrival: max(numbers[1], 1))
        }
        if let key = PublicID.messageKey(text),
            let row = try stored({ () throws(StorageError) in try store.view.message(key) })
        {
            return row.position
        }
        throw .notFound("message or position", text, field: field, hint: "wsx-node log CHANNEL")
    }
}
