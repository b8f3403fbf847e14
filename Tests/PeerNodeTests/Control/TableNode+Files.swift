import WorkspaceModel

@testable import PeerNode

extension TableNode: FileCommands, FileCacheCommands, FileMediaCommands {
    private var knownFile: FileObject {
        var file = FileObject(id: "b_01hx9t4c", size: 3)
        file.waitingSince = fileWaitsSince
        file.patience = callsWait
        return file
    }

    func addFile(
        _ path: String, as use: AddedFileUse, _ scope: CallScope
    ) throws(NodeError) -> CommandOutcome {
        try note("addFile \(path)", scope)
        return .reply(knownFile.json)
    }
    func file(_ id: String) throws(NodeError) -> FileObject {
        if let failure { throw failure }
        asked.append("file \(id)")
        return knownFile
    }
    func files(
        of channel: ChannelReference?, _ page: PageRequest, _ scope: CallScope
    ) throws(NodeError) -> Page<FileObject> {
        try note("files", scope)
        return Page([knownFile])
    }
    func fetchFile(_ id: String) throws(NodeError) -> FileObject {
        if let failure { throw failure }
        asked.append("fetchFile \(id)")
        return knownFile
    }
    func saveFile(_ request: SaveRequest, _ scope: CallScope) throws(NodeError) -> CommandOutcome {
        try note("saveFile \(request.folder)", scope)
        filePatience = request.patience
        return .reply(SavedFileObject(path: request.folder + "/a", name: "a", size: 3).json)
    }
    func fileHolders(_ id: String, _ scope: CallScope) throws(NodeError) -> CommandOutcome {
        try note("fileHolders \(id)", scope)
        let holder = FileHolderObject(device: "d_01hx9t4c", at: 1)
        return .reply(Page([holder]).json)
    }
    func cache() throws(NodeError) -> CacheObject {
        if let failure { throw failure }
        asked.append("cache")
        return CacheObject(quota: 1_000, keep: "forever")
    }
    func clearCache(unusedFor milliseconds: UInt64?) throws(NodeError) -> CacheObject {
        if let failure { throw failure }
        asked.append("clearCache \(milliseconds ?? 0)")
        return CacheObject(quota: 1_000, keep: "forever")
    }
    func media() throws(NodeError) -> Page<MediaObject> {
        if let failure { throw failure }
        asked.append("media")
        return Page([
            MediaObject(kind: "image", policy: "always", byteCountMax: 1_048_576, isMetered: false)
        ])
    }
    func setMedia(_ edit: MediaEdit) throws(NodeError) -> Page<MediaObject> {
        if let failure { throw failure }
        asked.append("setMedia \(edit.kinds.count) \(edit.policy) \(edit.byteCountMax ?? 0)")
        return try media()
    }
    func limitCache(to byteCount: Int64?) throws(NodeError) -> CacheObject {
        if let failure { throw failure }
        asked.append("limitCache \(byteCount ?? 0)")
        return CacheObject(quota: byteCount ?? 1_000, keep: "forever")
    }
    func keepCached(_ period: CachePeriod) throws(NodeError) -> CacheObject {
        if let failure { throw failure }
        asked.append("keepCached \(period)")
        return CacheObject(quota: 1_000, keep: period.rawValue)
    }
    func keepFile(_ id: String, isOn: Bool) throws(NodeError) -> FileObject {
        if let failure { throw failure }
        asked.append("keepFile \(id) \(isOn)")
        return knownFile
    }
    func dropFile(_ id: String, isForced: Bool) throws(NodeError) -> FileObject {
        if let failure { throw failure }
        asked.append("dropFile \(id) \(isForced)")
        return knownFile
    }
    func verifyFile(_ id: String, _ scope: CallScope) throws(NodeError) -> CommandOutcome {
        try note("verifyFile \(id)", scope)
        return .reply(knownFile.json)
    }
    func readFile(_ request: ReadRequest, _ scope: CallScope) throws(NodeError) -> CommandOutcome {
        try note("readFile \(request.file) \(request.offset) \(request.length ?? -1)", scope)
        filePatience = request.patience
        guard let range = request.range(of: 3) else {
            throw NodeError(
                .badRequest, "no such bytes", reason: "file.bad_range", details: ["size": 3])
        }
        return .reply(
            ReadFileObject(
                file: knownFile, offset: Int64(range.lowerBound), byteCount: Int64(range.count)
            ).json)
    }
    func putFile(_ request: PutRequest, _ scope: CallScope) throws(NodeError) -> CommandOutcome {
        try note("putFile \(request.name) \(request.byteCount)", scope)
        fileContents.append(request.content)
        return .reply(knownFile.json)
    }
}
