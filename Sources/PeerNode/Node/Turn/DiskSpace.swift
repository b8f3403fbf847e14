import WorkspaceModel

/// How much free space a home has, in the words that `status` and `doctor` share.
public struct DiskSpace {
    /// Of the file system that holds the home; comes from the system.
    public let freeBytes: Int64

    private static let mebibyte: Int64 = 1_024 * 1_024
    /// What to do when there is hardly any.
    static let hint = "free some space"

    /// - Parameter freeBytes: the space left for the user that runs the node.
    public init(freeBytes: Int64) { self.freeBytes = freeBytes }

    /// Less than a commit may need.
    private var isFull: Bool { freeBytes < Self.mebibyte }
    private var isLow: Bool { freeBytes < 64 * Self.mebibyte }

    /// What is wrong, or `nil` where there is enough.
    var warning: String? {
        if isFull { return "the disk is full" }
        return isLow ? "\(ByteText.text(freeBytes)) of disk space is free" : nil
    }

    /// The finding for `doctor`.
    public var finding: FindingObject {
        FindingObject(
            id: "disk", state: isFull ? "fail" : isLow ? "warn" : "ok",
            message: isFull ? "the disk is full" : "\(ByteText.text(freeBytes)) free",
            hint: isLow ? Self.hint : nil)
    }
}
