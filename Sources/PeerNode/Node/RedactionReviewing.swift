import CRDTStore
import WorkspaceModel

/// What of a document's redactions has to be judged anew.
struct RedactionReview {
    /// The redactions that came, because of which alone a verdict can be another one than before;
    /// `nil` for any reason.
    typealias Cause = Set<Int64>?

    /// Operations that a redaction names, or that came after it.
    var targets: [OperationReference: Cause] = [:]
    /// What redactions under these grants name, by the grant's number: those that came behind
    /// this arrival number.
    var grants: [Int64: Int64] = [:]
    /// Everything that is deleted, behind this arrival number: a redaction may be stored no more.
    var deleted: Int64?
    /// Whether all of it came by a first sync.
    var isBackfill = true

    var isDone: Bool { targets.isEmpty && grants.isEmpty && deleted == nil }

    mutating func add(_ target: OperationReference, because redaction: Int64?) {
        guard let redaction else { return targets[target] = .some(nil) }
        switch targets[target] {
        case nil: targets[target] = .some([redaction])
        case .some(nil): break
        case .some(let known?): targets[target] = .some(known.union([redaction]))
        }
    }
}

/// Which redactions are judged anew, and when: where a change of authority reaches the grants that
/// they cite, a slice a turn.
extension NodeCore {
    // MARK: Asking for a review

    func review(
        _ targets: [OperationReference], because redaction: Int64?, in document: Int64,
        _ source: OperationSource
    ) {
        guard !targets.isEmpty else { return }
        for target in targets {
            redactionReviews[document, default: RedactionReview()].add(
                target, because: redaction)
        }
        if !source.isBackfill { redactionReviews[document]?.isBackfill = false }
    }

    /// Has all redactions of a document judged anew.
    func reviewRedactions(inDocument number: Int64) throws(StorageError) {
        guard redactedDocuments.contains(number) else { return }
        for grant in try store.view.grantsOfRedactions(in: number) {
            redactionReviews[number, default: RedactionReview()].grants[grant] = 0
        }
        redactionReviews[number, default: RedactionReview()].deleted = 0
    }

    /// Has the redactions of a document that cite one of these grants judged anew: they may have
    /// lost or got their effect.
    func reviewRedactions(
        inDocument number: Int64, citing grants: Set<Int64>
    ) throws(StorageError) {
        guard redactedDocuments.contains(number) else { return }
        for grant in grants.sorted()
        where try !store.view.redactions(in: number, citing: grant, after: 0, limit: 1).isEmpty {
            redactionReviews[number, default: RedactionReview()].grants[grant] = 0
        }
    }

    /// Has all redactions of a workspace judged anew: more of it can be opened than before.
    func reviewRedactions(of workspace: Workspace) throws(StorageError) {
        for number in redactedDocuments.sorted()
        where store.operations.document(numbered: number)?.workspace == workspace.number {
            try reviewRedactions(inDocument: number)
        }
    }

    /// Has judged anew what the owner and the admins of a channel deleted, where they are others
    /// than before.
    func reviewRedactions(
        of channel: Workspace.Channel?, since before: Workspace.Channel?
    ) throws(StorageError) {
        guard let channel, let ruling = channel.ruling,
            ruling.owner != before?.ruling?.owner || ruling.admins != before?.ruling?.admins
                || ruling.chain != before?.ruling?.chain
        else { return }
        try reviewRedactions(inDocument: channel.number)
    }

    /// A right that ended reaches up to a cut. What lies before it counts as soon as the cut's
    /// place is here.
    func reviewRedactions(
        after appended: [OperationStore.Appended], of log: LogName, branch: Int64,
        in workspace: Workspace
    ) throws(StorageError) {
        guard let document = store.operations.document(log.document, in: workspace.number),
            document.kind == .channel, redactedDocuments.contains(document.number)
        else { return }
        let places = Set(appended.map(\.operation.header.sequence))
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

    /// Takes what is to be judged in this turn out of a review.
    func slice(
        of review: inout RedactionReview, in document: OperationStore.DocumentRow,
        _ budget: inout Int
    ) throws(StorageError) -> [(OperationReference, RedactionReview.Cause)] {
        var slice: [OperationReference: RedactionReview.Cause] = [:]
        // What came now goes before what is only looked at again.
        for (target, cause) in review.targets.sorted(by: { $0.key.id < $1.key.id }).prefix(budget) {
            slice[target] = .some(cause)
            review.targets[target] = nil
        }
        var room = budget - slice.count
        for grant in review.grants.keys.sorted() {
            while room > 0, let start = review.grants[grant] {
                let next = try store.view.redactions(
                    in: document.number, citing: grant, after: start, limit: 1)
                review.grants[grant] = next.first
                guard let arrival = next.first else { break }
                // Reading one costs something too, where many name the same.
                room -= Self.readingCost
                for target in try named(by: arrival, in: document)
                where slice.updateValue(nil, forKey: target) == nil {
                    room -= 1
                }
            }
        }
        if let start = review.deleted, room > 0 {
            let found = try store.view.deleted(
                in: document.number, after: start, limit: room)
            review.deleted = found.count < room ? nil : found.last
            room -= found.count
            for arrival in found {
                guard let stored = try store.operations.operation(arrival, hasPayload: false) else {
                    continue
                }
                slice.updateValue(nil, forKey: stored.reference)
            }
        }
        budget = max(0, room)
        return slice.sorted { $0.key.id < $1.key.id }.map { ($0.key, $0.value) }
    }

    /// What a redaction is about, also by way of another one that it undoes.
    private func named(
        by arrival: Int64, in document: OperationStore.DocumentRow
    ) throws(StorageError) -> [OperationReference] {
        switch try store.operations.operation(arrival)?.redaction {
        case .erase(let targets, _)?: return targets
        case .undo(let redaction)?:
            guard
                let place = try store.operations.find(
                    redaction, in: document.id, of: document.workspace)
            else { return [] }
            return try store.operations.operation(place.arrival)?.redaction?.targets ?? []
        case nil: return []
        }
    }

    // MARK: Across a crash

    private static let reviewsName = "redactions.todo"

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
