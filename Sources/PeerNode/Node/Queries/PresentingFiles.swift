import BlobStore
import CRDTStore
import WorkspaceModel

/// The files of messages, as people and scripts see them.
extension Queries {
    /// The files of a message, with what is here of each.
    ///
    /// - Parameter copies: how many devices are to keep each of them; 0 where the channel asks none to.
    func attachments(
        of message: ContentPayload.Message, _ key: MessageKey, copies: Int
    ) throws(StorageError) -> [AttachmentObject] {
        var objects: [AttachmentObject] = []
        for (index, item) in message.files.enumerated() {
            var object = try attachment(item, id: PublicID.inlineFile(key, index))
            if copies > 0, let row = try row(of: item) {
                object.copies = Int64(try core.files.copies.count(of: row))
                object.copiesWanted = Int64(copies)
            }
            objects.append(object)
        }
        return objects
    }

    private func row(of item: Manifest.Item) throws(StorageError) -> BlobTable.Row? {
        guard case .blob(let root, let shape, _) = item.contents else { return nil }
        return try store.blobs.row(BlobName(root: root, shape: shape))
    }

    /// - Parameter id: the id of a file inside its message.
    private func attachment(
        _ item: Manifest.Item, id: String
    ) throws(StorageError) -> AttachmentObject {
        let have = try heldByteCount(of: item)
        var object = AttachmentObject(
            blob: item.root.map { PublicID.blob($0.bytes) } ?? id, name: item.name.text,
            type: item.type.text, size: Int64(clamping: item.byteCount))
        object.have = have
        return object
    }

    /// How many bytes of a file are here: all of one inside its message.
    private func heldByteCount(of item: Manifest.Item) throws(StorageError) -> Int64 {
        guard case .blob(_, let shape, _) = item.contents else {
            return Int64(clamping: item.byteCount)
        }
        let row = try row(of: item)
        return Int64(clamping: row?.held.plaintextByteCount(of: shape) ?? 0)
    }
}
