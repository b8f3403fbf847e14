import PeerNode

/// The fields of an object that make a row: with titles for people, without for `--plain`.
struct ColumnSet {
    let titles: [String]
    /// Fields, with a point for nesting.
    let paths: [String]
    /// Columns that may be dropped on a narrow terminal, the least important first.
    let drops: [Int]
    /// Columns whose texts may move below their row: long, but important.
    let below: [Int]
    /// Columns shown only if one of the rows has a value.
    let optional: [Int]
    /// Those of `drops` that go before a text is moved below its row, or cut.
    let early: [Int]

    /// - Parameters:
    ///   - columns: titles and fields, in order.
    ///   - drops: titles.
    ///   - below: titles.
    ///   - early: titles.
    ///   - optional: titles.
    init(
        _ columns: KeyValuePairs<String, String>, drops: [String] = [], below: [String] = [],
        early: [String] = [], optional: [String] = []
    ) {
        let titles = columns.map(\.key)
        self.titles = titles
        paths = columns.map(\.value)
        self.drops = drops.compactMap { titles.firstIndex(of: $0) }
        self.below = below.compactMap { titles.firstIndex(of: $0) }
        self.early = early.compactMap { titles.firstIndex(of: $0) }
        self.optional = optional.compactMap { titles.firstIndex(of: $0) }
    }

    /// Whether a column describes a thing, and may be cut; other columns are copied.
    func isDescribing(_ column: Int) -> Bool {
        [
            "name", "label", "topic", "last.text", "author.name", "member.name", "owner.name",
            "place", "last_error", "message", "hint", "text", "note", "value", "title", "by.name",
            "edited_by.name", "issuer.name", "buyer.name", "purpose", "price",
        ].contains(paths[column])
    }

    /// Whether a text of this column is always shown whole.
    func isWhole(_ column: Int) -> Bool { !early.isEmpty && below.contains(column) }

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

    /// Whether a column contains the code for the end of a link.
    func isEnding(_ column: Int) -> Bool { paths[column] == "last_error" }

    /// Whether a column contains ids, of which the end is enough.
    func isIdentifier(_ column: Int) -> Bool {
        ["id", "device", "peer", "workspace", "invite"].contains(paths[column])
    }

    static let messages = ColumnSet([
        "ID": "id", "AT": "at", "AUTHOR": "author.name", "CHANNEL": "channel", "TEXT": "text",
    ])

    /// The columns of an answer of this shape, or `nil` if it is shown field by field.
    ///
    /// - Parameter isPlain: whether programs read them, for whom the columns never change.
    static func of(_ shape: Command.Shape, isPlain: Bool) -> ColumnSet? {
        isPlain ? plain(shape) : forPeople(shape) ?? plain(shape)
    }

    /// The columns that differ between people and programs.
    private static func forPeople(_ shape: Command.Shape) -> ColumnSet? {
        switch shape {
        case .presences:
            ColumnSet(
                [
                    "ID": "id", "NAME": "name", "STATE": "state", "EMOJI": "emoji", "TEXT": "text",
                    "UNTIL": "until",
                ], drops: ["ID", "UNTIL", "EMOJI", "TEXT"])
        case .devices, .renamedDevice, .revokedDevice:
            ColumnSet(
                [
                    "ID": "id", "KIND": "kind", "NAME": "name", "SELF": "self", "ADDED": "added_at",
                    "HOW": "origin", "BY": "added_by.name", "REVOKED": "revoked",
                ], drops: ["HOW", "BY", "ID", "KIND", "REVOKED", "ADDED"])
        case .holders:
            ColumnSet(
                [
                    "DEVICE": "device", "NAME": "label", "HELD": "complete", "PERSON": "person",
                    "HEARD": "at",
                ], drops: ["DEVICE", "HEARD"])
        case .appliers:
            ColumnSet(
                [
                    "DEVICE": "device", "NAME": "label", "APPLIED": "complete", "HEARD": "at",
                ], drops: ["DEVICE", "HEARD"])
        case .peers:
            ColumnSet(
                [
                    "ID": "id", "NAME": "label", "STATE": "state", "ADDRESS": "address",
                    "BEHIND": "behind", "AHEAD": "ahead", "TRIED": "tried",
                    "ERROR": "last_error",
                ], drops: ["ID", "AHEAD", "ADDRESS", "TRIED", "BEHIND"], below: ["ERROR"],
                early: ["ID", "AHEAD"], optional: ["TRIED"])
        case .syncs:
            ColumnSet(
                [
                    "PEER": "label", "WORKSPACE": "place", "STATE": "state", "BEHIND": "behind",
                    "AHEAD": "ahead",
                ], drops: ["WORKSPACE", "AHEAD"])
        default: nil
        }
    }

    private static func plain(_ shape: Command.Shape) -> ColumnSet? {
        switch shape {
        case .workspaces, .leftWorkspace, .forgottenWorkspace, .successor, .recoveredWorkspace:
            ColumnSet(
                [
                    "ID": "id", "NAME": "name", "ROLE": "role", "MEMBERS": "members",
                    "CHANNELS": "channels", "SELECTED": "selected", "STATE": "state",
                ], drops: ["CHANNELS", "ID", "MEMBERS", "STATE", "ROLE"])
        case .channels, .changedChannel:
            ColumnSet(
                [
                    "ID": "id", "NAME": "name", "KIND": "kind", "PRIVATE": "private",
                    "MEMBERS": "members", "UNREAD": "unread", "TOPIC": "topic",
                ], drops: ["KIND", "ID", "MEMBERS", "TOPIC", "PRIVATE"])
        case .unread:
            ColumnSet([
                "ID": "id", "NAME": "name", "UNREAD": "unread", "MENTIONS": "mentions",
                "LAST": "last.text",
            ])
        case .directs:
            ColumnSet(
                ["ID": "id", "NAME": "name", "MEMBERS": "members", "UNREAD": "unread"],
                drops: ["ID", "MEMBERS"])
        case .noticedChannel:
            ColumnSet(
                [
                    "ID": "id", "NAME": "name", "MUTED": "muted", "UNTIL": "muted_until",
                    "NOTIFY": "notify",
                ], drops: ["ID", "UNTIL"])
        case .ownedChannel, .channelRoles:
            ColumnSet(
                [
                    "ID": "id", "NAME": "name", "OWNER": "owner.name", "ARCHIVED": "archived",
                ], drops: ["ID"])
        case .members, .memberRole, .removedMember:
            ColumnSet(
                [
                    "ID": "id", "NAME": "name", "ROLE": "role", "DEVICES": "devices",
                    "SELF": "self",
                ], drops: ["ID", "DEVICES", "SELF"])
        case .notes:
            ColumnSet(
                [
                    "ID": "id", "TITLE": "title", "CHANGED": "edited_at", "BY": "edited_by.name",
                    "CREATED": "created_at", "AUTHOR": "author.name",
                ], drops: ["CREATED", "AUTHOR", "BY"])
        case .noteHistory:
            ColumnSet(
                [
                    "AT": "at", "ACTION": "action", "BY": "by.name", "ADDED": "added",
                    "TITLE": "title", "VALID": "valid", "ID": "id",
                ], drops: ["VALID", "ID", "ADDED"])
        case .preferences: ColumnSet(["SETTING": "setting", "VALUE": "value"])
        case .ledgers, .balance, .ledgerItems, .orders, .spends, .storeSetting: ofLedgers(shape)
        case .attestations, .accountLinks, .accountProviders: ofProofs(shape)
        case .presences:
            ColumnSet([
                "ID": "id", "NAME": "name", "STATE": "state", "TEXT": "text", "UNTIL": "until",
                "EMOJI": "emoji",
            ])
        default: ofDevices(shape)
        }
    }

    /// The columns of devices, join requests and peers.
    private static func ofDevices(_ shape: Command.Shape) -> ColumnSet? {
        switch shape {
        case .devices, .renamedDevice, .revokedDevice:
            ColumnSet([
                "ID": "id", "NAME": "name", "SELF": "self", "ADDED": "added_at",
                "HOW": "origin", "BY": "added_by.name", "REVOKED": "revoked",
            ])
        case .files, .file, .fileBody:
            ColumnSet(
                [
                    "ID": "id", "NAME": "name", "SIZE": "size", "HAVE": "have", "TYPE": "type",
                    "HOLDERS": "holders", "KEPT": "kept",
                ], drops: ["KEPT", "TYPE", "HAVE", "HOLDERS"])
        case .media: ColumnSet(["KIND": "id", "FETCHED": "policy", "UP TO": "up_to"])
        case .savedFile: ColumnSet(["PATH": "path", "NAME": "name", "SIZE": "size"])
        case .fileHolders:
            ColumnSet(
                [
                    "DEVICE": "device", "MEMBER": "member.name", "SELF": "self",
                    "WHOLE": "complete", "HAVE": "have", "HEARD": "at",
                ], drops: ["HAVE", "SELF"])
        case .holders:
            ColumnSet(["DEVICE": "device", "MEMBER": "member.name", "HELD": "complete"])
        case .appliers:
            ColumnSet(["DEVICE": "device", "MEMBER": "member.name", "APPLIED": "complete"])
        case .invites, .madeInvite:
            ColumnSet(
                [
                    "ID": "id", "STATE": "state", "ROLE": "role", "USED": "used", "USES": "uses",
                    "LINK": "link",
                ], drops: ["ROLE", "USES"], below: ["LINK"])
        case .requests:
            ColumnSet(
                [
                    "ID": "id", "STATE": "state", "NAME": "name", "DEVICE": "device",
                    "INVITE": "invite", "NOTE": "note",
                ], drops: ["INVITE", "DEVICE", "STATE"], below: ["NOTE"])
        case .peers, .changedPeer, .removedPeer:
            ColumnSet(
                [
                    "ID": "id", "NAME": "name", "STATE": "state", "ADDRESS": "address",
                    "BEHIND": "behind", "AHEAD": "ahead", "ERROR": "last_error",
                ], drops: ["ID", "ERROR", "AHEAD", "BEHIND"])
        case .syncs:
            ColumnSet(
                [
                    "PEER": "peer", "WORKSPACE": "workspace", "STATE": "state", "BEHIND": "behind",
                    "AHEAD": "ahead",
                ], drops: ["WORKSPACE", "AHEAD"])
        case .findings:
            ColumnSet(["ID": "id", "STATE": "state", "MESSAGE": "message", "HINT": "hint"])
        default: nil
        }
    }
}
