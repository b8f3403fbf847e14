public import CRDTStore
import WorkspaceModel

/// Runs a node core and its store turn by turn: the one place where inputs become effects.
///
/// A turn handles all pending inputs, commits once, and then releases the effects. So nobody is
/// told anything that is not on disk, and a burst of sends costs one fsync. The real loop and the
/// simulation both run nodes through this type.
public final class NodeHost {
    private let environment: NodeEnvironment
    private let openStore: () throws(StorageError) -> NodeStore
    private let rebuildStore: (() throws(StorageError) -> Void)?
    /// When the store was rebuilt last, on the monotonic clock.
    private var rebuiltAt: UInt64?
    private var store: NodeStore
    private(set) var core: NodeCore
    /// The I/O failure after which nothing is written until the process starts again.
    private var writingStop: WritingStop?
    /// Calls that wait for an answer.
    private var openCalls: [CallID: OpenCall] = [:]
    /// Calls that the last turn answered.
    private var answered: [(method: String, at: UInt64)] = []
    /// Whether the write-ahead log may contain erased data: also after a start, because a crash may
    /// have come between.
    public private(set) var mustEmptyLog = true
    /// A disk error between two turns.
    private var checkpointFailure: StorageError?

    /// Opens the store and starts a core on it.
    ///
    /// - Parameters:
    ///   - openStore: opens node.db; called again when a turn's COMMIT failed.
    ///   - rebuildStore: puts in the place of a damaged node.db what `StoreSalvage` makes of it;
    ///     the connection to it is not used any more by then. `nil` where that is not wanted.
    /// - Throws: `StartError`: the store or the identity cannot be used.
    public init(
        environment: NodeEnvironment, at time: TurnTime,
        openStore: @escaping () throws(StorageError) -> NodeStore,
        rebuildStore: (() throws(StorageError) -> Void)? = nil
    ) throws(StartError) {
        self.environment = environment
        self.openStore = openStore
        self.rebuildStore = rebuildStore
        do throws(StartError) {
            (store, core) = try Self.start(environment, at: time, openStore)
        } catch {
            guard case .store(let reason) = error, reason.isDamage, let rebuildStore else {
                throw error
            }
            do throws(StorageError) { try rebuildStore() } catch { throw .store(error) }
            rebuiltAt = time.monotonic
            (store, core) = try Self.start(environment, at: time, isRebuilt: true, openStore)
        }
    }

    private static func start(
        _ environment: NodeEnvironment, at time: TurnTime, isRebuilt: Bool = false,
        _ openStore: () throws(StorageError) -> NodeStore
    ) throws(StartError) -> (NodeStore, NodeCore) {
        let store: NodeStore
        do throws(StorageError) {
            store = try openStore()
            if isRebuilt { try keepIdentity(of: store, in: environment, at: time) }
        } catch { throw .store(error) }
        do throws(StartError) {
            return (store, try NodeCore(environment: environment, store: store, at: time))
        } catch {
            store.connection.leaveLog()
            throw error
        }
    }

    /// The file is another one, and the store is the same: unless it does not know for sure where
    /// its own logs end.
    private static func keepIdentity(
        of store: NodeStore, in environment: NodeEnvironment, at time: TurnTime
    ) throws(StorageError) {
        try store.begin()
        try StoreRebuild.note(at: time.wall, in: store.registry)
        try store.commit()
        guard let id = try store.registry.value("store").flatMap(StoreID.init(untrusted:)) else {
            return
        }
        RestoreGuard(
            storeID: id, facts: environment.files.storeFacts,
            commitCounter: UInt64(max(store.commitCounter, 0))
        ).writeAnew(to: environment.files)
    }

    /// Handles `inputs` in order and returns what to do, all of it on disk already.
    public func turn(_ inputs: [NodeInput], at time: TurnTime) -> [NodeEffect] {
        for input in inputs { note(input, at: time) }
        let connection = store.connection
        defer { connection.releaseSnapshot() }
        do throws(StorageError) {
            if let failure = checkpointFailure.take() { throw failure }
            try connection.holdSnapshot()
            if let writingStop { core.turn.refuseWriting(because: writingStop) }
            core.beginTurn(at: time)
            // The effects that the core produced while it was made.
            var effects = core.turn.takeEffects()
            effects += try handle(inputs)
            effects += try core.endTurn()
            let commits = connection.commitCount
            try store.commit()
            if connection.commitCount > commits { core.links.network.fullDisk.end() }
            core.didCommit()
            mustEmptyLog = mustEmptyLog || core.integrity.hasErased
            core.integrity.hasErased = false
            for effect in effects { note(effect) }
            if core.integrity.wantsRenewal { effects += renewCore(at: time, besides: effects) }
            return core.integrity.wantsRebuild ? effects + rebuildAsAsked(at: time) : effects
        } catch {
            return recover(from: error, in: inputs, at: time)
        }
    }

    private func handle(_ inputs: [NodeInput]) throws(StorageError) -> [NodeEffect] {
        var effects: [NodeEffect] = []
        var answers = TurnAnswers()
        for input in inputs {
            if answers.putsOff(input) {
                effects.append(.putOff(input))
                continue
            }
            let next = try core.handle(input)
            answers.note(next)
            effects += next
        }
        return effects
    }

    /// Counts how long the answers of the last turn took, now that they have left, with the events.
    ///
    /// - Parameter monotonic: milliseconds of the monotonic clock, as in `TurnTime`.
    public func didPerform(at monotonic: UInt64) {
        core.forgetFresh()
        for call in answered {
            core.turn.tally.noteDuration(
                of: call.method, milliseconds: monotonic - min(call.at, monotonic))
        }
        answered.removeAll(keepingCapacity: true)
    }

    /// All that was written to these links has left: notes it, unless somebody may wait for that.
    ///
    /// - Parameter monotonic: milliseconds of the monotonic clock, as in `TurnTime`.
    /// - Returns: `false` where a turn has to hear of it.
    public func noteAllSent(on links: [LinkID], at monotonic: UInt64) -> Bool {
        core.links.noteAllSent(on: links, now: monotonic)
    }

    /// More for a link that has sent some of what was written to it, where nothing has to be decided.
    ///
    /// - Parameters:
    ///   - unsent: bytes that were written to it and have not left.
    ///   - monotonic: milliseconds of the monotonic clock, as in `TurnTime`.
    /// - Returns: `nil` where a turn has to hear of `unsent`.
    public func moreToSend(on link: LinkID, unsent: Int, at monotonic: UInt64) -> [UInt8]? {
        let bytes = core.links.sealMore(for: link, unsent: unsent, now: monotonic)
        core.turn.tally.noteSent(bytes?.count ?? 0)
        return bytes
    }

    /// When `turn` wants a `tick` at the latest, on the monotonic clock.
    public var nextDeadline: UInt64? { core.nextDeadline }

    /// Whether it starts with peers: not so a home that waits for its passphrase.
    public var wantsNetwork: Bool { core.turn.session.lock.phase != .closed }

    /// The links that are not read until their backlog is processed.
    public var busyLinks: [LinkID] { core.links.network.exchange.backlogged }

    /// Whether a turn was cut short and wants another at once.
    public var hasMoreToDo: Bool { core.turn.hasMoreToDo || checkpointFailure != nil }

    /// Control connections with open subscriptions, which `events(for:room:)` may have news for.
    public var subscribers: [UInt64] { core.events.subscribers }

    /// The next events for the subscriptions of a connection that can take `room` bytes now.
    ///
    /// Called after `turn`, when the connection's socket is writable: events are read from the
    /// store when they can be sent, so a slow reader costs no memory.
    public func events(
        for subscriber: UInt64, room: Int
    ) -> [(subscription: Int64, event: EventObject)] {
        guard core.events.mayHaveEvents(for: subscriber) else { return [] }
        // Without one, each question to the store takes and drops a lock. Mostly none is asked: what
        // this turn has stored is at hand.
        let connection = store.connection
        connection.holdSnapshotWhenRead()
        defer { connection.releaseSnapshot() }
        return core.events.nextEvents(for: subscriber, room: room)
    }

    /// Whether a stream of a connection was interrupted because it reads very many events, and
    /// continues with the next `events(for:room:)` at once.
    public func looksForEvents(for connection: UInt64) -> Bool {
        core.events.subscriptions.subscriptions(of: connection).contains(where: \.isLooking)
    }

    /// Whether a stream of a connection has not come to the newest event: else the loop may wait.
    public func mayHaveEvents(for connection: UInt64) -> Bool {
        core.events.mayHaveEvents(for: connection)
    }

    /// Moves the write-ahead log into the database; a step between turns.
    public func checkpoint(_ mode: Connection.CheckpointMode) {
        _ = moveLog(mode)
    }

    /// Copies all of the write-ahead log into the database and empties its file, so that nothing
    /// that was erased is left in it.
    ///
    /// - Returns: `false` while a reader keeps it from that.
    public func emptyLog() -> Bool {
        guard let done = moveLog(.truncate), !done.isBlocked else { return false }
        mustEmptyLog = false
        return true
    }

    /// Nothing is written once writing has stopped. Where the disk fails here, the next turn says so.
    private func moveLog(_ mode: Connection.CheckpointMode) -> Connection.Checkpoint? {
        guard writingStop == nil else { return nil }
        do throws(StorageError) { return try store.connection.checkpoint(mode) } catch {
            if error.kind == .ioFailure { checkpointFailure = error }
            return nil
        }
    }

    /// Bytes in the write-ahead log.
    public var logByteCount: Int { store.connection.logByteCount }

    /// COMMITs since the store was opened, for tests that count them.
    public var commitCount: Int { store.connection.commitCount }

    /// Keeps track of who waits for an answer.
    private func note(_ input: NodeInput, at time: TurnTime) {
        switch input {
        case .call(let call, let method, let arguments, _):
            guard openCalls[call] == nil else { return }
            openCalls[call] = OpenCall(method, arguments, at: time.monotonic)
        case .received(_, let bytes): core.turn.tally.noteReceived(bytes.count)
        case .controlClosed(let connection):
            openCalls = openCalls.filter { $0.key.connection != connection }
        default: break
        }
    }

    private func note(_ effect: NodeEffect) {
        switch effect {
        case .answer(let call, let result):
            guard let known = openCalls.removeValue(forKey: call) else { return }
            core.turn.tally.noteAnswer(to: known.method, result)
            answered.append((known.method, known.at))
        // The loop answers these, whatever becomes of the store.
        case .job(let call, _): openCalls[call] = nil
        case .write(_, let bytes): core.turn.tally.noteSent(bytes.count)
        default: break
        }
    }

    /// A failed write leaves an unknown state: the turn's effects are dropped, the core is rebuilt
    /// from the store, and callers that wait for an answer are told to ask again.
    private func recover(
        from error: StorageError, in inputs: [NodeInput] = [], at time: TurnTime
    ) -> [NodeEffect] {
        store.connection.rollback()
        let isFirst = writingStop == nil
        if error.kind == .ioFailure, isFirst { writingStop = .init(error: error, at: time.wall) }
        var isRebuilt = false
        var rebuildFailure: StorageError?
        do throws(StorageError) { isRebuilt = try rebuild(after: error, at: time) } catch {
            rebuildFailure = error
        }
        let failure = isRebuilt ? StoreRebuild.refusal : NodeError(storage: error)
        let former = core
        var effects: [NodeEffect] = former.links.openLinks.map { .close($0) }
        effects.append(.log(.error, "store \(error)"))
        do {
            if let rebuildFailure { throw rebuildFailure }
            if !isRebuilt { try reopenStore() }
            core = try NodeCore(
                environment: environment, store: store, at: time, after: former.inheritance)
        } catch {
            effects.append(.log(.error, "cannot reopen the store: \(error)"))
            guard writingStop != nil, let bare = try? NodeCore(unreadableAfter: former, at: time)
            else { return effects + refuseOpenCalls(failure) + [.fail] }
            (store, core) = (bare.turn.store, bare)
        }
        core.goOn(after: former, writingStop, isTold: !isFirst)
        if error.kind == .full { core.links.network.fullDisk.lengthen(at: time.monotonic) }
        if core.links.network.registry.isSuspended, !former.links.network.registry.isSuspended {
            effects.append(.setNetwork(isOn: false))
        }
        effects += tellHowItIs(in: inputs, at: time)
        return effects + askAgain(after: error, failure)
    }

    /// Tells waiting callers to ask again. When only disk space was missing, calls that only read
    /// need none, but what arrived with them could not be kept: the new core answers those here.
    private func askAgain(after error: StorageError, _ failure: NodeError) -> [NodeEffect] {
        let reading = openCalls.filter { error.kind == .full && $0.value.isReading }
            .sorted { ($0.key.connection, $0.key.number) < ($1.key.connection, $1.key.number) }
        var effects = refuseOpenCalls(failure, except: Set(reading.map(\.key)))
        // The first question would discard the effects that the new core produced while it was
        // made.
        if !reading.isEmpty { effects += core.turn.takeEffects() }
        for (call, asked) in reading {
            let answer = try? core.handle(
                .call(call, method: asked.method, arguments: asked.arguments))
            for effect in answer ?? [] { note(effect) }
            effects += answer ?? [.answer(call, .failure(failure))]
        }
        return effects
    }

    /// Starts another core from the stored state: everything that this one knew beyond that is
    /// void. All links are opened again.
    ///
    /// - Parameter effects: what the turn does; calls that it has put off are done by the next core.
    private func renewCore(at time: TurnTime, besides effects: [NodeEffect]) -> [NodeEffect] {
        let former = core
        let putOff = effects.compactMap { effect -> CallID? in
            guard case .putOff(.call(let call, _, _, _)) = effect else { return nil }
            return call
        }
        do throws(StartError) {
            core = try NodeCore(
                environment: environment, store: store, at: time, after: former.inheritance)
        } catch {
            guard case .store(let failure) = error else {
                return recover(from: StorageError(.cannotOpen, "\(error)"), at: time)
            }
            return recover(from: failure, at: time)
        }
        core.goOn(after: former, writingStop, isTold: true)
        return former.links.openLinks.map { .close($0) }
            + refuseOpenCalls(
                NodeError(
                    .busy, "the node has just closed a workspace", hint: "try again",
                    reason: "node.renewed"), except: Set(putOff))
    }

    /// Tells callers that wait for an answer to ask again.
    private func refuseOpenCalls(
        _ failure: NodeError, except kept: Set<CallID> = []
    ) -> [NodeEffect] {
        let calls = openCalls.keys.filter { !kept.contains($0) }.sorted {
            ($0.connection, $0.number) < ($1.connection, $1.number)
        }
        for call in calls { openCalls[call] = nil }
        return calls.map { .answer($0, .failure(failure)) }
    }

    /// Answers calls for the node's state that failed on a page that cannot be read.
    private func tellHowItIs(in inputs: [NodeInput], at time: TurnTime) -> [NodeEffect] {
        guard let writingStop else { return [] }
        let asked = inputs.filter {
            if case .call(_, let method, _, _) = $0 {
                Command.known(method)?.tellsHowItIs == true
            } else {
                false
            }
        }
        guard !asked.isEmpty, let bare = try? NodeCore(unreadableAfter: core, at: time) else {
            return []
        }
        bare.goOn(after: core, writingStop, isTold: true)
        let answers = (try? asked.flatMap(bare.handle)) ?? []
        for answer in answers { note(answer) }
        return answers
    }

    /// Puts what is built from the operations in the place of what the store holds.
    private func rebuildAsAsked(at time: TurnTime) -> [NodeEffect] {
        core.integrity.wantsRebuild = false
        rebuiltAt = nil
        return recover(from: StorageError(.corrupt, "check --repair"), at: time)
    }

    /// Puts a store that can be used in the place of one whose pages are damaged. Not twice in ten
    /// minutes: what that does not mend is not mended by doing it again.
    ///
    /// - Returns: whether it did.
    private func rebuild(
        after error: StorageError, at time: TurnTime
    ) throws(StorageError) -> Bool {
        let isRecent = rebuiltAt.map { time.monotonic &- $0 < Self.rebuildGap } ?? false
        guard error.isDamage, let rebuildStore, !isRecent, writingStop == nil else { return false }
        rebuiltAt = time.monotonic
        store.connection.leaveLog()
        try rebuildStore()
        store = try openStore()
        try Self.keepIdentity(of: store, in: environment, at: time)
        return true
    }

    private static let rebuildGap: UInt64 = 10 * 60 * 1_000

    /// Reopens the store. What a failed disk cannot read again is still cached in the open store,
    /// which is then kept for reading.
    private func reopenStore() throws(StorageError) {
        do throws(StorageError) { store = try openStore() } catch {
            guard writingStop != nil else { throw error }
        }
        // Closing it must not copy the log either.
        if writingStop != nil { store.connection.leaveLog() }
    }
}

/// A call that waits for an answer.
private struct OpenCall {
    let method: String
    /// Only for a call that may be repeated.
    let arguments: JSONObject
    /// When it came, on the monotonic clock.
    let at: UInt64
    /// Whether it may be asked once more where room was missing.
    let isReading: Bool

    init(_ method: String, _ arguments: JSONObject, at: UInt64) {
        self.method = method
        self.at = at
        isReading = Command.known(method)?.isAskedAgain(arguments) == true
        self.arguments = isReading ? arguments : JSONObject()
    }
}

/// Why a node could not start.
public enum StartError: Error, Sendable {
    /// node.db cannot be used.
    case store(StorageError)
    /// The identity file cannot be used.
    case identity(HomeFileError)
}
