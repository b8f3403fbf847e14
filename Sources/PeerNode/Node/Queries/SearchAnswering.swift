import CRDTStore
import WorkspaceModel

/// Verifies the candidates from the index, and answers the caller.
extension Queries {
    /// First hands the index what has arrived meanwhile, and then queries it, so that what was
    /// written before the call is found. While a large backlog is being indexed it queries at once,
    /// and the answer says so.
    func askFresh(_ call: CallID) throws(StorageError) {
        let newest = store.operations.arrival
        try handToSearch()
        let missing = newest - search.through
        guard (1...Limits.searchAwaitedMax).contains(missing) else {
            search.calls[call]?.isBehind = missing > 0
            // Somebody searches: what is missing does not wait for a quieter moment.
            if missing > 0 { search.quietAfter = time.monotonic }
            return ask(call)
        }
        search.calls[call]?.awaited = newest
    }

    /// Asks for those that waited until the index was handed what there was.
    func askAwaited() {
        for call in orderedSearches {
            guard let awaited = search.calls[call]?.awaited,
                awaited <= search.through
            else {
                continue
            }
            ask(call)
        }
    }

    func ask(_ call: CallID) {
        guard let waiting = search.calls[call] else { return }
        search.calls[call]?.turns += 1
        search.calls[call]?.awaited = nil
        // Mostly all that is proposed fits: a page and a few more are looked for first, in as few
        // tables as have them.
        let isFirst = waiting.turns == 0 && waiting.ranking == nil
        let wanted = waiting.limit - waiting.hits.count + Limits.searchSpareCandidates
        let question = SearchQuestion(
            expression: waiting.expression, since: waiting.times.lowerBound,
            until: waiting.times.upperBound, before: waiting.before,
            limit: min(isFirst ? wanted : .max, Limits.searchCandidatesPerTurn))
        turn.emit(
            .search(
                SearchJob(generation: search.generation, work: .find(call, question))))
    }

    /// Looks at what the index proposes, as much as one turn has room for, and answers, or asks for
    /// more.
    func found(_ candidates: SearchCandidates, for call: CallID) throws(StorageError) {
        // Meanwhile out of the table: with two holders, each hit would copy all those before it.
        guard var waiting = search.calls.removeValue(forKey: call) else { return }
        let looked = try look(at: candidates.positions, &waiting)
        search.calls[call] = waiting
        guard looked.hasRoom else { return try finishSearch(call, isCut: true) }
        if looked.isAll, candidates.isEnd { return try finishSearch(call, isCut: false) }
        if waiting.turns >= Limits.searchTurnsMax {
            search.calls[call]?.last = waiting.before
            return try finishSearch(call, isCut: true)
        }
        ask(call)
    }

    /// Takes what is found among candidates.
    ///
    /// - Returns: whether the page has room for more, and whether this turn had for all of them;
    ///   the remaining candidates are proposed again.
    private func look(
        at candidates: [SearchPosition], _ waiting: inout SearchCall
    ) throws(StorageError) -> (hasRoom: Bool, isAll: Bool) {
        guard let workspace = core.workspaces[waiting.workspace] else { return (false, false) }
        var room = Limits.searchBytesPerTurn
        for position in candidates {
            guard room > 0 else { return (true, false) }
            if let hit = try hit(position, waiting, in: workspace, &room),
                !waiting.take(hit, at: position)
            {
                return (false, false)
            }
            waiting.before = position
        }
        return (true, true)
    }

    /// The message at a position, if it matches and the caller may see it.
    ///
    /// - Parameter room: bytes of text; less by what was opened.
    private func hit(
        _ position: SearchPosition, _ call: SearchCall, in workspace: Workspace, _ room: inout Int
    ) throws(StorageError) -> SearchHit? {
        guard let stored = try store.operations.operation(position.arrival),
            let channel = channel(stored.document, in: workspace),
            call.channels?.contains(channel.publicID) ?? true,
            call.times.contains(position.time)
        else { return nil }
        guard
            let row = try store.view.message(
                arrival: position.arrival, sort: stored.place.sort, document: stored.document)
        else { return try noteHit(stored, at: position, call, in: workspace, &room) }
        let own = SearchPosition(
            written: row.key.timestamp, sort: row.position.sort, arrival: position.arrival)
        guard call.wantsMessages, own == position,
            call.author == nil
                || core.membership.author(ofGrant: row.grant, in: workspace) == call.author,
            let message = try object(of: row, stored, in: workspace), let text = message.text
        else { return nil }
        let files = message.attachments.map(\.name)
        let whole = SearchRow.indexed(text, files)
        room -= whole.utf8.count
        guard !call.hasLink || SearchRow.hasLink(text), !call.hasFile || !files.isEmpty,
            let found = call.query.matches(in: SearchText(whole))
        else { return nil }
        return SearchHit(
            .message(message), matches: Self.matches(found, behind: text.unicodeScalars.count))
    }

    /// Matches in a text, and in the names of files after it, one per line.
    private static func matches(_ found: [Range<Int>], behind count: Int) -> [SearchHit.Match] {
        found.map { place in
            guard place.lowerBound > count else { return SearchHit.Match("text", place) }
            let start = place.lowerBound - count - 1
            return SearchHit.Match("attachments", start..<start + place.count)
        }
    }

    /// Answers with what was found.
    ///
    /// - Parameter isCut: whether there may be more.
    func finishSearch(_ call: CallID, isCut: Bool) throws(StorageError) {
        guard var waiting = search.calls.removeValue(forKey: call) else { return }
        if let ranking = waiting.ranking, let workspace = core.workspaces[waiting.workspace] {
            waiting.ranking = nil
            // No more than a page.
            var room = Int.max
            let best = ranking.best().dropFirst(waiting.skipped)
            var given = waiting.skipped
            for position in best {
                if let hit = try hit(position, waiting, in: workspace, &room),
                    !waiting.take(hit, at: position)
                {
                    break
                }
                given += 1
            }
            let isMore = given - waiting.skipped < best.count
            return answer(
                call, waiting, next: isMore ? SearchCursor.best(given).text : nil)
        }
        answer(
            call, waiting,
            next: isCut ? waiting.last.map { SearchCursor.messages(before: $0).text } : nil)
    }

    private func answer(_ call: CallID, _ asked: SearchCall, next: String?) {
        let page = SearchPage(
            asked.hits, next: next, isComplete: isSearchComplete && !asked.isBehind)
        turn.emit(.answer(call, .success(page.json)))
    }
}
