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
    /// When the next large one is judged at the earliest, on the monotonic clock: by how often its
    /// size can be divided by four, so that a giant keeps none waiting but others like it.
    var nextLarge: [Int: UInt64] = [:]
    /// What the store says that waits.
    var noted: [Note] = []

    /// What a process that ends leaves to the next one: rows were shown as if the rest was not there.
    struct Note: Hashable {
        let name: Name
        /// The first operation that was not judged, by arrival.
        let first: Int64
    }

    var isEmpty: Bool { work.isEmpty }

    func contains(_ name: Name) -> Bool { work[name] != nil }

    /// What waits now, in the order in which it came.
    var notes: [Note] {
        names.map { Note(name: $0, first: work[$0]?.arrivals.min() ?? .max) }
    }

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

    /// What is judged now: one after the other until it is as much as a turn judges.
    ///
    /// - Parameters:
    ///   - most: how much that is; the one with which it is reached is among them.
    ///   - size: how much a document has to be judged.
    mutating func takeDue(
        at now: UInt64, most: Int = Limits.judgedPerTurnMax, size: (Name) -> Int
    ) -> [(name: Name, work: Work)] {
        var taken: [(name: Name, work: Work)] = []
        var left = most
        var later: [Name] = []
        for name in names {
            let size = size(name)
            guard left > 0, due(size) <= now, let known = work.removeValue(forKey: name) else {
                later.append(name)
                continue
            }
            left -= max(size, 1)
            if size > Limits.judgedAtOnceMax {
                nextLarge[Self.rank(size)] = now &+ UInt64(size / Limits.judgedPerMillisecond)
            }
            taken.append((name, known))
        }
        names = later
        return taken
    }

    /// When the first of those that wait is judged.
    func nextDue(size: (Name) -> Int) -> UInt64? { names.map { due(size($0)) }.min() }

    private func due(_ size: Int) -> UInt64 {
        size > Limits.judgedAtOnceMax ? nextLarge[Self.rank(size)] ?? 0 : 0
    }

    static func rank(_ size: Int) -> Int { (Int.bitWidth - size.leadingZeroBitCount) / 2 }
}

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
        // While the keys are dropped nothing opens; what comes then is taken up after that.
        guard home != nil else { return }
        judgings.add(
            .init(workspace: workspace.number, document: id),
            .init(arrivals: arrivals, isAnew: isAnew, source: source))
    }

    /// Judges what came in this turn, and what waited for its time.
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
            // What one makes known may add to another.
        } while all && !judgings.isEmpty
        if let next = judgingDue, next <= time.monotonic { turn.hasMoreToDo = true }
        try noteWaiting()
    }

    /// Has the next process judge what this one leaves.
    private func noteWaiting() throws(StorageError) {
        let notes = judgings.notes
        guard notes != judgings.noted else { return }
        try write()
        try store.registry.setValue(
            notes.isEmpty ? nil : notes.flatMap(\.bytes), of: JudgingQueue.storedName)
        judgings.noted = notes
    }

    /// What the last process left of a workspace, which is judged at the end of the turn.
    ///
    /// - Returns: by document the first operation that nobody was told of.
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
        core.workspaces[name.workspace]?.sealed.documents[name.document]?.size ?? 0
    }

    /// Judges what came of one document before what this node writes there.
    func judgeNow(_ id: DocumentID, in workspace: Workspace) throws(StorageError) {
        try core.messages.settleVerdicts()
        try reloadPrivateWhereDue(id, in: workspace)
        // Of what came while the keys were dropped not all is opened yet.
        if !turn.session.lock.isFolding {
            while core.session.folding != nil { try core.session.foldArrived() }
        }
        let name = JudgingQueue.Name(workspace: workspace.number, document: id)
        guard let work = judgings.take(name) else { return }
        try place(work, in: id, of: workspace)
    }

    /// Whether something of a document waits longer than this turn. What is small is judged now.
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

extension JudgingQueue {
    static let storedName = "private.unjudged"

    fileprivate static func notes(from bytes: [UInt8]) -> [Note] {
        stride(from: 0, to: bytes.count, by: Note.byteCount).compactMap { start in
            Note(Array(bytes[start..<min(start + Note.byteCount, bytes.count)]))
        }
    }
}

extension JudgingQueue.Note {
    fileprivate static let byteCount = 8 + DocumentID.byteCount + 8

    fileprivate var bytes: [UInt8] {
        bigEndianBytes(of: UInt64(bitPattern: name.workspace)) + name.document.bytes
            + bigEndianBytes(of: UInt64(bitPattern: first))
    }

    fileprivate init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.byteCount,
            let document = DocumentID(untrusted: Array(bytes.dropFirst(8).dropLast(8)))
        else { return nil }
        func number(_ part: ArraySlice<UInt8>) -> Int64 {
            Int64(bitPattern: part.reduce(0) { $0 << 8 | UInt64($1) })
        }
        self.init(
            name: .init(workspace: number(bytes.prefix(8)), document: document),
            first: number(bytes.suffix(8)))
    }
}
