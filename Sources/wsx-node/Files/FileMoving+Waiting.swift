import PeerNode
import WorkspaceModel

/// Waiting for a file that is being fetched, showing progress.
extension FileMoving {
    /// How often a transfer is polled, and how often progress is printed without a terminal.
    private static let fetchStep: Int64 = 200
    private static let progressStep: Int64 = 10_000

    /// Waits until a file is complete. Interrupting the wait does not stop the transfer.
    ///
    /// - Parameter limit: how long at most, in milliseconds; `nil` for as long as
    ///   there is a chance.
    /// - Returns: whether it is complete; if not, nobody sends it.
    func fetch(
        _ blob: JSONValue, for limit: Int64?, _ client: inout ControlClient
    ) throws(NodeError) -> Bool {
        var file = try client.call("blob.fetch", ["blob": blob])
        var progress = FileProgress(begunAt: io.now)
        var told = io.now
        let begunAt = io.now
        defer { if progress.isShown { io.printError("\r\u{1b}[K") } }
        while file["complete"] != true {
            if isMissed(file, for: limit, since: begunAt) { return false }
            progress.note(file, at: io.now)
            if !globals.json, !globals.quiet {
                if let columns = io.errorColumns {
                    io.printError("\r" + progress.bar(columns: columns) + "\u{1b}[K")
                    progress.isShown = true
                } else if io.now - told >= Self.progressStep {
                    told = io.now
                    io.printError("wsx-node: " + progress.line + "\n")
                }
            }
            io.pause(milliseconds: Self.fetchStep)
            file = try client.call("blob.stat", ["blob": blob])
        }
        return true
    }

    /// Whether nobody has sent it for as long as the call allows or, without a limit, the node
    /// considers hopeless.
    private func isMissed(_ file: JSONValue, for limit: Int64?, since begunAt: Int64) -> Bool {
        guard let idleSince = file["waiting_since"]?.integerValue,
            let patience = limit ?? file["patience_ms"]?.integerValue
        else { return false }
        return io.now - max(idleSince, begunAt) >= patience
    }
}
