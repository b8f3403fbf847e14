import BlobStore
import CRDTStore
import WorkspaceModel

/// Resolves the files that calls name.
final class FileNames: FilePart {
    /// The files of a message to send, by the ids under which they were added.
    ///
    /// A file that occurs twice, or is too large, is left out and named in the answer; the others
    /// are sent.
    ///
    /// - Throws: `not_found` for an id that nobody added, `too_large` where there are too many files, too
    ///   many bytes in the message itself, or nothing is left.
    func manifest(
        of ids: [String], in workspace: Workspace
    ) throws(NodeError) -> (manifest: Manifest?, refused: [RefusedFileObject]) {
        var items: [Manifest.Item] = []
        var refused: [RefusedFileObject] = []
        var seen = SeenFiles()
        for id in ids {
            let item = try fileItem(id)
            guard seen.insert(id, item, room.drafts[id]?.path) else {
                refused.append(
                    .init(
                        blob: id, name: item.name.text, reason: KnownReason.fileTwice.rawValue))
                continue
            }
            guard item.byteCount <= environment.fileDefaults.attachmentBytes else {
                refused.append(.init(blob: id, name: item.name.text, reason: "file.too_large"))
                continue
            }
            items.append(item)
        }
        let most = workspace.fields.attachments
        guard items.count <= most else {
            throw .tooManyFiles(most: most)
        }
        if items.isEmpty {
            if let first = refused.first { throw Self.tooLarge(first.name) }
            return (nil, [])
        }
        do throws(BlobError) { return (try Manifest(items), refused) } catch {
            throw NodeError(
                .tooLarge, "a message itself holds at most 64 KiB of small files",
                hint: "add some with 'apart', so that they are sent beside it", reason: error.code)
        }
    }

    /// A file that is larger than its owner lets files be.
    static func tooLarge(_ name: String) -> NodeError {
        var error = NodeError(BlobError.tooLarge, file: name)
        error.hint = "the setting limits.attachment_bytes says how large files may be"
        return error
    }

    /// The blob that an id names. If messages claim several sizes of it, and nothing is here yet
    /// that shows which is true, the one that was claimed first: nobody else knew its root by then.
    ///
    /// - Throws: `not_found`.
    func row(_ id: String) throws(NodeError) -> BlobTable.Row {
        let rows = try stored { () throws(StorageError) -> [BlobTable.Row] in
            guard let prefix = PublicID.bytes(id, prefix: "b_") else { return [] }
            return try store.blobs.rows(startingWith: prefix)
        }
        if let held = rows.first(where: { $0.byteCount > 0 }) { return held }
        guard let first = rows.min(by: { $0.number < $1.number }) else { throw Self.unknown(id) }
        return first
    }

    /// The row of a file as people see it.
    func row(of object: FileObject) throws(StorageError) -> BlobTable.Row? {
        guard let prefix = PublicID.bytes(object.id, prefix: "b_") else { return nil }
        return try store.blobs.rows(startingWith: prefix).first { $0.size == object.size }
    }

    /// The item in the manifest of a message, or of a planned one, for the file that an id names.
    func fileItem(_ id: String) throws(NodeError) -> Manifest.Item {
        if let draft = room.drafts[id] { return draft.item }
        if let item = try inlineItem(id) { return item }
        // A file of an existing message can be sent again by everybody who can read the message.
        let row = try row(id)
        guard
            let item = try stored({ () throws(StorageError) in
                try room.mentions.item(of: row.number)
            })
        else {
            throw Self.unknown(id)
        }
        return item
    }

    static func unknown(_ id: String) -> NodeError {
        .notFound("file", id, field: "blob", hint: "wsx-node file list")
    }

    /// A file of a message.
    ///
    /// - Parameters:
    ///   - message: its id; comes from outside.
    ///   - index: from 1.
    func attachment(
        _ message: String, index: Int
    ) throws(NodeError) -> Manifest.Item {
        let items = try stored { () throws(StorageError) -> [Manifest.Item]? in
            guard let key = PublicID.messageKey(message), let row = try store.view.message(key)
            else { return nil }
            return try room.mentions.readableMessage(row.position.arrival)?.message.files
        }
        guard let items else {
            throw .notFound("message", message, field: "message", hint: "wsx-node log CHANNEL")
        }
        guard items.indices.contains(index - 1) else {
            throw .noFile(in: message, count: items.count)
        }
        return items[index - 1]
    }

    // MARK: Files that lie in their messages

    /// The file that an id names, if it is inside a readable message.
    ///
    /// - Parameter id: comes from outside.
    /// - Returns: `nil` for the id of a blob.
    func inlineItem(_ id: String) throws(NodeError) -> Manifest.Item? {
        guard let (key, index) = PublicID.inlineFile(id) else { return nil }
        let items = try stored { () throws(StorageError) -> [Manifest.Item]? in
            guard let row = try store.view.message(key) else { return nil }
            return try room.mentions.readableMessage(row.position.arrival)?.message.files
        }
        guard let items, items.indices.contains(index), items[index].root == nil else {
            throw Self.unknown(id)
        }
        return items[index]
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

/// The files of a message so far, so that it contains none twice.
private struct SeenFiles {
    private var ids: Set<String> = []
    private var roots: Set<BlobRoot> = []
    private var paths: Set<String> = []
    private var small: Set<[UInt8]> = []

    /// - Parameter path: where it was read, if it was just added.
    /// - Returns: whether it differs from all before.
    mutating func insert(_ id: String, _ item: Manifest.Item, _ path: String?) -> Bool {
        guard ids.insert(id).inserted else { return false }
        if let path, !paths.insert(path).inserted { return false }
        switch item.contents {
        case .blob(let root, _, _): return roots.insert(root).inserted
        case .inline(let bytes):
            // Two empty files of two names are two files.
            return small.insert([UInt8](item.name.text.utf8) + [0] + bytes).inserted
        }
    }
}
