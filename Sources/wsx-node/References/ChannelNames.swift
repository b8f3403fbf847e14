import WorkspaceModel

/// The names of channels and conversations in lists.
enum ChannelNames {
    /// `#general`, `@Joon`, or `@me` for notes to yourself.
    static func shown(_ channel: JSONValue) -> String? {
        guard let name = channel["name"]?.stringValue else { return nil }
        switch channel["kind"]?.stringValue {
        case "self": return "@me"
        case "dm":
            // A conversation with yourself has your own name.
            return channel["people"]?.arrayValue?.count == 1 ? "@me" : "@" + name
        default: return "#" + name
        }
    }
}
