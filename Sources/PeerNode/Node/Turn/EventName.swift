public import WorkspaceModel

/// Every name that an event can have: the values of `type` for the node and the command line.
public enum EventName: Equatable, Sendable {
    /// It has a row in the store.
    case kept(EventType)
    /// It is told and forgotten.
    case passing(PassingEventType)
    /// Made for a single reader.
    case made(StreamEventType)

    /// Kept ones first, each part in the order of its list.
    public static let all: [Self] =
        EventType.allCases.map(Self.kept) + PassingEventType.allCases.map(Self.passing)
        + StreamEventType.allCases.map(Self.made)

    private static let byWord: [String: Self] = Dictionary(
        uniqueKeysWithValues: all.map { ($0.word, $0) })

    /// The word people and scripts see (4.8.4).
    public var word: String {
        switch self {
        case .kept(let type): type.word
        case .passing(let type): type.rawValue
        case .made(let type): type.rawValue
        }
    }

    /// The name of an event on the socket; `nil` for one that this build does not know.
    public init?(of event: JSONValue) {
        guard let word = event["type"]?.stringValue, let name = Self.byWord[word] else {
            return nil
        }
        self = name
    }
}

/// Transient events: told to open streams and stored nowhere.
public enum PassingEventType: String, CaseIterable, Sendable {
    case messageHeld = "message.held"
    case noteCursor = "note.cursor"
    case noteLock = "note.lock"
    case notePatch = "note.patch"
    case presenceChanged = "presence.changed"
    case syncProgress = "sync.progress"
    case transferProgress = "transfer.progress"
    case typing
}

/// Events made for one reader, without a number in the store.
public enum StreamEventType: String, CaseIterable, Sendable {
    case nodeStopping = "node.stopping"
    case gap = "events.gap"
    case keepalive
    case dropped = "events.dropped"
}
