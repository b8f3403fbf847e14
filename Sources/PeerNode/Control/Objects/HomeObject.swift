public import WorkspaceModel

/// Where the caller stands, as one screen shows it (section 4.0.7). All of it is of one moment.
public struct HomeObject: ControlObject {
    /// `nil` before there is one.
    public var identity: IdentityObject?
    /// The workspaces of this home, oldest first.
    public var workspaces: [WorkspaceObject] = []
    /// The workspace in which calls act that name none, `w_…`.
    public var selected: String?
    /// The channels the caller is in: those with mentions first, then those with unread messages,
    /// then the latest.
    public var channels: [ChannelObject] = []
    /// The direct conversations, in the same order.
    public var directs: [ChannelObject] = []
    /// Messages that were not read, in channels and conversations, shown here or not.
    public var unread: Int64 = 0
    /// Those of them that mention the caller.
    public var mentions: Int64 = 0
    /// Messages of the caller's that others do not take, in that workspace.
    public var refused: Int64 = 0

    /// Bytes of JSON that all lists may take together: with the rest they fit in a line.
    static let listsBytesMax = Limits.controlLineBytesMax - 64 * 1024
    /// Bytes that each list may take in any case.
    static let listBytesMin = 256 * 1024

    /// A home with nothing in it.
    public init() {}

    /// All fields; `complete` is false where lists end early.
    public var json: JSONValue {
        let lists = [channels.map(\.json), directs.map(\.json), workspaces.map(\.json)]
        let shown = Self.fitting(lists)
        return [
            "identity": identity?.json ?? .null,
            "workspaces": .array(shown[2]),
            "selected": JSONValue(orNull: selected),
            "channels": .array(shown[0]), "dms": .array(shown[1]),
            "unread": ["unread": .integer(unread), "mentions": .integer(mentions)],
            "refused": .integer(refused),
            "complete": .bool(shown.map(\.count) == lists.map(\.count)),
        ]
    }

    /// As many of each list as there is room for, from the first on: what one leaves is the next
    /// one's, and none takes what belongs to a later one.
    private static func fitting(_ lists: [[JSONValue]]) -> [[JSONValue]] {
        let sizes = lists.map { $0.reduce(0) { $0 + $1.bytes.count + 1 } }
        var room = listsBytesMax
        return lists.indices.map { place in
            let later = sizes[(place + 1)...].reduce(0) { $0 + min($1, listBytesMin) }
            var left = room - later
            let shown = lists[place].prefix { item in
                left -= item.bytes.count + 1
                return left >= 0
            }
            room -= min(sizes[place], room - later)
            return Array(shown)
        }
    }
}
