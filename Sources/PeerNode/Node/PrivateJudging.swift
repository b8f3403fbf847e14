import CRDTStore
import WorkspaceModel

/// Private documents in which something came that was not judged yet. Every member can write into
/// them, in many logs and many messages, and each judgement goes through all of the document: so
/// there is one for all that came in a turn, and fewer for what is large.
struct JudgingQueue {
    /// What came of one document.
    struct Work {
        /// Membership operations that were stored, by arrival.
        var arrivals: [Int64] = []
        /// Whether what was there already may be judged otherwise.
        var isAnew = false
        var source: OperationSource
    }

    /// A document by its workspace.
    struct Name: Hashable {
        let workspace: Int64
        let document: DocumentID
    }

    private var work: [Name: Work] = [:]
    /// In the order in which they came.
    private var names: [Name] = []
    /// When the next large one is judged at the earliest, on the monotonic clock.
    private(set) var nextLarge: UInt64 = 0

    var isEmpty: Bool { work.isEmpty }

    mutating func add(_ name: Name, _ new: Work) {
        guard var known = work[name] else {
            work[name] = new
            return names.append(name)
        }
        known.arrivals += new.arrivals
        known.isAnew = known.isAnew || new.isAnew
        // What anything of it tells people, they are told.
        if known.source.isBackfill { known.source = new.source }
        work[name] = known
    }

    /// What came of a document, which is judged now.
    mutating func take(_ name: Name) -> Work? {
        guard let taken = work.removeValue(forKey: name) else { return nil }
        names.removeAll { $0 == name }
        return taken
    }

    /// The next document that is judged now.
    ///
    /// - Parameter size: how much a document has to be judged.
    mutating func next(at now: UInt64, size: (Name) -> Int) -> (name: Name, work: Work)? {
        for name in names {
            let size = size(name)
            let isLarge = size > Limits.judgedAtOnceMax
            if isLarge, now < nextLarge { continue }
            guard let taken = take(name) else { continue }
            if isLarge {
                nextLarge = now &+ UInt64(size / Limits.judgedPerMillisecond)
            }
            return (name, taken)
        }
        return nil
    }
}

extension NodeCore {
    /// When something that waits is judged, on the monotonic clock.
    var judgingDue: UInt64? { judgings.isEmpty ? nil : judgings.nextLarge }

    /// Takes note of what came of a private document. It is judged at the end of the turn, or later.
    func judgeLater(
        _ id: DocumentID, adding arrivals: [Int64] = [], isAnew: Bool = false,
        in workspace: Workspace, from source: OperationSource
    ) {
        judgings.add(
            .init(workspace: workspace.number, document: id),
            .init(arrivals: arrivals, isAnew: isAnew, source: source))
    }

    /// Judges what came in this turn, and what waited for its time.
    ///
    /// - Parameter all: also what has to wait, for the keys are dropped next.
    func judgeWaiting(all: Bool = false) throws(StorageError) {
        // What one makes known may add to another.
        while let (name, work) = judgings.next(
            at: all ? .max : time.monotonic, size: { sizeOfPrivate($0) })
        {
            guard let workspace = workspaces[name.workspace] else { continue }
            try place(work, in: name.document, of: workspace)
        }
    }

    private func sizeOfPrivate(_ name: JudgingQueue.Name) -> Int {
        workspaces[name.workspace]?.privateDocuments[name.document]?.size ?? 0
    }

    /// Judges what came of one document before what this node writes there.
    func judgeNow(_ id: DocumentID, in workspace: Workspace) throws(StorageError) {
        let name = JudgingQueue.Name(workspace: workspace.number, document: id)
        guard let work = judgings.take(name) else { return }
        try place(work, in: id, of: workspace)
    }

    private func place(
        _ work: JudgingQueue.Work, in id: DocumentID, of workspace: Workspace
    ) throws(StorageError) {
        try placePrivate(id, adding: work.arrivals, in: workspace, from: work.source)
        if work.isAnew { try rejudgePrivate(id, in: workspace, from: work.source) }
    }
}
