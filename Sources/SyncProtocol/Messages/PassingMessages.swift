public import WorkspaceModel

/// A person's presence, as one of their devices reports it. It is valid as long as the link it came
/// over.
public struct PresenceUpdate: Sendable, Equatable {
    /// The person's choice of presence.
    public enum State: UInt64, CaseIterable, Sendable {
        case online = 0
        case absent = 1
        case busy = 2
        /// Wants to appear as if no device were online.
        case offline = 3
    }

    /// The presence.
    public var state: State
    /// A status text, 1 to `Limits.presenceTextBytesMax` bytes without NUL.
    public var text: String?
    /// An emoji for it, 1 to `Limits.emojiBytesMax` bytes without NUL.
    public var emoji: String?
    /// When it ends, milliseconds since 1970; the person is online afterwards.
    public var until: UInt64?
    /// When it was chosen, milliseconds since 1970, 0 if never: among a person's devices, the
    /// latest choice counts.
    public var chosen: UInt64
    /// Whether the sender requests the receiver's presence.
    public var asks: Bool

    /// A message with the given fields.
    public init(
        _ state: State, text: String? = nil, emoji: String? = nil, until: UInt64? = nil,
        chosen: UInt64 = 0, asks: Bool = false
    ) {
        self.state = state
        self.text = text
        self.emoji = emoji
        self.until = until
        self.chosen = chosen
        self.asks = asks
    }
}

extension PresenceUpdate {
    func encode(_ workspace: WorkspaceNumber, to body: inout CBOREncoder) {
        body.map(count: 4 + [text != nil, emoji != nil, until != nil].count { $0 })
        body.workspace(workspace)
        body.key(2)
        body.uint(state.rawValue)
        if let text {
            body.key(3)
            body.text(text)
        }
        if let emoji {
            body.key(4)
            body.text(emoji)
        }
        if let until {
            body.key(5)
            body.uint(until)
        }
        body.key(6)
        body.uint(chosen)
        body.key(7)
        body.bool(asks)
    }
}

/// How far a person has read a conversation, sent by one of their devices to another before the
/// marker is written. The meaning is that of the register `read` of an own document.
public struct ReadMarkerUpdate: Sendable, Equatable {
    /// The conversation.
    public var conversation: ConversationName
    /// The last message read.
    public var key: MessageKey
    /// How many operations of each log had arrived by then, at most `Limits.readFrontierLogsMax`
    /// logs.
    public var frontier: ReadFrontier

    /// A message with the given fields.
    public init(_ conversation: ConversationName, upTo key: MessageKey, frontier: ReadFrontier) {
        self.conversation = conversation
        self.key = key
        self.frontier = frontier
    }

    /// Bytes of the longest message: each log's name and a number.
    static let bytesMax = 128 + 20 * Limits.readFrontierLogsMax

    func encode(_ workspace: WorkspaceNumber, to body: inout CBOREncoder) {
        body.map(count: 2)
        body.workspace(workspace)
        body.key(2)
        body.byteString(
            ContentPayload.own(.read(conversation, upTo: key, frontier: frontier)).encoded)
    }
}

extension SyncMessage {
    static func reading(from body: inout CBORDecoder) throws(Malformed) -> SyncMessage {
        try body.mapCount(exactly: 2)
        let workspace = try body.workspace()
        try body.key(exactly: 2)
        let start = body.position
        let bytes = try body.byteString(maxCount: ReadMarkerUpdate.bytesMax)
        guard
            case .own(.read(let conversation, let key, let frontier)) =
                try ContentPayload(decoding: bytes)
        else { throw Malformed(.outOfRange, at: start) }
        return .reading(workspace, ReadMarkerUpdate(conversation, upTo: key, frontier: frontier))
    }

    static func presence(from body: inout CBORDecoder) throws(Malformed) -> SyncMessage {
        let count = try body.mapCount()
        let workspace = try body.workspace()
        try body.key(exactly: 2)
        var update = PresenceUpdate(try body.code(PresenceUpdate.State.self))
        var pairs = 2
        var key = try body.key()
        if key == 3 {
            update.text = try text(Limits.presenceTextBytesMax, from: &body)
            key = try body.key()
            pairs += 1
        }
        if key == 4 {
            update.emoji = try text(Limits.emojiBytesMax, from: &body)
            key = try body.key()
            pairs += 1
        }
        if key == 5 {
            update.until = try body.uint()
            key = try body.key()
            pairs += 1
        }
        let start = body.position
        guard key == 6, count == pairs + 2 else { throw Malformed(.wrongKeys, at: start) }
        update.chosen = try body.uint()
        try body.key(exactly: 7)
        update.asks = try body.bool()
        return .presence(workspace, update)
    }

    static func typing(from body: inout CBORDecoder) throws(Malformed) -> SyncMessage {
        try body.mapCount(exactly: 2)
        let workspace = try body.workspace()
        try body.key(exactly: 2)
        return .typing(workspace, try body.identifier32())
    }

    private static func text(
        _ maxBytes: Int, from body: inout CBORDecoder
    ) throws(Malformed) -> String {
        let start = body.position
        let text = try body.text(maxBytes: maxBytes)
        guard !text.isEmpty, !text.utf8.contains(0) else { throw Malformed(.badText, at: start) }
        return text
    }
}
