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

    /// Bytes of JSON that each of the three lists may take: together they fit in a line.
    public static let listBytesMax = 256 * 1024

    /// A home with nothing in it.
    public init() {}

    /// All fields.
    public var json: JSONValue {
        [
            "identity": identity?.json ?? .null,
            "workspaces": .array(Self.fitting(workspaces)),
            "selected": JSONValue(orNull: selected),
            "channels": .array(Self.fitting(channels)), "dms": .array(Self.fitting(directs)),
            "unread": ["unread": .integer(unread), "mentions": .integer(mentions)],
            "refused": .integer(refused),
        ]
    }

    /// As many as there is room for, from the first on.
    private static func fitting(_ objects: [some ControlObject]) -> [JSONValue] {
        var room = listBytesMax
        var found: [JSONValue] = []
        for object in objects {
            let json = object.json
            room -= json.bytes.count + 1
            guard room >= 0 else { break }
            found.append(json)
        }
        return found
    }
}
