import CRDTStore
import WorkspaceModel

/// `check`: everything stored is computed again beside the loop, so that the node keeps serving.
struct Checking {
    let call: CallID
    let repairs: Bool
    /// Whether a job is under way.
    var isBegun = false
    /// How often the store was in the middle of something.
    var missed = 0

    /// A store that is in the middle of something this often in a row is too busy to be checked.
    static let missedMax = 20

    /// The report about a problem that a repair fixes.
    func done(_ word: String) -> String? { repairs ? word : nil }
}

extension Integrity {
    /// Registry values that are present while derived data does not reflect all that is stored.
    static let unsettledNames = [
        LockState.unfoldedName, Messages.reviewsName, JudgingQueue.storedName,
        BlobTable.unreadFiles,
    ]

    func check(repairs: Bool, _ scope: CallScope) throws(NodeError) -> CommandOutcome {
        guard checking == nil, !core.files.checks.isUnderWay else {
            throw NodeError(
                .busy, "a check is already running", hint: "wait until it finishes",
                reason: "check.busy")
        }
        checking = Checking(call: scope.call, repairs: repairs)
        return .later
    }

    /// Begins the check that waits, as soon as nothing is in the middle of being taken in.
    func continueChecking() throws(StorageError) {
        guard let check = checking, !check.isBegun, let home else { return }
        // While nothing may be written, pending work stays pending.
        let isAtRest =
            turn.session.folding == nil && core.messages.redactionReviews.isEmpty
            && core.privates.judgings.isEmpty && !core.channels.pendingAssertions.any
            && earlierFiles == .noted
        guard isAtRest || !mayWrite else {
            turn.hasMoreToDo = true
            return
        }
        checking?.isBegun = true
        // The rebuilt store for comparison knows no pending markers.
        try core.own.writeMarkers(all: true)
        try core.own.settleLate()
        turn.emit(
            .inspect(
                check.call, InspectionJob(home: home, time: time, isLateSettled: mayWrite)))
    }

    /// Takes what an inspection has found.
    func inspected(
        _ call: CallID, _ result: Result<StoreFindings, InspectionFailure>
    ) throws(StorageError) {
        guard let check = checking, check.call == call else { return }
        switch result {
        case .success(let findings) where findings.isUnsettled:
            checking?.isBegun = false
            checking?.missed += 1
            guard check.missed >= Checking.missedMax else { return turn.hasMoreToDo = true }
            checking = nil
            let failure = NodeError(
                .busy, "the node is too busy for a check", hint: "try again",
                reason: "check.unsettled")
            turn.emit(.answer(call, .failure(failure)))
        case .success(let findings):
            checking = nil
            let object = try report(findings, check)
            // Files come last: what was damaged in the store may name some of them.
            try core.files.checks.begin(object, for: call, repairs: check.repairs)
        case .failure(let failure):
            checking = nil
            turn.emit(.answer(call, .failure(try refusal(of: failure))))
        }
    }

    /// The error of a check that could not be made.
    ///
    /// - Throws: where the disk does not give back the store itself, which is everybody's matter.
    private func refusal(of failure: InspectionFailure) throws(StorageError) -> NodeError {
        switch failure {
        case .store(let error):
            if error.kind == .ioFailure { throw error }
            return NodeError(storage: error)
        case .beside(let error):
            guard error.kind == .ioFailure else { return NodeError(storage: error) }
            return NodeError(
                .storeFailed, "the disk failed on a file made for the check; nothing is lost",
                hint: "check the disk, and try again", reason: "check.io")
        }
    }

    private func report(
        _ findings: StoreFindings, _ check: Checking
    ) throws(StorageError) -> CheckObject {
        var object = CheckObject()
        object.operations = findings.operations
        object.rows = findings.derived.rows
        for text in findings.pages {
            object.add("store", "node.db", text, done: check.done("mended"))
        }
        if findings.lost > 0 {
            let s = findings.lost == 1 ? " is" : "s are"
            object.add(
                "store", "node.db", "\(findings.lost) operation\(s) missing",
                done: check.done("asked"))
        }
        try report(findings.damaged, check, &object)
        try countMissing(check, &object)
        try countUnopened(check, &object)
        for workspace in workspaces.values.sorted(by: { $0.number < $1.number }) {
            compareVerdicts(of: workspace, &object)
        }
        for difference in findings.derived.differences {
            object.add(
                "view", try name(of: difference), words(for: difference),
                done: check.done("mended"))
        }
        object.problemCount += findings.derived.count - Int64(findings.derived.differences.count)
        if check.repairs {
            if findings.needsRebuild { wantsRebuild = true }
            object.repaired =
                object.problemCount
                - Int64(object.problems.filter { $0.done == nil }.count)
        }
        if object.problemCount == 0, try StoreRebuild.last(in: store.registry) != nil, mayWrite {
            try write()
            try StoreRebuild.forget(in: store.registry)
        }
        return object
    }

    // MARK: Operations

    private func report(
        _ damaged: [StoreCheck.Problem], _ check: Checking, _ object: inout CheckObject
    ) throws(StorageError) {
        for problem in damaged {
            // It may have been mended meanwhile.
            let range = problem.arrival...problem.arrival
            guard try !StoreCheck.problems(in: store.operations, arrivals: range).isEmpty,
                let stored = try store.operations.operation(problem.arrival)
            else { continue }
            let isMisnamed = try isMisnamed(stored.place.branch)
            object.add(
                "operation", PublicID.operation(stored.place.link.id), problem.what,
                done: check.done(isMisnamed ? "mended" : "asked"))
            guard check.repairs else { continue }
            if isMisnamed {
                try core.log.pruning.remove(branch: stored.place.branch)
            } else {
                try askAgain(for: stored)
            }
        }
    }

    /// Whether a branch is stored under the name of another log, and is also there under the right
    /// one: the disk has changed the name, and a peer has sent all of it again. An operation's hash
    /// covers its log's name, so two logs cannot otherwise share one.
    private func isMisnamed(_ number: Int64) throws(StorageError) -> Bool {
        guard let branch = store.operations.branch(number),
            let document = store.operations.document(numbered: branch.document)
        else { return false }
        let all = store.operations.branches(in: document.id, of: document.workspace)
        guard !all.contains(where: { $0.parent == number }) else { return false }
        func isWhole(_ number: Int64) throws(StorageError) -> Bool {
            guard let place = try store.operations.place(in: number, at: branch.tipSequence),
                place.link.id == branch.tip.id
            else { return false }
            let range = place.arrival...place.arrival
            return try StoreCheck.problems(in: store.operations, arrivals: range).isEmpty
        }
        guard try !isWhole(number) else { return false }
        for other in all where other.log != branch.log {
            if try isWhole(other.number) { return true }
        }
        return false
    }

    /// Sets a damaged operation aside, to be written over by what a peer sends.
    private func askAgain(for stored: StoredOperation) throws(StorageError) {
        guard case .id? = try StoreCheck.damage(of: stored, in: store.operations) else {
            return core.log.noteDamage(at: stored.place.sequence, of: stored.place.branch)
        }
        _ = try intact(stored)
    }

    /// Counts texts that are not here, though they count and nobody has deleted them, and has them
    /// asked for again.
    ///
    /// None of these payloads is missing by a fault of this store: a payload is erased by a
    /// deletion, which may have lost its effect since, or with its branch, when everybody has
    /// erased it; and a member may never have given it to anybody. A loss on the disk shows in the
    /// hash.
    private func countMissing(
        _ check: Checking, _ object: inout CheckObject
    ) throws(StorageError) {
        var last: Int64 = 0
        while true {
            let missing = try store.operations.missingPayloads(after: last, limit: 256)
            guard let newest = missing.last else { return }
            last = newest
            for arrival in missing {
                guard let stored = try store.operations.operation(arrival, hasPayload: false),
                    let row = store.operations.document(numbered: stored.document),
                    let workspace = core.workspaces[row.workspace],
                    workspace.book.channels[row.id] != nil
                        || workspace.sealed.documents[row.id]?.root != nil,
                    // The person who deleted it may have been removed, and have no right to either
                    // any more.
                    try core.privates.visibility(of: stored, in: workspace) == .shown
                else { continue }
                object.missing += 1
                guard check.repairs else { continue }
                for link in network.ordered { link.payloads.askedPayloads.remove(arrival) }
                core.messages.asksForPayloads = true
                turn.hasMoreToDo = true
            }
        }
    }

    /// Judges the authority document once more, from nothing and in one pass.
    private func compareVerdicts(of workspace: Workspace, _ object: inout CheckObject) {
        guard let fresh = workspace.judged.judgedAnew(workspace.authorityOrder) else {
            return object.add(
                "authority", PublicID.workspace(workspace.id), "it cannot be evaluated again")
        }
        for id in workspace.authorityOrder {
            if !fresh.contains(id) {
                object.add("authority", PublicID.operation(id), "it is not evaluated")
            } else if fresh.isValid(id) != workspace.judged.isValid(id) {
                object.add("authority", PublicID.operation(id), "its verdict differs")
            }
        }
    }

    // MARK: What is derived

    private func name(of difference: StoreComparison.Difference) throws(StorageError) -> String {
        if case .integer(let arrival)? = difference.key["arr"],
            let stored = try store.operations.operation(arrival, hasPayload: false)
        {
            return PublicID.operation(stored.place.link.id)
        }
        return "node.db"
    }

    private func words(for difference: StoreComparison.Difference) -> String {
        switch difference.table {
        case "message" where difference.stored == nil: "a message is missing from its channel"
        case "message" where difference.built == nil: "something that is not a message is shown"
        case "message": "a message differs from what was written"
        case "following", "following_past", "subscription":
            "the list of who follows a channel differs"
        case "annotation", "annotation_past": "an annotation of a message differs"
        case "redaction", "redacted": "the list of what was deleted differs"
        case "self_register", "setting", "setting_past", "read_frontier", "late":
            "a read marker or a setting differs"
        default: "the list of operations that count differs"
        }
    }
}
