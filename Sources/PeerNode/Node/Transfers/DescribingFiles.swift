import BlobStore
import CRDTStore
import WorkspaceModel

/// Files as people and scripts see them.
final class FileObjects: FilePart {
    /// A blob with what is known of it.
    func object(of row: BlobTable.Row) throws(StorageError) -> FileObject {
        let item = try room.mentions.item(of: row.number)
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
        object.holders = Int64(try room.heldElsewhere.holders(of: row.number).count)
        if object.isComplete { object.holders += 1 }
        if row.isWanted, let root = row.blob?.root, let state = room.transfers.state(of: root) {
            // Chunks count as soon as they are stored, so that progress does not go in steps of 64 MiB.
            object.have = max(object.have, Int64(clamping: state.byteCount))
            object.sources = Int64(state.sources.count)
            if let since = state.waitingSince {
                object.waitingSince = time.wallTime(of: since)
                object.patience = Int64(clamping: room.transfers.patience(with: root))
            }
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
            if reference.blob == FileMentions.inlineNumber {
                if let object = try inlineObject(reference) { objects.append(object) }
                continue
            }
            guard seen.insert(reference.blob).inserted else { continue }
            // The files of a deleted message are not listed, though their bytes may still be here.
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

    // MARK: Files that lie in their messages

    // They have ids like all others, made of the message and the place in it, so they are equal on
    // every node.

    /// The same as people see it; `nil` for the id of a blob.
    func inlineObject(_ id: String) throws(NodeError) -> FileObject? {
        try room.names.inlineItem(id).map { Self.object(of: $0, id: id) }
    }

    static func object(of item: Manifest.Item, id: String) -> FileObject {
        var object = FileObject(id: id, size: Int64(clamping: item.byteCount))
        object.name = item.name.text
        object.type = item.type.text
        (object.have, object.isComplete, object.holders) = (object.size, true, 1)
        return object
    }

    /// The file that a reference names, inside its message; `nil` where that cannot be read.
    func inlineObject(_ reference: BlobTable.Reference) throws(StorageError) -> FileObject? {
        guard let (message, stored) = try room.mentions.readableMessage(reference.arrival) else {
            return nil
        }
        let (items, index) = (message.files, Int(clamping: reference.item))
        guard items.indices.contains(index), items[index].root == nil else { return nil }
        let key = MessageKey(
            timestamp: stored.entry.timestamp, idPrefix: stored.place.link.id.messagePrefix)
        return Self.object(of: items[index], id: PublicID.inlineFile(key, index))
    }
}
