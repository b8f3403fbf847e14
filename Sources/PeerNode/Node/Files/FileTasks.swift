import BlobStore
import CRDTStore
import WorkspaceModel

/// The owner's jobs on files: adding, saving and verifying them. How long they wait for a file that
/// nobody sends is in `MissingFiles.swift`.
final class FileTasks: FilePart {
    /// Jobs under way, and what waits for a transfer before it becomes one.
    var tasks: [TaskID: FileTask] = [:]
    private var lastTask: UInt64 = 0

    var nextDeadline: UInt64? { tasks.values.lazy.compactMap(\.waitsUntil).min() }

    /// Jobs of answered calls continue, and a lock has to end them.
    func goOn(after former: FileTasks) {
        tasks = former.tasks.filter { $0.value.isAnswered }
        lastTask = former.lastTask
    }

    private func nextTask() -> TaskID {
        lastTask += 1
        return TaskID(number: lastTask)
    }

    /// Begins a job for a call; the answer comes with what becomes of it.
    ///
    /// - Parameter patience: how long it waits while nobody sends the file, milliseconds; `nil` for as
    ///   long as there is a chance.
    /// - Throws: `busy` where there are very many.
    func begin(
        _ work: FileTask.Purpose, for call: CallID, patience: UInt64? = nil
    ) throws(NodeError) {
        let bytes = tasks.values.reduce(work.bufferBytes) { $0 + $1.work.bufferBytes }
        guard tasks.count < Limits.fileTasksMax,
            work.bufferBytes == 0 || bytes <= Limits.fileStreamsBytesMax
        else {
            throw NodeError(
                .busy, "too many files are being read and written", hint: "try again",
                reason: "file.busy")
        }
        if let blob = work.blob {
            let row = try stored { () throws(StorageError) in try store.blobs.row(blob) }
            if let row, !work.isReady(with: row.held) {
                try room.cache.refuseOverQuota(row) { work.title }
            }
        }
        let id = nextTask()
        tasks[id] = FileTask(call: call, work: work, patience: patience)
        try stored { () throws(StorageError) in try begin(id) }
    }

    /// Hands a job to the worker, or has what it needs be fetched first.
    func begin(_ id: TaskID) throws(StorageError) {
        guard let task = tasks[id] else { return }
        if let blob = task.work.blob {
            let row = try store.blobs.row(blob)
            guard let row, task.work.isReady(with: row.held) else {
                tasks[id]?.beginWaiting(for: blob.root, at: time.monotonic)
                guard let row else { return }
                guard let chunks = task.work.chunks else {
                    return try room.transfers.want(row.number, isUrgent: true)
                }
                return try room.transfers.fetch(row, chunks: chunks, isUrgent: true)
            }
            if mayWrite {
                try write()
                try store.blobs.touch(row.number, at: Int64(clamping: time.wall))
            }
        }
        tasks[id]?.waitsFor = nil
        tasks[id]?.waitsUntil = nil
        switch task.work {
        case .put(let path, let key, let bounds):
            try room.jobs.ask(.put(id, path: path, key: key, bounds))
        case .save(let contents, let place):
            try room.jobs.ask(.save(id, contents, folder: place.folder, name: place.name))
        case .fetch(_, var object):
            (object.have, object.isComplete) = (object.size, true)
            end(id, .success(object.json))
        case .verify(let object):
            guard let row = try room.names.row(of: object), let blob = row.blob, !row.held.isEmpty
            else {
                return end(id, .failure(Self.nothingHere(object)))
            }
            try room.jobs.ask(.verify(id, blob, row.held))
        case .check: break
        case .read(let contents, _, let range):
            try room.jobs.ask(.stream(id, contents, range, for: task.call.connection))
        case .receive(_, let byteCount, let key):
            try room.jobs.ask(
                .receive(id, byteCount: byteCount, key: key, for: task.call.connection))
        }
    }

    /// There is nothing that could be looked at.
    private static func nothingHere(_ object: FileObject) -> NodeError {
        NodeError(
            .blobMissing, "nothing of \(NodeError.quoted(object.title)) is here",
            hint: "wsx-node file fetch \(object.id)", reason: BlobError.missing.code)
    }

    /// Begins what has waited for a blob.
    func beginWaiting(for blob: BlobName) throws(StorageError) {
        for id in tasks.keys.sorted() where tasks[id]?.waitsFor == blob.root {
            try begin(id)
        }
    }

    /// Answers all calls: the node is about to be locked.
    func endAll(because error: NodeError) {
        for id in tasks.keys.sorted() {
            turn.emit(.blob(.abandon(id)))
            end(id, .failure(error))
        }
    }

    /// A client's jobs are no longer awaited.
    func forget(of connection: UInt64) {
        for id in tasks.keys.sorted() where tasks[id]?.call.connection == connection {
            let root = tasks[id]?.waitsFor
            if root == nil { turn.emit(.blob(.abandon(id))) }
            tasks[id] = nil
            if let root { endPart(root) }
        }
    }

    func end(_ id: TaskID, _ result: Result<JSONValue, NodeError>) {
        guard let task = tasks.removeValue(forKey: id), !task.isAnswered else { return }
        turn.emit(.answer(task.call, result))
    }

    // MARK: Parts

    /// Continues what waits for parts of a blob, more of which is here.
    func partCame(of blob: BlobName) throws(StorageError) {
        for id in tasks.keys.sorted()
        where tasks[id]?.waitsFor == blob.root && tasks[id]?.work.chunks != nil {
            try begin(id)
        }
        endPart(blob.root)
    }

    /// Restarts what waits for parts of blobs, when their transfers were ended.
    func fetchPartsAgain() throws(StorageError) {
        for id in tasks.keys.sorted()
        where tasks[id]?.waitsFor != nil && tasks[id]?.work.chunks != nil {
            try begin(id)
        }
    }

    /// Ends the transfer of some chunks, once nobody waits for them.
    func endPart(_ root: BlobRoot) {
        guard !tasks.values.contains(where: { $0.waitsFor == root }) else { return }
        room.transfers.endPart(root)
    }

    // MARK: The check of chunks

    /// Verifies the chunks of a blob, for a check of all of them.
    ///
    /// - Parameter number: that of the blob.
    func check(_ number: Int64, _ blob: BlobName, _ held: HaveMap, for call: CallID)
        throws(StorageError)
    {
        let id = nextTask()
        tasks[id] = FileTask(call: call, work: .check(number))
        try room.jobs.ask(.verify(id, blob, held))
    }

    /// Takes the end of a job of that check.
    ///
    /// - Returns: the number of the blob; `nil` where the job is another one.
    func takeCheck(_ id: TaskID) -> Int64? {
        guard case .check(let number)? = tasks[id]?.work else { return nil }
        tasks[id] = nil
        return number
    }
}
