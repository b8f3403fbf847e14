import BlobStore
import CRDTStore
import WorkspaceModel

/// The part of `check` that looks at files: every chunk that is held is compared with its hash.
extension Files {
    /// A check under way, one blob after the other.
    struct ChunkCheck {
        let call: CallID
        let repairs: Bool
        /// What the check has found so far.
        var object: CheckObject
        /// The blobs that are still to be looked at, by their numbers.
        var left: [Int64]
    }

    /// Goes on with a check that has looked through the store, and answers it in the end.
    func checkChunks(
        _ object: CheckObject, for call: CallID, repairs: Bool
    ) throws(StorageError) {
        let numbers = try store.blobs.rows()
            .filter { $0.byteCount > 0 || $0.isOwn || $0.isKept }.map(\.number)
        chunkCheck = ChunkCheck(
            call: call, repairs: repairs, object: object, left: numbers.reversed())
        try checkNext()
    }

    private func checkNext() throws(StorageError) {
        while let number = chunkCheck?.left.popLast() {
            guard let call = chunkCheck?.call, let row = try store.blobs.row(number) else {
                continue
            }
            try noteLost(row)
            guard let blob = row.blob, !row.held.isEmpty else { continue }
            let id = nextErrand()
            errands[id] = FileErrand(call: call, work: .check(number))
            return try ask(.verify(id, blob, row.held))
        }
        guard let check = chunkCheck else { return }
        chunkCheck = nil
        turn.emit(.answer(check.call, .success(check.object.json)))
    }

    /// The chunks of a blob were looked at.
    func checked(
        _ id: ErrandID, _ number: Int64, _ result: Result<HaveMap, BlobError>
    ) throws(StorageError) {
        errands[id] = nil
        guard let check = chunkCheck else { return }
        chunkCheck?.object.files += 1
        let row = try store.blobs.row(number)
        switch result {
        case .failure(let error):
            note("cannot be read: \(error.code)", of: row, done: nil)
        case .success(let wrong) where !wrong.isEmpty:
            let parts = wrong.heldCount == 1 ? "1 part is" : "\(wrong.heldCount) parts are"
            var done: String?
            if check.repairs, mayWrite, let row {
                try forget(wrong, of: row)
                done = try isNamed(row) ? "asked" : "mended"
            }
            note("\(parts) damaged", of: row, done: done)
        case .success: break
        }
        try checkNext()
    }

    /// Whether a file that was put or is kept here is not here, or not all of it, and nobody fetches it.
    private func isLost(_ row: BlobTable.Row) throws(StorageError) -> Bool {
        guard row.isOwn || row.isKept, !row.isWanted, row.blob != nil, !row.held.isWhole else {
            return false
        }
        return try isNamed(row)
    }

    /// Has what is lost be fetched from whoever has it.
    func wantLost(_ number: Int64) throws(StorageError) {
        guard let row = try store.blobs.row(number), try isLost(row) else { return }
        try want(number)
    }

    private func noteLost(_ row: BlobTable.Row) throws(StorageError) {
        guard let check = chunkCheck, try isLost(row) else { return }
        let repairs = check.repairs && mayWrite
        if repairs { try want(row.number) }
        note(
            row.held.isEmpty ? "is not here" : "is not all here", of: row,
            done: repairs ? "asked" : nil)
    }

    private func note(_ text: String, of row: BlobTable.Row?, done: String?) {
        let id = row.map { PublicID.blob($0.root) } ?? "file"
        chunkCheck?.object.add("file", id, text, done: done)
        if done != nil { chunkCheck?.object.repaired += 1 }
    }

    /// Takes back that chunks are held, and fetches them again where something names the blob.
    func forget(_ wrong: HaveMap, of row: BlobTable.Row) throws(StorageError) {
        var held = row.held
        for chunk in wrong.runs.joined() { held.remove(chunk) }
        try setHeld(held, of: row)
        if try isNamed(row) { try want(row.number) }
    }
}
