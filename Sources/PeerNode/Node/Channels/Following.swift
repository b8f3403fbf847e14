import CRDTStore
import WorkspaceModel

/// What an operation says about following a channel.
struct MembershipAssertion {
    let isJoined: Bool
    let author: MemberID
    /// The people it names; the author where it names nobody.
    let members: Set<MemberID>
    let document: Int64
    let timestamp: HybridTimestamp
    let id: OperationID
    let arrival: Int64
    /// What it overwrites, where it names one.
    let cited: [OperationID]
    let isValid: Bool

    init(
        _ action: ContentPayload.MembershipAction, _ members: [MemberID], by author: MemberID,
        in operation: AssertionSource, isValid: Bool
    ) {
        isJoined = action.isJoined
        self.author = author
        self.members = members.isEmpty ? [author] : Set(members)
        document = operation.document
        timestamp = operation.timestamp
        id = operation.id
        arrival = operation.arrival
        // An assertion about several people is written for those without an earlier one.
        cited = self.members.count == 1 ? operation.cited : []
        self.isValid = isValid
    }
}

/// Assertions about following that are read later than they arrived, or again.
struct PendingAssertions {
    /// Whether there are any.
    var any = false
    /// How many people may still be taken over in this turn. An assertion is read whole, so that it
    /// may fall below zero.
    var room = Limits.followersHeardPerTurnMax
}

/// Who follows a channel: for each member the assertion that counts (PROTOCOL.md, 4.1). An
/// operation that a valid redaction names is treated as if it had never arrived; so a newcomer, who
/// never gets a deleted payload, and a node that has read it agree, in whatever order assertions,
/// redactions and verdicts arrive.
///
/// One assertion may name thousands of people, and there may be thousands of assertions. So each is
/// processed for as many people as a turn has room for, and the rest is left to the next turn.
/// Names of people who are not admitted are stored in one row per assertion, until they are.
extension Channels {
    /// Folds an assertion that arrived and reports it; later, where there are very many.
    func hear(
        _ assertion: MembershipAssertion, in workspace: Workspace, from source: OperationSource
    ) throws(StorageError) {
        let telling: ViewStore.PendingAssertion.Telling = source.isBackfill ? .backfill : .news
        guard pendingAssertions.room > 0 else { return try enqueue(assertion.arrival, telling) }
        try fold(assertion, in: workspace, telling)
    }

    /// To be called when these operations got their effect or lost it. Opens nothing, so it is done
    /// while the keys are dropped too.
    func judgeFollowing(
        _ arrivals: [Int64], isValid: Bool, _ workspace: Workspace
    ) throws(StorageError) {
        guard try store.view.following.setValid(isValid, assertionsAt: arrivals) else { return }
        workspace.own.readMarks.lateLimits = [:]
    }

    /// Forgets what an operation says about following. Opens nothing either.
    func silence(_ arrival: Int64, _ workspace: Workspace) throws(StorageError) {
        try store.view.following.forgetUnheard(arrival)
        guard try store.view.following.forgetAssertion(arrival) else { return }
        workspace.own.readMarks.lateLimits = [:]
    }

    /// Schedules the assertions that name people whom a run of operations has admitted: the notes
    /// of all such assertions are searched once for all of them.
    func enqueueAssertions(
        onNewcomersTo workspace: Workspace, from source: OperationSource
    ) throws(StorageError) {
        let newcomers = workspace.judged.unheardNewcomers
        guard !newcomers.isEmpty else { return }
        workspace.judged.unheardNewcomers = []
        for arrival in try store.view.following.unheard(of: newcomers) {
            try enqueue(arrival, source.isBackfill ? .backfill : .news)
        }
    }

    /// Schedules an assertion to be read as soon as there is room, and the keys are available.
    func enqueue(
        _ arrival: Int64, _ telling: ViewStore.PendingAssertion.Telling
    ) throws(StorageError) {
        try write()
        try store.view.following.enqueue(.init(arrival: arrival, telling: telling))
        pendingAssertions.any = true
    }

    func loadPendingAssertions() throws(StorageError) {
        pendingAssertions.any = try !store.view.following.pendingAssertions(limit: 1).isEmpty
    }

    /// Reads of what is pending as much as this turn has room for.
    func foldPending() throws(StorageError) {
        guard pendingAssertions.any, home != nil, mayWrite || turn.isBuilding else { return }
        while pendingAssertions.room > 0 {
            let assertions = try store.view.following.pendingAssertions(limit: 64)
            guard !assertions.isEmpty else {
                pendingAssertions.any = false
                return
            }
            try write()
            for assertion in assertions where pendingAssertions.room > 0 { try hear(assertion) }
        }
        turn.hasMoreToDo = true
    }

    /// Folds an assertion about following, unless it is deleted. One that cannot be opened yet
    /// comes again with its key.
    private func hear(_ pending: ViewStore.PendingAssertion) throws(StorageError) {
        guard let stored = try store.operations.operation(pending.arrival),
            let document = store.operations.document(numbered: stored.document),
            document.kind.holds(.subscriptions),
            let workspace = core.workspaces[document.workspace],
            stored.entry.kind == OperationKind.content.rawValue, stored.entry.absent == nil,
            try !core.sink.isDeleted(pending.arrival),
            case .membership(let action, let members)? = try core.keys.content(
                of: stored, in: workspace),
            let author = workspace.judged.subject(ofGrant: stored.entry.grant)
        else {
            pendingAssertions.room -= 1
            return try store.view.following.forgetUnheard(pending.arrival)
        }
        let assertion = MembershipAssertion(
            action, members, by: author, in: AssertionSource(stored),
            isValid: store.operations.isValid(stored.place.sequence, in: stored.place.branch))
        try fold(assertion, in: workspace, pending.telling)
    }

    /// Folds an assertion, for each of the people it names once, and reports what it changes.
    private func fold(
        _ assertion: MembershipAssertion, in workspace: Workspace,
        _ telling: ViewStore.PendingAssertion.Telling
    ) throws(StorageError) {
        workspace.own.readMarks.lateLimits = [:]
        var unknown: [MemberID] = []
        for member in assertion.members.sorted() {
            guard workspace.judged.isAdmitted(member) else {
                unknown.append(member)
                continue
            }
            let isChanged = try store.view.following.fold(
                assertion.about(member), citing: assertion.cited, isValid: assertion.isValid)
            if isChanged, telling != .nothing {
                try tell(assertion, of: member, isBackfill: telling == .backfill, workspace)
            }
        }
        pendingAssertions.room -= 1 + assertion.members.count - unknown.count + unknown.count / 64
        try store.view.following.noteUnheard(unknown, in: assertion.arrival)
    }

    /// Tells that somebody follows a channel now, or does not.
    private func tell(
        _ assertion: MembershipAssertion, of member: MemberID, isBackfill: Bool,
        _ workspace: Workspace
    ) throws(StorageError) {
        let id = store.operations.document(numbered: assertion.document)?.id
        let isJoined = try store.view.following.isFollowing(member, assertion.document)
        // Everybody is in the default channel, whatever is said.
        if !isJoined, id.flatMap({ workspace.book.channels[$0] })?.isDefault == true { return }
        guard let id, workspace.book.deleted[id] == nil else { return }
        try turn.record(
            isJoined ? .channelMemberAdded : .channelMemberRemoved, workspace: workspace.number,
            document: assertion.document, arrival: assertion.arrival, extra: member.bytes,
            isBackfill: isBackfill)
    }
}

extension MembershipAssertion {
    /// The part of it about one of the people it names.
    fileprivate func about(_ member: MemberID) -> ViewStore.FollowingAssertion {
        ViewStore.FollowingAssertion(
            .init(document: document, member: member), id: id, at: timestamp, arrival: arrival,
            isJoined: isJoined, isOwn: member == author)
    }
}

extension ContentPayload.MembershipAction {
    /// Whether whom it names follows the channel from then on.
    var isJoined: Bool { self == .join || self == .add }
}
