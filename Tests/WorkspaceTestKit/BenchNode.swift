public import CRDTStore
public import PeerNode
public import WorkspaceCrypto
public import WorkspaceModel

/// A node of a `CoreBench`: a `NodeHost` with a store in memory, and a simulated loop.
public final class BenchNode {
    /// Its name, which nobody but the test knows.
    public let name: String
    /// Under which others reach it.
    public let address: String
    /// The host part of `address`.
    public var hostAddress: String { String(address.prefix { $0 != ":" }) }
    /// Its home.
    public let files = BenchHome()
    /// Every random byte it uses.
    public let random: SeededRandom
    /// `nil` while its process does not run.
    public private(set) var host: NodeHost?
    /// The open store.
    public private(set) var connection: Connection?
    /// Lines of the log, oldest first.
    public private(set) var log: [String] = []
    /// Effects of the last turn that was made by `turn`.
    public private(set) var lastEffects: [NodeEffect] = []
    /// Notices it wanted to be shown, and not forgotten.
    public var notices: [Notice] = []
    /// Letters it had sent, and with what status the command for them ends; `nil` while it runs on, until
    /// `endMail`.
    public var letters: [Letter] = []
    /// See `letters`.
    public var mailStatus: Int32? = 0
    /// What its settings have send letters, from the next start on.
    public var mailCommand: String?
    /// Files with keys of providers, by their paths.
    public var keyFiles: [String: [UInt8]] = [:]
    /// The machine around it, from the next start on.
    public var surroundings: (any Surroundings)?
    /// Questions about tokens that it had looked at, and whether they wait until `endTokenChecks`.
    public var tokenQuestions: [[UInt8]] = []
    /// See `tokenQuestions`.
    public var holdsTokenChecks = false
    private var heldTokenChecks: [UInt64] = []
    /// Addresses it dialled.
    public private(set) var dialled: [String] = []
    /// Beacons it sent, and from which addresses.
    public private(set) var beacons: [(bytes: [UInt8], host: String)] = []
    /// How many these are.
    public var beaconCount: Int { beacons.count }
    /// Passphrases that it has turned into keys.
    public private(set) var derivationCount = 0
    /// Whether it asked that its home be wiped.
    public private(set) var wipesHome = false
    /// Whether it asked to be ended.
    public private(set) var hasStopped = false
    /// The newest of them.
    public var lastBeacon: [UInt8]? { beacons.last?.bytes }
    /// Whether it announces itself; read when it starts.
    public var announces = false
    /// Times that node.db was opened.
    public private(set) var openCount = 0
    /// What its settings say of notices, from the next start on.
    public var noticeDefaults = NoticeDefaults()
    /// Private documents of which it keeps in memory who may do what, from the next start on.
    public var privateJudgementsMax = Limits.privateJudgementsMax
    /// How far its wall clock is from the others', milliseconds.
    public var clockSkew: Int64 = 0

    /// Its search index, which outlives the process where the home has no passphrase.
    public var searchFiles = MemorySearchFiles()
    private lazy var worker = SearchWorker(searchFiles)
    /// Whether the jobs of its search wait until `doSearchJob`, as on a busy thread. Once it is off
    /// again, what waits has to be done first.
    public var holdsSearchJobs = false
    /// Jobs of its search that wait.
    public var heldSearchJobCount: Int { heldSearchJobs.count }
    private var heldSearchJobs: [SearchJob] = []
    /// Its blobs, and the files of its owner.
    public let blobs = MemoryBlobs()
    private(set) var isReachable = false
    private unowned let bench: CoreBench
    private var answers: [CallID: Result<JSONValue, NodeError>] = [:]
    private var nextCall: UInt64 = 1

    init(name: String, address: String, seed: UInt64, on bench: CoreBench) {
        self.name = name
        self.address = address
        self.bench = bench
        random = SeededRandom(seed: seed)
    }

    // MARK: Process

    /// What the node sees of the world.
    public var environment: NodeEnvironment {
        var environment = NodeEnvironment(
            random: random, files: files, home: "/bench/\(name)",
            socket: "/bench/\(name)/control.sock", announces: announces,
            passphraseCost: .init(passes: 1, memoryKiB: 8))
        environment.notices = noticeDefaults
        environment.mailCommand = mailCommand
        environment.surroundings = surroundings
        environment.privateJudgementsMax = privateJudgementsMax
        return environment
    }

    /// What its clocks show.
    public var time: TurnTime {
        TurnTime(
            wall: UInt64(Int64(bench.wall) + clockSkew), monotonic: bench.time.monotonic)
    }

    /// Starts the process, on the store as it is.
    public func boot() throws(StartError) {
        hasStopped = false
        heldSearchJobs = []
        worker = SearchWorker(searchFiles)
        blobs.crash()
        lastTurn = nil
        host = try NodeHost(
            environment: environment, at: time,
            openStore: { [unowned self] () throws(StorageError) in try self.openStore() },
            rebuildStore: { [unowned self] () throws(StorageError) in try self.rebuildStore() })
        isReachable = host?.wantsNetwork == true
        bench.give(.listening(isReachable ? [address] : []), to: self)
        bench.give(.beaconSources([hostAddress]), to: self)
        bench.settle()
    }

    /// Ends the process without a word to anybody. What was not committed is gone.
    public func kill() {
        connection?.rollback()
        host = nil
        isReachable = false
        bench.closeAll(of: self)
        bench.settle()
    }

    /// Ends the process and starts it again.
    public func restart() throws {
        kill()
        try boot()
    }

    /// What the home keeps beside the store, to find its tables when that is damaged.
    private var schema: StoreSchema?

    /// The store as of the last COMMIT, as bytes.
    public var image: [UInt8] {
        get throws(StorageError) {
            if let placed { return placed }
            return try connection?.serialized() ?? []
        }
    }

    /// A store that was put in the place of the last one, and not opened yet.
    private var placed: [UInt8]?

    /// Puts another store in the place of this one; the process must not run.
    public func replaceStore(_ image: [UInt8]) throws {
        connection = nil
        placed = image
    }

    /// Plants a failure in the open store.
    package func plant(
        _ fault: Fault.Place, _ kind: StorageError.Kind, losesTransaction: Bool = false
    ) {
        connection?.inject(
            Fault(fault, StorageError(kind, "planted"), losesTransaction: losesTransaction))
    }

    /// Whether the disk cannot be read any more, but for what is open.
    public var cannotReopen = false

    /// How this store, and each that is opened after it, refuses to begin a transaction.
    public var refusesBegin: StorageError.Kind? { didSet { plantRefusal() } }

    private func plantRefusal() {
        if let refusesBegin { plant(.begin, refusesBegin) }
    }

    /// Whether the disk fails where a check copies the store to.
    public var cannotCopy = false

    /// Times that the store was rebuilt.
    public private(set) var rebuildCount = 0

    /// What could not be read then.
    public private(set) var lastLoss = StoreSalvage.Loss()

    /// Puts what can be read of the store in its place.
    public func rebuildStore() throws(StorageError) {
        rebuildCount += 1
        let fresh = try Connection(image: EmptyStore.image)
        var bytes = try image
        if let schema { bytes = try schema.mended(bytes) }
        let damaged = try Connection(image: bytes, isDamaged: true)
        lastLoss = try StoreSalvage.copy(damaged, into: fresh)
        (connection, placed) = (fresh, nil)
    }

    /// Opens what the last open store held.
    public func openStore() throws(StorageError) -> NodeStore {
        openCount += 1
        if cannotReopen { throw StorageError(.ioFailure, "planted", statement: "open") }
        let last = try image
        let fresh = try Connection(image: last.isEmpty ? EmptyStore.image : last)
        (connection, placed) = (fresh, nil)
        let store = try NodeStore(fresh)
        schema = try StoreSchema(of: fresh)
        plantRefusal()
        return store
    }

    // MARK: Turns

    /// The time of the last turn of this process.
    private var lastTurn: TurnTime?

    /// Whether a turn for this input would do nothing, which is noted.
    func notes(_ input: NodeInput) -> Bool {
        host?.notes([input], at: time, after: lastTurn) ?? false
    }

    /// One turn, whose effects are carried out; what they cause in others waits for `settle`.
    @discardableResult
    public func turn(_ inputs: [NodeInput]) -> [NodeEffect] {
        guard let host else { return [] }
        lastTurn = time
        var effects = host.turn(inputs, at: time)
        var rounds = 0
        while host.hasMoreToDo, rounds < 1_000 {
            effects += host.turn([], at: time)
            rounds += 1
        }
        lastEffects = effects
        effects.forEach(perform)
        return effects
    }

    /// Carries out effects that a test got from the core itself.
    public func carryOut(_ effects: [NodeEffect]) {
        effects.forEach(perform)
        bench.settle()
    }

    /// Ends the command for a letter.
    public func endMail(_ letter: Letter, status: Int32?) {
        bench.give(.mailed(letter.number, status: status), to: self)
        bench.settle()
    }

    /// Ends the checks of tokens that wait, without an answer.
    public func endTokenChecks() {
        for number in heldTokenChecks { bench.give(.tokenChecked(number, nil), to: self) }
        heldTokenChecks = []
        bench.settle()
    }

    /// Does the first job of its search that waits, and everything that follows.
    ///
    /// - Returns: whether there was one.
    @discardableResult
    public func doSearchJob() -> Bool {
        guard !heldSearchJobs.isEmpty else { return false }
        bench.give(.searched(worker.run(heldSearchJobs.removeFirst())), to: self)
        bench.settle()
        return true
    }

    private func perform(_ effect: NodeEffect) {
        switch effect {
        case .answer(let call, let result): answers[call] = result
        case .putOff(let input): bench.give(input, to: self)
        case .job(let call, _):
            answers[call] = .failure(
                NodeError(.unsupported, "the bench has no threads", hint: nil, reason: "bench"))
        case .deriveKeys(let call, let job):
            derivationCount += 1
            bench.give(job.run(for: call), to: self)
        case .inspect(let call, let job):
            bench.give(
                job.run(
                    for: call,
                    in: .init(
                        live: { [self] () throws(StorageError) in
                            if cannotReopen { throw StorageError(.ioFailure, "planted") }
                            return try Connection(image: image)
                        },
                        copy: { [self] (live) throws(StorageError) in
                            if cannotCopy { throw StorageError(.ioFailure, "planted") }
                            return live
                        },
                        fresh: { () throws(StorageError) in try Connection(image: EmptyStore.image)
                        },
                        random: SeededRandom(seed: 1))), to: self)
        case .search(let job):
            guard holdsSearchJobs else { return bench.give(.searched(worker.run(job)), to: self) }
            heldSearchJobs.append(job)
        case .blob(let job):
            blobs.take(job)
            while blobs.hasWork { for input in blobs.step() { bench.give(input, to: self) } }
        case .notify(let notice): notices.append(notice)
        case .lookAtMeter: break
        case .mail(let letter):
            letters.append(letter)
            if let mailStatus { bench.give(.mailed(letter.number, status: mailStatus), to: self) }
        case .checkToken(let number, let question):
            tokenQuestions.append(question)
            guard !holdsTokenChecks else { return heldTokenChecks.append(number) }
            let verdict = TokenChild.answer(to: question) { [keyFiles] in keyFiles[$0] }
            bench.give(.tokenChecked(number, verdict), to: self)
        case .forgetNotices:
            notices = []
            for number in heldTokenChecks { bench.give(.tokenChecked(number, nil), to: self) }
            heldTokenChecks = []
        case .wipeHome: wipesHome = true
        case .write(let link, let bytes):
            bench.carry(bytes, on: link)
            bench.give(.unsent(link, byteCount: 0), to: self)
        case .close(let link): bench.close(link)
        case .dial(let number, let address):
            dialled.append(address)
            bench.dial(number, address, from: self)
        case .setNetwork(let isOn):
            isReachable = isOn
            bench.give(.listening(isOn ? [address] : []), to: self)
        case .announce(let bytes, let host):
            beacons.append((bytes, host))
        case .log(_, let line): log.append(line)
        case .stop, .fail: hasStopped = true
        }
    }

    // MARK: Calls

    /// Begins a call; `answer(to:)` tells when it is over.
    public func begin(
        _ method: String, _ parameters: JSONValue = [:], on connection: UInt64 = 1
    ) -> CallID {
        bench.look(at: self)
        let call = CallID(connection: connection, number: nextCall)
        nextCall += 1
        bench.give(
            .call(
                call, method: method, arguments: parameters.objectValue ?? JSONObject()),
            to: self)
        bench.settle()
        return call
    }

    /// The answer, once there is one.
    public func answer(to call: CallID) -> Result<JSONValue, NodeError>? { answers[call] }

    /// A whole call. Time passes, up to 11 minutes, until there is an answer.
    public func call(
        _ method: String, _ parameters: JSONValue = [:], on connection: UInt64 = 1
    ) -> Result<JSONValue, NodeError> {
        let call = begin(method, parameters, on: connection)
        var waited = 0
        while answers[call] == nil, waited < 660 {
            bench.advance(1_000)
            waited += 1
        }
        return answers[call] ?? .failure(.internalFailure(reason: "bench.no_answer"))
    }

    /// The answer of a call that must succeed.
    @discardableResult
    public func ok(
        _ method: String, _ parameters: JSONValue = [:], on connection: UInt64 = 1
    ) throws(NodeError) -> JSONValue {
        try call(method, parameters, on: connection).get()
    }

    /// The failure of a call that must fail.
    public func refused(
        _ method: String, _ parameters: JSONValue = [:], on connection: UInt64 = 1
    ) throws -> NodeError {
        switch call(method, parameters, on: connection) {
        case .success(let value): throw UnexpectedAnswer(method: method, value: value)
        case .failure(let error): return error
        }
    }
}

/// A call succeeded that should have been refused.
public struct UnexpectedAnswer: Error, CustomStringConvertible {
    /// Which one.
    public let method: String
    /// What it answered.
    public let value: JSONValue

    /// Both, for the report of a test.
    public var description: String { "\(method) answered \(value.text)" }
}

/// The small files of a home in memory, and the facts about its disk.
public final class BenchHome: HomeFiles {
    /// `identity/device.key`.
    public var identity: [UInt8]?
    /// Thrown when the identity is read or written.
    public var identityFailure: HomeFileError?
    /// The guard file.
    public var guardBytes: [UInt8]?
    /// Which file node.db is.
    public var storeFacts = StoreFileFacts(
        machine: 1, device: 2, inode: 3, birthNanoseconds: 4)
    /// Free bytes on the disk.
    public var freeBytes: Int64 = 1 << 40
    /// All bytes of the disk.
    public var diskBytes: Int64 = 1 << 41
    /// Bytes of node.db.
    public var storeBytes: Int64 = 4_096
    /// Times that an identity was written.
    public private(set) var identityWriteCount = 0

    /// An empty home.
    public init() {}

    /// The identity, or the planted failure.
    public func readIdentity() throws(HomeFileError) -> [UInt8]? {
        if let identityFailure { throw identityFailure }
        return identity
    }

    /// Takes the identity; never a second one.
    public func createIdentity(_ bytes: [UInt8]) throws(HomeFileError) {
        if let identityFailure { throw identityFailure }
        guard identity == nil else { throw HomeFileError("there is an identity already") }
        identityWriteCount += 1
        identity = bytes
    }

    /// Replaces the identity, or throws the planted failure.
    public func replaceIdentity(_ bytes: [UInt8]) throws(HomeFileError) {
        if let identityFailure { throw identityFailure }
        identityWriteCount += 1
        identity = bytes
    }

    /// The guard file.
    public func read() -> [UInt8]? { guardBytes }

    /// Writes one of the two slots of 64 bytes.
    public func write(slot: Int, bytes: [UInt8]) {
        var whole = guardBytes ?? [UInt8](repeating: 0, count: RestoreGuard.byteCount)
        let start = slot * RestoreGuard.slotByteCount
        whole.replaceSubrange(start..<start + bytes.count, with: bytes)
        guardBytes = whole
    }
}
