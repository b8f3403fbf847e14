import BlobStore
import CRDTStore
import WorkspaceModel

/// Finding the files that calls name.
extension Files {
    /// The files of a message that is to be sent, by the ids under which they were added.
    ///
    /// - Throws: `not_found` for an id that nobody added, `too_large` where there are too many bytes in the
    ///   message itself.
    func manifest(of ids: [String]) throws(NodeError) -> Manifest? {
        guard !ids.isEmpty else { return nil }
        guard ids.count <= Limits.filesPerMessageMax else {
            throw NodeError(
                .tooLarge, "a message has at most \(Limits.filesPerMessageMax) files",
                hint: "send the others in another message", reason: "file.too_many")
        }
        var items: [Manifest.Item] = []
        var seen: Set<String> = []
        for id in ids {
            guard seen.insert(id).inserted else {
                throw NodeError(
                    .duplicate, "the file \(NodeError.quoted(id)) is named twice",
                    reason: "file.twice", fields: [.init(name: "attachments", reason: "twice")])
            }
            items.append(try fileItem(id))
        }
        do throws(BlobError) { return try Manifest(items) } catch {
            throw NodeError(error, file: "the files")
        }
    }

    /// A message names them now.
    func sent(_ ids: [String]) { for id in ids { drafts[id] = nil } }

    /// The blob that an id names.
    ///
    /// - Throws: `not_found`, `ambiguous` where messages claim several sizes of it and nothing is here.
    func row(_ id: String) throws(NodeError) -> BlobTable.Row {
        let rows = try stored { () throws(StorageError) -> [BlobTable.Row] in
            guard let prefix = PublicID.bytes(id, prefix: "b_") else { return [] }
            return try store.blobs.rows(startingWith: prefix)
        }
        if let held = rows.first(where: { $0.byteCount > 0 }) { return held }
        guard let first = rows.first else { throw Self.unknown(id) }
        return first
    }

    /// What the manifest of a message, or of one to come, says of the file that an id names.
    func fileItem(_ id: String) throws(NodeError) -> Manifest.Item {
        if let draft = drafts[id] { return draft.item }
        // What a message names already can be sent again by everybody who can read that.
        let row = try row(id)
        guard let item = try stored({ () throws(StorageError) in try item(of: row.number) }) else {
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
            guard let key = PublicID.messageKey(message), let row = try store.view.message(key),
                let stored = try store.operations.operation(row.position.arrival),
                try store.view.redactions.deletion(of: row.position.arrival) == nil,
                let document = store.operations.document(numbered: row.document),
                let workspace = core.workspaces[document.workspace],
                case .message(let content)? = try core.keys.content(of: stored, in: workspace)
            else { return nil }
            return content.files
        }
        guard let items else {
            throw .notFound("message", message, field: "message", hint: "wsx-node log CHANNEL")
        }
        guard items.indices.contains(index - 1) else {
            throw NodeError(
                .notFound,
                items.isEmpty
                    ? "the message has no files" : "the message has only \(items.count) files",
                hint: "wsx-node message show \(message)", reason: "file.not_found",
                fields: [.init(name: "index", reason: "not_found")])
        }
        return items[index - 1]
    }
}
