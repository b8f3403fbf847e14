import BlobStore
import CRDTStore
import SyncProtocol
import WorkspaceCrypto
import WorkspaceModel

/// Copies of files that a channel asks for: the devices that are online see to it by themselves
/// (PROTOCOL.md, W-71).
extension Files {
    /// How many devices are to keep a blob: the most that a channel with it asks for.
    func copiesWanted(of number: Int64) throws(StorageError) -> Int {
        var most = 0
        for reference in try store.blobs.references(
            to: number, limit: Limits.blobReferencesReadMax)
        {
            most = max(most, copiesWanted(in: reference.document))
        }
        return most
    }

    private func copiesWanted(in document: Int64) -> Int {
        guard let row = store.operations.document(numbered: document),
            let workspace = core.workspaces[row.workspace]
        else { return 0 }
        return workspace.channel(numbered: document)?.copies ?? 0
    }

    /// Devices that are known to have all of a blob, this one included.
    func copyCount(of row: BlobTable.Row) throws(StorageError) -> Int {
        try store.blobs.holders(of: row.number).count + (row.held.isWhole ? 1 : 0)
    }

    /// A message names a blob: if its channel asks for copies, it is found out who has it, and decided
    /// soon whether this device is to. Whoever has all of it already wants to know of the others, too.
    func noteCopies(_ number: Int64, in document: Int64) throws(StorageError) {
        guard copiesWanted(in: document) > 0 else { return }
        try checkCopies(of: number)
    }

    /// Asks those who are online what they have, and decides when they had time to answer.
    private func checkCopies(of number: Int64) throws(StorageError) {
        guard copyChecks.count < Limits.copyChecksMax, copyChecks[number] == nil,
            !copiesDeclined.contains(number), let row = try store.blobs.row(number),
            let blob = row.blob, !row.isWanted
        else { return }
        copyChecks[number] = time.monotonic &+ Limits.copyDecisionMilliseconds
        for (_, link) in try onlineReaders(of: number) { askWhatIsHeld(of: blob.root, on: link) }
    }

    func onlineReaders(
        of number: Int64
    ) throws(StorageError) -> [(device: DeviceID, link: PeerLink)] {
        let (readers, _) = try readers(of: number)
        var seen: Set<DeviceID> = []
        return network.ordered.filter(mayTransfer).compactMap { link in
            guard let device = link.peer?.device, readers.contains(device),
                seen.insert(device).inserted
            else { return nil }
            return (device, link)
        }
    }

    /// Decides what is due.
    func decideCopies() throws(StorageError) {
        for number in copyChecks.keys.sorted() {
            guard let due = copyChecks[number], due <= time.monotonic else { continue }
            copyChecks[number] = nil
            guard mayWrite, let row = try store.blobs.row(number), !row.held.isWhole,
                !row.isWanted, try isOurs(row)
            else { continue }
            try want(number)
        }
    }

    /// Whether this device is among the first that are online and have no copy, of which some are
    /// missing. What others need here is not dropped for it.
    private func isOurs(_ row: BlobTable.Row) throws(StorageError) -> Bool {
        guard let blob = row.blob, let own = turn.session.ownDevice else { return false }
        let missing = try copiesWanted(of: row.number) - copyCount(of: row)
        guard missing > 0 else { return false }
        let size = blob.shape.ciphertextByteCount
        let coming = try missingBytes(besides: row.number)
        let held = UInt64(max(store.blobs.byteCount, 0)) &+ coming
        guard held &+ size <= (try cache.quota.byteCountMax) else { return false }
        let holders = Set(try store.blobs.holders(of: row.number).map(\.device))
        var devices = try onlineReaders(of: row.number).map(\.device)
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
    func reviewCopies() throws(StorageError) {
        copyChecks = copyChecks.filter { $0.value > time.monotonic }
        for workspace in core.workspaces.values.sorted(by: { $0.number < $1.number }) {
            for channel in workspace.channelIndex.all where channel.copies > 0 {
                for reference in try store.blobs.references(
                    ofDocument: channel.number, before: .max, limit: Limits.copiesReviewedMax)
                {
                    guard let row = try store.blobs.row(reference.blob),
                        try copyCount(of: row) < channel.copies
                    else { continue }
                    try checkCopies(of: row.number)
                }
            }
        }
    }
}
