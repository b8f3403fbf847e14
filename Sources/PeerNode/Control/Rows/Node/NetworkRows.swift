import WorkspaceModel

extension Command {
    /// Other devices, and the way to them.
    static let networkCommands = [
        syncStatus, peerList, peerAdd, peerRemove, netStatus, netSuspend, netResume,
    ]

    private static let syncStatus = {
        let peer = Parameter.identifier("peer", "Only this device.", prefix: "d_").optional()
        let channel = Parameter.channel(
            "channel", "Only the workspace that this channel is in."
        ).optional()
        return Command(
            "sync.status",
            line: CommandLineForm(
                "sync status", examples: ["sync status", "sync status --channel general"]),
            "Show how far this node and each peer are behind each other.",
            parameters: [peer, channel, limit, cursor], result: "list of sync", shape: .syncs,
            emptiness: "not syncing with anyone", effect: .reads, scope: .node,
            failures: [.notFound],
            run: .answer { (call) throws(NodeError) in
                try call.node.network.syncStatus(
                    SyncStatusRequest(peer: call[peer], channel: call[channel], page: call.page),
                    call.scope)
            })
    }()

    private static let peerList = Command(
        "peer.list", line: CommandLineForm("peer list", examples: ["peer list"]),
        "List the peers and their state.",
        parameters: [limit, cursor], result: "list of peer", shape: .peers, emptiness: "no peers",
        effect: .reads, scope: .node, needs: .daemon,
        run: .answer { (call) throws(NodeError) in
            try call.node.network.peers(call.page, call.scope)
        })

    private static let peerAdd = {
        let address = Parameter.text(
            "address", "Host or address, with ':port' unless it is 29790.", bytes: 1...256)
        return Command(
            "peer.add",
            line: CommandLineForm(
                "peer add", ["address"], examples: ["peer add 192.168.1.20:29790"]),
            "Save an address and connect to it.",
            parameters: [address], result: "peer", shape: .changedPeer, effect: .writes,
            scope: .node, example: ["address": "192.168.1.20:29790"],
            run: .answer { (call) throws(NodeError) in
                try call.node.network.addPeer(address: call[address], call.scope)
            })
    }()

    private static let peerRemove = {
        let peer = Parameter.text("peer", "A device, 'd_…', or an address.", bytes: 1...256)
        return Command(
            "peer.remove",
            line: CommandLineForm(
                "peer remove", ["peer"], examples: ["peer remove 192.168.1.20:29790"]),
            "Forget a peer's address and close its link.",
            parameters: [peer], result: "peer", shape: .removedPeer, effect: .writes, scope: .node,
            failures: [.notFound], example: ["peer": "192.168.1.20:29790"],
            run: .answer { (call) throws(NodeError) in
                try call.node.network.removePeer(call[peer], call.scope)
            })
    }()

    private static let netStatus = Command(
        "net.status", line: CommandLineForm("net status", examples: ["net status"]),
        "Show whether the network is in use.",
        result: "network", shape: .network, effect: .reads, scope: .node, needsStore: false,
        needs: .daemon,
        run: .answer { (call) throws(NodeError) in try call.node.network.network(call.scope) })

    private static let netSuspend = Command(
        "net.suspend", line: CommandLineForm("net suspend", examples: ["net suspend"]),
        "Close all links and stay offline until 'net resume' or the next start.",
        result: "network", shape: .network, effect: .writes, scope: .node, needs: .daemon,
        run: .outcome { (call) throws(NodeError) in
            try call.node.network.suspendNetwork(call.scope)
        })

    private static let netResume = Command(
        "net.resume", line: CommandLineForm("net resume", examples: ["net resume"]),
        "Use the network again.",
        result: "network", shape: .network, effect: .writes, scope: .node, needs: .daemon,
        run: .outcome { (call) throws(NodeError) in
            try call.node.network.resumeNetwork(call.scope)
        })
}
