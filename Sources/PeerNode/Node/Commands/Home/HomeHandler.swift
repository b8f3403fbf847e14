import CRDTStore
import SyncProtocol
import WorkspaceModel

/// Implements the commands about the node itself.
final class HomeHandler: CorePart, HomeCommands {
    func status(_ scope: CallScope) throws(NodeError) -> StatusObject {
        if turn.session.lock.isLocked { return try lockedStatus() }
        var object = StatusObject(home: environment.home, socket: environment.socket)
        object.identity = core.queries.identityObject()
        object.listen = network.addresses.listening.map(\.text)
        object.uptimeMilliseconds = Int64(
            clamping: time.monotonic - min(turn.startedAt, time.monotonic))
        object.peers = NetworkHandler(core).peerCounts
        for workspace in workspaces.values.sorted(by: { $0.number < $1.number })
        where workspace.standing == .member {
            core.log.refreshDigest(of: workspace)
            let sessions = network.links.values.compactMap { $0.syncs[workspace.number]?.session }
            let behind = sessions.map(\.behind).max() ?? 0
            // A distance that no peer has told yet is not zero.
            let isKnown = sessions.isEmpty || sessions.contains(where: \.knowsDistance)
            let count = try stored { () throws(StorageError) in
                try store.operations.count(inWorkspace: workspace.number)
            }
            var row = StatusObject.Workspace(
                id: PublicID.workspace(workspace.id), name: workspace.displayName,
                digest: Hexadecimal.text(workspace.held.digest.root().bytes), operations: count,
                behind: isKnown ? Int64(clamping: behind) : nil)
            row.state = core.queries.state(of: workspace)
            object.workspaces.append(row)
        }
        object.store.operations = core.operationCount
        object.store.bytes = environment.files.storeBytes
        object.store.freeBytes = environment.files.freeBytes
        object.warnings = try warnings()
        return object
    }

    /// What may be told while the node is locked: numbers, but no names.
    private func lockedStatus() throws(NodeError) -> StatusObject {
        var object = StatusObject(home: environment.home, socket: environment.socket)
        object.isLocked = true
        object.identity = core.queries.identityObject()
        object.listen = network.addresses.listening.map(\.text)
        object.uptimeMilliseconds = Int64(
            clamping: time.monotonic - min(turn.startedAt, time.monotonic))
        object.peers = NetworkHandler(core).peerCounts
        object.store.operations = core.operationCount
        object.store.bytes = environment.files.storeBytes
        object.store.freeBytes = environment.files.freeBytes
        object.warnings =
            (turn.writingStop.map { [$0.warning] } ?? []) + [
                .init(
                    kind: .sessionLocked,
                    message: turn.session.lock.phase == .closed
                        ? "this home is locked, and its network is off"
                        : "this home is locked; what peers send is still stored and passed on",
                    hint: "wsx-node session unlock")
            ]
        return object
    }

    private func warnings() throws(NodeError) -> [StatusObject.Warning] {
        var warnings: [StatusObject.Warning] = turn.writingStop.map { [$0.warning] } ?? []
        if core.session.unreadable != nil { warnings.append(UnreadableStore.warning) }
        let forks = try stored { () throws(StorageError) in try store.registry.evidenceCount() }
        if forks > 0 {
            warnings.append(
                .init(
                    kind: .forkFound, message: "device forks found: \(forks)",
                    hint: "wsx-node doctor"))
        }
        if let restored = try core.log.evidence.recentRestoration() {
            warnings.append(
                .init(
                    kind: .storeRestored, message: restored,
                    hint: "run only one copy of a home; wsx-node doctor"))
        }
        if core.log.waiting.operationCount > 0 {
            warnings.append(
                .init(
                    kind: .syncMissing,
                    message: "operations waiting for others they depend on: "
                        + "\(core.log.waiting.operationCount)",
                    hint: "wsx-node sync status"))
        }
        if store.operations.damagedCount > 0 {
            warnings.append(
                .init(
                    kind: .storeCorrupt,
                    message: "\(store.operations.damagedCount) stored operations are damaged; "
                        + "asking peers for them", hint: "wsx-node doctor"))
        }
        if let rebuilt = (try? StoreRebuild.last(in: store.registry)) ?? nil {
            warnings.append(rebuilt.warning)
        }
        if network.registry.isSuspended, mayWrite {
            warnings.append(
                .init(
                    kind: .netSuspended,
                    message: "the network is suspended: not connecting to peers",
                    hint: "wsx-node net resume"))
        }
        warnings += delayWarnings
        warnings += core.privates.asking.keyWarnings()
        warnings += core.keys.withheldWarnings()
        warnings += core.membership.endWarnings()
        warnings += core.channels.twinWarnings
        warnings += core.enrolment.pendingJoinWarnings
        warnings += core.membership.doubtWarnings
        warnings += core.links.clockWarnings
        warnings += core.links.copyWarnings
        warnings += core.integrity.rotWarnings
        if let state = DiskSpace(freeBytes: environment.files.freeBytes).warning {
            warnings.append(.init(kind: .diskLow, message: state, hint: DiskSpace.hint))
        }
        return warnings
    }

    /// Members who write more about rights and keys than a person does (PROTOCOL.md, 4.0.4: S-5,
    /// S-8, S-9).
    private var delayWarnings: [StatusObject.Warning] {
        workspaces.values.sorted { $0.number < $1.number }.flatMap { workspace in
            workspace.judged.everybody.filter {
                core.log.shares.authorityBudget.isDelaying($0.member.bytes, now: time.monotonic)
            }.map { standing in
                .init(
                    kind: .memberDelayed,
                    message: standing.member == workspace.member
                        ? "you change channels, members or keys, or start over, very often in "
                            + "\(workspace.displayName); others get the latest changes within hours"
                        : "\(workspace.displayName(of: standing.member)) changes channels, members "
                            + "or keys, or starts over, very often; the latest changes "
                            + "arrive within hours",
                    hint: "wsx-node member list")
            }
        }
    }

    func stop(_ scope: CallScope) throws(NodeError) {
        try stored { () throws(StorageError) in
            try core.own.writeMarkers(all: true)
            try core.notes.publishing.publishAll()
        }
        core.session.isStopping = true
        core.session.stopEffects = true
        core.events.subscriptions.say(.stopping, as: .made(.nodeStopping))
    }
}
