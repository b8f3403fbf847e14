import BlobStore
import CRDTStore
import WorkspaceModel

/// Files, as commands ask for them.
extension Files: FileCommands {
    func addFile(
        _ path: String, as use: AddedFileUse, _ scope: CallScope
    ) throws(NodeError) -> CommandOutcome {
        let path = try Self.absolute(path, field: "path")
        try begin(
            .put(
                path: path, key: BlobKey(using: environment.random),
                PutBounds(
                    byteCountMax: use == .picture
                        ? Limits.pictureBytesMax : environment.fileDefaults.attachmentBytes,
                    inlineByteCountMax: use == .message ? BlobLimits.inlineBytesMax : 0,
                    isPicture: use == .picture)),
            for: scope.call)
        return .later
    }

    func file(_ id: String) throws(NodeError) -> FileObject {
        if let draft = drafts[id] { return object(of: draft, id: id) }
        if let object = try inlineObject(id) { return object }
        return try shown(try row(id))
    }

    /// A blob as it is now.
    private func shown(_ row: BlobTable.Row) throws(NodeError) -> FileObject {
        try stored { () throws(StorageError) in
            try object(of: try store.blobs.row(row.number) ?? row)
        }
    }

    private static func absolute(_ path: String, field: String) throws(NodeError) -> String {
        guard path.utf8.first == UInt8(ascii: "/"), !path.utf8.contains(0) else {
            throw NodeError(
                .badRequest, "'\(field)' is not an absolute path", hint: "start it with /",
                reason: "bad_path", fields: [.init(name: field, reason: "form")])
        }
        return path
    }

    func files(
        of channel: ChannelReference?, _ page: PageRequest, _ scope: CallScope
    ) throws(NodeError) -> Page<FileObject> {
        let workspace: Workspace = try core.queries.workspace(scope)
        let documents = try channel.map { (reference) throws(NodeError) in
            let channel = try core.queries.channel(reference, in: workspace)
            return [channel.number] + channel.others
        }
        let objects = try stored { () throws(StorageError) in
            let documents =
                documents
                ?? workspace.channelIndex.all.flatMap { [$0.number] + $0.others }
            return try list(documents)
        }
        return try Page(objects).part(page)
    }

    func fetchFile(_ id: String) throws(NodeError) -> FileObject {
        if let draft = drafts[id] { return object(of: draft, id: id) }
        if let object = try inlineObject(id) { return object }
        let row = try row(id)
        try refuseOverQuota(row, titled: try shown(row).title)
        try stored { () throws(StorageError) in try want(row.number, isUrgent: true) }
        return try shown(row)
    }

    func saveFile(
        _ request: SaveRequest, _ scope: CallScope
    ) throws(NodeError) -> CommandOutcome {
        let folder = try Self.absolute(request.folder, field: "folder")
        let item: Manifest.Item
        switch request.file {
        case .attachment(let message, let index):
            item = try attachment(message, index: index)
        case .blob(let id): item = try fileItem(id)
        }
        let contents = SavedContents(item)
        let name = request.name ?? SafeFileName(item.name.text).text
        try begin(
            .save(
                contents,
                FileErrand.Destination(folder: folder, name: name, title: item.name.text)),
            for: scope.call)
        return .later
    }

    func keepFile(_ id: String, isOn: Bool) throws(NodeError) -> FileObject {
        try refuseInline(id)
        let row = try row(id)
        if isOn { try refuseOverQuota(row, titled: try shown(row).title) }
        try stored { () throws(StorageError) in
            try write()
            try store.blobs.set(.kept, isOn, of: row.number)
            if isOn { try want(row.number) }
        }
        return try shown(row)
    }

    func dropFile(_ id: String, isForced: Bool) throws(NodeError) -> FileObject {
        try refuseInline(id)
        let row = try row(id)
        let mayGo = try stored { () throws(StorageError) in
            try cached(row)?.mayGo != false || row.isWanted && !row.isKept && !row.isOwn
        }
        guard mayGo || isForced else {
            let why =
                row.isOwn
                ? "it was added on this device"
                : row.isKept ? "you chose to keep it" : "no other device is known to have it"
            throw NodeError(
                .forbidden, "not removed: \(why)", hint: "--force removes it anyway",
                reason: "file.only_copy")
        }
        try stored { () throws(StorageError) in
            try write()
            try store.blobs.set(.kept, false, of: row.number)
            copiesDeclined.insert(row.number)
            try drop(row)
        }
        return try shown(row)
    }

    func verifyFile(_ id: String, _ scope: CallScope) throws(NodeError) -> CommandOutcome {
        try refuseInline(id)
        let object = try shown(try row(id))
        try begin(.verify(object), for: scope.call)
        return .later
    }
}
