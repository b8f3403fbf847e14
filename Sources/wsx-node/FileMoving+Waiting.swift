import PeerNode
import WorkspaceModel

/// Waiting for a file that is being fetched, with its progress.
extension FileMoving {
    /// How often a transfer is looked at, and how often its progress is told where no terminal shows it.
    private static let fetchStep: Int64 = 200
    private static let progressStep: Int64 = 10_000

    /// Waits until all of a file is here. Whoever stops that does not stop the transfer.
    ///
    /// - Parameter limit: how long at most, in milliseconds; `nil` for as long as there is a chance.
    /// - Returns: whether it is; else nobody sends it.
    func fetch(
        _ blob: JSONValue, for limit: Int64?, _ client: inout ControlClient
    ) throws(NodeError) -> Bool {
        var file = try client.call("blob.fetch", ["blob": blob])
        var progress = FileProgress(begunAt: io.now)
        var told = io.now
        var patience = FilePatience(limit, begunAt: io.now)
        defer { if progress.isShown { io.printError("\r\u{1b}[K") } }
        while file["complete"] != true {
            if patience.hasEnded(file["waiting_since"]?.integerValue, at: io.now) {
                guard patience.mayGoOn, isOffered(blob, &client) else { return false }
                patience.goOn(at: io.now)
            }
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

    /// Whether another device that is connected has some of it, and may only be busy.
    private func isOffered(_ blob: JSONValue, _ client: inout ControlClient) -> Bool {
        let holders = (try? client.call("blob.holders", ["blob": blob]))?["items"]?.arrayValue
        return holders?.contains { $0["live"] == true && $0["self"] != true } ?? false
    }
}

/// How long a file is waited for that nobody sends.
private struct FilePatience {
    /// What was asked for; `nil` where that is open.
    private let limit: Int64?
    private let begunAt: Int64
    /// When it was last found out that somebody has it.
    private var heardAt: Int64
    private var isLong = false

    init(_ limit: Int64?, begunAt: Int64) {
        self.limit = limit
        self.begunAt = begunAt
        heardAt = begunAt
    }

    /// - Parameter since: since when nobody sends it; `nil` while somebody does.
    mutating func hasEnded(_ since: Int64?, at now: Int64) -> Bool {
        guard let since else {
            (heardAt, isLong) = (now, false)
            return false
        }
        let waited = now - max(since, begunAt)
        if let limit { return waited >= limit }
        isLong = waited >= Int64(Limits.fileWaitMilliseconds)
        return isLong || now - max(since, heardAt) >= Int64(Limits.fileAloneMilliseconds)
    }

    /// Whether it is waited on where a connected device has the file.
    var mayGoOn: Bool { limit == nil && !isLong }

    mutating func goOn(at now: Int64) { heardAt = now }
}
