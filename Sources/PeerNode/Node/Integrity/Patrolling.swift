import CRDTStore
import WorkspaceCrypto
import WorkspaceModel

/// The progress of the patrol through the store.
struct Patrol {
    /// When the next slice is due, on the monotonic clock.
    var due: UInt64
    /// The rest of the current round.
    var round: StorePatrol?
    /// When that, or the last one, began.
    var begun: UInt64 = 0
    /// Rows that are not what their operations give, since the start.
    private(set) var findings: Set<StorePatrol.Finding> = []

    init(startedAt start: UInt64) { due = start &+ Limits.patrolStartMilliseconds }

    /// - Returns: whether these are the first.
    mutating func note(_ found: [StorePatrol.Finding]) -> Bool {
        let areFirst = findings.isEmpty && !found.isEmpty
        for finding in found where findings.count < Limits.patrolFindingsMax {
            findings.insert(finding)
        }
        return areFirst
    }
}

/// Looks for bit rot when idle: whether operations match their signatures, and derived data matches
/// the operations. Findings are reported and repaired by `check --repair`; damaged operations are
/// requested from peers automatically.
extension Integrity {
    private static let busyMilliseconds: UInt64 = 1_000

    /// When the next slice is due. Nothing is where nothing could be said about it.
    var patrolDue: UInt64? { home != nil && mayWrite && !turn.isBuilding ? patrol.due : nil }

    /// Looks at a slice when it is time, unless something is in the middle of being taken in.
    func patrolWhenDue() throws(StorageError) {
        guard let due = patrolDue, due <= time.monotonic else { return }
        guard isSettled else { return patrol.due = time.monotonic &+ Self.busyMilliseconds }
        patrol.due = time.monotonic &+ Limits.patrolMilliseconds
        if patrol.round == nil {
            let span = UInt64(max(store.operations.arrival, 1))
            let start = environment.random.number(below: span)
            patrol.round = StorePatrol(from: Int64(clamping: start))
            patrol.begun = time.monotonic
        }
        guard var round = patrol.round else { return }
        let limit = Limits.patrolledPerTurnMax
        var found = try round.findings(in: store, limit: limit)
        let pass = RedactionPass()
        for arrival in try round.operations(in: store, limit: limit) {
            found += try findings(about: arrival, pass)
        }
        patrol.round = round.isDone ? nil : round
        if round.isDone {
            patrol.due = max(
                patrol.due, patrol.begun &+ Limits.patrolRoundMilliseconds)
        }
        guard patrol.note(found) else { return }
        turn.emit(
            .log(.error, "store.rot table=\(found[0].table) arrival=\(found[0].arrival)"))
        try core.warn([
            "kind": .string(WarningKind.storeRot.rawValue), "message": .string(rotSentence),
        ])
    }

    /// Whether all that is derived follows from what is stored by now.
    private var isSettled: Bool {
        turn.session.folding == nil && core.log.released.isEmpty && core.messages.unsettled.isEmpty
            && core.privates.wholeFolds.isEmpty && core.profiles.due.isEmpty
            && core.messages.redactionReviews.isEmpty && core.privates.judgings.isEmpty
            && !core.channels.pendingAssertions.any && checking == nil
            && core.log.appended.isEmpty && core.messages.lateAssertions.isEmpty
    }

    // MARK: What an operation should have given

    private func findings(
        about arrival: Int64, _ pass: RedactionPass
    ) throws(StorageError) -> [StorePatrol.Finding] {
        guard let found = try store.operations.operation(arrival),
            let stored = try intact(found),
            let row = store.operations.document(numbered: stored.document),
            let workspace = core.workspaces[row.workspace], row.kind.mayHoldContent
        else { return [] }
        if let redaction = stored.redaction {
            return try isNoted(redaction, stored, in: workspace, pass)
                ? [] : [.init(table: "redacted", arrival: arrival)]
        }
        guard row.kind.mayHold(.messages),
            let content = try core.keys.content(of: stored, in: workspace),
            workspace.sealed.documents[row.id].map({ !workspace.isOwn($0) }) ?? true,
            !workspace.isLedger(row.id)
        else { return [] }
        switch content {
        case .message(let message):
            return try isPlaced(message, stored, in: workspace)
                ? [] : [.init(table: "message", arrival: arrival)]
        case .annotation(let annotation):
            return try isNoted(annotation, stored, in: workspace)
                ? [] : [.init(table: "annotation", arrival: arrival)]
        case .membership, .profile, .profileField, .device, .own, .note, .ledger, .attestation:
            return []
        }
    }

    private func isPlaced(
        _ message: ContentPayload.Message, _ stored: StoredOperation, in workspace: Workspace
    ) throws(StorageError) -> Bool {
        let expected = try core.messages.sealed.row(of: message, stored, in: workspace)
        let known = try store.view.stored(at: expected.position, in: stored.document)
        let visibility = try core.privates.visibility(of: stored, in: workspace)
        return known?.row == expected && known?.visibility == visibility
    }

    /// An operation that does not count may have left no row.
    private func isNoted(
        _ annotation: MessageAnnotation, _ stored: StoredOperation, in workspace: Workspace
    ) throws(StorageError) -> Bool {
        let counts = try core.messages.doesCount(annotation: stored, in: workspace)
        let expected = core.messages.row(of: annotation, AssertionSource(stored), in: workspace)
        guard let known = try store.view.annotation(arrival: stored.place.arrival) else {
            return expected == nil || !counts
        }
        let isShown = try store.view.isValid(annotationAt: stored.place.arrival)
        return known == expected && isShown == counts
    }

    /// Whether it is written down what a redaction names, and what it deletes.
    private func isNoted(
        _ redaction: RedactPayload, _ stored: StoredOperation, in workspace: Workspace,
        _ pass: RedactionPass
    ) throws(StorageError) -> Bool {
        guard case .erase(let targets, _) = redaction else { return true }
        for target in targets {
            let isNamed = try store.view.redactions.isNamed(
                target.id, in: stored.document, by: stored.place.arrival)
            guard isNamed else { return false }
            let place = try store.operations.find(
                target, in: stored.log.document, of: workspace.number)
            guard let place,
                let named = try store.operations.operation(place.arrival, hasPayload: false)
            else { continue }
            let before = try store.view.redactions.deletion(of: place.arrival)
            // The former winner is weighed alone: very many may name the same.
            switch try core.messages.ruling(
                on: named, before, because: [stored.place.arrival], in: workspace, pass)
            {
            case .deleted(let by, _) where by.place.arrival != before?.by: return false
            case .stands where before != nil: return false
            case .deleted, .stands, .open: break
            }
        }
        return true
    }

    // MARK: Telling

    private var rotSentence: String {
        let count = patrol.findings.count
        return count == 1
            ? "a row of the store is damaged; what you see may be wrong"
            : "\(count) rows of the store are damaged; what you see may be wrong"
    }

    private static let rotHint = "wsx-node check --repair"

    /// The warnings for `status` and the home screen.
    var rotWarnings: [StatusObject.Warning] {
        guard !patrol.findings.isEmpty else { return [] }
        return [.init(kind: .storeRot, message: rotSentence, hint: Self.rotHint)]
    }

    /// The findings for `doctor`.
    var rotFindings: [FindingObject] {
        guard !patrol.findings.isEmpty else { return [] }
        return [.init(id: "rot", state: "fail", message: rotSentence, hint: Self.rotHint)]
    }
}
