import WorkspaceModel

/// The paths of this home.
struct Paths: Equatable {
    /// The folder given by `--home` or `WSX_NODE_HOME`; `nil` for the folders of the account.
    let home: String?
    /// `config.toml`.
    let configuration: String
    /// The folder of identity, store and log.
    let data: String
    /// The folder of data that can be lost.
    let state: String
    /// The control socket.
    let socket: String

    /// Longest path that a Unix socket can have, in bytes: 108 with its NUL.
    private static let socketBytesMax = 107

    init(
        home flag: String?, socket flagSocket: String?, environment: [String: String],
        io: any ProgramIO
    ) throws(NodeError) {
        func value(_ name: String) -> String? {
            environment[name].flatMap { $0.isEmpty ? nil : $0 }
        }
        if let home = flag ?? value("WSX_NODE_HOME") {
            self.home = home
            configuration = home + "/config.toml"
            data = home
            state = home
            // A home on the command line overrides `WSX_NODE_SOCKET`, which may be of another home.
            socket =
                flagSocket ?? (flag == nil ? value("WSX_NODE_SOCKET") : nil)
                ?? home + "/control.sock"
        } else {
            guard let account = value("HOME") ?? io.accountHome else {
                throw .badConfiguration("no home folder found", hint: "add --home DIR")
            }
            func folder(_ name: String, _ otherwise: String) -> String {
                // The XDG rules ignore a relative path.
                let given = value(name).flatMap { $0.utf8.first == UInt8(ascii: "/") ? $0 : nil }
                return (given ?? account + otherwise) + "/wsx-node"
            }
            self.home = nil
            configuration = folder("XDG_CONFIG_HOME", "/.config") + "/config.toml"
            data = folder("XDG_DATA_HOME", "/.local/share")
            state = folder("XDG_STATE_HOME", "/.local/state")
            let runtime = value("XDG_RUNTIME_DIR").map { $0 + "/wsx-node" } ?? state + "/run"
            socket = flagSocket ?? value("WSX_NODE_SOCKET") ?? runtime + "/control.sock"
        }
        try checkSocket()
    }

    /// The same paths, made absolute.
    ///
    /// - Throws: if the socket's path is too long then.
    func absolute(_ io: any ProgramIO) throws(NodeError) -> Paths {
        try Paths(
            home: home.map(io.absolutePath), configuration: io.absolutePath(configuration),
            data: io.absolutePath(data), state: io.absolutePath(state),
            socket: io.absolutePath(socket))
    }

    private init(
        home: String?, configuration: String, data: String, state: String, socket: String
    ) throws(NodeError) {
        self.home = home
        self.configuration = configuration
        self.data = data
        self.state = state
        self.socket = socket
        try checkSocket()
    }

    private func checkSocket() throws(NodeError) {
        guard socket.utf8.count <= Self.socketBytesMax else {
            throw .badConfiguration(
                "the path of the control socket is longer than \(Self.socketBytesMax) bytes",
                hint: "give a shorter --home or --socket")
        }
    }

    /// The log of a detached daemon.
    var log: String { data + "/daemon.log" }
    /// The lock file, which a running daemon holds.
    var lock: String { data + "/lock" }
}
