import CRDTStore
import WorkspaceModel

/// Implements the commands about backups. They are made beside the loop, from a snapshot.
final class BackupHandler: CorePart, BackupCommands {
    func createBackup(
        _ draft: BackupDraft, _ scope: CallScope
    ) throws(NodeError) -> CommandOutcome {
        try NodeError.refuseRelative(draft.path, field: "path")
        if let settings = draft.settings {
            try NodeError.refuseRelative(settings, field: "settings")
        }
        turn.emit(.job(scope.call, .createBackup(draft, at: time.wall)))
        return .later
    }

    func verifyBackup(
        _ draft: BackupDraft, _ scope: CallScope
    ) throws(NodeError) -> CommandOutcome {
        let path = draft.path
        try NodeError.refuseRelative(path, field: "path")
        turn.emit(
            .job(scope.call, .verifyBackup(path: path, passphrase: draft.passphrase)))
        return .later
    }

    private static let lastBackup = "backup.last"

    /// Remembers when a backup was made.
    func noteBackup(at: UInt64) throws(StorageError) {
        guard mayWrite else { return }
        try write()
        try store.registry.setValue(bigEndianBytes(of: at), of: Self.lastBackup)
    }

    /// When the last backup was made, in milliseconds since 1970; `nil` for never.
    func lastBackup() throws(StorageError) -> UInt64? {
        guard let bytes = try store.registry.value(Self.lastBackup), bytes.count == 8 else {
            return nil
        }
        return bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// Whether it is time for a backup: the last one is old, or there is none and the home is old.
    ///
    /// - Parameter last: when the last one was made, as `lastBackup` gives it.
    func isBackupDue(last: UInt64?) -> Bool {
        guard let since = last ?? home?.createdAt else { return false }
        return time.wall &- min(since, time.wall) > Limits.backupAgeMilliseconds
    }
}
