import CRDTStore
import WorkspaceCrypto
import WorkspaceModel

/// The node without its environment: one deterministic state machine.
///
/// It holds the turn and the rooms. State and behaviour belong to the rooms; the core decides only
/// in which order they run, and which calls can be answered at all.
///
/// It takes inputs, writes to the store inside the turn's transaction, and returns effects that the
/// loop carries out after COMMIT. It has no thread, lock, clock or randomness of its own. Fields
/// change only after the writes of an input have succeeded; a failed write throws `StorageError`,
/// and `NodeHost` then makes a new core from the store.
final class NodeCore: TurnHolder {
    /// The current turn, and what it may use.
    let turn: NodeTurn
    /// By short number.
    var workspaces: [Int64: Workspace] = [:]

    // The rooms, each with its state.
    private(set) lazy var log = OperationLog(self)
    private(set) lazy var membership = Memberships(self)
    private(set) lazy var keys = KeySchedule(self)
    private(set) lazy var privates = PrivateDocuments(self)
    private(set) lazy var files = Files(self)
    private(set) lazy var channels = Channels(self)
    private(set) lazy var session = HomeSession(self)
    private(set) lazy var integrity = Integrity(self)
    // Rooms of one purpose have one holder, and are asked as all others are.
    private lazy var content = ContentRooms(self)
    private lazy var persons = PersonRooms(self)
    private lazy var meeting = MeetingRooms(self)
    private lazy var telling = TellingRooms(self)

    var derivation: Derivation { content.derivation }
    var messages: Messages { content.messages }
    var notes: Notes { content.notes }
    var ledgers: Ledgers { content.ledgers }
    var own: OwnDocuments { persons.own }
    var profiles: Profiles { persons.profiles }
    var presence: Presences { persons.presence }
    var proofs: Proofs { persons.proofs }
    var links: Links { meeting.links }
    var syncing: Syncing { meeting.syncing }
    var enrolment: Enrolment { meeting.enrolment }
    var events: Events { telling.events }
    var queries: Queries { telling.queries }

    /// In the order in which their deadlines run: what links bring comes first, and presence is
    /// told last.
    private(set) lazy var components: [Component] = [
        links, events, enrolment, channels, integrity, keys, membership, privates, own,
        presence, proofs, log, files, messages, notes, ledgers, profiles, syncing, session,
        queries, derivation,
    ]

    /// The listener that the log reports stored operations to, and through which lower rooms call
    /// those above them.
    var sink: any CoreSink { content.derivation }
    /// The rooms for content other than messages.
    var contentFamilies: [any ContentFamily] { content.families }
    /// The users of links.
    var syncs: any LinkSyncs { meeting.syncing }
    var entrances: any LinkEntrances { meeting.enrolment }

    /// A core that has read nothing yet.
    ///
    /// - Parameter unreadable: what is known where there is nothing to read.
    init(
        _ environment: NodeEnvironment, _ store: NodeStore, at time: TurnTime,
        unreadable: UnreadableStore? = nil
    ) {
        turn = NodeTurn(environment, store, at: time)
        session.unreadable = unreadable
    }

    convenience init(
        environment: NodeEnvironment, store: NodeStore, at time: TurnTime,
        after former: Inheritance? = nil
    ) throws(StartError) {
        self.init(environment, store, at: time)
        queries.search.generation = former?.searchGeneration ?? 0
        do throws(HomeFileError) {
            try readIdentity(after: former)
        } catch { throw .identity(error) }
        let doubt: HomeFileError?
        do throws(StorageError) {
            doubt =
                session.lock.sealed != nil && session.home == nil
                ? nil : try StoreIdentity.doubt(of: session.home, in: store.registry)
        } catch { throw .store(error) }
        if let doubt { throw .identity(doubt) }
        do throws(StorageError) {
            try integrity.loadRedactions()
            if let home = session.home {
                try open(home)
                try session.foldArrived()
                try integrity.noteEarlierFiles()
                try store.commit()
            } else if let former, session.lock.phase == .relaying {
                try reopenLocked(former)
            }
            if session.home == nil { queries.stopSearch() }
        } catch { throw .store(error) }
    }

    // MARK: Turns

    func beginTurn(at time: TurnTime) {
        turn.begin(at: time)
        forgetFresh()
        turn.store.operations.keepRecent()
        turn.store.view.keepRecent()
        turn.store.events.keepRecent()
        log.ingestBudget.beginTurn()
        ledgers.beginTurn()
        channels.pendingAssertions.room = Limits.followersHeardPerTurnMax
        events.eventRowsLeft = Limits.eventsLookedAtMax
        for workspace in workspaces.values { workspace.own.readMarks.lateLimits = [:] }
    }

    /// Takes one input; the effects are carried out after the turn's COMMIT.
    func handle(_ input: NodeInput) throws(StorageError) -> [NodeEffect] {
        turn.effects = []
        // A query or a write must see the effects of everything that came before it.
        if !input.isOfLink {
            try messages.settleVerdicts()
            try integrity.foldWhole()
        }
        turn.beginInput()
        switch input {
        case .call(let call, let method, let arguments, let file):
            try answer(call, method, arguments, file: file)
        case .keysDerived(let call, let keys):
            try IdentityHandler(self).continueWithKeys(call, keys)
        case .searched(let outcome):
            try queries.searched(outcome)
        case .blobbed(let outcome): try files.took(outcome)
        case .metered(let isMetered): try files.media.noteMeter(isMetered)
        case .networkChanged:
            try files.media.lookAtMeter()
            try links.handleNetwork(input)
        case .noticed(let outcome): try events.noticed(outcome)
        case .mailed(let number, let status): try proofs.mailed(number, status: status)
        case .tokenChecked(let number, let verdict):
            try proofs.accounts.checked(number, verdict: verdict)
        case .backedUp(let at): try BackupHandler(self).noteBackup(at: at)
        case .inspected(let call, let result): try integrity.inspected(call, result)
        case .controlClosed(let connection):
            telling.forget(connection)
            files.forgetTasks(of: connection)
        case .listening(let addresses):
            links.noteListening(addresses)
            NetworkHandler(self).answerResumes()
            try links.tellListening()
        default:
            try links.handleNetwork(input)
        }
        return turn.takeEffects()
    }

    /// The effects of the whole turn: pushes, receipts, events for waiting calls.
    func endTurn() throws(StorageError) -> [NodeEffect] {
        turn.effects = []
        try syncing.takeBacklogs()
        try log.acceptReleased()
        try integrity.foldWhole()
        try session.foldArrived()
        try privates.judgeWaiting()
        try messages.settleRedactions()
        if try messages.redactLateAssertions() { try messages.settleRedactions() }
        try channels.foldPending()
        try integrity.noteEarlierFiles()
        try ledgers.tellChanges()
        try events.showNotices()
        try events.tellReminders()
        try proofs.endTurn()
        ledgers.endTurn()
        try profiles.tellProfileEdits()
        try integrity.askForPayloadsEverywhere()
        try syncing.beginAnew(in: integrity.noteDamaged())
        try integrity.continueChecking()
        try integrity.patrolWhenDue()
        try files.planTransfers()
        try syncing.tellPeers()
        if try syncing.settleOwnHistory() { try syncing.tellPeers() }
        privates.guests.planGuestsWhereDue()
        try syncing.tellHeld()
        syncing.tellProgress()
        try events.serveWaiters()
        try events.trimEvents()
        try writeReceipts()
        try notes.endTurn()
        events.passNotes()
        try queries.feedSearch()
        try session.storeUnfolded()
        try keys.storeLackedKeys()
        try privates.notices.storeEarlyNotices()
        try session.vault.throwFailure()
        if session.stopEffects { turn.emit(.stop) }
        // Listeners are told after the COMMIT.
        if events.subscribers.isEmpty { forgetFresh() }
        return turn.takeEffects()
    }

    /// Drops what was decrypted and read in this turn: it will not be needed again so soon.
    func forgetFresh() {
        keys.fresh.forget()
        turn.store.operations.forgetRecent()
        turn.store.view.forgetRecent()
        turn.store.events.forgetRecent()
    }

    /// After COMMIT: the guard file may say so.
    func didCommit() {
        // The input that closed the node in the turn that renewed its store has dropped the
        // identity already.
        guard let store = turn.renewedStore ?? session.storeIdentity?.store else { return }
        let counter = UInt64(max(self.turn.store.commitCounter, 0))
        guard counter != turn.guardedCounter else { return }
        turn.guardedCounter = counter
        let isNew = turn.renewedStore != nil
        turn.renewedStore = nil
        if isNew { turn.guardedFacts = nil }
        // The open file stays the same, but another one may be at its path by then.
        let facts = turn.guardedFacts ?? turn.environment.files.storeFacts
        turn.guardedFacts = facts
        let guardian = RestoreGuard(storeID: store, facts: facts, commitCounter: counter)
        if isNew {
            guardian.writeAnew(to: turn.environment.files)
        } else {
            guardian.write(to: turn.environment.files)
        }
    }

    /// Whether what can wait is written now: not for who only reads while the disk is full.
    var mayTidy: Bool { turn.mayWrite && !links.network.fullDisk.isOn(at: turn.time.monotonic) }

    /// Receipts wait for a COMMIT that happens anyway, but only for `receiptsPause`. Of several
    /// COMMITs in a row only one per pause takes them, since they need a page of their own.
    private func writeReceipts() throws(StorageError) {
        let (peers, now) = (turn.store.peers, turn.time.monotonic)
        guard peers.hasUnwrittenReceipts, turn.mayWrite else {
            syncing.receiptsDue = nil
            return
        }
        let due = syncing.receiptsDue ?? now &+ Self.receiptsPause
        syncing.receiptsDue = due
        if due <= now { try turn.write() }
        let isEarly = syncing.receiptsWritten.map { now &- $0 < Self.receiptsPause } ?? false
        peers.keepsReceipts = due > now && isEarly
        guard !peers.keepsReceipts, turn.store.connection.isInTransaction else { return }
        syncing.receiptsWritten = now
        syncing.receiptsDue = nil
    }

    private static let receiptsPause: UInt64 = 5_000

    // MARK: Calls

    func answer(
        _ call: CallID, _ method: String, _ arguments: JSONObject, file: [UInt8]? = nil
    ) throws(StorageError) {
        if !session.lock.isLocked, syncing.holdsCall(call, method, arguments) { return }
        profiles.formerNamesTaken = []
        let result: Result<JSONValue, NodeError>
        do throws(NodeError) {
            let command = try Command.method(method)
            if let writingStop = turn.writingStop {
                try refuseWrites(command, arguments, writingStop)
            }
            if session.unreadable != nil, command.needsStore { throw UnreadableStore.refusal }
            if session.lock.isLocked, command.whileLocked == .refused {
                throw NodeError.locked(session.lock.phase)
            }
            if command.needs == .identity, session.home == nil { throw NodeError.noIdentity }
            let context = CommandContext(node: CommandDispatcher(self), call: call, file: file)
            switch try command.call(context, arguments) {
            case .reply(let value):
                result = .success(profiles.tellingFormerNames(saidOf(command, value)))
            case .later: return
            }
        } catch {
            if let failure = turn.failure { throw failure }
            if turn.wroteInInput, !turn.hasWrittenOnPurpose {
                // A command checks before it writes. One that fails after a write must not leave
                // half of it.
                throw StorageError(.other, "a command failed after it wrote", statement: method)
            }
            result = .failure(error)
        }
        turn.emit(.answer(call, result))
    }

    /// An answer of what makes or changes something says so where there was nothing to change.
    private func saidOf(_ command: Command, _ answer: JSONValue) -> JSONValue {
        guard command.effect == .signs, command.scope != .node, !turn.wroteInInput,
            var object = answer.objectValue,
            object["replayed"] == nil
        else { return answer }
        object["changed"] = false
        return .object(object)
    }

    private func refuseWrites(
        _ command: Command, _ arguments: JSONObject, _ stop: WritingStop
    ) throws(NodeError) {
        guard !command.isDoneUnwritten(arguments) else { return }
        throw stop.refusal
    }

    // MARK: Opening

    /// Reads what the store knows, under an identity that is there.
    func open(_ home: HomeIdentity) throws(StorageError) {
        let registry = turn.store.registry
        let known = try registry.value("store").flatMap(StoreID.init(untrusted:))
        var verdict = RestoreGuard.Verdict.same
        if let known {
            verdict = RestoreGuard.judge(
                turn.environment.files.read(), facts: turn.environment.files.storeFacts,
                storeID: known,
                commitCounter: UInt64(max(turn.store.commitCounter, 0)))
        }
        // A start that changes nothing writes nothing: on a full disk it could not be made.
        let isWhole = try StoreIdentity.isKept(in: registry, home: home)
        if verdict != .same || !isWhole { try turn.store.begin() }
        try session.beginFolding()
        let (identity, isFresh) = try StoreIdentity.load(
            from: registry, home: home, isNew: verdict != .same, using: turn.environment.random)
        session.storeIdentity = identity
        self.session.home = try enrolment.recovery.withLaterPhrase(home)
        if case .newStoreNeeded(let reason) = verdict {
            try log.noteRestored(reason.rawValue)
        }
        try integrity.enterLostWorkspaces(home)
        for row in try registry.workspaces() {
            if row.standing == .forgotten {
                integrity.forgotten.append(row.number)
                continue
            }
            guard let id = turn.store.operations.document(numbered: row.number)?.id else {
                continue
            }
            let workspace = Workspace(id: id, row: row, vault: session.vault)
            workspace.people.ownName = home.name
            workspaces[row.number] = workspace
            // A join that a crash cut short starts again from nothing.
            guard row.standing == .member else {
                try enrolment.abandon(row.number)
                continue
            }
            try load(workspace)
        }
        try integrity.buildViews()
        log.pruning.noteOvergrown()
        try session.vault.throwFailure()
        try turn.store.commit()
        if isFresh {
            turn.guardedCounter = UInt64(max(turn.store.commitCounter, 0))
            RestoreGuard(
                storeID: identity.store, facts: turn.environment.files.storeFacts,
                commitCounter: turn.guardedCounter
            ).writeAnew(to: turn.environment.files)
        }
        try links.openNetwork()
        syncing.askForOwnHistory()
        try enrolment.openPendingJoins()
        try queries.startSearch()
        try files.transfers.resume()
    }

    private func load(_ workspace: Workspace) throws(StorageError) {
        try keys.loadSecrets(of: workspace)
        try privates.handover.loadRecoveryBox(of: workspace)
        try loadAuthority(of: workspace)
        try derivation.finishLoading(workspace)
        try presence.reviewPresence(of: workspace)
        try own.reviewReminders(of: workspace)
    }

    /// Loads the stored authority document, without operations whose bytes no longer match their
    /// id.
    func loadAuthority(of workspace: Workspace) throws(StorageError) {
        try turn.store.operations.forEachOperation(in: workspace.id, of: workspace.number) {
            (operation) throws(StorageError) in
            guard let intact = try integrity.intact(operation) else { return }
            try derivation.restoreAuthority(intact, in: workspace)
        }
    }
}

/// A part of the core, which asks rooms by `core`.
typealias CorePart = PartOf<NodeCore>
/// A room of the core.
typealias Component = ComponentOf<NodeCore>

/// What members of all rooms need from other rooms.
extension CoreMember where Core == NodeCore {
    /// By short number.
    var workspaces: [Int64: Workspace] { core.workspaces }
    var network: NetworkState { core.links.network }
}

extension NodeError {
    /// The error that a caller gets when a write fails.
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
