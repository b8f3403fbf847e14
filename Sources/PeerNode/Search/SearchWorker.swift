public import CRDTStore
import WorkspaceModel

/// Runs the jobs of search, one after the other, on the thread that calls it.
///
/// It has exclusive access to the index, which always reflects the last job.
///
/// - Not thread-safe: one thread at a time.
public final class SearchWorker {
    private let files: any SearchFiles
    private var index: SearchIndex?

    /// A worker whose index, where it has a file, is in `files`.
    public init(_ files: any SearchFiles) { self.files = files }

    /// Does a job; a failure ends the index and is told as the outcome.
    public func run(_ job: SearchJob) -> SearchOutcome {
        do throws(StorageError) {
            return SearchOutcome(generation: job.generation, result: try result(of: job.work))
        } catch {
            // Whatever it holds can be had again, and what is broken would stay broken.
            close()
            return SearchOutcome(
                generation: job.generation, result: .failed("\(error.kind) \(error.code)"))
        }
    }

    /// Closes the index, so that SQLite checkpoints and removes its log.
    public func leave() { index = nil }

    private func result(
        of work: SearchJob.Work
    ) throws(StorageError) -> SearchOutcome.Result {
        switch work {
        case .open(let place, let arrival):
            try open(place, arrival: arrival)
            return .opened(through: index?.through ?? 0)
        case .close:
            close()
            return .closed
        case .write(let batch):
            try opened().take(batch)
            return .wrote
        case .find(let call, let question):
            return .found(call, try opened().find(question))
        }
    }

    private func opened() throws(StorageError) -> SearchIndex {
        guard let index else { throw StorageError(.other, "there is no index", statement: "") }
        return index
    }

    private func open(_ place: SearchPlace, arrival: Int64) throws(StorageError) {
        index = nil
        guard case .file = place else {
            files.remove()
            index = try SearchIndex(Connection(), place: place, arrival: arrival)
            return
        }
        do throws(StorageError) {
            index = try SearchIndex(files.open(), place: place, arrival: arrival)
        } catch {
            files.remove()
            index = try SearchIndex(files.open(), place: place, arrival: arrival)
        }
    }

    private func close() {
        index = nil
        files.remove()
    }
}

/// No disk: each index is new and in memory. For a home without a folder.
public struct NoSearchFiles: SearchFiles {
    /// Nothing.
    public init() {}

    /// A new index.
    public func open() throws(StorageError) -> Connection { try Connection() }
    /// Does nothing.
    public func remove() {}
}
