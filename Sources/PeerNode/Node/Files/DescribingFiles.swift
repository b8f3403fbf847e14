import BlobStore
import CRDTStore
import WorkspaceModel

/// Files as people and scripts see them.
extension Files {
    static let progressType = "transfer.progress"

    /// A blob with what is known of it.
    func object(of row: BlobTable.Row) throws(StorageError) -> FileObject {
        let item = try item(of: row.number)
        var object = FileObject(id: PublicID.blob(row.root), size: row.size)
        object.name = item?.name.text
        object.type = item?.type.text ?? MediaType.unknown.text
        let shape = row.blob?.shape
        object.have = Int64(
            clamping: shape.map { row.held.plaintextByteCount(of: $0) } ?? 0)
        object.isComplete = row.held.isWhole
        object.isWanted = row.isWanted
        object.isKept = row.isKept
        object.isOwn = row.isOwn
        object.holders = Int64(try store.blobs.holders(of: row.number).count)
        if object.isComplete { object.holders += 1 }
        if row.isWanted, let root = row.blob?.root, let state = scheduler.state(of: root) {
            // Chunks count as soon as they are stored, so that progress does not go in steps of 64 MiB.
            object.have = max(object.have, Int64(clamping: state.byteCount))
            object.sources = Int64(state.sources.count)
            object.waitingSince = state.waitingSince.map { wallTime(of: $0) }
        }
        return object
    }

    /// The files that messages of some documents name, each once, those of the newest messages first.
    func list(_ documents: [Int64]) throws(StorageError) -> [FileObject] {
        var references: [BlobTable.Reference] = []
        for document in documents {
            references += try store.blobs.references(
                ofDocument: document, before: .max, limit: Limits.filesListedMax)
        }
        references.sort { ($1.arrival, $0.item) < ($0.arrival, $1.item) }
        var seen: Set<Int64> = []
        var objects: [FileObject] = []
        for reference in references {
            if reference.blob == Self.inlineNumber {
                if let object = try inlineObject(reference) { objects.append(object) }
                continue
            }
            guard seen.insert(reference.blob).inserted else { continue }
            // What a deleted message named is not listed, though its bytes may still be here.
            guard try store.view.redactions.deletion(of: reference.arrival) == nil,
                let row = try store.blobs.row(reference.blob)
            else { continue }
            objects.append(try object(of: row))
        }
        return objects
    }

    func object(of draft: FileDraft, id: String) -> FileObject {
        let size = Int64(clamping: draft.item.byteCount)
        var object = FileObject(id: id, size: size)
        object.name = draft.name.text
        object.type = draft.type.text
        (object.have, object.isComplete, object.isOwn, object.holders) = (size, true, true, 1)
        return object
    }

    // MARK: Progress

    /// Tells how far transfers have come, where anybody listens to what passes.
    func tellProgress() {
        guard core.events.subscriptions.wantPassing else { return }
        for root in transfers.keys.sorted() {
            guard let transfer = transfers[root], !transfer.isPart,
                let state = scheduler.state(of: root)
            else { continue }
            if let told = transfer.told {
                guard told.at &+ Limits.transferProgressMilliseconds <= time.monotonic,
                    told.state != state
                else { continue }
            }
            tell(transfer, state, isOver: false)
            transfers[root]?.told = (state, time.monotonic)
        }
    }

    /// A moment of the monotonic clock in milliseconds since 1970.
    private func wallTime(of monotonic: UInt64) -> Int64 {
        let age = time.monotonic - min(monotonic, time.monotonic)
        return Int64(clamping: time.wall - min(age, time.wall))
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
        if !isOver { object.waitingSince = state.waitingSince.map { wallTime(of: $0) } }
        core.events.pass(Self.progressType, object.json, in: workspace)
    }
}
