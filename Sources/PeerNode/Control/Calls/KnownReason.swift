public import WorkspaceModel

/// Reasons of failures that this program itself reacts to, shared by both sides of a call. All
/// other reasons are words for programs and logs.
public enum KnownReason: String, Sendable {
    case sealedBackup = "backup.sealed"
    /// The daemon hung up.
    case endedConnection = "control.ended"
    /// The device came earlier than the one that would revoke it; the phrase does.
    case olderDevice = "device.older"
    /// One message names a file two times.
    case fileTwice = "file.twice"
    /// An edit rests on a text that the node does not have.
    case unknownNoteBase = "note.base"
    /// A note changed between two parts of a reading.
    case changedNote = "note.changed"
}

extension NodeError {
    /// Whether it failed for this reason.
    public func isBecause(of reason: KnownReason) -> Bool { self.reason == reason.rawValue }
}
