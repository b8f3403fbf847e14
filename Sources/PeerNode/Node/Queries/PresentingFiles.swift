import BlobStore
import CRDTStore
import WorkspaceModel

/// The files of messages, as people and scripts see them.
extension Queries {
    /// The files of a message, with what is here of each.
    func attachments(
        of message: ContentPayload.Message
    ) throws(StorageError) -> [AttachmentObject] {
        var objects: [AttachmentObject] = []
        for item in message.files { objects.append(try attachment(item)) }
        return objects
    }

    private func attachment(
        _ item: Manifest.Item
    ) throws(StorageError) -> AttachmentObject {
        let have = try heldByteCount(of: item)
        var object = AttachmentObject(
            blob: item.root.map { PublicID.blob($0.bytes) }, name: item.name.text,
            type: item.type.text, size: Int64(clamping: item.byteCount))
        object.have = have
        return object
    }

    /// How many bytes of a file are here: all of one that lies in its message.
    private func heldByteCount(of item: Manifest.Item) throws(StorageError) -> Int64 {
        guard case .blob(let root, let shape, _) = item.contents else {
            return Int64(clamping: item.byteCount)
        }
        let row = try store.blobs.row(root: root.bytes, size: Int64(clamping: shape.byteCount))
        return Int64(clamping: row?.held.plaintextByteCount(of: shape) ?? 0)
    }
}
