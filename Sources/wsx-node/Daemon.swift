import PeerNode
import WorkspaceModel

/// `daemon run`: this process becomes the daemon.
enum Daemon {
    /// Runs the loop of the node until it is told to stop.
    static func run(paths: Paths, scan: ArgumentScan, io: any ProgramIO) throws(NodeError) -> Int32
    {
        throw NodeError(
            .unsupported, "this build has no loop to run yet", reason: "node.not_built")
    }
}
