import CRDTStore
import WorkspaceModel

extension PrivateDocuments {
    /// When something that waits is judged, on the monotonic clock.
    var judgingDue: UInt64? {
        mayWrite ? judgings.nextDue { sizeOfPrivate($0) } : nil
    }

    /// Takes note of what came of a private document. It is judged at the end of the turn, or later.
    func judgeLater(
        _ id: DocumentID, adding arrivals: [Int64] = [], isAnew: Bool = false,
        in workspace: Workspace, from source: OperationSource
    ) {
        // Nothing opens while the node is locked; what arrives then is folded afterwards.
        guard home != nil else { return }
        judgings.add(
            .init(workspace: workspace.number, document: id),
            .init(arrivals: arrivals, isAnew: isAnew, source: source))
    }

    /// Judges what arrived in this turn, and what is due.
    ///
    /// - Parameter all: also what has to wait, for the keys are dropped next.
    func judgeWaiting(all: Bool = false) throws(StorageError) {
        guard mayWrite else { return }
        repeat {
            let due = judgings.takeDue(
                at: all ? .max : time.monotonic, most: all ? .max : Limits.judgedPerTurnMax
            ) { sizeOfPrivate($0) }
            for (name, work) in due {
                guard let workspace = core.workspaces[name.workspace] else { continue }
                try place(work, in: name.document, of: workspace)
            }
            // A judgement may reveal keys that open more of another document.
        } while all && !judgings.isEmpty
        if let next = judgingDue, next <= time.monotonic { turn.hasMoreToDo = true }
        try noteWaiting()
    }

    /// Leaves the rest of the queue to the next process.
    private func noteWaiting() throws(StorageError) {
        let notes = judgings.notes
        guard notes != judgings.noted else { return }
        try write()
        try store.registry.setValue(
            notes.isEmpty ? nil : notes.flatMap(\.bytes), of: JudgingQueue.storedName)
        judgings.noted = notes
    }

    /// The documents of a workspace that the last process left, to be judged at the end of the
    /// turn.
    ///
    /// - Returns: by document the first operation that was not reported.
    func takeUnjudged(of workspace: Workspace) throws(StorageError) -> [DocumentID: Int64] {
        judgings.noted = JudgingQueue.notes(
            from: try store.registry.value(JudgingQueue.storedName) ?? [])
        var first: [DocumentID: Int64] = [:]
        for note in judgings.noted where note.name.workspace == workspace.number {
            first[note.name.document] = note.first
            judgeLater(
                note.name.document, adding: [note.first], isAnew: true, in: workspace,
                from: .released(source: 0, isBackfill: false))
        }
        return first
    }

    private func sizeOfPrivate(_ name: JudgingQueue.Name) -> Int {
        core.workspaces[name.workspace]?.sealed.documents[name.document]?.membership.size ?? 0
    }

    /// Judges what came of one document before what this node writes there.
    func judgeNow(_ id: DocumentID, in workspace: Workspace) throws(StorageError) {
        try core.sink.settleVerdicts()
        try reloadPrivateWhereDue(id, in: workspace)
        // Not everything that arrived while the node was locked is opened yet.
        if !turn.session.lock.isFolding {
            while turn.session.folding != nil { try core.sink.foldArrived() }
        }
        let name = JudgingQueue.Name(workspace: workspace.number, document: id)
        guard let work = judgings.take(name) else { return }
        try place(work, in: id, of: workspace)
    }

    /// Whether part of a document waits longer than this turn. A small one is judged now.
    func awaitsJudging(
        _ id: DocumentID, in workspace: Workspace
    ) throws(StorageError) -> Bool {
        let name = JudgingQueue.Name(workspace: workspace.number, document: id)
        if sizeOfPrivate(name) <= Limits.judgedAtOnceMax { try judgeNow(id, in: workspace) }
        return judgings.contains(name)
    }

    private func place(
        _ work: JudgingQueue.Work, in id: DocumentID, of workspace: Workspace
    ) throws(StorageError) {
        try placePrivate(id, adding: work.arrivals, in: workspace, from: work.source)
        if work.isAnew { try rejudgePrivate(id, in: workspace, from: work.source) }
    }
}
