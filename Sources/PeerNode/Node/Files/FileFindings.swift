import BlobStore
import CRDTStore
import WorkspaceModel

/// What `doctor` reports about files.
final class FileFindings: FilePart {
    func all() throws(NodeError) -> [FindingObject] {
        try stored { () throws(StorageError) in
            guard store.blobs.isInUse, home != nil else { return [] }
            return [waitingFinding, pausedFinding, try fullFinding(), try copiesFinding()]
                .compactMap { $0 }
        }
    }

    /// Files that somebody wants and nobody sends: a colleague who went home is not a fault, but a
    /// day is long.
    private var waitingFinding: FindingObject? {
        let since = room.transfers.states.filter { !$0.isPaused }.compactMap(\.waitingSince).filter
        {
            $0 &+ Limits.fileWaitTellMilliseconds <= time.monotonic
        }
        guard !since.isEmpty else { return nil }
        let files =
            since.count == 1
            ? "1 file is waiting for a device that has it"
            : "\(since.count) files are waiting for devices that have them"
        return FindingObject(
            id: "files", state: "warn", message: "\(files), for more than a day",
            hint: "wsx-node file list")
    }

    private var pausedFinding: FindingObject? {
        let count = room.transfers.states.count { $0.isPaused }
        guard count > 0 else { return nil }
        let files = count == 1 ? "1 file is" : "\(count) files are"
        return FindingObject(
            id: "files", state: "warn", message: "\(files) waiting for space on the disk",
            hint: "free some, or: wsx-node cache clear")
    }

    /// Files that were added here or that no other device has are kept, whatever space they take.
    private func fullFinding() throws(StorageError) -> FindingObject? {
        let held = UInt64(max(store.blobs.byteCount, 0))
        guard held > (try room.cache.quota.byteCountMax) else { return nil }
        return FindingObject(
            id: "files", state: "warn",
            message: "files take more space than allowed: nobody else has them",
            hint: "wsx-node cache stat; 'file drop --force' removes one")
    }

    /// Files with fewer known copies than their channel asks for. One more device would help.
    private func copiesFinding() throws(StorageError) -> FindingObject? {
        var count = 0
        for workspace in core.workspaces.values {
            for channel in workspace.channelIndex.all where channel.copies > 0 {
                for reference in try store.blobs.references(
                    ofDocument: channel.number, before: .max, limit: Limits.copiesReviewedMax)
                {
                    guard let row = try store.blobs.row(reference.blob),
                        try room.copies.count(of: row) < channel.copies
                    else { continue }
                    count += 1
                }
            }
        }
        guard count > 0 else { return nil }
        let files = count == 1 ? "1 file has" : "\(count) files have"
        return FindingObject(
            id: "files", state: "warn",
            message: "\(files) fewer copies than their channel asks for",
            hint: "more devices have to be online; or: wsx-node channel edit CHANNEL --copies N")
    }
}
