public import WorkspaceModel

/// When files of one kind are fetched automatically (`media.list`).
public struct MediaObject: ControlObject {
    /// `image`, `audio`, `video` or `other`.
    public let kind: String
    /// `manual`, `unmetered` or `always`.
    public let policy: String
    /// Only files up to this number of bytes; `nil` for all.
    public let byteCountMax: Int64?
    /// Whether the network costs by the byte now, as far as is known.
    public let isMetered: Bool

    /// All fields; the kind is the id.
    public var json: JSONValue {
        [
            "id": .string(kind), "policy": .string(policy),
            "up_to": JSONValue(orNull: byteCountMax), "metered": .bool(isMetered),
        ]
    }
}
