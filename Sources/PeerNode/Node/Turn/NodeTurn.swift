import CRDTStore
import WorkspaceModel

/// One turn of the core: what it may use, and the only way to write, to answer and to notify.
///
/// All inputs of a turn share one transaction. `NodeHost` commits it, and only then carries out the
/// effects.
final class NodeTurn {
    let environment: NodeEnvironment
    let store: NodeStore
    /// Whose home this is.
    let session: OpenSession
    /// The clocks of the current turn.
    private(set) var time: TurnTime
    let startedAt: UInt64
    /// Why writing has stopped, if it has.
    private(set) var writingStop: WritingStop?
    /// A storage failure that a command met; it ends the turn.
    var failure: StorageError?
    /// Effects of the current input, in order.
    var effects: [NodeEffect] = []
    var wroteInInput = false
    /// A refusal that changes something: the last wrong passcode, which drops the keys.
    var hasWrittenOnPurpose = false
    var hasMoreToDo = false
    /// The id that the store got in this turn.
    var renewedStore: StoreID?
    /// The COMMIT that the guard file records.
    var guardedCounter: UInt64 = 0
    /// Which file it says is the store: the one that is open.
    var guardedFacts: StoreFileFacts?
    /// Whether everything derived from operations is being rebuilt, so that nothing is reported.
    var isBuilding = false
    /// What has happened since the start, in numbers.
    var tally = NodeTally()

    /// The turn in which a core is made.
    init(_ environment: NodeEnvironment, _ store: NodeStore, at time: TurnTime) {
        self.environment = environment
        self.store = store
        session = OpenSession(store.registry)
        self.time = time
        startedAt = time.monotonic
    }

    func begin(at time: TurnTime) {
        self.time = time
        hasMoreToDo = false
    }

    func beginInput() {
        wroteInInput = false
        hasWrittenOnPurpose = false
    }

    /// Adds an effect to carry out once the turn is on disk.
    func emit(_ effect: NodeEffect) { effects.append(effect) }

    func takeEffects() -> [NodeEffect] {
        let taken = effects
        effects = []
        return taken
    }

    // MARK: Writing

    /// Whether the store takes anything now.
    var mayWrite: Bool { writingStop == nil }

    func refuseWriting(because stop: WritingStop) { writingStop = stop }

    /// Begins the turn's transaction if need be. Every write of the core starts with this.
    func write() throws(StorageError) {
        if let writingStop { throw writingStop.error }
        try store.begin()
        wroteInInput = true
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

    // MARK: Telling

    /// Records an event, in the transaction of what it tells.
    ///
    /// - Parameters:
    ///   - workspace: its short number, `nil` for what is in none.
    ///   - document: the short number of the document, for what is in one.
    ///   - arrival: the operation that it tells of.
    ///   - extra: what else `Events` needs to say what happened.
    ///   - isBackfill: whether it comes from before this node was there.
    func record(
        _ type: EventType, workspace: Int64?, document: Int64? = nil, arrival: Int64? = nil,
        extra: [UInt8]? = nil, isBackfill: Bool = false
    ) throws(StorageError) {
        // What is rebuilt has happened before.
        guard !isBuilding else { return }
        try write()
        try store.events.append(
            type: type.rawValue, at: time.wall, workspace: workspace, document: document,
            arrival: arrival, extra: extra, isBackfill: isBackfill)
    }
}
