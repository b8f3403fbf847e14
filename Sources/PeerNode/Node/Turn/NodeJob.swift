/// Work that a command hands to a thread of the loop; its result is the call's answer.
public enum NodeJob: Sendable {
    /// Copies the home into a new file.
    case createBackup(BackupDraft, at: UInt64)
    /// Looks whether a backup could be restored.
    case verifyBackup(path: String, passphrase: String?)
}
