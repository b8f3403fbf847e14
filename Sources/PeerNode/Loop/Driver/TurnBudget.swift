/// How many bytes from peers one turn may take in.
///
/// A turn is one transaction, and a local command waits for the turn before it. So after a turn
/// that took longer than it should, the next one takes half as many bytes; after a quick one, twice
/// as many. The first turn after an idle period has the full size.
struct TurnBudget {
    /// The most that a turn may take in: a burst then costs one fsync.
    static let byteCountMax = 1024 * 1024
    /// Enough for one whole frame, so that a slow disk slows a peer down and never stops it.
    static let byteCountMin = 64 * 1024
    /// How long a local command should wait for bulk at most.
    static let millisecondsMax: UInt64 = 8

    /// How many bytes the next turn may take in.
    private(set) var byteCount = TurnBudget.byteCountMax

    /// Notes how a turn went.
    ///
    /// - Parameters:
    ///   - received: bytes of peers that it took in.
    ///   - milliseconds: how long handling and committing them took.
    mutating func didRun(received: Int, milliseconds: UInt64) {
        guard received > 0 else { return }
        if milliseconds > Self.millisecondsMax {
            // From what arrived, not from the limit: otherwise it would take many long turns.
            byteCount = max(Self.byteCountMin, min(received, byteCount) / 2)
        } else {
            byteCount = min(Self.byteCountMax, byteCount * 2)
        }
    }
}
