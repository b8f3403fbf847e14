import BlobStore
import CRDTStore
import WorkspaceCrypto
import WorkspaceModel

/// Files of the owner's: putting them, saving them, and looking whether they are right.
extension Files {
    /// Begins a job for a call; the answer comes with what becomes of it.
    ///
    /// - Throws: `busy` where there are very many.
    func begin(_ work: FileErrand.Purpose, for call: CallID) throws(NodeError) {
        let bytes = errands.values.reduce(work.bufferBytes) { $0 + $1.work.bufferBytes }
        guard errands.count < Limits.fileErrandsMax,
            work.bufferBytes == 0 || bytes <= Limits.fileStreamsBytesMax
        else {
            throw NodeError(
                .busy, "too many files are being read and written", hint: "try again",
                reason: "file.busy")
        }
        if let blob = work.blob {
            let row = try stored { () throws(StorageError) in try store.blobs.row(blob) }
            if let row, !work.isReady(with: row.held) {
                try refuseOverQuota(row, titled: work.title)
            }
        }
        let id = nextErrand()
        errands[id] = FileErrand(call: call, work: work)
        try stored { () throws(StorageError) in try begin(id) }
    }

    /// Hands a job to the desk, or has what it needs be fetched first.
    func begin(_ id: ErrandID) throws(StorageError) {
        guard let errand = errands[id] else { return }
        if let blob = errand.work.blob {
            let row = try store.blobs.row(blob)
            guard let row, errand.work.isReady(with: row.held) else {
                errands[id]?.waitsFor = blob.root
                errands[id]?.waitsUntil = time.monotonic &+ Limits.fileWaitMilliseconds
                guard let row else { return }
                guard let chunks = errand.work.chunks else {
                    return try want(row.number, isUrgent: true)
                }
                return try fetch(row, chunks: chunks, isUrgent: true)
            }
            if mayWrite {
                try write()
                try store.blobs.touch(row.number, at: Int64(clamping: time.wall))
            }
        }
        errands[id]?.waitsFor = nil
        errands[id]?.waitsUntil = nil
        switch errand.work {
        case .put(let path, let key, let bounds):
            try ask(.put(id, path: path, key: key, bounds))
        case .save(let contents, let place):
            try ask(.save(id, contents, folder: place.folder, name: place.name))
        case .fetch(_, var object):
            (object.have, object.isComplete) = (object.size, true)
            end(id, .success(object.json))
        case .verify(let object):
            guard let row = try row(of: object), let blob = row.blob, !row.held.isEmpty else {
                return end(id, .failure(Self.nothingHere(object)))
            }
            try ask(.verify(id, blob, row.held))
        case .check: break
        case .read(let contents, _, let range):
            try ask(.stream(id, contents, range, for: errand.call.connection))
        case .receive(_, let byteCount, let key):
            try ask(.receive(id, byteCount: byteCount, key: key, for: errand.call.connection))
        }
    }

    /// There is nothing that could be looked at.
    private static func nothingHere(_ object: FileObject) -> NodeError {
        NodeError(
            .blobMissing, "nothing of \(NodeError.quoted(object.title)) is here",
            hint: "wsx-node file fetch \(object.id)", reason: BlobError.missing.code)
    }

    func row(of object: FileObject) throws(StorageError) -> BlobTable.Row? {
        guard let prefix = PublicID.bytes(object.id, prefix: "b_") else { return nil }
        return try store.blobs.rows(startingWith: prefix).first { $0.size == object.size }
    }

    /// Begins what has waited for a blob.
    func beginWaiting(for blob: BlobName) throws(StorageError) {
        for id in errands.keys.sorted() where errands[id]?.waitsFor == blob.root {
            try begin(id)
        }
    }

    /// Ends what has waited for a file that nobody sends. As long as somebody does, it waits on.
    func endVainErrands() {
        for id in errands.keys.sorted() {
            guard let errand = errands[id], let due = errand.waitsUntil, due <= time.monotonic,
                let root = errand.waitsFor
            else { continue }
            let state = scheduler.state(of: root)
            if let state, state.waitingSince == nil {
                errands[id]?.waitsUntil = time.monotonic &+ Limits.fileWaitMilliseconds
                continue
            }
            let isFull = state?.isPaused == true
            end(
                id,
                .failure(NodeError(isFull ? .noSpace : .missing, file: errand.work.title)))
            endPart(root)
        }
    }

    /// Answers all calls: the node is about to be locked.
    func endErrands(because error: NodeError) {
        for question in takeQuestions() { turn.emit(.answer(question.call, .failure(error))) }
        chunkCheck = nil
        for id in errands.keys.sorted() {
            turn.emit(.blob(.abandon(id)))
            end(id, .failure(error))
        }
    }

    /// Nobody waits any more for what a client has asked for.
    func forgetErrands(of connection: UInt64) {
        _ = takeQuestions(of: connection)
        if chunkCheck?.call.connection == connection { chunkCheck = nil }
        for id in errands.keys.sorted() where errands[id]?.call.connection == connection {
            let root = errands[id]?.waitsFor
            if root == nil { turn.emit(.blob(.abandon(id))) }
            errands[id] = nil
            if let root { endPart(root) }
        }
    }

    func end(_ id: ErrandID, _ result: Result<JSONValue, NodeError>) {
        guard let errand = errands.removeValue(forKey: id), !errand.isAnswered else { return }
        turn.emit(.answer(errand.call, result))
    }

    // MARK: What came of it

    /// Something came of a job of the desk.
    func took(_ outcome: BlobOutcome) throws(StorageError) {
        switch outcome {
        case .began(let less):
            for (blob, held) in less.sorted(by: { $0.key.root < $1.key.root }) where mayWrite {
                if let (row, known) = try heldRow(blob.root), known == blob {
                    try setHeld(held, of: row)
                    try wantLost(row.number)
                }
            }
        case .stored(let piece, let blob, let result): try stored(piece, of: blob, result)
        case .claimed(let claims): try claimed(claims)
        case .unclaimed(let error): try unclaimed(error)
        case .tree(let tree):
            scheduler.know(tree)
            transfers[tree.root]?.hasTree = true
        case .read(let piece, let blob, let link, let result):
            try read(piece, of: blob, for: LinkID(link), result)
        case .proved(let blob, let link, let result): proved(blob, for: LinkID(link), result)
        case .put(let id, let result): try put(id, result)
        case .saved(let id, let result): saved(id, result)
        case .verified(let id, let blob, let result): try verified(id, blob, result)
        case .opened(let id, let result): opened(id, result)
        case .streamed(let id): errands[id] = nil
        case .portion: break
        }
    }

    private func put(
        _ id: ErrandID, _ result: Result<PutContents, BlobError>
    ) throws(StorageError) {
        guard let (name, key, path) = errands[id]?.work.put else { return }
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
            let isPicture = errands[id]?.work.isPicture == true
            end(
                id, .failure(isPicture ? Self.tooLargePicture(name.text) : tooLarge(name.text)))
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
            dropOldDrafts()
            drafts[publicID] = draft
            end(id, .success(object(of: draft, id: publicID).json))
        }
    }

    private func saved(_ id: ErrandID, _ result: Result<UInt64, BlobError>) {
        guard case .save(_, let place)? = errands[id]?.work else { return }
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

    private func verified(
        _ id: ErrandID, _ blob: BlobName, _ result: Result<HaveMap, BlobError>
    ) throws(StorageError) {
        if case .check(let number)? = errands[id]?.work {
            return try checked(id, number, result)
        }
        guard case .verify(var object)? = errands[id]?.work else { return }
        switch result {
        case .failure(let error): end(id, .failure(NodeError(error, file: object.title)))
        case .success(let wrong):
            object.bad = Int64(wrong.heldCount)
            if !wrong.isEmpty, mayWrite, let row = try row(of: object) {
                try forget(wrong, of: row)
                let held = try store.blobs.row(row.number)?.held ?? row.held
                object.have = Int64(clamping: held.plaintextByteCount(of: blob.shape))
                object.isComplete = false
            }
            end(id, .success(object.json))
        }
    }
}

extension PutContents {
    /// What a manifest says of it.
    func contents(under key: BlobKey) -> Manifest.Item.Contents {
        switch place {
        case .blob(let blob): .blob(blob.root, blob.shape, key)
        case .inline(let bytes): .inline(bytes)
        }
    }
}
