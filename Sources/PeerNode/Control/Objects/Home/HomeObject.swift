public import WorkspaceModel

/// The caller's overview for one screen, all from the same moment.
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
    /// Devices that others in that workspace have added lately, the newest first: the key of somebody
    /// has changed.
    public var newDevices: [(member: PersonObject, device: DeviceObject)] = []
    /// When the last backup of this home was made that it knows of, milliseconds since 1970; `nil`
    /// for never.
    public var backupAt: Int64?
    /// Whether it is time for another one.
    public var isBackupDue = false

    /// Where the page of channels and that of conversations begin and end; the longer list has more
    /// pages. Without one, both are whole.
    var end: PageEnd?

    /// Bytes of JSON that all lists may take together: with the rest they fit in a line.
    static let listsBytesMax = Limits.controlLineBytesMax - 64 * 1024
    /// Bytes of them that workspaces may take.
    static let workspacesBytesMax = listsBytesMax / 2

    /// A home with nothing in it.
    public init() {}

    /// All fields; `complete` is false where a list ends early, and `next` where its next page begins.
    public var json: JSONValue {
        var room = Self.listsBytesMax
        let shown = workspaces.map(\.json).prefix {
            room -= $0.bytes.count + 1
            return room >= Self.listsBytesMax - Self.workspacesBytesMax
        }
        let (channels, directs) = (self.channels.map(\.json), self.directs.map(\.json))
        let longest = max(channels.count, directs.count)
        let fitting = (0..<longest).prefix { place in
            for list in [channels, directs] where place < list.count {
                room -= list[place].bytes.count + 1
            }
            return room >= 0
        }.count
        let next = fitting < longest ? PageEnd.cursor((end?.start ?? 0) + fitting) : end?.text
        return [
            "identity": identity?.json ?? .null,
            "workspaces": .array(Array(shown)),
            "selected": JSONValue(orNull: selected),
            "channels": .array(Array(channels.prefix(fitting))),
            "dms": .array(Array(directs.prefix(fitting))),
            "unread": ["unread": .integer(unread), "mentions": .integer(mentions)],
            "refused": .integer(refused),
            "new_devices": .array(
                newDevices.map { ["member": $0.member.json, "device": $0.device.json] }),
            "backup_at": JSONValue(orNull: backupAt),
            "backup_due": .bool(isBackupDue),
            "complete": .bool(next == nil && shown.count == workspaces.count),
            "next": JSONValue(orNull: next),
        ]
    }
}
