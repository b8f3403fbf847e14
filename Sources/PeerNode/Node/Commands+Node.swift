import CRDTStore
import SyncProtocol
import WorkspaceModel

/// The node itself, as commands ask for it. Here the core takes on the table's protocol.
extension NodeCore: NodeCommands {
    func status(_ scope: CallScope) throws(NodeError) -> StatusObject {
        if lock.isLocked { return try lockedStatus() }
        var object = StatusObject(home: environment.home, socket: environment.socket)
        object.identity = identityObject()
        object.listen = network.listening.map(\.text)
        object.uptimeMilliseconds = Int64(clamping: time.monotonic - min(startedAt, time.monotonic))
        object.peers = peerCounts
        for workspace in workspaces.values.sorted(by: { $0.number < $1.number })
        where workspace.standing == .member {
            refreshDigest(of: workspace)
            let behind =
                network.links.values.compactMap {
                    $0.syncs[workspace.number]?.session.behind
                }.max() ?? 0
            let count = try stored { () throws(StorageError) in
                try store.operations.count(inWorkspace: workspace.number)
            }
            var row = StatusObject.Workspace(
                id: PublicID.workspace(workspace.id), name: workspace.displayName,
                digest: hexadecimal(workspace.digest.root().bytes), operations: count,
                behind: Int64(clamping: behind))
            row.state = state(of: workspace)
            object.workspaces.append(row)
        }
        object.store.operations = store.operations.count
        object.store.bytes = environment.files.storeBytes
        object.store.freeBytes = environment.files.freeBytes
        object.warnings = try warnings()
        return object
    }

    /// What may be said while the node is locked: numbers, and nothing by name.
    private func lockedStatus() throws(NodeError) -> StatusObject {
        var object = StatusObject(home: environment.home, socket: environment.socket)
        object.isLocked = true
        object.identity = identityObject()
        object.listen = network.listening.map(\.text)
        object.uptimeMilliseconds = Int64(clamping: time.monotonic - min(startedAt, time.monotonic))
        object.peers = peerCounts
        object.store.operations = store.operations.count
        object.store.bytes = environment.files.storeBytes
        object.store.freeBytes = environment.files.freeBytes
        object.warnings = [
            .init(
                kind: "session.locked",
                message: lock.phase == .closed
                    ? "this home is locked, and its network is off"
                    : "this home is locked; what peers send is stored and passed on",
                hint: "wsx-node session unlock")
        ]
        return object
    }

    private func warnings() throws(NodeError) -> [StatusObject.Warning] {
        var warnings: [StatusObject.Warning] = []
        let forks = try stored { () throws(StorageError) in try store.registry.evidenceCount() }
        if forks > 0 {
            warnings.append(
                .init(
                    kind: "fork.found", message: "\(forks) forks of devices are known",
                    hint: "wsx-node doctor"))
        }
        if let restored = try recentRestoration() {
            warnings.append(
                .init(
                    kind: "store.restored", message: restored,
                    hint: "run only one copy of a home; wsx-node doctor"))
        }
        if waiting.operationCount > 0 {
            warnings.append(
                .init(
                    kind: "sync.missing",
                    message: "\(waiting.operationCount) operations wait for what they cite",
                    hint: "wsx-node sync status"))
        }
        if store.operations.damagedCount > 0 {
            warnings.append(
                .init(
                    kind: "store.corrupt",
                    message: "\(store.operations.damagedCount) stored operations are damaged; "
                        + "peers are asked for them", hint: "wsx-node doctor"))
        }
        warnings += keyWarnings()
        warnings += endWarnings()
        warnings += twinWarnings
        warnings += pendingJoinWarnings
        if environment.files.freeBytes < 64 * 1024 * 1024 {
            warnings.append(
                .init(
                    kind: "disk.low", message: "less than 64 MiB are free on the disk",
                    hint: "free some space"))
        }
        return warnings
    }

    func doctor(_ scope: CallScope) throws(NodeError) -> CommandOutcome {
        var findings: [FindingObject] = []
        let problems = try stored { () throws(StorageError) in
            try store.connection.integrityProblems(countMax: 3, thorough: false)
        }
        findings.append(
            problems.isEmpty
                ? .init(id: "store", state: "ok", message: "the store is whole")
                : .init(
                    id: "store", state: "fail",
                    message: "the store is damaged: \(problems[0])",
                    hint: "stop the node and restore a backup"))
        findings.append(try stored { () throws(StorageError) in try operationsFinding() })
        findings.append(identityFinding)
        if lock.isLocked { return .reply(Page(findings + [diskFinding]).json) }
        if home != nil { findings.append(recoveryFinding) }
        findings.append(listenerFinding)
        findings.append(diskFinding)
        findings += keyFindings()
        findings += endFindings()
        findings += try forkFindings()
        if let restored = try recentRestoration() {
            findings.append(
                .init(
                    id: "restored", state: "warn", message: restored,
                    hint: "run only one copy of a home"))
        }
        findings += peerFindings
        return .reply(Page(findings).json)
    }

    /// Looks at the newest operations only: the answer must not keep the loop for long.
    private func operationsFinding() throws(StorageError) -> FindingObject {
        let newest = store.operations.arrival
        let range = max(1, newest - 999)...max(1, newest)
        let problems = try StoreCheck.problems(in: store.operations, arrivals: range)
        for problem in problems { noteDamage(at: problem.sequence, of: problem.branch) }
        guard store.operations.damagedCount > 0 else {
            return .init(
                id: "operations", state: "ok",
                message: "the newest operations have their ids, chains and signatures")
        }
        return .init(
            id: "operations", state: "fail",
            message: "\(store.operations.damagedCount) stored operations are damaged"
                + (problems.first.map { ": \($0.what)" } ?? "") + "; peers are asked for them",
            hint: "connect a peer that has them, or stop the node and restore a backup")
    }

    private var identityFinding: FindingObject {
        guard let object = identityObject() else {
            return .init(
                id: "identity", state: "warn", message: "this home has no identity",
                hint: "wsx-node up --name NAME")
        }
        if object.isLocked {
            return .init(
                id: "identity", state: "warn", message: "\(object.id) is locked",
                hint: "wsx-node session unlock")
        }
        let seal = object.hasPassphrase ? "sealed by a passphrase" : "its keys lie in the clear"
        return .init(
            id: "identity", state: "ok", message: "\(object.name ?? ""), \(object.id), \(seal)")
    }

    private var listenerFinding: FindingObject {
        if network.registry.isSuspended {
            return .init(
                id: "listener", state: "warn", message: "the network is suspended",
                hint: "wsx-node net resume")
        }
        guard !network.listening.isEmpty else {
            return .init(
                id: "listener", state: "fail", message: "nothing listens for peers",
                hint: "wsx-node down; wsx-node up --listen 0.0.0.0:0")
        }
        let addresses = network.listening.map(\.text).joined(separator: ", ")
        return .init(id: "listener", state: "ok", message: "peers reach \(addresses)")
    }

    private var diskFinding: FindingObject {
        let free = environment.files.freeBytes
        let isLow = free < 64 * 1024 * 1024
        return .init(
            id: "disk", state: isLow ? "warn" : "ok",
            message: "\(free / (1024 * 1024)) MiB free", hint: isLow ? "free some space" : nil)
    }

    private var peerFindings: [FindingObject] {
        network.registry.peers.map { peer in
            let object = peerData(of: peer)
            let name = object.name ?? object.id ?? object.address ?? "?"
            guard object.state != "connected" else {
                return .init(
                    id: "peer", state: "ok", message: "\(name) connected, \(object.behind) behind")
            }
            return .init(
                id: "peer", state: "warn",
                message: "\(name) not connected: \(object.lastError ?? "not tried yet")",
                hint: "is that node running? wsx-node peer list")
        }
    }

    func stop(_ scope: CallScope) throws(NodeError) {
        try stored { () throws(StorageError) in try writeMarkers(all: true) }
        isStopping = true
        stopEffects = true
    }
}
