import CRDTStore
import WorkspaceModel

/// Which devices said that they hold all of a blob.
///
/// For many small files each source says so once, without being asked: a COMMIT for each would
/// delay what follows from it. So they wait, only a moment, for a COMMIT that happens anyway. What
/// a power cut loses is asked again with the next transfer.
final class KnownHolders: FilePart {
    private struct Word {
        /// What it holds, encoded; `nil` where it does not hold all, or no longer.
        let map: [UInt8]?
        /// When it said so, milliseconds since 1970.
        let heardAt: Int64
    }

    /// Words that are in no row, by the number of the blob and the device.
    private var pending: [Int64: [[UInt8]: Word]] = [:]
    private var pendingCount = 0
    /// When they are written at the latest, on the monotonic clock.
    private(set) var due: UInt64?

    /// Who said to hold all of a blob, by device.
    func holders(of number: Int64) throws(StorageError) -> [BlobTable.Holder] {
        var holders = try store.blobs.holders(of: number)
        guard let words = pending[number] else { return holders }
        holders.removeAll { words[$0.device] != nil }
        for (device, word) in words {
            guard let map = word.map else { continue }
            holders.append(BlobTable.Holder(device: device, map: map, heardAt: word.heardAt))
        }
        return holders.sorted { $0.device.lexicographicallyPrecedes($1.device) }
    }

    /// A device says that it holds all of a blob, or that it does not.
    ///
    /// - Parameter map: what it holds, encoded, where that is all of it.
    func note(_ map: [UInt8]?, from device: [UInt8], of number: Int64) throws(StorageError) {
        guard try self.map(of: device, number) != map else { return }
        let word = Word(map: map, heardAt: Int64(clamping: time.wall))
        if pending[number, default: [:]].updateValue(word, forKey: device) == nil {
            pendingCount += 1
        }
        due = due ?? time.monotonic &+ Limits.holderWordMilliseconds
        if pendingCount >= Limits.holderWordsPendingMax { try flush() }
    }

    private func map(of device: [UInt8], _ number: Int64) throws(StorageError) -> [UInt8]? {
        if let word = pending[number]?[device] { return word.map }
        return try store.blobs.holders(of: number).first { $0.device == device }?.map
    }

    /// Writes what waits where it has waited for long, or something else is written in this turn.
    func flushWhereDue() throws(StorageError) {
        guard let due, due <= time.monotonic || store.connection.isInTransaction else { return }
        try flush()
    }

    private func flush() throws(StorageError) {
        // Nobody was promised anything, so a full disk is no reason to fail.
        if core.mayTidy {
            try write()
            for (number, words) in pending.sorted(by: { $0.key < $1.key }) {
                // A blob that went meanwhile is held by nobody who matters here.
                guard try store.blobs.row(number) != nil else { continue }
                for (device, word) in words.sorted(by: {
                    $0.key.lexicographicallyPrecedes($1.key)
                }) {
                    try store.blobs.setHolder(device, word.map, of: number, at: word.heardAt)
                }
            }
        }
        (pending, pendingCount, due) = ([:], 0, nil)
    }
}
