import CRDTStore
import SyncProtocol
import WorkspaceModel

/// Takes in what peers have sent, a part in each turn.
extension Syncing {
    /// Takes the operations of a message, as far as there is time in this turn, and the rest later.
    /// Nobody's come before those of another link that wait already.
    func ingest(
        _ runs: [OperationRun], _ request: RequestNumber, of sync: WorkspaceLink, on link: PeerLink
    ) throws(StorageError) {
        link.backlog.batch = Backlog.Batch(sync: sync, request: request, runs: runs[...])
        guard network.exchange.backlogged.isEmpty else {
            network.exchange.backlogged.append(link.id)
            return
        }
        // With the link its batch goes too.
        while link.backlog.batch != nil {
            guard !core.log.ingestBudget.isSpent else {
                network.exchange.backlogged.append(link.id)
                return
            }
            try takeNext(of: link)
        }
    }

    /// Goes on with what waits of all links by turns, until the turn has had enough.
    func takeBacklogs() throws(StorageError) {
        guard mayWrite else { return }
        while !core.log.ingestBudget.isSpent, !network.exchange.backlogged.isEmpty {
            let id = network.exchange.backlogged.removeFirst()
            guard let link = network.links[id], !link.isClosing else { continue }
            if link.backlog.batch != nil {
                try takeNext(of: link)
            } else if let message = link.backlog.messages.popFirst() {
                try received(message, on: link)
            }
            let isOnList = network.exchange.backlogged.contains(id)
            if !link.backlog.isEmpty, !isOnList { network.exchange.backlogged.append(id) }
        }
        if !network.exchange.backlogged.isEmpty { turn.hasMoreToDo = true }
    }

    /// Takes the next run of a message. With the last one the message is done.
    private func takeNext(of link: PeerLink) throws(StorageError) {
        guard var batch = link.backlog.batch, link.syncs[batch.sync.workspace] === batch.sync,
            let workspace = core.workspaces[batch.sync.workspace], let device = link.peer?.device
        else {
            link.backlog.batch = nil
            return
        }
        if let next = batch.runs.first, core.messages.isUnsettled(next.log, in: workspace) {
            // To judge it, all that this turn has changed there would be carried out, and again for
            // the next such run.
            return core.log.ingestBudget.endTurn()
        }
        if let run = batch.takeNext(of: workspace.id) {
            let looksLeft = core.log.ingestBudget.looksLeft
            core.log.ingestBudget.spend(
                run, isAuthority: run.log.document == workspace.id,
                branches: store.operations.branchCount(of: run.log, in: workspace.number))
            let isBackfill =
                batch.request != 0 && !batch.sync.isCaughtUp && core.enrolment.isJoining(workspace)
            let looks = workspace.judged.looks
            let source = OperationSource.peer(
                device, source: link.id.number, isBackfill: isBackfill)
            let outcome = try core.log.accept(run, in: workspace, from: source, upTo: looksLeft)
            if let rest = core.log.untaken { batch.putBack(rest) }
            core.log.ingestBudget.spend(looks: workspace.judged.looks - looks)
            switch outcome {
            case .stored, .known: break
            case .dropped:
                if core.log.shares.isUsedUpByFaults(source, in: workspace) {
                    return try core.links.drop(link, because: LinkEnding("auth.budget"))
                }
                if try spend(run, of: workspace, on: link, device) { return }
            case .waiting:
                // An unrequested run that cannot be judged counts as one without effect.
                if batch.request == 0, try spend(run, of: workspace, on: link, device) { return }
                if batch.waiting.last != run.log { batch.waiting.append(run.log) }
            case .rejected(let rejection):
                let device = PublicID.device(device)
                turn.emit(
                    .log(.warning, "op.rejected peer=\(device) reason=\(rejection.word)"))
                return try core.links.drop(link, because: LinkEnding(rejection.word))
            }
        }
        guard !link.isClosing else { return }
        link.backlog.batch = batch.runs.isEmpty ? nil : batch
        if batch.runs.isEmpty { batch.sync.ingested.append((batch.request, batch.waiting)) }
    }

    /// Counts what somebody who is no member here brings without effect.
    ///
    /// - Returns: whether the link is closed for it.
    private func spend(
        _ run: OperationRun, of workspace: Workspace, on link: PeerLink, _ device: DeviceID
    ) throws(StorageError) -> Bool {
        guard core.log.isOutsider(link, device, in: workspace) else { return false }
        let size = run.entries.reduce(0) { $0 + $1.payload.count + 512 }
        guard
            core.log.shares.authorityBudget.spend(
                byteCount: size, from: link.host, now: time.monotonic)
        else {
            return false
        }
        try core.links.drop(link, because: LinkEnding("auth.budget"))
        return true
    }
}
