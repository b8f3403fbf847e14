import CRDTStore
import WorkspaceModel

/// The node's metrics.
extension InspectionHandler {
    func metrics(_ scope: CallScope) throws(NodeError) -> MetricsObject {
        MetricsObject(
            [
                .init(
                    "wsx_build_info", "Build information.",
                    samples: [.init(1, ("version", Release.version))]),
                .init(
                    "wsx_uptime_seconds", "Seconds since the start.",
                    samples: [
                        .init(
                            Int64(
                                clamping: (time.monotonic - min(turn.startedAt, time.monotonic))
                                    / 1_000)
                        )
                    ]),
                .init(
                    "wsx_locked", "1 while the keys are locked.",
                    samples: [.init(turn.session.lock.isLocked ? 1 : 0)]),
                .init(
                    "wsx_writing_stopped", "1 since the disk failed, until the next start.",
                    samples: [.init(mayWrite ? 0 : 1)]),
            ] + networkMetrics + storeMetrics + callMetrics)
    }

    private var networkMetrics: [MetricsObject.Family] {
        let counts = NetworkHandler(core).peerCounts
        let failures = turn.tally.failedHandshakes.sorted { $0.key < $1.key }
        let behind = network.registry.peers.compactMap { peer -> MetricsObject.Sample? in
            let object = core.queries.peerData(of: peer)
            guard object.state == "connected", let id = object.id, let behind = object.behind
            else { return nil }
            return .init(behind, ("peer", id))
        }
        return [
            .init(
                "wsx_peers", "Peers by link state.",
                samples: [
                    .init(Int64(counts.connected), ("state", "connected")),
                    .init(Int64(counts.dialing), ("state", "dialing")),
                    .init(Int64(counts.waiting), ("state", "waiting")),
                    .init(Int64(counts.blocked), ("state", "blocked")),
                ]),
            .init(
                "wsx_sync_behind", "Operations that a connected peer has and this node lacks.",
                samples: behind),
            .init(
                "wsx_net_bytes_total", "Bytes exchanged with peers since the start.",
                isCounter: true,
                samples: [
                    .init(Int64(turn.tally.receivedBytes), ("direction", "in")),
                    .init(Int64(turn.tally.sentBytes), ("direction", "out")),
                ]),
            .init(
                "wsx_handshake_failures_total", "Handshakes that failed since the start.",
                isCounter: true,
                samples: failures.map { .init(Int64($0.value), ("reason", $0.key)) }),
        ]
    }

    private var storeMetrics: [MetricsObject.Family] {
        [
            .init(
                "wsx_ops", "Operations stored.", samples: [.init(core.operationCount)]),
            .init(
                "wsx_ops_total", "Operations stored since the start.", isCounter: true,
                samples: [
                    .init(Int64(turn.tally.ownOperations), ("origin", "own")),
                    .init(Int64(turn.tally.peerOperations), ("origin", "peer")),
                ]),
            .init(
                "wsx_store_bytes", "Bytes on the disk.",
                samples: [.init(environment.files.storeBytes, ("kind", "database"))]),
            .init(
                "wsx_disk_free_bytes", "Bytes free on the file system.",
                samples: [.init(environment.files.freeBytes)]),
            .init(
                "wsx_event_seq", "Number of the newest event.",
                samples: core.session.unreadable == nil ? [.init(store.events.newest)] : []),
            .init(
                "wsx_subscribers", "Open event streams.",
                samples: [.init(Int64(core.events.subscriptions.subscriptions.count))]),
        ]
    }

    private var callMetrics: [MetricsObject.Family] {
        let notices = turn.tally.notices.sorted { $0.key < $1.key }
        var durations = MetricsObject.Family(
            "wsx_rpc_seconds", "Seconds from a call to its answer, by the method's first word.",
            samples: turn.tally.durations.sorted { $0.key < $1.key }.flatMap { group, known in
                MetricsObject.histogram(
                    bounds: NodeTally.Durations.bounds, counts: known.counts,
                    total: known.totalMilliseconds, ("group", group))
            })
        durations.isHistogram = true
        let calls = turn.tally.calls.sorted {
            ($0.key.method, $0.key.kind) < ($1.key.method, $1.key.kind)
        }
        return [
            .init(
                "wsx_rpc_requests_total", "Calls answered since the start.",
                isCounter: true,
                samples: calls.map {
                    .init(Int64($0.value), ("method", $0.key.method), ("kind", $0.key.kind))
                }),
            durations,
            .init(
                "wsx_notices_total", "Notifications since the start, by outcome.",
                isCounter: true,
                samples: notices.map { .init(Int64($0.value), ("result", $0.key)) }),
        ]
    }
}
