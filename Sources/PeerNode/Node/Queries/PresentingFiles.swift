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
        for item in message.files {
            var object = AttachmentObject(
                blob: item.root.map { PublicID.blob($0.bytes) }, name: item.name.text,
                type: item.type.text, size: Int64(clamping: item.byteCount))
            object.have = object.size
            if case .blob(let root, let shape, _) = item.contents {
                let row = try store.blobs.row(
                    root: root.bytes, size: Int64(clamping: shape.byteCount))
                object.have = Int64(clamping: row?.held.plaintextByteCount(of: shape) ?? 0)
            }
            objects.append(object)
        }
        return objects
    }
}
