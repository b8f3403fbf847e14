import BlobStore
import CRDTStore
import WorkspaceCrypto
import WorkspaceModel

/// Outcomes of jobs of the worker, for the calls that wait for them.
extension FileTasks {
    /// A file was read, and can be named by a message.
    func put(
        _ id: TaskID, _ result: Result<PutContents, BlobError>
    ) throws(StorageError) {
        guard let (name, key, path) = tasks[id]?.work.put else { return }
        switch result {
        case .failure(.missing) where path != nil:
            end(
                id,
                .failure(
                    NodeError(
                        .notFound, "there is no file \(NodeError.quoted(path ?? name.text))",
                        hint: "check the path", reason: BlobError.missing.code,
                        fields: [.init(name: "path", reason: "not_found")])))
        case .failure(.tooLarge):
            let isPicture = tasks[id]?.work.isPicture == true
            end(
                id,
                .failure(
                    isPicture ? PictureChoice.tooLarge(name.text) : FileNames.tooLarge(name.text)))
        case .failure(let error): end(id, .failure(NodeError(error, file: name.text)))
        case .success(let put):
            let draft = FileDraft(
                name: name, type: MagicType.type(of: put.start),
                contents: put.contents(under: key), path: path, putAt: time.monotonic)
            let publicID: String
            if case .blob(let blob) = put.place {
                publicID = PublicID.blob(blob.root.bytes)
                guard mayWrite else {
                    return end(id, .failure(NodeError(BlobError.noSpace, file: name.text)))
                }
                try write()
                let number = try store.blobs.enter(blob, at: time.wall)
                try store.blobs.set(.own, true, of: number)
            } else {
                publicID = PublicID.blob(environment.random.bytes(16))
            }
            room.drafts.add(draft, as: publicID)
            end(id, .success(room.objects.object(of: draft, id: publicID).json))
        }
    }

    /// Adds a small file whose bytes are here, to be embedded in a message.
    func add(_ bytes: [UInt8], as name: FileName) -> FileObject {
        let type = MagicType.type(of: [UInt8](bytes.prefix(BlobLimits.magicBytesMax)))
        let draft = FileDraft(
            name: name, type: type, contents: .inline(bytes), path: nil, putAt: time.monotonic)
        let id = PublicID.blob(environment.random.bytes(16))
        room.drafts.add(draft, as: id)
        return room.objects.object(of: draft, id: id)
    }

    func saved(_ id: TaskID, _ result: Result<UInt64, BlobError>) {
        guard case .save(_, let place)? = tasks[id]?.work else { return }
        switch result {
        case .success(let byteCount):
            let path = place.folder == "/" ? "/" + place.name : place.folder + "/" + place.name
            let object = SavedFileObject(
                path: path, name: place.title, size: Int64(clamping: byteCount))
            end(id, .success(object.json))
        case .failure(.badName):
            end(
                id,
                .failure(
                    NodeError(
                        .notFound,
                        "cannot create \(NodeError.quoted(place.name)) in "
                            + NodeError.quoted(place.folder),
                        hint: "give a folder that exists", reason: BlobError.badName.code,
                        fields: [.init(name: "folder", reason: "not_found")])))
        case .failure(let error):
            let name = error == .exists ? place.name : place.title
            end(id, .failure(NodeError(error, file: name)))
        }
    }

    func verified(
        _ id: TaskID, _ blob: BlobName, _ result: Result<HaveMap, BlobError>
    ) throws(StorageError) {
        guard case .verify(var object)? = tasks[id]?.work else { return }
        switch result {
        case .failure(let error): end(id, .failure(NodeError(error, file: object.title)))
        case .success(let wrong):
            object.bad = Int64(wrong.heldCount)
            if !wrong.isEmpty, mayWrite, let row = try room.names.row(of: object) {
                try room.transfers.forget(wrong, of: row)
                let held = try store.blobs.row(row.number)?.held ?? row.held
                object.have = Int64(clamping: held.plaintextByteCount(of: blob.shape))
                object.isComplete = false
            }
            end(id, .success(object.json))
        }
    }

    /// The first bytes of a file are ready, or cannot be read.
    func opened(_ id: TaskID, _ result: Result<Void, BlobError>) {
        guard let task = tasks[id], case .read(_, let object, let range) = task.work else {
            // The outcome is no longer awaited.
            return turn.emit(.blob(.abandon(id)))
        }
        switch result {
        case .failure(let error): end(id, .failure(NodeError(error, file: object.title)))
        case .success:
            tasks[id]?.isAnswered = true
            let answer = ReadFileObject(
                file: object, offset: Int64(clamping: range.lowerBound),
                byteCount: Int64(clamping: range.upperBound - range.lowerBound))
            turn.emit(.answer(task.call, .success(answer.json)))
        }
    }

    /// The connection has all bytes of a file, or needs no more.
    func streamed(_ id: TaskID) { tasks[id] = nil }
}
