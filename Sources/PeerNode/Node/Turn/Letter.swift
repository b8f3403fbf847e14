/// An e-mail for the owner's mail command to send.
public struct Letter: Sendable, Equatable {
    /// Under which `NodeInput.mailed` says what became of it.
    public let number: UInt64
    /// For `/bin/sh -c`; the owner's, never anybody else's.
    public let command: String
    /// Head and text as RFC 5322 has them, lines ending with a line feed, for standard input.
    public let input: [UInt8]
    /// Further variables for the command; none is secret.
    public let variables: [Notice.Variable]
}
