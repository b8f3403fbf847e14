import BlobStore
import CRDTStore
import WorkspaceModel

/// Implements the commands about files.
final class FileHandler: CorePart, FileCommands {
    private var room: Files { core.files }

    func addFile(
        _ path: String, as use: AddedFileUse, _ scope: CallScope
    ) throws(NodeError) -> CommandOutcome {
        try NodeError.refuseRelative(path, field: "path")
        try room.tasks.begin(
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
        if let draft = room.drafts[id] { return room.objects.object(of: draft, id: id) }
        if let object = try room.objects.inlineObject(id) { return object }
        return try shown(try room.names.row(id))
    }

    /// The current state of a blob.
    private func shown(_ row: BlobTable.Row) throws(NodeError) -> FileObject {
        try stored { () throws(StorageError) in
            try room.objects.object(of: try store.blobs.row(row.number) ?? row)
        }
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
            return try room.objects.list(documents)
        }
        return try Page(objects).part(page)
    }

    func fetchFile(_ id: String) throws(NodeError) -> FileObject {
        if let draft = room.drafts[id] { return room.objects.object(of: draft, id: id) }
        if let object = try room.objects.inlineObject(id) { return object }
        let row = try room.names.row(id)
        try room.cache.refuseOverQuota(row) { () throws(NodeError) in try shown(row).title }
        try stored { () throws(StorageError) in try room.transfers.want(row.number, isUrgent: true)
        }
        return try shown(row)
    }

    func saveFile(
        _ request: SaveRequest, _ scope: CallScope
    ) throws(NodeError) -> CommandOutcome {
        let folder = request.folder
        try NodeError.refuseRelative(folder, field: "folder")
        let item: Manifest.Item
        switch request.file {
        case .attachment(let message, let index):
            item = try room.names.attachment(message, index: index)
        case .blob(let id): item = try room.names.fileItem(id)
        }
        let contents = SavedContents(item)
        let name = request.name ?? SafeFileName(item.name.text).text
        try room.tasks.begin(
            .save(
                contents,
                FileTask.Destination(folder: folder, name: name, title: item.name.text)),
            for: scope.call, patience: request.patience)
        return .later
    }

    func keepFile(_ id: String, isOn: Bool) throws(NodeError) -> FileObject {
        try room.names.refuseInline(id)
        let row = try room.names.row(id)
        if isOn {
            try room.cache.refuseOverQuota(row) { () throws(NodeError) in try shown(row).title }
        }
        try stored { () throws(StorageError) in
            try write()
            try store.blobs.set(.kept, isOn, of: row.number)
            if isOn { try room.transfers.want(row.number) }
        }
        return try shown(row)
    }

    func dropFile(_ id: String, isForced: Bool) throws(NodeError) -> FileObject {
        try room.names.refuseInline(id)
        let row = try room.names.row(id)
        let mayGo = try stored { () throws(StorageError) in
            try room.cache.cached(row)?.mayGo != false || row.isWanted && !row.isKept && !row.isOwn
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
            // Someone who drops a file that was added here does not want it back.
            for mark in [BlobTable.Mark.kept, .own] {
                try store.blobs.set(mark, false, of: row.number)
            }
            room.copies.decline(row.number)
            try room.cache.drop(row)
        }
        return try shown(row)
    }

    func verifyFile(_ id: String, _ scope: CallScope) throws(NodeError) -> CommandOutcome {
        try room.names.refuseInline(id)
        let object = try shown(try room.names.row(id))
        try room.tasks.begin(.verify(object), for: scope.call)
        return .later
    }

    func fileHolders(_ id: String, _ scope: CallScope) throws(NodeError) -> CommandOutcome {
        try room.names.refuseInline(id)
        let row = try room.names.row(id)
        guard let blob = row.blob else { throw FileNames.unknown(id) }
        let (readers, copies) = try stored { () throws(StorageError) in
            (
                try room.mentions.onlineReaders(of: row.number),
                try room.copies.wanted(of: row.number)
            )
        }
        var question = HolderQuestion(
            call: scope.call, number: row.number, blob: blob, links: readers.map(\.link.id),
            isForCopies: copies > 0, waiting: Set(readers.map(\.device)),
            due: time.monotonic &+ Limits.holdersAskedMilliseconds)
        guard !readers.isEmpty, room.holders.hasRoom else {
            question.waiting = []
            let page = try stored { () throws(StorageError) in try room.holders.found(question) }
            return .reply(page.json)
        }
        room.holders.ask(question, on: readers.map(\.link))
        return .later
    }

    // MARK: Over the connection of the call

    func readFile(_ request: ReadRequest, _ scope: CallScope) throws(NodeError) -> CommandOutcome {
        let object = try file(request.file)
        let contents = SavedContents(try room.names.fileItem(request.file))
        guard let range = request.range(of: UInt64(clamping: object.size)) else {
            throw NodeError(
                .badRequest, "\(NodeError.quoted(object.title)) has no such bytes",
                hint: "it is \(object.size) bytes long", reason: ReadRequest.badRange,
                fields: [.init(name: "offset", reason: "range")],
                details: ["size": .integer(object.size)])
        }
        try room.tasks.begin(
            .read(contents, object, range), for: scope.call, patience: request.patience)
        return .later
    }

    func putFile(_ request: PutRequest, _ scope: CallScope) throws(NodeError) -> CommandOutcome {
        let byteCount = UInt64(clamping: request.byteCount)
        guard BlobShape(byteCount: byteCount) != nil,
            byteCount <= environment.fileDefaults.attachmentBytes
        else { throw FileNames.tooLarge(request.name) }
        let name = FileName(fitting: [UInt8](request.name.utf8))
        if let content = request.content {
            return .reply(room.tasks.add(content, as: name).json)
        }
        try room.tasks.begin(
            .receive(name: name, byteCount: byteCount, key: BlobKey(using: environment.random)),
            for: scope.call)
        return .later
    }
}
