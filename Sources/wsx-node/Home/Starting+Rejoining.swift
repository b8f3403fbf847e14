import PeerNode
import WorkspaceModel

/// A stream that somebody reads, which outlives its daemon. One for programs ends with it, so that
/// they learn of it.
extension Starting {
    /// Whether somebody sits before the stream.
    var hasStreamReader: Bool { io.isOutputTerminal && !globals.json && !globals.plain }

    /// Whether what a stream ended with is over when the daemon is back, or open again.
    static func comesBack(_ error: NodeError) -> Bool {
        [.notRunning, .stopping, .locked, .sessionExpired, .busy].contains(error.kind)
    }

    /// Waits for the daemon, and goes on after the last event that was seen.
    ///
    /// - Parameters:
    ///   - wanted: the parameters of the stream.
    ///   - cursor: of the last event; another where the store is not the one it was.
    /// - Returns: whether it came back before the time is over that was given.
    func rejoin(
        _ client: inout ControlClient, _ wanted: JSONObject, after cursor: inout JSONValue?,
        until end: Int64?
    ) throws(NodeError) -> Bool {
        let waiting = "── the daemon does not answer; this continues when it is back ──"
        io.print(rendering.dim(waiting) + "\n")
        var (given, pause, isWhole) = (wanted, Int64(125), true)
        while end.map({ io.now < $0 }) ?? true {
            io.pause(milliseconds: min(pause, end.map { $0 - io.now } ?? pause))
            pause = min(2_000, pause * 2)
            do throws(NodeError) {
                var fresh = try self.client()
                // A locked node has a stream, and nothing to say in it.
                guard try fresh.call("session.status", [:])["locked"] != true else { continue }
                given["since"] = cursor
                let opened = try fresh.subscribe(given)
                cursor = opened["cursor"] ?? cursor
                client = fresh
                let log = rendering.hints.text("wsx-node log CHANNEL")
                let loss = isWhole ? "" : "; to see what you missed: \(log)"
                io.print(rendering.dim("── the daemon is back\(loss) ──") + "\n")
                return true
            } catch {
                if error.kind == .cursorExpired {
                    // A store that was restored, or is another, numbers its events anew.
                    (cursor, isWhole) = (nil, false)
                } else if !Self.comesBack(error) {
                    throw error
                }
            }
        }
        return false
    }
}
