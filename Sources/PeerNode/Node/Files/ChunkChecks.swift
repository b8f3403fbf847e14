import BlobStore
import CRDTStore
import WorkspaceModel

/// A running check of chunks, one blob after the other.
private struct ChunkCheck {
    let call: CallID
    let repairs: Bool
    /// What the check has found so far.
    var object: CheckObject
    /// The blobs that are still to be looked at, by their numbers.
    var left: [Int64]
}

/// The part of `check` for files: every held chunk is compared with its hash.
final class ChunkChecks: FilePart {
    private var check: ChunkCheck?

    var isUnderWay: Bool { check != nil }

    /// The check is no longer awaited; with a connection, only if that has asked for it.
    func forget(of connection: UInt64? = nil) {
        if connection == nil || check?.call.connection == connection { check = nil }
    }

    /// Goes on with a check that has looked through the store, and answers it in the end.
    func begin(
        _ object: CheckObject, for call: CallID, repairs: Bool
    ) throws(StorageError) {
        let numbers = try store.blobs.rows()
            .filter { $0.byteCount > 0 || $0.isOwn || $0.isKept }.map(\.number)
        check = ChunkCheck(
            call: call, repairs: repairs, object: object, left: numbers.reversed())
        try checkNext()
    }

    private func checkNext() throws(StorageError) {
        while let number = check?.left.popLast() {
            guard let call = check?.call, let row = try store.blobs.row(number) else {
                continue
            }
            try noteLost(row)
            guard let blob = row.blob, !row.held.isEmpty else { continue }
            return try room.tasks.check(number, blob, row.held, for: call)
        }
        guard let check else { return }
        self.check = nil
        turn.emit(.answer(check.call, .success(check.object.json)))
    }

    /// The chunks of a blob were looked at.
    func checked(
        _ number: Int64, _ result: Result<HaveMap, BlobError>
    ) throws(StorageError) {
        guard let check else { return }
        self.check?.object.files += 1
        let row = try store.blobs.row(number)
        switch result {
        case .failure(let error):
            note("cannot be read: \(error.code)", of: row, done: nil)
        case .success(let wrong) where !wrong.isEmpty:
            let parts = wrong.heldCount == 1 ? "1 part is" : "\(wrong.heldCount) parts are"
            var done: String?
            if check.repairs, mayWrite, let row {
                try room.transfers.forget(wrong, of: row)
                done = try room.mentions.isNamed(row) ? "asked" : "mended"
            }
            note("\(parts) damaged", of: row, done: done)
        case .success: break
        }
        try checkNext()
    }

    private func noteLost(_ row: BlobTable.Row) throws(StorageError) {
        guard let check, try room.transfers.isLost(row) else { return }
        let repairs = check.repairs && mayWrite
        if repairs { try room.transfers.want(row.number) }
        note(
            row.held.isEmpty ? "is not here" : "is not all here", of: row,
            done: repairs ? "asked" : nil)
    }

    private func note(_ text: String, of row: BlobTable.Row?, done: String?) {
        let id = row.map { PublicID.blob($0.root) } ?? "file"
        check?.object.add("file", id, text, done: done)
        if done != nil { check?.object.repaired += 1 }
    }
}
