import CRDTStore
import SyncProtocol
import WorkspaceModel

/// The findings of `doctor`: each is fine, a warning or an error, with one remedy.
final class InspectionHandler: CorePart, InspectionCommands {
    func doctor(_ scope: CallScope) throws(NodeError) -> CommandOutcome {
        var findings: [FindingObject] = turn.writingStop.map { [$0.finding] } ?? []
        if core.session.unreadable != nil {
            findings += [UnreadableStore.finding, identityFinding]
            findings += environment.surroundings?.findings(surroundingsFacts) ?? []
            return .reply(
                Page(findings + [listenerFinding, core.links.clockFinding, diskFinding]).json)
        }
        let problems = try stored { () throws(StorageError) in
            try store.connection.integrityProblems(countMax: 3, thorough: false)
        }
        findings.append(
            problems.isEmpty
                ? .init(id: "store", state: "ok", message: "the store is intact")
                : .init(
                    id: "store", state: "fail",
                    message: "the store is damaged: \(problems[0])",
                    hint: "stop the node and restore a backup"))
        findings.append(try stored { () throws(StorageError) in try operationsFinding() })
        findings.append(identityFinding)
        findings += environment.surroundings?.findings(surroundingsFacts) ?? []
        if turn.session.lock.isLocked { return .reply(Page(findings + [diskFinding]).json) }
        if home != nil { findings.append(core.enrolment.recovery.recoveryFinding) }
        findings.append(listenerFinding)
        findings.append(beaconFinding)
        findings.append(core.links.clockFinding)
        findings.append(diskFinding)
        findings.append(try stored { () throws(StorageError) in try backupFinding() })
        findings += core.privates.asking.keyFindings()
        findings += core.keys.withheldFindings()
        findings += core.membership.endFindings()
        findings += core.laterVersionFindings()
        findings += try core.log.evidence.forkFindings()
        if let restored = try core.log.evidence.recentRestoration() {
            findings.append(
                .init(
                    id: "restored", state: "warn", message: restored,
                    hint: "run only one copy of a home"))
        }
        findings += core.links.copyFindings
        findings += core.integrity.rotFindings
        findings += try core.files.findings.all()
        findings += try AccountHandler(core).keyFindings()
        findings += peerFindings
        return .reply(Page(findings).json)
    }

    /// Looks at the newest operations only: the answer must not keep the loop for long.
    private func operationsFinding() throws(StorageError) -> FindingObject {
        let newest = store.operations.arrival
        let range = max(1, newest - 999)...max(1, newest)
        let problems = try StoreCheck.problems(in: store.operations, arrivals: range)
        for problem in problems {
            core.log.noteDamage(at: problem.sequence, of: problem.branch)
        }
        guard store.operations.damagedCount > 0 else {
            return .init(
                id: "operations", state: "ok",
                message: "the newest operations have correct ids, chains and signatures")
        }
        return .init(
            id: "operations", state: "fail",
            message: "\(store.operations.damagedCount) stored operations are damaged"
                + (problems.first.map { ": \($0.what)" } ?? "") + "; asking peers for them",
            hint: "connect a peer that has them, or stop the node and restore a backup")
    }

    private var identityFinding: FindingObject {
        guard let object = core.queries.identityObject() else {
            return .init(
                id: "identity", state: "warn", message: "this home has no identity",
                hint: "wsx-node up --name NAME")
        }
        if object.isLocked {
            return .init(
                id: "identity", state: "warn", message: "this node is locked",
                hint: "wsx-node session unlock")
        }
        let seal =
            object.hasPassphrase
            ? "are protected by a passphrase" : "are not protected by a passphrase"
        return .init(
            id: "identity", state: "ok",
            message: "you are \(object.name ?? object.id); your keys \(seal)")
    }

    private var listenerFinding: FindingObject {
        if !mayWrite {
            return .init(
                id: "listener", state: "fail",
                message: "not connecting to peers, because nothing they send could be saved",
                hint: WritingStop.hint)
        }
        if network.registry.isSuspended {
            return .init(
                id: "listener", state: "warn", message: "the network is suspended",
                hint: "wsx-node net resume")
        }
        guard !network.addresses.listening.isEmpty else {
            return .init(
                id: "listener", state: "fail", message: "not listening for peers",
                hint: "wsx-node down; wsx-node up --listen 0.0.0.0:0")
        }
        let addresses = network.addresses.listening.map(\.text).joined(separator: ", ")
        return .init(id: "listener", state: "ok", message: "listening for peers on \(addresses)")
    }

    private var diskFinding: FindingObject {
        DiskSpace(freeBytes: environment.files.freeBytes).finding
    }

    private var surroundingsFacts: SurroundingsFacts {
        SurroundingsFacts(
            listen: network.addresses.listening.map(\.text),
            port: network.addresses.listening.first?.port)
    }

    /// A node hears what it announces itself, as long as nothing on the machine swallows it.
    private var beaconFinding: FindingObject {
        func finding(_ state: String, _ message: String, _ hint: String? = nil) -> FindingObject {
            .init(id: "beacon", state: state, message: message, hint: hint)
        }
        guard network.addresses.announces else { return finding("ok", "LAN discovery is off") }
        guard !network.beacons.hearsOwn else {
            return finding("ok", "this machine hears its own LAN announcements")
        }
        guard let first = network.beacons.first, time.monotonic &- first >= 2_000 else {
            return finding("ok", "nothing has been announced on the LAN yet")
        }
        return finding(
            "warn",
            "this machine does not hear its own LAN announcements: multicast is blocked",
            "wsx-node peer add HOST")
    }

    /// The peers of a node hold copies of its operations, but not its keys.
    private func backupFinding() throws(StorageError) -> FindingObject {
        let day: UInt64 = 24 * 3_600_000
        let hint = "wsx-node backup create -o FILE"
        guard let last = try BackupHandler(core).lastBackup() else {
            let age = home.map { time.wall &- min($0.createdAt, time.wall) } ?? 0
            return age <= 7 * day
                ? .init(
                    id: "backup", state: "ok", message: "no backup yet, and this home is new")
                : .init(
                    id: "backup", state: "warn",
                    message: "this home has never been backed up", hint: hint)
        }
        let days = (time.wall &- min(last, time.wall)) / day
        let message =
            days == 0
            ? "the last backup was made today"
            : "the last backup is \(days == 1 ? "1 day" : "\(days) days") old"
        return days <= 30
            ? .init(id: "backup", state: "ok", message: message)
            : .init(id: "backup", state: "warn", message: message, hint: hint)
    }

    /// People go home: that somebody is not there is nothing to mend, unless nobody is, or it is an
    /// address that somebody typed.
    private var peerFindings: [FindingObject] {
        let peers = network.registry.peers
        let isAlone = !peers.contains { $0.state == .connected }
        return peers.map { peer in
            var isTyped = false
            if case .address = peer.name { isTyped = true }
            let object = core.queries.peerData(of: peer)
            let name = object.name ?? object.id ?? object.address ?? "?"
            guard object.state != "connected" else {
                return .init(
                    id: "peer", state: "ok",
                    message: "\(name) connected, "
                        + (object.behind.map { "\($0) behind" } ?? "comparing"))
            }
            let seen = peer.lastSeen.map {
                "last seen \(AgeText.of(Int64(clamping: time.wall) - Int64(clamping: $0))) ago"
            }
            let addresses = peer.addresses.prefix(4).map(\.address.text).joined(separator: ", ")
            let parts = [
                object.lastError.map(LinkWords.text) ?? "not tried yet", seen ?? "never seen",
                addresses.isEmpty ? "no address known" : "addresses \(addresses)",
            ]
            let message = "\(name) not connected: \(parts.joined(separator: "; "))"
            // A removed member is told so once, and not by each remaining member.
            guard isAlone && peer.lastError != LinkEnding.removed.word || isTyped else {
                return .init(id: "peer", state: "ok", message: message)
            }
            return .init(
                id: "peer", state: "warn", message: message,
                hint: addresses.isEmpty
                    ? "wsx-node peer add HOST[:PORT]"
                    : "is that node running? wsx-node peer list")
        }
    }

    func check(repairs: Bool, _ scope: CallScope) throws(NodeError) -> CommandOutcome {
        try core.integrity.check(repairs: repairs, scope)
    }
}
