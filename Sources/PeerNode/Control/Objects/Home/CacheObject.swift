public import WorkspaceModel

/// The space that files take on this device. Bytes are those of ciphertext on the
/// disk.
public struct CacheObject: ControlObject {
    /// Files with bytes here.
    public var files: Int64 = 0
    /// Bytes that they take.
    public var bytes: Int64 = 0
    /// Bytes of those that were put on this device.
    public var ownBytes: Int64 = 0
    /// Bytes of those that are kept on purpose.
    public var keptBytes: Int64 = 0
    /// Bytes that can be cleared: others have them, and nobody keeps them here.
    public var clearableBytes: Int64 = 0
    /// Bytes that all of them may take.
    public let quota: Int64
    /// Whether somebody chose that number, so that no file is fetched beyond it.
    public var isQuotaChosen = false
    /// How long a file stays that others have and nobody uses: `7d`, `30d` or `forever`.
    public let keep: String
    /// Bytes that this call removed; `nil` where it was not asked to.
    public var clearedBytes: Int64?

    /// All fields.
    public var json: JSONValue {
        var object: JSONObject = [
            "files": .integer(files), "bytes": .integer(bytes), "own_bytes": .integer(ownBytes),
            "kept_bytes": .integer(keptBytes), "clearable_bytes": .integer(clearableBytes),
            "quota": .integer(quota), "keep": .string(keep),
            "quota_chosen": .bool(isQuotaChosen),
        ]
        if let clearedBytes { object.append("cleared_bytes", .integer(clearedBytes)) }
        return .object(object)
    }
}
