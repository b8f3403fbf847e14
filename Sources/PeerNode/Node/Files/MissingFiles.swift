import BlobStore
import CRDTStore
import WorkspaceModel

/// Files that somebody waits for and no device sends.
extension FileTasks {
    /// So many of those who were asked are named in a hint.
    private static let namedMax = 3

    /// Ends the jobs whose file nobody has sent for long enough. While somebody sends it, they
    /// continue.
    func endUnserved() throws(StorageError) {
        for id in tasks.keys.sorted() {
            guard let task = tasks[id], let due = task.waitsUntil, due <= time.monotonic,
                let root = task.waitsFor
            else { continue }
            let state = room.transfers.state(of: root)
            if let later = nextLook(task, state, root) {
                tasks[id]?.waitsUntil = later
                continue
            }
            let isFull = state?.isPaused == true
            let error =
                try isFull
                ? NodeError(BlobError.noSpace, file: task.work.title)
                : missing(task, state, root)
            end(id, .failure(error))
            endPart(root)
        }
    }

    /// When it is looked again whether somebody sends what a job waits for; `nil` if that is in vain.
    private func nextLook(
        _ task: FileTask, _ state: TransferState?, _ root: BlobRoot
    ) -> UInt64? {
        let now = time.monotonic
        let patience = task.patience ?? room.transfers.patience(with: root)
        let begun = task.waitsSince ?? now
        let since = state.map { max($0.waitingSince ?? now, begun) } ?? begun
        guard since &+ patience > now else { return nil }
        return min(since &+ patience, now &+ Limits.fileAloneMilliseconds)
    }

    /// The report about a file that nobody sends: who was asked for it, and since when it is
    /// awaited.
    private func missing(
        _ task: FileTask, _ state: TransferState?, _ root: BlobRoot
    ) throws(StorageError) -> NodeError {
        var asked: [(device: DeviceID, member: PersonObject?)] = []
        for row in try store.blobs.rows(startingWith: root.bytes) {
            for (device, _) in try room.mentions.onlineReaders(of: row.number)
            where !asked.contains(where: { $0.device == device }) {
                asked.append((device, person(of: device)))
            }
        }
        let title = NodeError.quoted(task.work.title)
        let since = state?.waitingSince ?? task.waitsSince ?? time.monotonic
        let waited = Int64(clamping: (time.monotonic - min(since, time.monotonic)) / 1_000)
        let who =
            asked.isEmpty
            ? "no device that may have it is online" : "asked: \(Self.names(asked.map(\.member)))"
        let howLong =
            waited > 0 ? "; nobody has sent it for \(DurationText.text(waited * 1_000))" : ""
        return NodeError(
            .blobMissing, "no device that has \(title) can be reached",
            hint: who + howLong, reason: BlobError.missing.code,
            details: [
                "asked": .array(
                    asked.map { device, member in
                        [
                            "device": .string(PublicID.device(device)),
                            "member": member?.json ?? .null,
                        ]
                    }), "waiting_since": .integer(time.wallTime(of: since)),
            ])
    }

    private func person(of device: DeviceID) -> PersonObject? {
        for workspace in core.workspaces.values.sorted(by: { $0.number < $1.number }) {
            guard let member = workspace.owner(of: device) else { continue }
            return core.membership.person(member, in: workspace)
        }
        return nil
    }

    /// The names of a few, each once, and how many more there are.
    private static func names(_ people: [PersonObject?]) -> String {
        var names: [String] = []
        for name in people.map({ $0?.name ?? "an unknown device" }) where !names.contains(name) {
            names.append(name)
        }
        let rest = names.count - namedMax
        let shown = names.prefix(namedMax).joined(separator: ", ")
        return rest > 0 ? "\(shown) and \(rest) more" : shown
    }
}

extension FileTask {
    /// It waits until all that it needs of a blob is here.
    mutating func beginWaiting(for root: BlobRoot, at now: UInt64) {
        waitsFor = root
        waitsSince = waitsSince ?? now
        waitsUntil = now &+ min(patience ?? .max, Limits.fileAloneMilliseconds)
    }
}
