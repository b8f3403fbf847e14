import CRDTStore
import WorkspaceCrypto
import WorkspaceModel

/// The node without the world: one deterministic state machine.
///
/// It takes inputs, writes to the store inside the turn's transaction, and returns effects that
/// the loop carries out after COMMIT. It has no thread, no lock, no clock and no randomness of
/// its own. Fields change only after the writes of an input have succeeded; a failed write throws
/// `StorageError`, upon which `NodeHost` makes a new core from the store.
final class NodeCore {
    let environment: NodeEnvironment
    let store: NodeStore
    /// What is known where the disk does not give the store back.
    let unreadable: UnreadableStore?
    /// The clocks of the current turn.
    var time: TurnTime
    let startedAt: UInt64
    /// `nil` until `identity.create` or the first `up`.
    var home: HomeIdentity? { didSet { vault.use(home) } }
    /// The epoch keys, as far as they are in memory.
    let vault: KeyVault
    /// Who may do what in the private documents that were asked about last.
    let privateShelf: PrivateShelf
    /// Whether people are answered, and what opens the node.
    var lock = LockState()
    /// Operations that were stored unopened and wait to be folded, by arrival number.
    var folding: (first: Int64, last: Int64)?
    var storeIdentity: StoreIdentity?
    var clock = HybridClock()
    /// By short number.
    var workspaces: [Int64: Workspace] = [:]
    var waiting = WaitingRoom()
    /// Runs that what they waited for has released, to be accepted next.
    var released: [WaitingRoom.Guest] = []
    /// Branches with damage for which peers were asked since the start.
    var askedFor: Set<Int64> = []
    /// Logs with more branches than may stay.
    var overgrown: Set<WorkspaceLog> = []
    var wholeFolds = WholeFolds()
    /// What changes of authority in this turn mean for content.
    var unsettled = UnsettledVerdicts()
    /// What this turn may still take of what peers bring.
    var ingestBudget = IngestBudget()
    /// How many branches are too many of logs that were crowded already, until all that was waited
    /// for is taken.
    var crowdedAt: [WorkspaceLog: Int] = [:]
    var subscriptions = SubscriptionTable()
    /// Rows of the event table that calls may still look at in this turn.
    var eventRowsLeft = Limits.eventsLookedAtMax
    var network: NetworkState
    /// Why nothing is written any more, if so.
    private(set) var writingStop: WritingStop?
    /// A storage failure that a command met; it ends the turn.
    var failure: StorageError?
    /// Effects of the current input, in order.
    var effects: [NodeEffect] = []
    /// What was stored in this turn and has to be told to peers.
    var appended: [AppendedRun] = []
    /// Branches whose kept tip moved in this turn, by workspace.
    var moved: [Int64: Set<Int64>] = [:]
    /// Logs that something which waits needs, in each workspace: what had not been taken of them may
    /// be now.
    var needed: [Int64: Set<LogName>] = [:]
    var wroteInInput = false
    /// A refusal that changes something: the last wrong passcode, which drops the keys.
    var hasWrittenOnPurpose = false
    var hasMoreToDo = false
    var isStopping = false
    /// When this device changes a workspace's key, on the monotonic clock.
    var keyChanges = KeyChangePlan()
    /// When it confirms what members have made.
    var confirmations = ConfirmationPlan()
    /// When this device adds the guests that were let in for a private channel, on the monotonic
    /// clock, by workspace and document.
    var guestsDue: [Int64: [DocumentID: UInt64]] = [:]
    /// The workspaces in which this turn has changed who may be missing in a private channel.
    var guestPlansDue: Set<Int64> = []
    /// What goes into the mailbox of a workspace as soon as nothing is being taken in.
    var mailDue: [Int64: [MailboxDelivery]] = [:]
    /// Private documents in which something came that was not judged yet.
    var judgings = JudgingQueue()
    /// The check that is under way.
    var checking: Checking?
    /// Workspaces whose rows are still to be erased, by short number.
    var forgotten: [Int64] = []
    /// Whether another core is to go on after this turn, from what the store holds by then.
    var wantsRenewal = false
    /// Whether the store is to be built anew after this turn.
    var wantsRebuild = false
    /// Whether everything that follows from operations is being made anew, so that nobody is told.
    var isBuilding = false
    var search = SearchState()
    var notices = NoticeState()
    var clocks = PeerClocks()
    /// How much authority somebody may still have this node take in.
    var authorityBudget = AuthorityBudget()
    /// Kinds of warnings about clocks that were told since the start.
    var toldClocks: Set<String> = []
    /// Where the rounds through the store stand.
    var patrol: Patrol
    /// When what lies beyond cuts is looked for again, on the monotonic clock.
    var nextVoidErasure: UInt64
    /// What of the redactions of a document is judged at the end of the turn, by short number.
    var redactionReviews: [Int64: RedactionReview] = [:]
    /// How much of that is held in memory, of all documents together.
    var queuedRedactions = 0
    /// How much of it is judged in one turn.
    var redactionBudget = Limits.redactionsJudgedPerTurnMax
    /// The documents of which the store says that not all is judged.
    var storedReviews: [Int64] = []
    /// The documents in which something was ever redacted, by short number.
    var redactedDocuments: Set<Int64> = []
    /// Words about who follows a channel that count and were not read.
    var owedWords = OwedWords()
    /// What was said about deleted messages, and goes too.
    var lateWords: [LateWord] = []
    /// The workspaces in which the own member may say something in a hidden field.
    var hiddenProfiles: Set<Int64> = []
    /// When the next payload is erased, ms; `nil` while none is due.
    var nextPayloadErasure: UInt64?
    /// Whether this turn has erased something, so that the write-ahead log still holds it.
    var hasErased = false
    /// Whose profiles have changed in this turn: the first operation, and whether all is backfill.
    var profileEdits: [ProfileEdit: (arrival: Int64, isBackfill: Bool)] = [:]
    /// The former names by which the call that is answered has meant somebody.
    var formerNamesTaken: [FormerNameTaken] = []
    /// Workspaces whose members have not heard the own presence as it is now.
    var untoldPresence: Set<Int64> = []
    /// When the own presence was told last, on the monotonic clock, by workspace.
    var toldPresence: [Int64: UInt64] = [:]
    /// When others were told last that the own member types, on the monotonic clock.
    var toldTyping: [DocumentID: UInt64] = [:]
    /// Who got to hold what the own device wrote, in this turn.
    var heldNews = HeldNews()
    /// Whether peers are asked for missing payloads at the end of the turn.
    var asksForPayloads = false
    /// When receipts are written that no COMMIT has taken along, on the monotonic clock.
    var receiptsDue: UInt64?
    /// What has happened since the start, in numbers.
    var tally = NodeTally()
    /// The event number at which old events are looked for again.
    var nextTrim: Int64 = 4_096
    /// Whether the process should end after the answers of this turn.
    var stopEffects = false

    /// A core that has read nothing yet.
    ///
    /// - Parameter unreadable: what is known where there is nothing to read.
    init(
        _ environment: NodeEnvironment, _ store: NodeStore, at time: TurnTime,
        unreadable: UnreadableStore? = nil
    ) {
        self.environment = environment
        self.store = store
        self.unreadable = unreadable
        vault = KeyVault(store.registry)
        privateShelf = PrivateShelf(most: environment.privateJudgementsMax)
        self.time = time
        startedAt = time.monotonic
        patrol = Patrol(startedAt: time.monotonic)
        // Not at once: a start is busy enough.
        nextVoidErasure = time.monotonic &+ 10 * 60 * 1_000
        network = NetworkState(announces: environment.announces)
    }

    convenience init(
        environment: NodeEnvironment, store: NodeStore, at time: TurnTime,
        after former: Inheritance? = nil
    ) throws(StartError) {
        self.init(environment, store, at: time)
        search.generation = former?.searchGeneration ?? 0
        do throws(HomeFileError) {
            try readIdentity(after: former)
        } catch { throw .identity(error) }
        let doubt: HomeFileError?
        do throws(StorageError) {
            doubt =
                lock.sealed != nil && home == nil
                ? nil : try StoreIdentity.doubt(of: home, in: store.registry)
        } catch { throw .store(error) }
        if let doubt { throw .identity(doubt) }
        do throws(StorageError) {
            try loadRedactions()
            if let home {
                try open(home)
                try foldArrived()
                try store.commit()
            } else if let former, lock.phase == .relaying {
                try reopenLocked(former)
            }
            if home == nil { stopSearch() }
        } catch { throw .store(error) }
    }

    // MARK: Turns

    func beginTurn(at time: TurnTime) {
        self.time = time
        hasMoreToDo = false
        ingestBudget.beginTurn()
        owedWords.room = Limits.followersHeardPerTurnMax
        eventRowsLeft = Limits.eventsLookedAtMax
        for workspace in workspaces.values { workspace.readMarks.lateLimits = [:] }
    }

    /// Takes one input; the effects are carried out after the turn's COMMIT.
    func handle(_ input: NodeInput) throws(StorageError) -> [NodeEffect] {
        effects = []
        // Whoever asks or writes something rests on what has come before.
        if !input.isOfLink {
            try settleVerdicts()
            try foldWhole()
        }
        wroteInInput = false
        hasWrittenOnPurpose = false
        switch input {
        case .call(let call, let method, let arguments):
            try answer(call, method, arguments)
        case .stretched(let call, let keys):
            try stretched(call, keys)
        case .searched(let outcome):
            try searched(outcome)
        case .noticed(let outcome): try noticed(outcome)
        case .backedUp(let at): try noteBackup(at: at)
        case .inspected(let call, let result): try inspected(call, result)
        case .controlClosed(let connection):
            subscriptions.close(connection: connection)
            forgetSearches(of: connection)
        default:
            try handleNetwork(input)
        }
        return takeEffects()
    }

    /// What follows from the whole turn: pushes, receipts, events for who waits.
    func endTurn() throws(StorageError) -> [NodeEffect] {
        effects = []
        try takeBacklogs()
        try acceptReleased()
        try foldWhole()
        try foldArrived()
        try judgeWaiting()
        try settleRedactions()
        if try redactLateWords() { try settleRedactions() }
        try hearOwed()
        try showNotices()
        try tellReminders()
        try tellProfileEdits()
        try askForPayloadsEverywhere()
        try askForDamaged()
        try continueChecking()
        try patrolWhenDue()
        try tellPeers()
        if try settleOwnHistory() { try tellPeers() }
        planGuestsWhereDue()
        try tellHeld()
        tellProgress()
        try serveWaiters()
        try trimEvents()
        try writeReceipts()
        try feedSearch()
        try storeUnfolded()
        try storeLackedKeys()
        try storeEarlyNotices()
        try vault.throwFailure()
        if stopEffects { effects.append(.stop) }
        return takeEffects()
    }

    /// After COMMIT: the guard file may say so.
    func didCommit() {
        // What closed the node in the turn that renewed its store has dropped the identity already.
        guard let store = renewedStore ?? storeIdentity?.store else { return }
        let counter = UInt64(max(self.store.commitCounter, 0))
        guard counter != guardedCounter else { return }
        guardedCounter = counter
        let guardian = RestoreGuard(
            storeID: store, facts: environment.files.storeFacts, commitCounter: counter)
        if renewedStore != nil {
            renewedStore = nil
            guardian.writeAnew(to: environment.files)
        } else {
            guardian.write(to: environment.files)
        }
    }

    var guardedCounter: UInt64 = 0
    /// The id that the store got in this turn.
    var renewedStore: StoreID?

    /// Whether the store takes anything now.
    var mayWrite: Bool { writingStop == nil }

    /// Whether what can wait is written now: not for who only reads while the disk is full.
    var mayTidy: Bool { mayWrite && !network.fullDisk.isOn(at: time.monotonic) }

    /// Receipts wait for a COMMIT that takes them along, but not for ever.
    private func writeReceipts() throws(StorageError) {
        guard store.peers.hasUnwrittenReceipts else {
            receiptsDue = nil
            return
        }
        let due = receiptsDue ?? time.monotonic &+ 5_000
        receiptsDue = due
        if due <= time.monotonic, mayWrite {
            try write()
            receiptsDue = nil
        }
    }

    func refuseWriting(because stop: WritingStop) { writingStop = stop }

    func takeEffects() -> [NodeEffect] {
        let taken = effects
        effects = []
        return taken
    }

    /// Begins the turn's transaction if need be. Every write of the core starts with this.
    func write() throws(StorageError) {
        if let writingStop { throw writingStop.error }
        try store.begin()
        wroteInInput = true
    }

    // MARK: Calls

    func answer(
        _ call: CallID, _ method: String, _ arguments: JSONObject
    ) throws(StorageError) {
        if !lock.isLocked, holdsCall(call, method, arguments) { return }
        formerNamesTaken = []
        let result: Result<JSONValue, NodeError>
        do throws(NodeError) {
            let command = try Command.method(method)
            if let writingStop { try refuseWrites(command, arguments, writingStop) }
            if unreadable != nil, command.needsStore { throw UnreadableStore.refusal }
            if lock.isLocked, command.whileLocked == .refused { throw NodeError.locked(lock.phase) }
            if command.needs == .identity, home == nil { throw NodeError.noIdentity }
            switch try command.call(CommandContext(node: self, call: call), arguments) {
            case .reply(let value): result = .success(tellingFormerNames(value))
            case .later: return
            }
        } catch {
            if let failure { throw failure }
            if wroteInInput, !hasWrittenOnPurpose {
                // A command checks before it writes. One that did not must not leave half of it.
                throw StorageError(.other, "a command failed after it wrote", statement: method)
            }
            result = .failure(error)
        }
        effects.append(.answer(call, result))
    }

    private func refuseWrites(
        _ command: Command, _ arguments: JSONObject, _ stop: WritingStop
    ) throws(NodeError) {
        guard !command.isDoneUnwritten(arguments) else { return }
        throw stop.refusal
    }

    /// Runs store code inside a command; a failure ends the turn.
    func stored<Value>(
        _ body: () throws(StorageError) -> Value
    ) throws(NodeError) -> Value {
        do throws(StorageError) {
            return try body()
        } catch {
            failure = error
            throw NodeError(storage: error)
        }
    }

    // MARK: Opening

    /// Reads what the store knows, under an identity that is there.
    func open(_ home: HomeIdentity) throws(StorageError) {
        let registry = store.registry
        let known = try registry.value("store").flatMap(StoreID.init(untrusted:))
        var verdict = RestoreGuard.Verdict.same
        if let known {
            verdict = RestoreGuard.judge(
                environment.files.read(), facts: environment.files.storeFacts, storeID: known,
                commitCounter: UInt64(max(store.commitCounter, 0)))
        }
        // A start that changes nothing writes nothing: on a full disk it could not be made.
        let isWhole = try StoreIdentity.isKept(in: registry, home: home)
        if verdict != .same || !isWhole { try store.begin() }
        try beginFolding()
        let (identity, isFresh) = try StoreIdentity.load(
            from: registry, home: home, isNew: verdict != .same, using: environment.random)
        storeIdentity = identity
        self.home = try withLaterPhrase(home)
        if case .newStoreNeeded(let reason) = verdict {
            try noteRestored(reason.rawValue)
        }
        try enterLostWorkspaces(home)
        for row in try registry.workspaces() {
            if row.standing == .forgotten {
                forgotten.append(row.number)
                continue
            }
            guard let id = store.operations.document(numbered: row.number)?.id else { continue }
            let workspace = Workspace(id: id, row: row, vault: vault)
            workspace.ownName = home.name
            workspaces[row.number] = workspace
            // A join that a crash cut short starts again from nothing.
            guard row.standing == .member else {
                try abandon(row.number)
                continue
            }
            try load(workspace)
        }
        try buildViews()
        noteOvergrown()
        try vault.throwFailure()
        try store.commit()
        if isFresh {
            guardedCounter = UInt64(max(store.commitCounter, 0))
            RestoreGuard(
                storeID: identity.store, facts: environment.files.storeFacts,
                commitCounter: guardedCounter
            ).writeAnew(to: environment.files)
        }
        try openNetwork()
        askForOwnHistory()
        try openPendingJoins()
        try startSearch()
    }

    private func load(_ workspace: Workspace) throws(StorageError) {
        try loadSecrets(of: workspace)
        try loadRecoveryBox(of: workspace)
        try loadAuthority(of: workspace)
        try finishLoading(workspace)
        try reviewPresence(of: workspace)
        try reviewReminders(of: workspace)
    }

    /// Takes the authority document as it is stored, without what does not give its id any more.
    func loadAuthority(of workspace: Workspace) throws(StorageError) {
        try store.operations.forEachOperation(in: workspace.id, of: workspace.number) {
            (operation) throws(StorageError) in
            guard let intact = try intact(operation) else { return }
            try restoreAuthority(intact, in: workspace)
        }
    }
}

extension NodeError {
    /// What a failed write looks like to whoever asked for it.
    init(storage error: StorageError) {
        switch error.kind {
        case .full:
            self.init(
                .storageFull, "the disk is full",
                hint: "free some space; the node then continues by itself", reason: "store.full")
        case .ioFailure:
            self.init(
                .storeFailed, "the disk failed, and nothing is written until the node starts again",
                hint: "check the disk, then wsx-node down and wsx-node up", reason: "store.io")
        case .corrupt:
            self.init(
                .storeFailed, "the store is damaged", hint: "wsx-node doctor",
                reason: "store.corrupt")
        default:
            self.init(
                .busy, "the store could not save this now", hint: "try again",
                reason: "store.failed")
        }
    }
}
