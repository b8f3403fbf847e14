import CRDTStore
import WorkspaceModel

/// Hands messages to the search index, after the COMMIT that stored them.
///
/// The index takes operations in the order of arrival, a slice per turn, and reports its position;
/// so it catches up by itself after a start, a crash or a loss of its file. Later changes of older
/// messages go through `reindex`.
extension Queries {
    // MARK: Opening and closing

    /// Opens the index that fits the home now; any other is removed.
    func startSearch() throws(StorageError) {
        guard home != nil, let store = storeIdentity?.store else { return stopSearch() }
        let todo = SearchTodo(stored: try self.store.registry.value(Self.todoName))
        if turn.session.lock.sealed == nil {
            openSearch(.file(store), todo)
        } else {
            // An index in memory is new each time.
            openSearch(.memory, SearchTodo())
        }
    }

    private func openSearch(_ place: SearchPlace, _ todo: SearchTodo) {
        search.generation += 1
        search.standing = .opening
        search.handed = []
        search.live = []
        search.prepared = [:]
        search.unsettled = todo
        search.again = todo.again
        search.erased = todo.erased
        search.notesAgain = []
        let arrival = store.operations.arrival
        search.first = 1
        // How much a file knows is not known yet.
        search.through = .max
        search.reached = arrival
        if place == .memory {
            let oldest =
                arrival >> Limits.searchMemoryPartBits - Int64(Limits.searchMemoryPartsMax - 1)
            search.first = max(1, oldest << Limits.searchMemoryPartBits)
            search.through = search.first - 1
            search.reached = search.through
        }
        if todo.isAll { order(.close) }
        order(.open(place, arrival: arrival))
    }

    /// Drops the index and removes its file. Waiting callers are told that the node is locked.
    func stopSearch() {
        // A start without keys does not know what the last one left.
        guard search.standing != .off || turn.session.lock.sealed != nil else { return }
        search.generation += 1
        search.standing = .off
        search.prepared = [:]
        order(.close)
        let failure = Result<JSONValue, NodeError>.failure(.locked(turn.session.lock.phase))
        for call in orderedSearches { turn.emit(.answer(call, failure)) }
        search.calls = [:]
    }

    private func order(_ work: SearchJob.Work) {
        if case .write(let batch) = work { search.handed.append(batch.byteCount) }
        turn.emit(.search(SearchJob(generation: search.generation, work: work)))
    }

    /// The calls that wait, in the order of asking.
    var orderedSearches: [CallID] {
        search.calls.keys.sorted { ($0.connection, $0.number) < ($1.connection, $1.number) }
    }

    func forgetSearches(of connection: UInt64) {
        search.calls = search.calls.filter { $0.key.connection != connection }
    }

    /// Handles the outcome of a job.
    func searched(_ outcome: SearchOutcome) throws(StorageError) {
        guard outcome.generation == search.generation else { return }
        switch outcome.result {
        case .opened(let through):
            search.standing = .open
            search.through = max(through, search.first - 1)
            if let from = search.unsettled.from { search.through = min(search.through, from - 1) }
            if search.unsettled.isAll {
                search.unsettled.isAll = false
                search.isTodoStored = false
            }
            for call in orderedSearches { try askFresh(call) }
        case .wrote:
            if !search.handed.isEmpty { search.handed.removeFirst() }
            settleSearch()
        case .found(let call, let candidates): try found(candidates, for: call)
        case .closed: break
        case .failed(let reason):
            search.standing = .broken
            search.handed = []
            turn.emit(.log(.warning, "search.failed reason=\(reason)"))
            for call in orderedSearches { try finishSearch(call, isCut: true) }
        }
    }

    // MARK: Feeding

    /// Hands the index what it does not have yet, unless it has enough to write.
    func feedSearch() throws(StorageError) {
        try followNotes()
        try storeSearchTodo()
        guard search.standing == .open, home != nil, search.hasRoom else { return }
        let came = store.operations.arrival - search.arrivalBefore
        search.arrivalBefore = store.operations.arrival
        // Not while there is much to take in: a first sync comes first, unless somebody searches or
        // words have to be removed. Messages of a conversation are collected too: a search is
        // answered at once anyway, and otherwise no single message needs to wake the index.
        if came > Limits.searchBulkMin {
            search.quietAfter = time.monotonic &+ Limits.searchQuietMilliseconds
        } else if came > 0, search.through >= store.operations.arrival - came {
            search.quietAfter = max(
                search.quietAfter, time.monotonic &+ Limits.searchGatherMilliseconds)
        }
        if !search.notesAgain.isEmpty, search.notesDue <= time.monotonic { takeNotesAgain() }
        let mayWait = search.calls.isEmpty && search.again.isEmpty && search.erased.isEmpty
        guard !mayWait || time.monotonic >= search.quietAfter else {
            return try prepareRows(cameNow: came)
        }
        try handToSearch()
        askAwaited()
    }

    /// Makes the rows of what came in this turn, which is open and at hand, for the batch that it
    /// waits for.
    private func prepareRows(cameNow count: Int64) throws(StorageError) {
        guard (1...Limits.searchBulkMin).contains(count),
            search.prepared.count < Int(Limits.searchedPerTurnMax)
        else { return }
        let newest = store.operations.arrival
        for arrival in (newest - count + 1)...newest where arrival > search.through {
            let row = try searchRow(arrival)
            // People write on in a note, as soon as they have made it.
            if row?.isNote != true { search.prepared.updateValue(row, forKey: arrival) }
        }
    }

    /// The row of what the index comes to now.
    private func nextRow(
        _ arrival: Int64, _ ahead: inout OperationsAhead
    ) throws(StorageError) -> SearchRow? {
        if let known = search.prepared.removeValue(forKey: arrival) { return known }
        guard let stored = try ahead.operation(arrival, from: store.operations) else { return nil }
        let previous = search.lastRead.previous(of: stored.place)
        search.lastRead.note(stored.place)
        return try searchRow(of: stored, after: previous)
    }

    /// One batch: what has to be looked at again, what should not wait, and the next slice.
    func handToSearch() throws(StorageError) {
        let newest = store.operations.arrival
        if !search.calls.isEmpty { takeNotesAgain() }
        guard
            search.through < newest || !search.again.isEmpty || !search.live.isEmpty
                || !search.erased.isEmpty
        else { return }
        var batch = SearchBatch(through: search.through)
        let isSettling = !search.again.isEmpty || !search.erased.isEmpty
        try lookAgain(&batch)
        let end = min(newest, search.through + Limits.searchedPerTurnMax)
        for position in search.live where position.arrival > end {
            if let row = try searchRow(position.arrival) {
                batch.rows.append(row)
                search.reached = max(search.reached, position.arrival)
            }
        }
        search.live = []
        var ahead = OperationsAhead(through: end)
        var noteCount = batch.noteCount
        while batch.through < end, noteCount < Limits.searchedNotesPerTurnMax {
            batch.through += 1
            if var row = try nextRow(batch.through, &ahead) {
                row.isAgain = batch.through <= search.reached
                if row.isNote { noteCount += 1 }
                batch.rows.append(row)
            }
        }
        search.through = batch.through
        search.reached = max(search.reached, batch.through)
        batch.isFinal =
            isSettling || (search.unsettled.from != nil && batch.through == newest)
        batch.isUrgent = batch.isFinal
        order(.write(batch))
        // The next one is opened while the index writes this one.
        if !search.again.isEmpty || batch.through < newest { turn.hasMoreToDo = true }
    }

    /// A slice of the messages that have changed, with all documents that are gone.
    private func lookAgain(_ batch: inout SearchBatch) throws(StorageError) {
        var (count, noteCount) = (0, 0)
        for position in search.again.prefix(Int(Limits.searchedPerTurnMax)) {
            guard noteCount < Limits.searchedNotesPerTurnMax else { break }
            count += 1
            if var row = try searchRow(position.arrival) {
                row.isAgain = true
                if row.isNote { noteCount += 1 }
                batch.rows.append(row)
            } else {
                batch.forgotten.append(position)
            }
        }
        search.again.removeFirst(count)
        batch.forgottenDocuments = search.erased
        search.erased = []
    }

    /// The index row for an operation; `nil` for one that is neither a readable message nor a
    /// readable note.
    private func searchRow(_ arrival: Int64) throws(StorageError) -> SearchRow? {
        guard let stored = try store.operations.operation(arrival) else { return nil }
        return try searchRow(of: stored)
    }

    /// - Parameter previous: the id of the operation before it in its log, where that is known.
    private func searchRow(
        of stored: StoredOperation, after previous: OperationID? = nil
    ) throws(StorageError) -> SearchRow? {
        let arrival = stored.place.arrival
        guard stored.entry.kind == OperationKind.content.rawValue,
            let document = store.operations.document(numbered: stored.document),
            document.kind.holds(.messages),
            let workspace = core.workspaces[document.workspace], workspace.standing == .member,
            stored.entry.absent == nil, try store.view.redactions.deletion(of: arrival) == nil
        else { return nil }
        let content = try core.keys.content(of: stored, after: previous, in: workspace)
        if case .note(.creation)? = content { return try noteRow(of: stored, in: workspace) }
        guard case .message(let message)? = content else { return nil }
        let key = stored.messageKey
        var text = message.text
        if let edit = try core.membership.edit(
            of: key, in: stored.document, grant: stored.grantNumber, workspace),
            case .edit(let newer, _, _)? = try change(edit, in: workspace)
        {
            text = newer
        }
        var row = SearchRow(
            position: SearchPosition(
                written: stored.entry.timestamp, sort: stored.place.sort, arrival: arrival),
            text: text, document: stored.document, grant: stored.grantNumber,
            workspace: workspace.number)
        row.files = message.fileNames
        return row
    }

    // MARK: What changes later

    /// To be called in the transaction in which what is shown of a message changes, or goes: the
    /// index looks at it again, and leaves no trace of what can no longer be read.
    func reindex(_ row: ViewStore.MessageRow) {
        reindex(
            SearchPosition(
                written: row.key.timestamp, sort: row.position.sort,
                arrival: row.position.arrival))
    }

    /// Like `reindex` of its row in the view; of an edit, of what it says and said.
    func reindex(_ stored: StoredOperation) throws(StorageError) {
        if try reindex(editAt: stored.place.arrival, in: stored.document) { return }
        try reindexNote(of: stored)
        reindex(
            SearchPosition(
                written: stored.entry.timestamp, sort: stored.place.sort,
                arrival: stored.place.arrival))
    }

    /// Like `reindex`, for an edit that goes or comes back. Its words stand where its message does,
    /// which the index may have come to although it has not come to the edit.
    ///
    /// - Returns: whether it is one, of a message that is known.
    private func reindex(
        editAt arrival: Int64, in document: Int64
    ) throws(StorageError) -> Bool {
        guard search.standing != .off, let said = try store.view.annotation(arrival: arrival),
            said.register.kind == .edit,
            let (row, _) = try store.view.anyMessage(said.register.target, in: document)
        else { return false }
        reindex(row)
        if row.position.arrival <= search.reached {
            // No row has this number: recording it makes the index drop its former words.
            note(SearchPosition(time: 0, arrival: arrival))
        }
        return true
    }

    func reindex(_ position: SearchPosition) {
        guard search.standing != .off else { return }
        search.prepared = [:]
        // An operation that the index has not reached yet is indexed as it is by then.
        guard position.arrival <= search.reached else { return }
        note(position)
    }

    private func note(_ position: SearchPosition) {
        search.prepared = [:]
        guard noteUnsettled(position) else { return }
        search.again.append(position)
    }

    /// Notes that the index has something to look at again, also after a crash.
    ///
    /// - Returns: `false` if the index is rebuilt as a whole.
    func noteUnsettled(_ position: SearchPosition) -> Bool {
        search.isTodoStored = false
        guard search.unsettled.again.count < SearchTodo.countMax else {
            reindexAll()
            return false
        }
        search.unsettled.again.append(position)
        return true
    }

    /// Like `reindex`, for messages and edits that are about to be removed from the view.
    func reindex(
        _ positions: [ViewStore.Position], of document: Int64
    ) throws(StorageError) {
        guard search.standing != .off else { return }
        search.prepared = [:]
        for position in positions {
            guard let row = try store.view.stored(at: position, in: document)?.row else {
                if try !reindex(editAt: position.arrival, in: document),
                    let stored = try store.operations.operation(
                        position.arrival, hasPayload: false)
                {
                    try reindexNote(of: stored)
                }
                continue
            }
            reindex(row)
        }
    }

    /// Like `reindex`, for all of a document that was erased.
    func reindex(erasedDocument number: Int64) {
        search.prepared = [:]
        guard search.standing != .off, !search.unsettled.erased.contains(number) else { return }
        search.erased.append(number)
        search.unsettled.erased.append(number)
        search.isTodoStored = false
    }

    /// For a message that was just folded. One that the index has passed, because its key arrived
    /// later, is indexed again; one that was written now does not wait for a backlog before it.
    func indexShown(_ row: ViewStore.MessageRow, isBackfill: Bool) {
        guard search.isUsed else { return }
        // What was made when it came says nothing of it where its key came later.
        search.prepared.removeValue(forKey: row.position.arrival)
        let position = SearchPosition(
            written: row.key.timestamp, sort: row.position.sort, arrival: row.position.arrival)
        guard position.arrival <= search.through else {
            if !isBackfill, search.live.count < Int(Limits.searchedPerTurnMax) {
                search.live.append(position)
            }
            return
        }
        guard search.unsettled.again.count >= SearchTodo.countMax, search.standing == .open else {
            return reindex(position)
        }
        // A whole history has become readable: all of it is taken once more from here on.
        search.through = min(search.through, position.arrival - 1)
        search.unsettled.from = min(search.unsettled.from ?? .max, position.arrival)
        search.isTodoStored = false
    }

    /// There is more to drop than is worth a list, so the index is rebuilt.
    private func reindexAll() {
        var todo = SearchTodo()
        todo.isAll = true
        guard turn.session.lock.sealed == nil, let store = storeIdentity?.store else {
            return openSearch(.memory, todo)
        }
        openSearch(.file(store), todo)
        search.isTodoStored = false
    }

    /// Whether the index has all there is.
    var isSearchComplete: Bool {
        search.standing == .open && search.through >= store.operations.arrival
            && search.first <= 1 && turn.session.folding == nil
    }

    // MARK: Across a crash

    static let todoName = "search.todo"

    /// The index has everything that it was told to look at again, but for what waits here.
    private func settleSearch() {
        guard search.handed.isEmpty, !search.unsettled.isEmpty else { return }
        var rest = SearchTodo()
        rest.again = search.again + search.notesAgain.sorted()
        rest.erased = search.erased
        if search.through < store.operations.arrival { rest.from = search.unsettled.from }
        guard rest != search.unsettled else { return }
        search.unsettled = rest
        search.isTodoStored = false
    }

    /// Writes what is left to do, where a transaction is open anyway.
    private func storeSearchTodo() throws(StorageError) {
        guard !search.isTodoStored, store.connection.isInTransaction else { return }
        let bytes = search.unsettled.bytes
        try store.registry.setValue(bytes.isEmpty ? nil : bytes, of: Self.todoName)
        search.isTodoStored = true
    }
}
