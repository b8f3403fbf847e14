import CRDTStore
import SyncProtocol
import WorkspaceModel

/// Requests payloads that are missing although nobody has deleted them: from every peer, one after
/// the other, until one has them (PROTOCOL.md, 5.4).
extension Integrity {
    // MARK: Asking

    /// Asks a peer for what is missing, from where its last link stopped.
    func askForPayloads(
        of workspace: Workspace, on link: PeerLink, _ sync: WorkspaceLink
    ) throws(StorageError) {
        guard let device = link.peer?.device, sync.standing == .full, mayWrite,
            try store.operations.hasMissingPayloads()
        else { return }
        let place = PayloadRound.Place(device: device, workspace: workspace.number)
        var round = network.exchange.payloadRounds[place] ?? PayloadRound()
        round.beginIfDue(on: link.id, now: time.monotonic)
        let wanted = try missingPayloads(of: workspace, on: link, sync, &round)
        network.exchange.payloadRounds[place] = round
        for (document, references) in wanted.sorted(by: { $0.key < $1.key }) {
            let ordered = references.sorted { $0.id < $1.id }
            for start in stride(from: 0, to: ordered.count, by: Limits.payloadsPerWantMax) {
                let part = ordered[start...].prefix(Limits.payloadsPerWantMax)
                link.session.send(
                    .payloadWant(
                        PayloadWant(
                            workspace: sync.number, document: document,
                            operations: Array(part))), in: .control, isUnasked: false)
            }
        }
    }

    /// The payloads missing after `round`, as many as this link may still ask for.
    private func missingPayloads(
        of workspace: Workspace, on link: PeerLink, _ sync: WorkspaceLink,
        _ round: inout PayloadRound
    ) throws(StorageError) -> [DocumentID: [OperationReference]] {
        let replica = confined(workspace, on: link, sync)
        var wanted: [DocumentID: [OperationReference]] = [:]
        var left = Limits.missingLookedAtMax
        while left > 0, link.payloads.askedPayloads.count < network.exchange.payloadsPerLink {
            let page = try store.operations.missingPayloads(
                after: round.last, limit: Limits.payloadsPerWantMax)
            if page.isEmpty {
                round.end(on: link.id, now: time.monotonic)
                break
            }
            for arrival in page
            where link.payloads.askedPayloads.count < network.exchange.payloadsPerLink {
                round.last = arrival
                left -= 1
                guard !link.payloads.askedPayloads.contains(arrival),
                    let stored = try store.operations.operation(arrival, hasPayload: false),
                    store.operations.document(numbered: stored.document)?.workspace
                        == workspace.number,
                    !workspace.isGone(stored.log.document), replica.serves(stored.log.document)
                else { continue }
                link.payloads.askedPayloads.insert(arrival)
                round.hasAsked = true
                wanted[stored.log.document, default: []].append(stored.reference)
            }
        }
        return wanted
    }

    /// The operations that both ends of a link may exchange: a guest is not asked for, given or
    /// believed payloads of anything else either.
    private func confined(
        _ workspace: Workspace, on link: PeerLink, _ sync: WorkspaceLink
    ) -> CoreReplica {
        sync.session.confined(
            CoreReplica(for: self, workspace: workspace, peer: link.peer?.device))
    }

    /// Asks every peer at once, after a deletion has lost its effect or a check found a gap.
    func askForPayloadsEverywhere() throws(StorageError) {
        guard core.messages.asksForPayloads else { return }
        core.messages.asksForPayloads = false
        // A payload that is missing since now may precede the place up to which peers were asked.
        network.exchange.payloadRounds = [:]
        for link in network.ordered {
            for sync in link.orderedSyncs {
                guard let workspace = core.workspaces[sync.workspace] else { continue }
                try askForPayloads(of: workspace, on: link, sync)
            }
        }
    }

    // MARK: Answering

    func payloadsWanted(
        _ want: PayloadWant, in workspace: Workspace, on link: PeerLink
    ) throws(StorageError) {
        guard let sync = link.syncs[workspace.number], sync.standing == .full,
            !workspace.isGone(want.document),
            confined(workspace, on: link, sync).serves(want.document)
        else { return }
        for reference in want.operations {
            guard link.payloads.givenPayloads < Limits.payloadsAskedPerLinkMax,
                link.session.unsentBytes < Limits.unsentBytesMax / 2
            else { return }
            guard
                let place = try store.operations.find(
                    reference, in: want.document, of: workspace.number),
                let stored = try store.operations.operation(place.arrival),
                stored.entry.kind == OperationKind.content.rawValue, stored.entry.absent == nil
            else { continue }
            link.payloads.givenPayloads += 1
            link.session.send(
                .payloadHave(
                    PayloadHave(
                        workspace: sync.number, document: want.document, operation: reference,
                        payload: stored.entry.payload)), in: .bulk, isUnasked: false)
        }
    }

    /// Takes a payload that was missing. One with another hash, and one that was deleted meanwhile
    /// or was never missing, is ignored.
    func payloadGiven(
        _ have: PayloadHave, in workspace: Workspace, from link: PeerLink
    ) throws(StorageError) {
        guard mayWrite, let sync = link.syncs[workspace.number], sync.standing == .full,
            confined(workspace, on: link, sync).takes(have.document),
            let place = try store.operations.find(
                have.operation, in: have.document, of: workspace.number)
        else { return }
        let source = OperationSource.released(source: 0, isBackfill: false)
        try fill(place.arrival, with: have.payload, in: workspace, from: source)
        guard let device = link.peer?.device,
            try store.operations.absentPayload(place.arrival)?.isMissing != true
        else { return }
        // A peer that had one is asked again as soon as possible.
        network.exchange.payloadRounds[.init(device: device, workspace: workspace.number)]?.count =
            0
    }

    /// Stores payloads from a run for operations that were stored without.
    func fillMissing(
        with operations: [CheckedOperation], of log: LogName, in workspace: Workspace,
        from source: OperationSource
    ) throws(StorageError) {
        guard try store.operations.hasMissingPayloads() else { return }
        for operation in operations where !operation.isPayloadAbsent {
            let reference = OperationReference(
                device: log.device, incarnation: log.incarnation,
                sequence: operation.header.sequence, id: operation.id)
            guard
                let place = try store.operations.find(
                    reference, in: log.document, of: workspace.number)
            else { continue }
            try fill(place.arrival, with: operation.payload, in: workspace, from: source)
        }
    }
}
