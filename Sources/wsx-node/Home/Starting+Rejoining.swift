import PeerNode
import WorkspaceModel

/// A stream that a person reads survives its daemon. A stream for a program ends with the daemon,
/// so that the program notices.
extension Starting {
    /// Whether a person reads the stream.
    var hasStreamReader: Bool { io.isOutputTerminal && !globals.json && !globals.plain }

    /// Whether the cause of a stream's end is over once the daemon is back, or unlocked.
    static func comesBack(_ error: NodeError) -> Bool {
        [.notRunning, .stopping, .locked, .sessionExpired, .busy].contains(error.kind)
    }

    /// Waits for the daemon, and resumes after the last event seen.
    ///
    /// - Parameters:
    ///   - wanted: the parameters of the stream.
    ///   - cursor: of the last event; replaced if the store is another one.
    /// - Returns: whether it came back in the given time.
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
                // A locked node has a stream without events.
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
                    // A store that was restored or replaced numbers its events differently.
                    (cursor, isWhole) = (nil, false)
                } else if !Self.comesBack(error) {
                    throw error
                }
            }
        }
        return false
    }
}
