import BlobStore
import CRDTStore
import SyncProtocol
import WorkspaceCrypto
import WorkspaceModel

/// Copies of files that a channel asks for: the devices that are online arrange them by themselves
/// (PROTOCOL.md, W-71).
final class FileCopies: FilePart {
    /// When it is decided whether a copy of a blob is kept here, by its number.
    private var checks: [Int64: UInt64] = [:]
    /// The blobs that somebody has dropped here, and that are not fetched for a channel again.
    private var declined: Set<Int64> = []

    var deadline: UInt64? { checks.values.min() }

    func goOn(after former: FileCopies) { declined = former.declined }

    /// Somebody drops a blob here, by its number.
    func decline(_ number: Int64) { declined.insert(number) }

    /// How many devices are to keep a blob: the most that a channel with it asks for.
    func wanted(of number: Int64) throws(StorageError) -> Int {
        var most = 0
        for reference in try store.blobs.references(
            to: number, limit: Limits.blobReferencesReadMax)
        {
            most = max(most, wanted(in: reference.document))
        }
        return most
    }

    private func wanted(in document: Int64) -> Int {
        guard let row = store.operations.document(numbered: document),
            let workspace = core.workspaces[row.workspace]
        else { return 0 }
        return workspace.channel(numbered: document)?.copies ?? 0
    }

    /// Devices that are known to have all of a blob, this one included.
    func count(of row: BlobTable.Row) throws(StorageError) -> Int {
        try room.heldElsewhere.holders(of: row.number).count + (row.held.isWhole ? 1 : 0)
    }

    /// Called when a message names a blob. If its channel asks for copies, this device finds out
    /// who has the blob, and soon decides whether to fetch it. A device that already has all of it
    /// also needs to know about the others.
    func note(_ number: Int64, in document: Int64) throws(StorageError) {
        guard wanted(in: document) > 0 else { return }
        try check(of: number)
    }

    /// Asks online devices what they have, and decides once they had time to answer.
    private func check(of number: Int64) throws(StorageError) {
        guard checks.count < Limits.copyChecksMax, checks[number] == nil,
            !declined.contains(number), let row = try store.blobs.row(number),
            let blob = row.blob, !row.isWanted
        else { return }
        checks[number] = time.monotonic &+ Limits.copyDecisionMilliseconds
        for (_, link) in try room.mentions.onlineReaders(of: number) {
            link.askWhatIsHeld(of: blob.root)
        }
    }

    /// Decides what is due.
    func decide() throws(StorageError) {
        for number in checks.keys.sorted() {
            guard let due = checks[number], due <= time.monotonic else { continue }
            checks[number] = nil
            guard mayWrite, let row = try store.blobs.row(number), !row.held.isWhole,
                !row.isWanted, try isOurs(row)
            else { continue }
            try room.transfers.want(number)
        }
    }

    /// Whether this device is among the first online devices without a copy, while copies are
    /// missing. Files that others need here are not evicted for it.
    private func isOurs(_ row: BlobTable.Row) throws(StorageError) -> Bool {
        guard let blob = row.blob, let own = turn.session.ownDevice else { return false }
        let missing = try wanted(of: row.number) - count(of: row)
        guard missing > 0 else { return false }
        let size = blob.shape.ciphertextByteCount
        let coming = try room.blobs.missingBytes(besides: row.number)
        let held = UInt64(max(store.blobs.byteCount, 0)) &+ coming
        guard held &+ size <= (try room.cache.quota.byteCountMax) else { return false }
        let holders = Set(try room.heldElsewhere.holders(of: row.number).map(\.device))
        var devices = try room.mentions.onlineReaders(of: row.number).map(\.device)
        devices.removeAll { holders.contains($0.bytes) }
        devices.append(own)
        return Self.inOrder(devices, for: blob.root).prefix(missing).contains(own)
    }

    /// Devices in the order in which they are to keep a blob, equal on every node.
    static func inOrder(_ devices: [DeviceID], for root: BlobRoot) -> [DeviceID] {
        devices.map { (Hash.personal("wsx-copy1", $0.bytes, root.bytes), $0) }
            .sorted { $0.0.lexicographicallyPrecedes($1.0) }.map(\.1)
    }

    /// Looks whether the newest files of channels that ask for copies have them still.
    func review() throws(StorageError) {
        checks = checks.filter { $0.value > time.monotonic }
        for workspace in core.workspaces.values.sorted(by: { $0.number < $1.number }) {
            for channel in workspace.channelIndex.all where channel.copies > 0 {
                for reference in try store.blobs.references(
                    ofDocument: channel.number, before: .max, limit: Limits.copiesReviewedMax)
                {
                    guard let row = try store.blobs.row(reference.blob),
                        try count(of: row) < channel.copies
                    else { continue }
                    try check(of: row.number)
                }
            }
        }
    }
}
