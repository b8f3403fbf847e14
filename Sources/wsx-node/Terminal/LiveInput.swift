/// Keyboard and screen of a conversation, or a pair of pipes.
protocol LiveInput: AnyObject {
    /// The size of the screen; 80 by 24 if unknown.
    var size: (columns: Int, rows: Int) { get }
    /// Writes to standard output. `false` when nobody reads it any more.
    func write(_ text: String) -> Bool
    /// Waits for the next events; simultaneous ones are returned together.
    ///
    /// - Parameters:
    ///   - transport: the connection to the daemon.
    ///   - milliseconds: the timeout; `nil` for none.
    func wait(for transport: (any ControlTransport)?, within milliseconds: Int64?) -> [LiveWake]
    /// Takes over the terminal, or does so again after another program; does nothing to pipes.
    func enter()
    /// Restores the terminal.
    func leave()
    /// Restores the terminal, suspends this process, and takes over the terminal
    /// again when it continues.
    func suspend()
}

/// Why a wait ended.
enum LiveWake: Equatable {
    /// Bytes from the keyboard or the pipe.
    case typed([UInt8])
    /// The pipe or the terminal is at its end.
    case endOfInput
    /// The daemon sent something, or went away.
    case answered
    /// The screen was resized.
    case resized
    /// The process was stopped from outside, and continues.
    case resumed
    /// A signal asks to suspend.
    case suspendAsked
    /// The signal with this number asks to terminate.
    case endAsked(Int32)
}
