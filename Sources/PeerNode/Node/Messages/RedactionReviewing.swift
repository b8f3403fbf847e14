import CRDTStore
import WorkspaceModel

/// Which redactions are judged again, and when: where a change of authority affects the grants that
/// they cite, in slices, one per turn.
extension Messages {
    // MARK: Asking for a review

    /// Judges the targets of a redaction that has just arrived. If there are very many, only the
    /// redaction is recorded: a byte from a peer must not become many bytes here.
    func review(
        _ targets: [OperationReference], because naming: ViewStore.Naming, in document: Int64,
        _ source: OperationSource
    ) {
        guard !targets.isEmpty else { return }
        noteReview(in: document, source)
        guard redactionReviews[document]?.arrived[naming.grant] == nil else { return }
        guard queuedRedactions + targets.count <= redactionQueueMax else {
            redactionReviews[document]?.postpone(naming.grant, behind: naming.by - 1)
            return
        }
        let before = redactionReviews[document]?.count ?? 0
        for target in targets { redactionReviews[document]?.add(target, because: naming.by) }
        queuedRedactions += (redactionReviews[document]?.count ?? 0) - before
    }

    /// Has judged an operation that came after something that names it.
    func review(
        _ late: OperationReference, in document: Int64, _ source: OperationSource
    ) throws(StorageError) {
        noteReview(in: document, source)
        guard queuedRedactions >= redactionQueueMax else {
            redactionReviews[document]?.add(late, because: nil)
            queuedRedactions += 1
            return
        }
        for first in try store.view.redactions.firstNamings(of: late.id, in: document) {
            redactionReviews[document]?.postpone(first.grant, behind: first.by - 1)
        }
    }

    /// Has judged, when its turn comes, what an undo is about.
    func review(undo naming: ViewStore.Naming, in document: Int64, _ source: OperationSource) {
        noteReview(in: document, source)
        redactionReviews[document]?.postpone(naming.grant, behind: naming.by - 1)
    }

    private func noteReview(in document: Int64, _ source: OperationSource) {
        if redactionReviews[document] == nil { redactionReviews[document] = RedactionReview() }
        if !source.isBackfill { redactionReviews[document]?.isBackfill = false }
    }

    /// How much may wait in memory, of all documents together.
    private var redactionQueueMax: Int { 8 * redactionBudget }

    /// Schedules all redactions of a document to be judged again.
    func reviewRedactions(inDocument number: Int64) throws(StorageError) {
        guard redactedDocuments.contains(number) else { return }
        for grant in try store.view.redactions.grantsOfRedactions(in: number) {
            redactionReviews[number, default: RedactionReview()].walk(grant)
        }
        redactionReviews[number, default: RedactionReview()].walkDeleted()
    }

    /// Schedules the redactions of a document that cite one of these grants: they may have lost or
    /// gained their effect.
    func reviewRedactions(
        inDocument number: Int64, citing grants: Set<Int64>
    ) throws(StorageError) {
        guard redactedDocuments.contains(number) else { return }
        for grant in grants.sorted()
        where try !store.view.redactions.redactions(in: number, citing: grant, after: 0, limit: 1)
            .isEmpty
        {
            redactionReviews[number, default: RedactionReview()].walk(grant)
        }
    }

    /// Schedules all redactions of a workspace: more of it can be opened than before.
    func reviewRedactions(of workspace: Workspace) throws(StorageError) {
        for number in redactedDocuments.sorted()
        where store.operations.document(numbered: number)?.workspace == workspace.number {
            try reviewRedactions(inDocument: number)
        }
    }

    /// Schedules what the owner and the admins of a channel deleted, if these are different people
    /// than before.
    func reviewRedactions(
        of channel: Workspace.Channel?, since before: ChannelRuling?
    ) throws(StorageError) {
        guard let channel, let ruling = channel.ruling, ruling.lastLink != before?.lastLink
        else { return }
        try reviewRedactions(inDocument: channel.number)
    }

    /// A right that ended reaches up to a cut. What precedes it counts as soon as the cut's
    /// operation is here.
    func reviewRedactions(
        after appended: [OperationStore.Appended], of log: LogName, branch: Int64,
        in workspace: Workspace
    ) throws(StorageError) {
        guard let document = store.operations.document(log.document, in: workspace.number),
            document.kind.holdsPublicMessages, redactedDocuments.contains(document.number)
        else { return }
        let places = Set(appended.map(\.operation.header.sequence))
        if let named = workspace.book.cuts[log], !named.isDisjoint(with: places) {
            return try reviewRedactions(inDocument: document.number)
        }
        var grants: Set<Int64> = []
        for number in Set(store.operations.spans(of: branch).map(\.grant)).sorted() {
            guard let grant = store.operations.grant(number) else { continue }
            for limit in deletionLimits(of: grant, in: log, workspace) {
                guard case .cuts(let groups) = limit,
                    groups.joined().contains(where: { places.contains($0.sequence) })
                else { continue }
                grants.insert(number)
            }
        }
        guard !grants.isEmpty else { return }
        try reviewRedactions(inDocument: document.number, citing: grants)
    }

    // MARK: Slices

    private static let readingCost = 16

    /// Takes from a review what this turn has to judge.
    func slice(
        of review: inout RedactionReview, in document: OperationStore.DocumentRow,
        _ workspace: Workspace, _ pass: RedactionPass, _ budget: inout Int
    ) throws(StorageError) -> [(OperationReference, RedactionReview.Cause)] {
        var slice = RedactionReview()
        var room = budget
        // New targets go before those that are only checked again, in the order of arrival.
        for (target, cause) in review.takeFirst(&room) {
            for redaction in cause ?? [] { slice.add(target, because: redaction) }
            if cause == nil { slice.add(target, because: nil) }
        }
        try takeArrived(of: &review, into: &slice, in: document, workspace, pass, &room)
        for grant in review.grants.keys.sorted() {
            while room > 0, let start = review.grants[grant] {
                let next = try store.view.redactions.redactions(
                    in: document.number, citing: grant, after: start, limit: 1)
                review.goOn(grant, behind: next.first)
                guard let arrival = next.first else { break }
                // Reading one costs something too, where many name the same.
                room -= Self.readingCost
                let before = slice.targets.count
                for target in try named(by: arrival, in: document)
                where review.takesOnWalk(target) {
                    slice.add(target, because: nil)
                }
                room -= slice.targets.count - before
            }
        }
        if let start = review.deleted, room > 0 {
            let found = try store.view.redactions.deleted(
                in: document.number, after: start, limit: room)
            review.goOn(behindDeleted: found.count < room ? nil : found.last)
            room -= found.count
            for arrival in found {
                guard let stored = try store.operations.operation(arrival, hasPayload: false) else {
                    continue
                }
                slice.add(stored.reference, because: nil)
            }
        }
        budget = max(0, room)
        return slice.targets.sorted { $0.key.id < $1.key.id }.map { ($0.key, $0.value) }
    }

    /// Reads redactions and undos of which only the place was recorded, of each grant in turn, so
    /// that nobody waits behind everything that somebody else has written.
    private func takeArrived(
        of review: inout RedactionReview, into slice: inout RedactionReview,
        in document: OperationStore.DocumentRow, _ workspace: Workspace, _ pass: RedactionPass,
        _ room: inout Int
    ) throws(StorageError) {
        while room > 0, !review.arrived.isEmpty {
            for grant in review.arrived.keys.sorted() where room > 0 {
                guard let start = review.arrived[grant] else { continue }
                let next = try store.view.redactions.redactions(
                    in: document.number, citing: grant, after: start, limit: 1)
                review.arrived[grant] = next.first
                guard let arrival = next.first else { continue }
                room -= 1
                switch try store.operations.operation(arrival)?.redaction {
                case .erase(let targets, _)?:
                    for target in targets { slice.add(target, because: arrival) }
                    room -= targets.count
                case .undo(let reference)?:
                    guard let undone = try redaction(reference, in: document),
                        try hasSay(arrival, about: undone.place.arrival, in: workspace, pass)
                    else { continue }
                    let targets = undone.redaction?.targets ?? []
                    for target in targets { slice.add(target, because: nil) }
                    room -= targets.count
                case nil: break
                }
            }
        }
    }

    /// The targets of a redaction, also by way of another one that it undoes.
    private func named(
        by arrival: Int64, in document: OperationStore.DocumentRow
    ) throws(StorageError) -> [OperationReference] {
        switch try store.operations.operation(arrival)?.redaction {
        case .erase(let targets, _)?: return targets
        case .undo(let reference)?:
            return try redaction(reference, in: document)?.redaction?.targets ?? []
        case nil: return []
        }
    }

    private func redaction(
        _ reference: OperationReference, in document: OperationStore.DocumentRow
    ) throws(StorageError) -> StoredOperation? {
        try store.operations.find(reference, in: document.id, of: document.workspace)
            .flatMap { (place) throws(StorageError) in
                try store.operations.operation(place.arrival)
            }
    }

    // MARK: Across a crash

    static let reviewsName = "redactions.todo"

    /// Writes which documents are not done, in the transaction that says what was.
    func storeReviews() throws(StorageError) {
        let left = redactionReviews.keys.sorted()
        guard left != storedReviews else { return }
        try write()
        let bytes = left.flatMap { bigEndianBytes(of: UInt64(bitPattern: $0)) }
        try store.registry.setValue(bytes.isEmpty ? nil : bytes, of: Self.reviewsName)
        storedReviews = left
    }

    /// Takes up what was not done when the store was closed.
    func loadReviews() throws(StorageError) {
        let bytes = try store.registry.value(Self.reviewsName) ?? []
        storedReviews = stride(from: 0, to: bytes.count - bytes.count % 8, by: 8).map { start in
            Int64(bitPattern: bytes[start..<start + 8].reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
        }
        for number in storedReviews { try reviewRedactions(inDocument: number) }
    }
}
