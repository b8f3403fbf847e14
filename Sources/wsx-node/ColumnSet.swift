/// Which fields of an object make a row, for people with titles, for `--plain` without.
struct ColumnSet {
    let titles: [String]
    /// Fields, with a point where they are inside another.
    let paths: [String]
    /// The columns that a terminal may be too narrow for, those first that matter least.
    let drops: [Int]
    /// The columns whose texts then stand below their row: what is long, and wanted all the same.
    let below: [Int]

    /// - Parameters:
    ///   - columns: titles and fields, in order.
    ///   - drops: titles.
    ///   - below: titles.
    init(
        _ columns: KeyValuePairs<String, String>, drops: [String] = [], below: [String] = []
    ) {
        let titles = columns.map(\.key)
        self.titles = titles
        paths = columns.map(\.value)
        self.drops = drops.compactMap { titles.firstIndex(of: $0) }
        self.below = below.compactMap { titles.firstIndex(of: $0) }
    }

    /// Whether a column says something about a thing, and may be cut; others are copied.
    func isDescribing(_ column: Int) -> Bool {
        [
            "name", "label", "topic", "last.text", "author.name", "member.name", "owner.name",
            "last_error", "message", "hint", "text", "note", "value",
        ].contains(paths[column])
    }

    /// Whether a column holds points in time, in milliseconds since 1970.
    func isTime(_ column: Int) -> Bool {
        Self.isTime(paths[column].split(separator: ".").last.map(String.init) ?? "")
    }

    /// Whether a field of this name is a point in time.
    static func isTime(_ field: String) -> Bool {
        field == "at"
            || ["_at", "until", "last_seen"].contains {
                field.utf8.reversed().starts(with: $0.utf8.reversed())
            }
    }

    /// Whether a column says by a code why a link ended.
    func isEnding(_ column: Int) -> Bool { paths[column] == "last_error" }

    /// Whether a column holds ids, whose beginning will do.
    func isIdentifier(_ column: Int) -> Bool {
        ["id", "device", "peer", "workspace", "invite"].contains(paths[column])
    }

    static let messages = ColumnSet([
        "ID": "id", "AT": "at", "AUTHOR": "author.name", "CHANNEL": "channel", "TEXT": "text",
    ])

    /// What is said on a terminal of an empty list, or `nil` where nothing is.
    static func emptiness(of method: String) -> String? {
        switch method {
        case "channel.list", "channel.find": "no channels"
        case "search", "user.find": "nothing found"
        case "dm.list": "no direct messages"
        case "unread.get": "nothing unread"
        case "read.status": "nothing read yet"
        case "message.history": "no messages"
        case "workspace.list": "no workspaces"
        case "member.list", "channel.members": "no members"
        case "presence.list": "nobody is online"
        case "device.list": "no devices"
        case "invite.list": "no invites"
        case "join.requests": "no requests"
        case "peer.list": "no peers"
        case "ui.pref.list": "no settings"
        case "sync.status": "not syncing with anyone"
        default: nil
        }
    }

    /// The columns of a method's answer, or `nil` where it is shown field by field.
    ///
    /// - Parameter isPlain: whether programs read them, for whom they stay what they were.
    static func of(_ method: String, isPlain: Bool) -> ColumnSet? {
        isPlain ? plain(method) : forPeople(method) ?? plain(method)
    }

    /// The columns of answers of which people are shown others than programs.
    private static func forPeople(_ method: String) -> ColumnSet? {
        switch method {
        case "presence.list":
            ColumnSet(
                [
                    "ID": "id", "NAME": "name", "STATE": "state", "EMOJI": "emoji", "TEXT": "text",
                    "UNTIL": "until",
                ], drops: ["ID", "UNTIL", "EMOJI", "TEXT"])
        case "device.list", "device.rename", "device.revoke":
            ColumnSet(
                [
                    "ID": "id", "KIND": "kind", "NAME": "name", "SELF": "self", "ADDED": "added_at",
                    "HOW": "origin", "BY": "added_by.name", "REVOKED": "revoked",
                ], drops: ["HOW", "BY", "ID", "KIND", "REVOKED", "ADDED"])
        case "message.holders":
            ColumnSet(
                [
                    "DEVICE": "device", "NAME": "label", "HELD": "complete", "PERSON": "person",
                    "HEARD": "at",
                ], drops: ["DEVICE", "HEARD"])
        case "member.status":
            ColumnSet(
                [
                    "DEVICE": "device", "NAME": "label", "APPLIED": "complete", "HEARD": "at",
                ], drops: ["DEVICE", "HEARD"])
        case "peer.list":
            ColumnSet(
                [
                    "ID": "id", "NAME": "label", "STATE": "state", "ADDRESS": "address",
                    "BEHIND": "behind", "AHEAD": "ahead", "ERROR": "last_error",
                ], drops: ["ID", "ERROR", "ADDRESS", "AHEAD", "BEHIND"])
        default: nil
        }
    }

    private static func plain(_ method: String) -> ColumnSet? {
        switch method {
        case "workspace.list", "workspace.create", "workspace.select", "workspace.join",
            "workspace.leave", "workspace.forget", "workspace.rekey", "workspace.edit",
            "workspace.transfer",
            "workspace.successor.set", "invite.accept", "identity.recover":
            ColumnSet(
                [
                    "ID": "id", "NAME": "name", "ROLE": "role", "MEMBERS": "members",
                    "CHANNELS": "channels", "SELECTED": "selected", "STATE": "state",
                ], drops: ["CHANNELS", "ID", "MEMBERS", "STATE", "ROLE"])
        case "channel.list", "channel.find", "channel.create", "channel.join", "channel.leave",
            "channel.edit", "channel.add", "channel.remove":
            ColumnSet(
                [
                    "ID": "id", "NAME": "name", "KIND": "kind", "PRIVATE": "private",
                    "MEMBERS": "members", "UNREAD": "unread", "TOPIC": "topic",
                ], drops: ["KIND", "ID", "MEMBERS", "TOPIC", "PRIVATE"])
        case "unread.get", "read.mark", "read.status":
            ColumnSet([
                "ID": "id", "NAME": "name", "UNREAD": "unread", "MENTIONS": "mentions",
                "LAST": "last.text",
            ])
        case "dm.list", "dm.open":
            ColumnSet(
                ["ID": "id", "NAME": "name", "MEMBERS": "members", "UNREAD": "unread"],
                drops: ["ID", "MEMBERS"])
        case "channel.mute", "channel.notify":
            ColumnSet(
                [
                    "ID": "id", "NAME": "name", "MUTED": "muted", "UNTIL": "muted_until",
                    "NOTIFY": "notify",
                ], drops: ["ID", "UNTIL"])
        case "channel.transfer", "channel.role", "channel.archive", "channel.unarchive":
            ColumnSet(
                [
                    "ID": "id", "NAME": "name", "OWNER": "owner.name", "ARCHIVED": "archived",
                ], drops: ["ID"])
        case "member.list", "member.role", "member.remove", "channel.members",
            "user.find":
            ColumnSet(
                [
                    "ID": "id", "NAME": "name", "ROLE": "role", "DEVICES": "devices",
                    "SELF": "self",
                ], drops: ["ID", "DEVICES", "SELF"])
        case "ui.pref.list": ColumnSet(["SETTING": "setting", "VALUE": "value"])
        case "presence.list":
            ColumnSet([
                "ID": "id", "NAME": "name", "STATE": "state", "TEXT": "text", "UNTIL": "until",
                "EMOJI": "emoji",
            ])
        default: ofDevices(method)
        }
    }

    /// The same for what is said of devices, of who comes in, and of peers.
    private static func ofDevices(_ method: String) -> ColumnSet? {
        switch method {
        case "device.list", "device.rename", "device.revoke":
            ColumnSet([
                "ID": "id", "NAME": "name", "SELF": "self", "ADDED": "added_at",
                "HOW": "origin", "BY": "added_by.name", "REVOKED": "revoked",
            ])
        case "message.holders":
            ColumnSet(["DEVICE": "device", "MEMBER": "member.name", "HELD": "complete"])
        case "member.status":
            ColumnSet(["DEVICE": "device", "MEMBER": "member.name", "APPLIED": "complete"])
        case "invite.list", "invite.create", "invite.revoke":
            ColumnSet(
                [
                    "ID": "id", "STATE": "state", "ROLE": "role", "USED": "used", "USES": "uses",
                    "LINK": "link",
                ], drops: ["ROLE", "USES"], below: ["LINK"])
        case "join.requests", "join.approve", "join.reject":
            ColumnSet(
                [
                    "ID": "id", "STATE": "state", "NAME": "name", "DEVICE": "device",
                    "INVITE": "invite", "NOTE": "note",
                ], drops: ["INVITE", "DEVICE", "STATE"], below: ["NOTE"])
        case "peer.list", "peer.add", "peer.remove":
            ColumnSet(
                [
                    "ID": "id", "NAME": "name", "STATE": "state", "ADDRESS": "address",
                    "BEHIND": "behind", "AHEAD": "ahead", "ERROR": "last_error",
                ], drops: ["ID", "ERROR", "AHEAD", "BEHIND"])
        case "sync.status":
            ColumnSet(
                [
                    "PEER": "peer", "WORKSPACE": "workspace", "STATE": "state", "BEHIND": "behind",
                    "AHEAD": "ahead",
                ], drops: ["WORKSPACE", "AHEAD"])
        case "node.doctor":
            ColumnSet(["ID": "id", "STATE": "state", "MESSAGE": "message", "HINT": "hint"])
        default: nil
        }
    }
}
