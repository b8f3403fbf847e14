/// What went wrong with a file of the home, as a sentence and a hint.
public struct HomeFileError: Error, Sendable, Equatable {
    /// What happened.
    public let message: String
    /// What to do.
    public let hint: String?

    /// A failure with these words.
    public init(_ message: String, hint: String? = nil) {
        self.message = message
        self.hint = hint
    }
}
