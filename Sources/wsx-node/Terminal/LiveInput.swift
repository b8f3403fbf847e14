/// Keyboard and screen of a conversation, or two pipes in their place.
protocol LiveInput: AnyObject {
    /// Of the screen; 80 by 24 where nobody knows.
    var size: (columns: Int, rows: Int) { get }
    /// Writes to standard output. `false` when nobody reads it any more.
    func write(_ text: String) -> Bool
    /// Waits until something happens; what happened at the same time comes together.
    ///
    /// - Parameters:
    ///   - transport: where the daemon may say something.
    ///   - milliseconds: how long to wait at most; `nil` for ever.
    func wait(for transport: (any ControlTransport)?, within milliseconds: Int64?) -> [LiveWake]
    /// Takes the terminal over, or takes it again after somebody else had it; does nothing to pipes.
    func enter()
    /// Gives the terminal back as it was found.
    func leave()
    /// Gives the terminal back, stops this process, and takes the terminal over when it goes on.
    func suspend()
}

/// Why a wait ended.
enum LiveWake: Equatable {
    /// Bytes from the keyboard or the pipe.
    case typed([UInt8])
    /// The pipe or the terminal gives nothing any more.
    case endOfInput
    /// The daemon said something, or went away.
    case answered
    /// The screen has another size.
    case resized
    /// Somebody else stopped this process, and it goes on.
    case resumed
    /// A signal asks to stop for a while.
    case suspendAsked
    /// The signal with this number asks to end.
    case endAsked(Int32)
}
