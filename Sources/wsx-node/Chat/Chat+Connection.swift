import PeerNode
import WorkspaceModel

/// Connecting to the daemon, and reconnecting after it was away.
extension Chat {
    /// The events that a conversation subscribes to. Messages elsewhere are shown in one line.
    static let eventTypes =
        ["message.*", "reaction.*", "channel.*", "member.*", "device.*"] + singleTypes.map(\.word)

    private static let singleTypes: [EventType] = [
        .mentionReceived, .workspaceRemoved, .workspaceDeleted, .requestCreated, .peerConnected,
        .syncCaughtUp, .sessionLocked, .reminderDue,
    ]

    /// Whether the daemon may serve later what it refuses now.
    static func isAway(_ error: NodeError) -> Bool {
        [.notRunning, .stopping, .locked, .sessionExpired, .busy, .timeout].contains(error.kind)
    }

    func call(_ method: String, _ given: JSONObject) throws(NodeError) -> JSONValue {
        guard var current = client else { throw .stopping }
        defer { if client != nil { client = current } }
        var given = given
        if let workspace { given["workspace"] = .string(workspace) }
        return try current.call(method, given)
    }

    /// The workspace of the conversation, so that a later `workspace use` elsewhere
    /// changes nothing here.
    private var workspace: String? { workspaceID ?? session.workspace }

    /// Opens the connection, and resumes the stream.
    func connect() throws(NodeError) {
        let socket = try session.paths().socket
        var fresh = ControlClient(
            try io.connect(socket),
            timeoutMilliseconds: session.globals.timeoutMilliseconds ?? Self.patience)
        var wanted: JSONObject = [
            "types": JSONValue(
                texts: Self.eventTypes + (isLive ? [PassingEventType.typing.rawValue] : [])),
            "ephemeral": true,
        ]
        if let workspace { wanted["workspace"] = .string(workspace) }
        wanted["since"] = link.cursor.map { .string($0) }
        let opened = try fresh.call("events.subscribe", wanted)
        link.cursor = opened["cursor"]?.stringValue ?? link.cursor
        if hasReader { fresh.tellsFormer = { [weak self] in self?.remark($0) } }
        client = fresh
    }

    /// Records that the daemon is away, and says so once.
    func lose(_ error: NodeError) {
        client = nil
        room.typing = TypingPeople()
        let isLocked = error.kind == .locked || error.kind == .sessionExpired
        let state = isLocked ? Self.locked : "waiting"
        if link.trouble != state {
            remark(
                isLocked
                    ? rendering.hints.text("── the node is locked: wsx-node session unlock ──")
                    : "── the daemon does not answer; what you write is kept ──")
        }
        link.trouble = state
        let delay = min(2_000, (link.retry?.delay ?? 125) * 2)
        link.retry = (io.now + delay, delay)
    }

    /// Does what is due: reconnects, asks who holds a message, marks messages as read.
    func keepUp() throws(NodeError) {
        if client == nil {
            guard link.retry.map({ $0.due <= io.now }) ?? true else { return }
            try comeBack()
        }
        if let watch = bottom.watch, watch.due <= io.now { try askTick() }
        tellWaitingTick()
        guard bottom.hasUnmarked, hasReader, let newest = room.newest else { return }
        bottom.hasUnmarked = false
        do throws(NodeError) {
            for id in Set([newest, room.latest ?? newest]) {
                _ = try call(
                    "read.mark", ["channel": .string(room.id), "message": .string(id)])
            }
        } catch {
            // A channel that the user is not in, or a message that was just deleted, has no marker.
            if Self.isAway(error) { throw error }
        }
    }

    private func comeBack() throws(NodeError) {
        do throws(NodeError) { try connect() } catch {
            // A store that was restored or replaced numbers its events differently.
            guard error.kind == .cursorExpired else { throw error }
            link.cursor = nil
            try connect()
            try open(room.id)
        }
        // A locked node has a stream without events.
        _ = try call("channel.get", ["channel": .string(room.id)])
        link.retry = nil
        link.trouble = nil
        remark("── the daemon is back ──")
        while let first = outbox.unsent.first {
            do throws(NodeError) { try deliver(first) } catch {
                if Self.isAway(error) { throw error }
                // It is permanently refused; said once.
                complain(error)
            }
            outbox.unsent.removeFirst()
        }
    }

    // MARK: Sending

    /// Sends a message, now or when the daemon is back.
    func say(_ text: String, thread: String? = nil) throws(NodeError) {
        var given: JSONObject = [
            "channel": .string(room.id), "text": .string(text),
            "key": .string("chat-" + String(UInt64.random(in: .min ... .max), radix: 36)),
        ]
        given["thread"] = thread.map { .string($0) }
        guard client != nil || !isLive else {
            outbox.unsent.append(given)
            return remark("(waits) " + excerpt(text))
        }
        do throws(NodeError) { try deliver(given) } catch {
            if isLive, Self.isAway(error) {
                outbox.unsent.append(given)
            } else if isLive, editor.text.isEmpty {
                // Nobody should have to type it again.
                editor.replace(with: text)
            }
            throw error
        }
    }

    /// Warns that a name in a message just sent mentions nobody.
    private func tellUnheard(in message: JSONValue) {
        var mentioned: [String]?
        asking { client in mentioned = Sending(session).mentioned(in: message, &client) }
        guard let nobody = Sending.unheard(in: message, mentioned) else { return }
        remark(session.told(nobody, in: message))
    }

    private func deliver(_ given: JSONObject) throws(NodeError) {
        let message = try call("message.send", given)
        if hasReader { tellUnheard(in: message) }
        guard let id = message["id"]?.stringValue, message["channel"] == .string(room.id),
            !room.has(id)
        else { return }
        outbox.awaited.note(id)
        guard isLive else {
            room.note(message)
            return beginTick(of: message)
        }
        show(message)
    }
}
