import BlobStore
import CRDTStore
import WorkspaceModel

/// Files that lie in their messages. They have ids like all others, made of the message and the place in
/// it, so they are equal on every node.
extension Files {
    /// The number that stands for them where messages name blobs.
    static let inlineNumber: Int64 = 0

    /// The file that an id names, if that is one that lies in a message which can be read.
    ///
    /// - Parameter id: comes from outside.
    /// - Returns: `nil` for the id of a blob.
    func inlineItem(_ id: String) throws(NodeError) -> Manifest.Item? {
        guard let (key, index) = PublicID.inlineFile(id) else { return nil }
        let items = try stored { () throws(StorageError) -> [Manifest.Item]? in
            guard let row = try store.view.message(key) else { return nil }
            return try readableMessage(row.position.arrival)?.message.files
        }
        guard let items, items.indices.contains(index), items[index].root == nil else {
            throw Self.unknown(id)
        }
        return items[index]
    }

    /// The same as people see it; `nil` for the id of a blob.
    func inlineObject(_ id: String) throws(NodeError) -> FileObject? {
        try inlineItem(id).map { Self.object(of: $0, id: id) }
    }

    static func object(of item: Manifest.Item, id: String) -> FileObject {
        var object = FileObject(id: id, size: Int64(clamping: item.byteCount))
        object.name = item.name.text
        object.type = item.type.text
        (object.have, object.isComplete, object.holders) = (object.size, true, 1)
        return object
    }

    /// The file that a reference names, which lies in its message; `nil` where that cannot be read.
    func inlineObject(_ reference: BlobTable.Reference) throws(StorageError) -> FileObject? {
        guard let (message, stored) = try readableMessage(reference.arrival) else { return nil }
        let (items, index) = (message.files, Int(clamping: reference.item))
        guard items.indices.contains(index), items[index].root == nil else { return nil }
        let key = MessageKey(
            timestamp: stored.entry.timestamp, idPrefix: stored.place.link.id.messagePrefix)
        return Self.object(of: items[index], id: PublicID.inlineFile(key, index))
    }

    /// Refuses what only blobs know: they are where their messages are.
    func refuseInline(_ id: String) throws(NodeError) {
        guard let (key, _) = PublicID.inlineFile(id) else { return }
        throw NodeError(
            .unsupported, "a file this small is part of its message",
            hint: "wsx-node message who \(PublicID.message(key))", reason: "file.inline",
            fields: [.init(name: "blob", reason: "form")])
    }
}
