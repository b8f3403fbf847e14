/// The reason to run a command of the owner's: a message that the owner is notified of, or a
/// question that the command answers.
public struct Notice: Sendable, Equatable {
    /// A variable of the command's environment.
    public struct Variable: Sendable, Equatable {
        /// Such as `WSX_TEXT`.
        public let name: String
        /// Without NUL, at most `Limits.noticeVariableBytesMax` bytes.
        public let value: String
    }

    /// For `/bin/sh -c`; the owner's, never anybody else's.
    public let command: String
    /// The message as one line of JSON, for standard input.
    public let input: [UInt8]
    /// Further variables for the command, in order.
    public let variables: [Variable]
    /// The number under which its output is expected; `nil` for a message, whose output is ignored.
    public var question: UInt64?
}

/// The outcome of a notice.
public enum NoticeOutcome: Sendable, Equatable {
    /// The command ended with this status, 128 and more for a signal; `nil`: it could not be run.
    case ended(status: Int32?)
    /// It was never shown, since too many waited.
    case dropped
    /// A command that was asked something has printed this, and ended well. `nil`: it could not be run,
    /// failed, took too long or said too much.
    case answered(question: UInt64, [UInt8]?)
}
