public import WorkspaceModel

/// The commands for backups of a home.
public protocol BackupCommands {
    /// Backs the home up. Answers with the object `backup`, later.
    func createBackup(_ draft: BackupDraft, _ scope: CallScope) throws(NodeError) -> CommandOutcome
    /// Checks a backup. Answers with the object `backup`, later.
    func verifyBackup(_ draft: BackupDraft, _ scope: CallScope) throws(NodeError) -> CommandOutcome
}

/// The backup file, and how it is sealed.
public struct BackupDraft: Sendable {
    /// From outside; must be absolute, because the daemon has another working folder.
    public let path: String
    /// The file of settings to put in.
    public let settings: String?
    /// `nil` for a backup that is not sealed.
    public let passphrase: String?
    /// Which files of messages go with it.
    public var files = BackupFileChoice.none
}

/// Which files of messages a backup includes.
public enum BackupFileChoice: String, Sendable, CaseIterable {
    /// Those that were added on this device.
    case own
    /// Those that are here as a whole.
    case all
    /// None of them.
    case none
}
