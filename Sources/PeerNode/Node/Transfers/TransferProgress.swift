import BlobStore
import CRDTStore
import WorkspaceModel

/// The progress of transfers.
extension FileTransfers {
    /// Tells how far transfers have come, where anybody listens to what passes.
    func tellProgress() {
        let now = time.monotonic
        guard core.events.subscriptions.wantPassing, rounds.mayTell(at: now) else { return }
        var (next, firstWord) = (Earliest(), Earliest())
        for root in transfers.keys.sorted() {
            guard let transfer = transfers[root], !transfer.isPart else { continue }
            guard transfer.tellDue <= now else {
                next.take(transfer.tellDue)
                if transfer.told == nil { firstWord.take(transfer.tellDue) }
                continue
            }
            guard let state = scheduler.state(of: root), transfer.told != state else {
                next.take(now)
                continue
            }
            tell(transfer, state, isOver: false)
            transfers[root]?.told = state
            transfers[root]?.tellDue = now &+ Limits.transferProgressMilliseconds
            next.take(now &+ Limits.transferProgressMilliseconds)
        }
        rounds.didTell(next: next.moment, firstWord: firstWord.moment, at: now)
    }

    func tell(_ transfer: FileTransfer, _ state: TransferState?, isOver: Bool) {
        guard let state, let workspace = transfer.workspace.flatMap({ core.workspaces[$0] }),
            core.events.subscriptions.wantPassing
        else { return }
        var object = TransferObject(
            blob: PublicID.blob(transfer.blob.root.bytes),
            size: Int64(clamping: state.byteCountInAll))
        object.have = isOver ? object.size : Int64(clamping: state.byteCount)
        object.sources = Int64(state.sources.count)
        object.isPaused = state.isPaused
        object.isComplete = isOver
        if !isOver { object.waitingSince = state.waitingSince.map { time.wallTime(of: $0) } }
        core.events.pass(.transferProgress, object.json, in: workspace)
    }
}

extension TurnTime {
    /// A moment of the monotonic clock in milliseconds since 1970.
    func wallTime(of moment: UInt64) -> Int64 {
        let age = monotonic - min(moment, monotonic)
        return Int64(clamping: wall - min(age, wall))
    }
}
