import WorkspaceModel

extension Command {
    /// Starting, stopping and looking at the node.
    static let nodeCommands = [
        up, nodeStop, nodeStatus, nodeMetrics, nodeDoctor, daemonRun, socket, nodeVersion,
    ]

    /// Where a daemon listens, shared by everything that starts one. They stay on the command
    /// line, for a daemon that runs already has its address.
    static let startParameters: [any ListedParameter] = [
        Parameter.text(
            "listen", "Address and port for a daemon that this starts; kept for later starts.",
            bytes: 1...256
        )
        .optional().local(),
        Parameter.choice(
            "announce", "Announce this node on the local network; kept for later starts.",
            ["on", "off"]
        ).optional().local(),
    ]

    private static let up = Command(
        "up",
        line: CommandLineForm(
            "up",
            examples: [
                "up --name Mina --workspace acme",
                "up --name Mina --email mina@example.org --workspace acme", "up",
            ], flow: .up),
        "Start the node. Creates your identity, and with --workspace the workspace, if missing.",
        parameters: [
            Parameter.name("name", "The name of a new identity.").optional(),
            Parameter.text(
                "email", "An email address for its profile in each workspace.", bytes: 1...254
            ).optional(), noRecovery.local(),
        ] + passphraseSources + startParameters,
        result: "what was done, one line each", effect: .signs, scope: .node,
        failures: [.inUse, .badConfiguration], example: ["name": "Mina"], needs: .nothing)

    private static let nodeStop = Command(
        "node.stop", line: CommandLineForm("down", examples: ["down"], flow: .stop),
        "Stop the daemon, and wait until its process has ended.",
        result: "nothing", effect: .writesBeside, scope: .node, whileLocked: .answers,
        needsStore: false, needs: .daemon,
        run: .outcome { (call) throws(NodeError) in
            try call.node.home.stop(call.scope)
            return .reply([:])
        })

    private static let nodeStatus = {
        let check = Parameter.flag("check", "Print nothing; only set the exit status.").local()
        return Command(
            "node.status",
            line: CommandLineForm("status", examples: ["status --json"], flow: .status),
            "Show identity, workspaces, peers and disk.",
            parameters: [check], result: "status", shape: .status, effect: .reads, scope: .node,
            whileLocked: .answers, needsStore: false, needs: .daemon,
            run: .answer { (call) throws(NodeError) in try call.node.home.status(call.scope) })
    }()

    private static let nodeMetrics = Command(
        "node.metrics", line: CommandLineForm("metrics", examples: ["metrics"]),
        "Print metrics in Prometheus text format.",
        result: "text", shape: .text, effect: .reads, scope: .node, whileLocked: .answers,
        needsStore: false, needs: .daemon,
        run: .answer { (call) throws(NodeError) in try call.node.inspection.metrics(call.scope) })

    private static let nodeDoctor = Command(
        "node.doctor", line: CommandLineForm("doctor", examples: ["doctor"], flow: .doctor),
        "Check the node and its surroundings, with a fix for each problem.",
        result: "list of finding", shape: .findings, effect: .reads, scope: .node,
        whileLocked: .answers, needsStore: false, needs: .daemon,
        run: .outcome { (call) throws(NodeError) in try call.node.inspection.doctor(call.scope) })

    private static let daemonRun = Command(
        "daemon.run",
        line: CommandLineForm(
            "daemon run", examples: ["daemon run --listen 0.0.0.0:29790"], flow: .runDaemon),
        "Run the daemon in the foreground. It logs to standard error.",
        parameters: startParameters + sources(of: "passphrase", "the passphrase"),
        result: "nothing", effect: .writesBeside, scope: .node, failures: [.inUse, .wrongSecret],
        needs: .nothing)

    private static let socket = Command(
        "socket", line: CommandLineForm("socket", examples: ["socket"], flow: .socket),
        "Print the path of the control socket, whether or not a daemon runs.",
        result: "a path", effect: .reads, scope: .node, needs: .nothing)

    private static let nodeVersion = Command(
        "node.version",
        line: CommandLineForm("version", examples: ["version", "version --json"], flow: .version),
        "Print the version of the program and of its interface.",
        result: "version", effect: .reads, scope: .node, whileLocked: .answers, needsStore: false,
        needs: .nothing,
        run: .outcome { (_) throws(NodeError) in .reply(Release.json) })
}
