public import CRDTStore
public import PeerNode
import WorkspaceCrypto
public import WorkspaceModel

/// One home in the simulation: the real host, core and store, started, crashed and restarted.
public final class SimulatedNode: SimulatedHost {
    private unowned let world: SimulatedWorld
    /// Its place in `SimulatedWorld.nodes`.
    public let index: Int
    /// The files besides node.db.
    public let home: SimulatedHome
    private let random: SeededRandom
    /// The store that is open, or was when the node crashed.
    public private(set) var store: NodeStore?
    /// The node, `nil` while it is down.
    public private(set) var host: NodeHost?
    /// The wall clock minus the world's, in milliseconds.
    public var clockSkew: Int64

    private var image: [UInt8] = []
    private var worker = SearchWorker(NoSearchFiles())
    /// Its blobs, and the files of its owner.
    public let blobs = MemoryBlobs()
    /// What its settings say of files, from the next start on.
    public var fileDefaults = FileDefaults()
    /// What its machine says of the network; `nil` for nothing.
    public var isMetered: Bool?
    private var isWorkerAwake = false
    private var inputs: [NodeInput] = []
    private var isTurnScheduled = false
    private var alarm: UInt64 = 0
    private var ends: [UInt64: SimulatedEnd] = [:]
    private var dials: Set<UInt64> = []
    private var isNetworkOn = false
    private var lastCall: UInt64 = 0
    private var lastTurn: TurnTime?
    private var commitsOfFormerStores = 0

    /// Answers that were given, by the number of the call.
    public private(set) var answers: [UInt64: Result<JSONValue, NodeError>] = [:]
    /// Calls that wait for an answer.
    public private(set) var openCalls: Set<UInt64> = []
    /// Lines of the log.
    public private(set) var log: [String] = []
    /// How often the node was started.
    public private(set) var startCount = 0
    /// The node crashes after so many COMMITs more, before anybody hears of the last one.
    public var commitsUntilCrash: Int?
    /// Whether the process is stopped, as by SIGSTOP: what comes in waits for it, and so do its
    /// timers, while everybody's clocks go on.
    public var isStopped = false {
        didSet { if oldValue, !isStopped { give(.tick) } }
    }
    /// Called with every store that is opened, to plant faults.
    public var storeOpened: ((NodeStore) -> Void)?
    /// Whether the process ended because it wanted to.
    public private(set) var hasStopped = false

    /// - Parameter machine: what lies on its disk, `nil` for nothing.
    init(
        _ world: SimulatedWorld, index: Int, clockSkew: Int64, from machine: Snapshot? = nil
    ) {
        home = SimulatedHome(copying: machine?.home)
        image = machine?.image ?? []
        self.world = world
        self.index = index
        self.clockSkew = clockSkew
        random = SeededRandom(seed: world.seed &* 1_000 &+ UInt64(index))
    }

    /// Where the node listens.
    public var address: String { "\(hostAddress):29790" }
    /// The host part of `address`.
    public var hostAddress: String { "10.0.0.\(index + 1)" }
    /// Whether the process runs and its network is on.
    public var isListening: Bool { host != nil && isNetworkOn }
    /// Whether the process runs.
    public var isRunning: Bool { host != nil }
    /// COMMITs of all its stores.
    public var commitCount: Int {
        commitsOfFormerStores + (store?.connection.commitCount ?? 0)
    }

    private var time: TurnTime {
        let wall = Int64(SimulatedWorld.epoch + world.now) + clockSkew
        return TurnTime(wall: UInt64(max(wall, 0)), monotonic: world.now)
    }

    // MARK: Life

    /// Starts the process on what the last COMMIT left.
    public func start() {
        guard host == nil else { return }
        startCount += 1
        hasStopped = false
        worker = SearchWorker(NoSearchFiles())
        blobs.crash()
        isWorkerAwake = false
        lastTurn = nil
        var environment = NodeEnvironment(
            random: random, files: home, home: "/home/\(index)", socket: "/home/\(index)/s",
            announces: world.options.announces,
            passphraseCost: .init(passes: 1, memoryKiB: 8))
        environment.fileDefaults = fileDefaults
        environment.privateJudgementsMax = world.options.privateJudgementsMax
        do throws(StartError) {
            host = try NodeHost(
                environment: environment, at: time,
                openStore: { [self] () throws(StorageError) in try openStore() },
                rebuildStore: { [self] () throws(StorageError) in try rebuildStore() })
        } catch {
            world.fail("node \(index) did not start: \(error)")
            return
        }
        isNetworkOn = host?.wantsNetwork == true
        give(.listening(isNetworkOn ? [address] : []))
        give(.beaconSources([hostAddress]))
        setAlarm()
    }

    /// Lets go of the process, which holds what opens its store.
    func end() {
        (host, store, storeOpened) = (nil, nil, nil)
        (ends, inputs, image) = ([:], [], [])
    }

    private func openStore() throws(StorageError) -> NodeStore {
        if let store {
            commitsOfFormerStores += store.connection.commitCount
            store.connection.rollback()
            image = try store.connection.serialized()
        }
        let opened = try NodeStore(Connection(image: image))
        store = opened
        storeOpened?(opened)
        return opened
    }

    private func rebuildStore() throws(StorageError) {
        if let store {
            commitsOfFormerStores += store.connection.commitCount
            store.connection.rollback()
            image = try store.connection.serialized()
        }
        store = nil
        let fresh = try Connection()
        _ = try StoreSalvage.copy(try Connection(image: image, isDamaged: true), into: fresh)
        image = try fresh.serialized()
    }

    /// The process is gone in the middle of whatever it did.
    ///
    /// - Parameter isSilent: nobody hears of it, as when the power goes.
    public func crash(isSilent: Bool = false, losesGuard: Bool = false) {
        guard host != nil else { return }
        host = nil
        inputs = []
        isNetworkOn = false
        openCalls = []
        dials = []
        commitsUntilCrash = nil
        if losesGuard { home.loseLastGuardWrite() }
        let open = ends.keys.sorted()
        ends = [:]
        if !open.isEmpty { world.network.vanish(self, isSilent: isSilent) }
    }

    /// Plants a failure in the open store; it is gone with the process.
    package func plant(
        _ place: Fault.Place, _ kind: StorageError.Kind, losesTransaction: Bool = false
    ) {
        store?.connection.inject(
            Fault(place, StorageError(kind, "planted"), losesTransaction: losesTransaction))
    }

    /// A whole machine at one moment: the store as of the last COMMIT, and the other files.
    public struct Snapshot {
        let image: [UInt8]
        let home: SimulatedHome
    }

    /// What a backup of the whole machine would hold now.
    public func snapshot() -> Snapshot {
        Snapshot(
            image: (try? store?.connection.serialized()) ?? image,
            home: SimulatedHome(copying: home))
    }

    /// Ends the process and puts the machine back to an earlier moment, guard file and all.
    /// `start` goes on from there; nothing on the machine can tell.
    public func putBack(to snapshot: Snapshot) {
        crash()
        commitsOfFormerStores += store?.connection.commitCount ?? 0
        store = nil
        image = snapshot.image
        home.become(snapshot.home)
    }

    // MARK: Calls

    /// Gives a call as from the control socket.
    ///
    /// - Returns: its number in `answers`, `nil` while the node is down.
    @discardableResult
    public func call(
        _ method: String, _ arguments: JSONValue = [:], file: [UInt8]? = nil
    ) -> UInt64? {
        guard host != nil, let arguments = arguments.objectValue else { return nil }
        lastCall += 1
        openCalls.insert(lastCall)
        give(
            .call(
                CallID(connection: UInt64(startCount), number: lastCall), method: method,
                arguments: arguments, file: file))
        return lastCall
    }

    /// The value that a call was answered with.
    public func value(_ call: UInt64?) -> JSONValue? {
        guard let call, case .success(let value)? = answers[call] else { return nil }
        return value
    }

    /// Calls and lets the world run until the answer is there.
    ///
    /// - Returns: the value; `nil` after a failure, which is then in `answers`, or `limit`.
    public func ask(
        _ method: String, _ arguments: JSONValue = [:], within limit: UInt64 = 60_000
    ) -> JSONValue? {
        guard let call = call(method, arguments) else { return nil }
        world.run(within: limit) { answers[call] != nil }
        return value(call)
    }

    // MARK: Inputs

    func give(_ input: NodeInput) {
        guard host != nil else { return }
        inputs.append(input)
        guard !isTurnScheduled else { return }
        isTurnScheduled = true
        world.schedule(after: world.drawTurnDelay()) { [self] in
            isTurnScheduled = false
            turn()
        }
    }

    /// Becomes an input of the next turn.
    public func accepted(_ end: SimulatedEnd, from address: String) {
        ends[end.number] = end
        give(.accepted(LinkID(end.number), address: address))
    }

    /// Becomes an input of the next turn, unless the dial was given up.
    public func dialled(_ end: SimulatedEnd, number: UInt64, address: String) {
        guard dials.remove(number) != nil else { return end.close() }
        ends[end.number] = end
        give(.dialled(LinkID(end.number), number: number, address: address))
    }

    /// Becomes an input of the next turn, unless the dial was given up.
    public func dialFailed(number: UInt64, reason: String) {
        guard dials.remove(number) != nil else { return }
        give(.dialFailed(number: number, reason: reason))
    }

    /// Becomes an input of the next turn.
    public func received(_ bytes: [UInt8], on end: SimulatedEnd) {
        guard ends[end.number] != nil else { return }
        give(.received(LinkID(end.number), bytes))
    }

    /// Becomes an input of the next turn.
    public func unsent(_ byteCount: Int, on end: SimulatedEnd) {
        guard ends[end.number] != nil else { return }
        give(.unsent(LinkID(end.number), byteCount: byteCount))
    }

    /// Becomes an input of the next turn.
    public func closed(_ end: SimulatedEnd) {
        guard ends.removeValue(forKey: end.number) != nil else { return }
        give(.linkClosed(LinkID(end.number)))
    }

    func heard(_ bytes: [UInt8], from host: String) {
        guard isListening else { return }
        give(.beacon(bytes, host: host))
    }

    // MARK: Turns

    private func turn() {
        guard let host, !isStopped else { return }
        let taken = inputs
        inputs = []
        guard !host.notes(taken, at: time, after: lastTurn) else {
            setAlarm()
            world.onTurn?(self)
            return
        }
        let before = commitCount
        lastTurn = time
        let effects = host.turn(taken, at: time)
        if let left = commitsUntilCrash {
            let made = commitCount - before
            commitsUntilCrash = left - made
            if left <= made { return crash(isSilent: false) }
        }
        for effect in effects {
            world.noted(effect, by: self)
            perform(effect)
        }
        setAlarm()
        world.onTurn?(self)
    }

    private func setAlarm() {
        guard let host else { return }
        alarm += 1
        let mine = alarm
        var due = host.hasMoreToDo ? world.now : UInt64.max
        if let deadline = host.nextDeadline { due = min(due, max(deadline, world.now + 5)) }
        guard due < .max else { return }
        world.schedule(at: due) { [self] in if alarm == mine { give(.tick) } }
    }

    private func inspect(_ call: CallID, _ job: InspectionJob) {
        let places = InspectionJob.Places(
            live: { [self] () throws(StorageError) in
                try Connection(image: store?.connection.serialized() ?? [])
            },
            copy: { (live) throws(StorageError) in live },
            fresh: { () throws(StorageError) in try Connection(image: EmptyStore.image) },
            random: SeededRandom(seed: 1))
        let start = startCount
        let input = job.run(for: call, in: places)
        world.schedule(after: 200) { [self] in if startCount == start { give(input) } }
    }

    /// What it is done with is as of now, and its answer comes a moment later.
    private func run(_ job: NodeJob, for call: CallID) {
        let start = startCount
        let result = BackupFolder().run(job, on: snapshot())
        world.schedule(after: 200) { [self] in
            guard startCount == start, host != nil else { return }
            openCalls.remove(call.number)
            answers[call.number] = result
            guard case .success = result, case .createBackup(_, let at) = job else { return }
            give(.backedUp(at: at))
        }
    }

    private func perform(_ effect: NodeEffect) {
        switch effect {
        case .answer(let call, let result):
            guard openCalls.remove(call.number) != nil else {
                return world.fail("node \(index) answered call \(call.number) twice")
            }
            answers[call.number] = result
        case .putOff(let input): give(input)
        case .job(let call, let job): run(job, for: call)
        case .deriveKeys(let call, let job):
            let start = startCount
            let input = job.run(for: call)
            world.schedule(after: 200) { [self] in if startCount == start { give(input) } }
        case .inspect(let call, let job): inspect(call, job)
        case .search(let job): search(job)
        case .blob(let job):
            blobs.take(job)
            wakeWorker()
        case .lookAtMeter: give(.metered(isMetered))
        case .wipeHome, .notify, .forgetNotices: break
        case .mail(let letter):
            let start = startCount
            world.schedule(after: 1_000) { [self] in
                if startCount == start { give(.mailed(letter.number, status: 0)) }
            }
        case .checkToken(let number, _): give(.tokenChecked(number, nil))
        case .write(let link, let bytes): ends[link.number]?.write(bytes)
        case .close(let link): ends.removeValue(forKey: link.number)?.close()
        case .dial(let number, let address):
            dials.insert(number)
            world.network.dial(from: self, number: number, to: address)
        case .setNetwork(let isOn): setNetwork(isOn)
        case .announce(let bytes, _): world.network.announce(bytes, from: self)
        case .log(let level, let text): note(level, text)
        case .stop, .fail:
            hasStopped = true
            crash()
        }
    }

    /// What came of it is an input of the next turn, for which no dice are rolled: a world goes
    /// the same way with and without search.
    private func search(_ job: SearchJob) {
        let start = startCount
        let input = NodeInput.searched(worker.run(job))
        world.schedule(after: 1) { [self] in
            guard startCount == start, host != nil else { return }
            inputs.append(input)
            if !isTurnScheduled { turn() }
        }
    }

    /// Tells that the addresses of the machine have changed.
    public func changeNetwork() { give(.networkChanged) }

    /// Has the blob worker go on with a file, as a connection does that has room or bytes.
    public func pass(_ bytes: [UInt8], for task: TaskID) {
        blobs.take(.goOn(task, bytes))
        wakeWorker()
    }

    /// The same for what the blob worker does, a step at a time.
    private func wakeWorker() {
        guard !isWorkerAwake else { return }
        isWorkerAwake = true
        let start = startCount
        world.schedule(after: 1) { [self] in
            guard startCount == start, host != nil else { return }
            isWorkerAwake = false
            let outcomes = blobs.step()
            if blobs.hasWork { wakeWorker() }
            guard !outcomes.isEmpty else { return }
            inputs += outcomes
            if !isTurnScheduled { turn() }
        }
    }

    private func note(_ level: LogLevel, _ text: String) {
        log.append(text)
        if level == .error, !world.options.expectsErrors {
            world.fail("node \(index) logged an error: \(text)")
        }
    }

    private func setNetwork(_ isOn: Bool) {
        guard isOn != isNetworkOn else { return }
        isNetworkOn = isOn
        give(.listening(isOn ? [address] : []))
        guard !isOn else { return }
        for number in dials.sorted() { dialFailed(number: number, reason: "suspended") }
    }
}
