import PeerNode
import WorkspaceModel

/// The context of a running command. Each conforming type implements some of the commands.
protocol SessionPart {
    var scan: ArgumentScan { get set }
    var environment: [String: String] { get }
    var io: any ProgramIO { get }

    init(scan: ArgumentScan, environment: [String: String], io: any ProgramIO)
}

extension SessionPart {
    /// Another part of the same command line.
    init(_ part: some SessionPart) {
        self.init(scan: part.scan, environment: part.environment, io: part.io)
    }

    var globals: GlobalFlags { scan.globals }

    /// Help for the width of the terminal, if there is one.
    var helpPage: HelpPage { HelpPage(columns: globals.json ? nil : rendering.columns) }

    func paths() throws(NodeError) -> Paths {
        try Paths(home: globals.home, socket: globals.socket, environment: environment, io: io)
    }
}
