import WorkspaceModel

/// What channels and conversations are called where several stand beside one another.
enum ChannelNames {
    /// `#general`, `@Joon`, or `@me` for what one says to oneself.
    static func shown(_ channel: JSONValue) -> String? {
        guard let name = channel["name"]?.stringValue else { return nil }
        switch channel["kind"]?.stringValue {
        case "self": return "@me"
        case "dm":
            // With nobody but oneself in it, it is named after oneself.
            return channel["people"]?.arrayValue?.count == 1 ? "@me" : "@" + name
        default: return "#" + name
        }
    }
}
