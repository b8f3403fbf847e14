import SyncProtocol
import WorkspaceModel

/// A run that was stored in this turn.
struct AppendedRun {
    let workspace: Int64
    let branch: Int64
    let log: LogName
    /// Its last operation.
    var tip: LogTip
    /// The operations themselves if they have to be pushed: what this device wrote.
    var own: OperationRun?

    /// Payloads in one push, so that it stays far below what may wait unasked, in bytes.
    static let pushedBytesMax = 64 * 1024

    /// Takes up what this device wrote next on the same branch. A burst of messages is then one
    /// push, with one signature to verify.
    ///
    /// - Returns: whether it did.
    mutating func take(_ next: AppendedRun) -> Bool {
        guard branch == next.branch, var run = own, let following = next.own,
            following.firstSequence == run.firstSequence + UInt64(run.entries.count),
            run.payloadByteCount + following.payloadByteCount <= Self.pushedBytesMax
        else { return false }
        own = nil
        run.entries += following.entries
        own = run
        tip = next.tip
        return true
    }
}

extension OperationRun {
    fileprivate var payloadByteCount: Int {
        entries.indices.reduce(0) { $0 + entries[$1].payload.count }
    }
}
