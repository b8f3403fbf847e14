public import WorkspaceModel

/// One side of the sync protocol, after which two peers hold the same operations of a workspace.
///
/// The session reads no socket, no clock and no disk. Its owner passes it one `Input` at a time,
/// with the time and the current replica, and carries out all `Effect`s in order before the next
/// input.
///
///     idle ──opened──▶ open ──violation or closed──▶ closed
///                       │
///     roots unequal: descent ──tips──▶ claims ──pull──▶ ops ──ingest──▶ stored
///
/// - Source: PROTOCOL.md, 5.4.
public struct SyncSession: Sendable {
    /// The constants of a session.
    public struct Configuration: Sendable {
        /// The number under which this side opens the workspace.
        public var workspace: WorkspaceNumber
        /// The workspace's tag on this link.
        public var tag: WorkspaceTag
        /// This device.
        public var ownDevice: DeviceID
        /// The device at the other end.
        public var peerDevice: DeviceID
        /// The session's number in the planner.
        public var source: PullPlanner.SourceID
        /// Logs of the authority document that the peer may claim at a time.
        public var authorityClaimsMax: Int

        /// A configuration with the given values.
        public init(
            workspace: WorkspaceNumber, tag: WorkspaceTag, ownDevice: DeviceID,
            peerDevice: DeviceID, source: PullPlanner.SourceID,
            authorityClaimsMax: Int = Limits.authorityTipsMax
        ) {
            self.workspace = workspace
            self.tag = tag
            self.ownDevice = ownDevice
            self.peerDevice = peerDevice
            self.source = source
            self.authorityClaimsMax = authorityClaimsMax
        }
    }

    /// What this side grants the peer.
    public enum Standing: Sendable, Equatable {
        /// A valid grant: everything is pulled and served.
        case full
        /// No valid grant is known (yet): the authority document is pulled, nothing is served.
        case authorityOnly
        /// A peer that joins by an invite: the authority document is served, nothing is pulled.
        case joining
        /// A valid removal is known: the peer is told so, and may fetch only the authority document
        /// up to it.
        case removed
    }

    /// The state in which both sides' roots were last equal.
    public struct Agreement: Sendable, Hashable {
        /// The common root.
        public var root: SetDigest
        /// This side's arrival number at that time.
        public var arrival: UInt64

        /// The agreement on `root` at `arrival`.
        public init(root: SetDigest, arrival: UInt64) {
            self.root = root
            self.arrival = arrival
        }
    }

    /// Inputs of a session.
    public enum Input: Sendable {
        /// The link is up. `agreed` is the last `remember` for this peer's store.
        case opened(Standing, agreed: Agreement?)
        /// A message about this workspace arrived.
        case received(SyncMessage)
        /// Part of a message arrived: the peer is slow, but alive.
        case receiving
        /// This device wrote `run`, whose last operation is `tip`.
        case appended(OperationRun, tip: LogTip)
        /// Operations are stored, after COMMIT: the new tips. Every session of the workspace gets
        /// it; the one whose `ingest` it answers also gets the request's number, even without tips,
        /// and the logs whose operations now wait for what they cite.
        case stored([LogTip], waiting: [LogName], answering: RequestNumber?)
        /// Waiting operations need these logs: what was given up of them is pulled again.
        case needed([LogName])
        /// Operations from the peer wait for what they cite: so the peer has that. Passed before
        /// the `stored` of the same turn.
        case cited([Citing])
        /// Another session freed logs.
        case replan
        /// A device reports that it reaches the peer directly, or no longer does.
        case reached(by: DeviceID, Bool)
        /// The peer holds these tips, as another message said (`join_result`).
        case announced([LogTip])
        /// This side's standing of the peer has changed.
        case standingChanged(Standing)
        /// The bytes waiting in the link's send queue; passed whenever they shrank.
        case sendQueueLevel(unasked: Int, asked: Int)
        /// The time of the last `setDeadline` has come.
        case deadline
        /// The link is gone.
        case closed
    }

    /// Operations that wait for what they cite.
    public struct Citing: Sendable {
        /// Their log.
        public var log: LogName
        /// What their first operation cites and this device lacks.
        public var tips: [LogTip]
        /// Whether they wait in memory, and not at the peer.
        public var isKept: Bool

        /// The operations of `log` that wait for `tips`.
        public init(_ log: LogName, for tips: [LogTip], isKept: Bool) {
            self.log = log
            self.tips = tips
            self.isKept = isKept
        }
    }

    /// Outputs of a session, which the owner must carry out.
    public enum Effect: Sendable, Equatable {
        /// Encode and send. `isUnasked` counts against `Limits.unaskedUnsentBytesMax`.
        case send(SyncMessage, MessageClass, isUnasked: Bool)
        /// Check and store, then answer with `stored`. Request 0 is a live push.
        case ingest([OperationRun], answering: RequestNumber)
        /// Store together with the operations it covers; replaces the agreement remembered for this
        /// peer.
        case remember(Agreement)
        /// The peer announced that it holds these, which are receipts.
        case peerHolds([LogTip])
        /// Everything that the peer knows of this device's own operations is here: as far as this
        /// peer is concerned, this device may write.
        case ownOperationsConfirmed
        /// Both sides hold the same within a guest's scope. Not remembered: in another scope it
        /// would be wrong.
        case agreedInScope
        /// The peer does not serve this workspace.
        case refused(WorkspaceRefusal)
        /// For the first time everything that the peer announced is here.
        case caughtUp
        /// The peer does not confirm this device's operations: it is not reached for now.
        case reachLost
        /// Give `replan` to the other sessions of the workspace.
        case replanOthers
        /// Pass `deadline` at this time, in milliseconds, replacing any earlier deadline.
        case setDeadline(UInt64?)
        /// Close the link: the peer broke the rules.
        case close(SyncViolation)
    }

    enum Phase: Sendable { case idle, open, closed }

    /// What is still to come of the peer's side of a comparison.
    enum Descent: Sendable, Equatable {
        case none
        /// The peer's digest; it determines how many final `tips` follow.
        case digest
        /// This many final `tips`.
        case tips(Int)
        case finished
    }

    /// What the peer has reported of this device's own operations.
    struct OwnHistory: Sendable {
        /// The peer has compared: its announcements since then include those that may be missing
        /// here.
        var isAnswered = false
        var wasTold = false
    }

    let configuration: Configuration
    var ownHistory = OwnHistory()
    var phase = Phase.idle
    var standing = Standing.removed
    var agreed: Agreement?
    /// Whether the roots were equal on this link: then everything older is on both sides.
    var agreedOnThisLink = false
    /// The peer said that it serves nothing (yet).
    var peerRefuses = false

    /// The documents that each side has named in its openings.
    var naming = Naming()
    /// The scope of the link; `nil` is everything.
    public internal(set) var scope: SyncScope?
    /// The budgets of what the peer may still make this side do.
    var allowances = Allowances()
    var comparison = Comparison()

    /// How far the logs go that a removed peer has sent.
    var shownByFormer: [LogName: UInt64] = [:]

    var claims: ClaimTable
    /// Outstanding and past pulls.
    var pulls = Pulls()
    /// The peer's waiting pulls, and its queue.
    var serving = Serving()
    /// What is announced to the peer.
    var telling = Telling()
    var reach = Reach()
    /// Operations that were announced to the peer and not confirmed.
    public internal(set) var ahead: UInt64 = 0

    var now: UInt64 = 0
    private var deadline: UInt64?
    var effects: [Effect] = []

    /// A session that has not sent anything yet.
    public init(_ configuration: Configuration) {
        self.configuration = configuration
        claims = ClaimTable(mostOfAuthority: configuration.authorityClaimsMax)
    }

    /// Operations that the peer announced and this device lacks, as far as known.
    public var behind: UInt64 { claims.behind }
    /// Whether the peer owes an answer to a pull.
    public var isAsking: Bool { !pulls.outstanding.isEmpty }
    /// Whether both sides have announced on this link what they hold: before that, `behind` and
    /// `ahead` mean nothing.
    public private(set) var knowsDistance = false

    /// Handles one input and returns the effects.
    ///
    /// - Parameters:
    ///   - now: milliseconds of a clock that never goes back.
    ///   - replica: the workspace as it is stored.
    ///   - planner: shared by all sessions of the workspace.
    public mutating func handle(
        _ input: Input, at now: UInt64, replica: some Replica, planner: inout PullPlanner
    ) -> [Effect] {
        self.now = max(self.now, now)
        effects.removeAll(keepingCapacity: true)
        switch (phase, input) {
        case (.idle, .opened(let standing, let agreed)):
            self.agreed = agreed
            open(as: standing, replica: replica)
        case (.open, _):
            do {
                try handleOpen(input, replica: replica, planner: &planner)
            } catch {
                end(planner: &planner)
                effects.append(.close(error))
            }
        case (.closed, _):  // what was already under way when it ended
            return []
        case (.idle, .closed):
            phase = .closed
        case (.idle, _):  // an operation may be stored before the link is open
            return []
        }
        updateDeadline()
        defer { effects = [] }
        return effects
    }

    private mutating func handleOpen(
        _ input: Input, replica: some Replica, planner: inout PullPlanner
    ) throws(SyncViolation) {
        // First, so that operations a guest writes into a new document find it named.
        let replica = lookAtScope(replica, planner: &planner)
        reopenWhenDue(replica: replica)
        try apply(input, replica: replica, planner: &planner)
        guard phase == .open else { return }
        let seen = lookAtScope(replica, planner: &planner)
        plan(replica: seen, planner: &planner)
        if comparison.descent == .finished { knowsDistance = true }
        noteConfirmations()
        tellWhenOwnIsKnown()
        tellWhenCaughtUp()
    }

    private mutating func apply(
        _ input: Input, replica: some Replica, planner: inout PullPlanner
    ) throws(SyncViolation) {
        let replica = replica.confined(to: scope)
        switch input {
        case .received(let message):
            try receive(message, replica: replica, planner: &planner)
        case .receiving:
            for index in pulls.outstanding.indices {
                pulls.outstanding[index].extend(from: now, planner: planner)
            }
        case .appended(let run, let tip): append(run, tip: tip, replica: replica)
        case .stored(let tips, let waiting, let request):
            stored(tips, waiting: waiting, answering: request, replica, &planner)
        case .needed(let logs):
            for log in logs where claims[log]?.state == .ignored { requeue(log) }
        case .cited(let waiting):
            for citing in waiting { want(citing, replica: replica) }
        case .replan:
            for log in claims.takeElsewhere() { requeue(log) }
        case .reached(let author, let isReached): setReached(by: author, isReached)
        case .announced(let tips): claim(tips, replica: replica)
        case .standingChanged(let standing):
            guard standing != self.standing else { break }
            if standing != .full {
                giveBack(planner: &planner)
                // A peer that lost its grant does not learn of newer operations.
                telling.gathered = []
                telling.gatherDeadline = nil
                telling.outgoing = [:]
                telling.theirs = [:]
                ahead = 0
            }
            let hasJoined = self.standing == .authorityOnly && standing == .full
            open(as: standing, replica: replica)
            // What arrived while joining was not acknowledged then.
            if hasJoined {
                for tip in replica.tips(of: replica.authorityDocument) { gather(tip.log) }
            }
        case .sendQueueLevel(let unasked, let asked):
            serving.unaskedUnsent = unasked
            serving.askedUnsent = asked
            serveWaiting(replica: replica)
            announceWhenDue(replica: replica)
        case .deadline:
            // The owner's timer has fired, so it is set again even for the same time.
            deadline = nil
            try deadlinePassed(replica: replica, planner: &planner)
        case .closed: return end(planner: &planner)
        case .opened: preconditionFailure("driver bug: a session is opened once")
        }
    }

    private mutating func receive(
        _ message: SyncMessage, replica: some Replica, planner: inout PullPlanner
    ) throws(SyncViolation) {
        if standing == .removed {
            return try receiveFromFormer(message, replica: replica, planner: &planner)
        }
        switch message {
        case .workspaceOpen(let opening): try opened(by: opening, replica: replica)
        case .workspaceResult(_, let refusal): try refused(refusal, replica: replica)
        case .workspaceDigest(_, let buckets):
            ownHistory.isAnswered = true
            try answerDigest(buckets, replica: replica)
        case .documentDigests(_, let buckets):
            try answerDocumentDigests(buckets, replica: replica)
        case .tips(_, let tips, let final):
            // The announcing peer has our opening, and lists our own logs before anything else.
            ownHistory.isAnswered = true
            claim(tips, replica: replica)
            if final { finalTipsCame() }
        case .pull(_, let pull): try serve(pull, replica: replica)
        case .operations(_, let request, let runs, let isComplete):
            try receive(runs, request, isComplete: isComplete, replica, &planner)
        case .forkProbe(_, let tip): probed(tip.log)
        case .joinHello, .joinRequest, .joinResult, .linkOffer, .linkRequest, .linkResult, .ping,
            .peers, .error, .keyWant, .keyHave, .payloadWant, .payloadHave, .presence,
            .typing, .reading, .book, .reach, .note, .receipt, .receiptResult, .proofAsk,
            .proofAnswer, .accountAsk, .accountAnswer:
            break  // the link's and the join's, not the session's
        }
    }

    private mutating func deadlinePassed(
        replica: some Replica, planner: inout PullPlanner
    ) throws(SyncViolation) {
        try expirePulls(replica: replica, planner: &planner)
        takeOverWhenDue()
        announceWhenDue(replica: replica)
        compareWhenDue(replica: replica, planner: &planner)
        noteLateness()
    }

    /// Ends the session; its logs are free for others.
    private mutating func end(planner: inout PullPlanner) {
        phase = .closed
        giveBack(planner: &planner)
        planner.forget(configuration.source)
        telling.gathered = []
        telling.outgoing = [:]
        telling.theirs = [:]
        shownByFormer = [:]
        serving.waitingPulls = []
    }

    private mutating func updateDeadline() {
        var next: UInt64?
        if phase == .open {
            func take(_ other: UInt64?) { next = min(next ?? .max, other ?? .max) }
            take(telling.gatherDeadline)
            take(comparisonDeadline)
            take(reopeningDeadline)
            take(pulls.takeoverDeadline)
            take(reachDeadline)
            for pull in pulls.outstanding { take(pull.deadline) }
            if next == .max { next = nil }
        }
        guard next != deadline else { return }
        deadline = next
        effects.append(.setDeadline(next))
    }

    private mutating func tellWhenOwnIsKnown() {
        guard standing == .full, ownHistory.isAnswered, !ownHistory.wasTold,
            !claims.hasActive(of: configuration.ownDevice)
        else { return }
        ownHistory.wasTold = true
        effects.append(.ownOperationsConfirmed)
    }

    private mutating func tellWhenCaughtUp() {
        guard phase == .open, !comparison.caughtUpWasTold, !naming.reopens,
            comparison.descent == .finished,
            claims.activeCount == 0
        else { return }
        comparison.caughtUpWasTold = true
        effects.append(.caughtUp)
    }

    mutating func send(
        _ message: SyncMessage, _ messageClass: MessageClass, isUnasked: Bool = false
    ) {
        effects.append(.send(message, messageClass, isUnasked: isUnasked))
    }
}
