private import CRDTStore
private import WorkspaceCrypto
public import WorkspaceModel

/// The loop of a real node: it waits, passes inputs to a `TurnHost`, and carries out the returned
/// effects, after the COMMIT.
///
/// ```
/// wait     sockets, the clock, finished jobs, signals
/// gather   calls of clients first, then the network, then at most a turn's worth of peers' bytes
/// turn     the host handles all of it and commits once
/// perform  answers, bytes, dials; then events for subscribers; then every socket is flushed
/// ```
///
/// - Not thread-safe: one thread makes it and runs it.
public final class NodeLoop {
    /// How a node is run.
    public struct Options: Sendable {
        /// Where to listen, `nil` for where it did last.
        public var listen: ListenAddress?
        /// Whether beacons are sent and heard.
        public var announces = true
        /// The program that checks tokens, an absolute path; `nil` for the one that runs.
        public var program: String?

        /// Listening where it did last, with beacons.
        public init() {}
    }

    /// How long clients and peers get to take what was written to them before the end.
    private static let partingMilliseconds: UInt64 = 1_000
    /// Between two ticks of the host, should it ask for one in the past again and again.
    private static let tickPauseMilliseconds: UInt64 = 5

    /// `nil` after the end, when its store is closed.
    private var host: (any TurnHost)?
    private let log: NodeLog
    private let driver: NodeDriver
    private let control: ControlClients
    private let links: PeerLinks
    private let network: PeerNetwork
    private let jobs: NodeJobs
    private let search: SearchThread
    private let blobs: BlobThread
    private let notices: ChildRunner
    private let mails: ChildRunner
    private let meter: MeteredNetworkMonitor
    private let tokens: TokenRunner
    private var budget = TurnBudget()
    private var checkpoints = CheckpointSchedule()
    private var memory = RestingMemory()
    private var lastTick: UInt64 = 0
    private var isStopping = false
    /// Whether the host has failed for the rest of the run.
    private(set) var hasFailed = false
    /// Inputs that the last turn's effects came back as.
    private var pending: [NodeInput] = []
    /// Whether the files of the home are to go when the store is closed.
    public private(set) var wipesHome = false

    /// Opens the sockets of `home`, whose folders are made and whose lock is held. From then on
    /// clients connect; they are served by `run`.
    ///
    /// Call `Signals.prepareProcess` before, since this starts threads.
    ///
    /// - Throws: `bad_configuration` for an address or a path that cannot be listened on.
    public init(
        host: any TurnHost, home: HomeFolder, options: Options, log: NodeLog
    ) throws(NodeError) {
        self.host = host
        self.log = log
        do throws(SystemError) { driver = try NodeDriver() } catch {
            throw .badConfiguration("cannot start the loop: \(error)")
        }
        let buffer = ReadBuffer()
        jobs = NodeJobs(home: home, wakeup: driver.wakeup)
        search = SearchThread(home: home, wakeup: driver.wakeup)
        blobs = BlobThread(home: home, wakeup: driver.wakeup)
        notices = ChildRunner(driver: driver)
        mails = ChildRunner(driver: driver, waitingMax: Limits.mailsWaitingMax)
        meter = MeteredNetworkMonitor(driver: driver)
        tokens = TokenRunner(driver: driver, program: options.program ?? TokenChild.program)
        links = PeerLinks(driver: driver, buffer: buffer)
        network = PeerNetwork(
            home: home, given: options.listen, announces: options.announces,
            seed: SystemRandom().number(), driver: driver, buffer: buffer, log: log)
        do throws(SystemError) { if host.wantsNetwork { try network.turnOn() } } catch {
            throw .badConfiguration(
                "cannot listen for peers: \(error)",
                hint: error.isAddressTaken ? "give another port with --listen" : nil)
        }
        control = try ControlClients(home: home, driver: driver, buffer: buffer, log: log)
    }

    /// Where peers connect, `nil` while the network is off.
    public var listenAddress: SocketAddress? { network.boundAddress }

    /// How many control clients are connected.
    public var clientCount: Int { control.count }

    /// Bytes of answers and events that clients have not taken.
    var unsentControlBytes: Int { control.unsentByteCount }

    /// How many links to peers are open.
    public var linkCount: Int { links.count }

    /// Runs until the node is told to stop, by a signal or by its host.
    ///
    /// Afterwards clients are still connected, but nothing more is read from them: `end` removes
    /// the socket's file when the store is closed.
    ///
    /// - Parameter willPart: called when it is to end, before the last answers leave.
    /// - Throws: `SystemError` when the kernel refuses to wait, which nothing can be done about.
    public func run(willPart: () -> Void = {}) throws(SystemError) {
        while try step() {}
        willPart()
        try part()
    }

    /// Waits for something to do and does one turn.
    ///
    /// - Returns: whether there is a next one.
    public func step() throws(SystemError) -> Bool {
        guard let host else { return false }
        let due = host.nextDeadline
        setAlarm(hostDue: due)
        let turn = try driver.gather(hasMoreToDo: hasMoreToDo || host.hasMoreToDo)
        for request in turn.requests { obey(request) }
        let finished = jobs.takeFinished()
        for (call, result) in finished.answers { control.answer(call, result) }
        let files = blobs.takeFinished()
        let inputs =
            pending + finished.inputs + search.takeFinished() + files.inputs
            + gatherInputs(turn, host, due: due)
        pending = []
        if !inputs.isEmpty {
            let time = TurnTime(wall: WallClock.milliseconds(), monotonic: turn.now)
            let effects = host.turn(inputs, at: time)
            budget.didRun(
                received: links.receivedByteCount,
                milliseconds: MonotonicClock.milliseconds() - turn.now)
            for effect in effects { perform(effect, now: turn.now) }
            if checkpoints.didTurn(logByteCount: host.logByteCount, now: turn.now) {
                host.checkpoint(.passive)
            }
        } else if checkpoints.takeQuiet(now: turn.now) {
            host.checkpoint(.truncate)
            memory.giveBack()
        }
        // Also under load: what was erased leaves the disk soon, whatever else is written.
        if host.mustEmptyLog { checkpoints.mustEmpty(now: turn.now) }
        if checkpoints.takeErasure(now: turn.now), !host.emptyLog() {
            checkpoints.mustEmpty(now: turn.now)
        }
        control.take(files.portions)
        control.deliverEvents(of: host, now: turn.now)
        control.settle(now: turn.now)
        for job in control.takeFileJobs() { blobs.begin(job) }
        links.flush(now: turn.now) {
            host.moreToSend(on: $0, unsent: $1, at: turn.now)
        } isNoted: {
            host.noteAllSent(on: $0, at: turn.now)
        }
        host.didPerform(at: MonotonicClock.milliseconds())
        return !isStopping
    }

    private func obey(_ request: Signals.Request) {
        switch request {
        case .stop:
            log.write(.info, "node.stopping by=signal")
            pending.append(.stopping)
            isStopping = true
        case .reopenLog: log.reopen()
        }
    }

    // MARK: Before the turn

    private var hasMoreToDo: Bool {
        !pending.isEmpty || control.hasInputs || control.hasMoreEvents || links.hasInputs
            || network.hasInputs || notices.hasInputs || mails.hasInputs || meter.hasInputs
            || tokens.hasInputs
    }

    private func setAlarm(hostDue: UInt64?) {
        let tick = hostDue.map { max($0, lastTick + Self.tickPauseMilliseconds) }
        var first = Earliest(
            tick, control.nextDeadline, links.nextDeadline, network.nextDeadline)
        first.take(checkpoints.quietDeadline)
        first.take(checkpoints.erasureDeadline)
        first.take(notices.nextDeadline)
        first.take(mails.nextDeadline)
        first.take(meter.nextDeadline)
        first.take(tokens.nextDeadline)
        if let next = first.moment {
            driver.timers.set(.next, deadline: next)
        } else {
            driver.timers.cancel(.next)
        }
    }

    /// Calls first: whatever peers send, a person's command is in the next turn.
    private func gatherInputs(
        _ turn: NodeDriver.Turn, _ host: any TurnHost, due: UInt64?
    ) -> [NodeInput] {
        control.passTime(now: turn.now)
        links.passTime(now: turn.now)
        notices.passTime(now: turn.now)
        mails.passTime(now: turn.now)
        meter.passTime(now: turn.now)
        tokens.passTime(now: turn.now)
        for job in turn.jobs { links.resolved(job, now: turn.now) }
        for ready in turn.ready {
            if control.handle(ready, now: turn.now) { continue }
            if network.handle(ready) { continue }
            if notices.handle(ready, now: turn.now) || meter.handle(ready) { continue }
            if mails.handle(ready, now: turn.now) || tokens.handle(ready, now: turn.now) {
                continue
            }
            _ = links.handle(ready, now: turn.now)
        }
        if let hosts = network.takeChange() { links.networkChanged(to: hosts) }
        links.readAll(byteCountMax: budget.byteCount, but: host.busyLinks, now: turn.now)
        network.acceptWaiting(links, now: turn.now)
        var inputs = control.takeInputs() + network.takeInputs() + links.takeInputs()
        inputs += notices.takeInputs() + mails.takeInputs() + meter.takeInputs()
        inputs += tokens.takeInputs()
        let isDue = due.map { $0 <= turn.now } ?? false
        let mayTick = turn.now >= lastTick + Self.tickPauseMilliseconds
        if host.hasMoreToDo || (isDue && mayTick) {
            lastTick = turn.now
            inputs.append(.tick)
        }
        return inputs
    }

    // MARK: After the turn

    /// Carries out what the host wanted before there was a loop.
    func carryOut(_ effects: [NodeEffect]) {
        let now = MonotonicClock.milliseconds()
        for effect in effects { perform(effect, now: now) }
    }

    private func perform(_ effect: NodeEffect, now: UInt64) {
        switch effect {
        case .answer(let call, let result): control.answer(call, result)
        case .putOff(let input): control.putOff(input)
        case .job(let call, let job):
            if let result = jobs.begin(call, job) { control.answer(call, result) }
        case .deriveKeys(let call, let job):
            if let input = jobs.begin(call, job) { pending.append(input) }
        case .inspect(let call, let job):
            if let input = jobs.begin(call, job) { pending.append(input) }
        case .search(let job): search.begin(job).map { pending.append($0) }
        case .blob(let job):
            control.note(job)
            blobs.begin(job)
        case .notify(let notice): notices.show(notice, now: now)
        case .mail(let letter): mails.send(letter, now: now)
        case .lookAtMeter: meter.look(now: now)
        case .checkToken(let number, let question):
            tokens.check(number, question, now: now)
        case .forgetNotices:
            notices.forgetWaiting()
            tokens.forget()
        case .wipeHome: wipesHome = true
        case .write(let link, let bytes): links.write(link, bytes, now: now)
        case .close(let link): links.close(link, now: now)
        case .dial(let number, let address):
            links.dial(number: number, address: address, now: now)
        case .setNetwork(let isOn): setNetwork(isOn: isOn)
        case .announce(let bytes, let host): network.announce(bytes, from: host)
        case .log(let level, let text): log.write(level, text)
        case .stop: isStopping = true
        case .fail:
            hasFailed = true
            isStopping = true
        }
    }

    private func setNetwork(isOn: Bool) {
        guard isOn else {
            network.turnOff()
            links.dropDials()
            return
        }
        do throws(SystemError) { try network.turnOn() } catch {
            log.write(.warning, "net.cannot_listen error=\(error.number)")
        }
    }

    // MARK: The end

    /// Lets answers and last bytes leave, for as long as is decent. A second signal cuts it short.
    private func part() throws(SystemError) {
        network.turnOff()
        links.dropDials()
        let deadline = MonotonicClock.milliseconds() + Self.partingMilliseconds
        control.beginStopping(now: MonotonicClock.milliseconds())
        while control.hasUnsent || links.hasUnsent {
            driver.timers.set(.next, deadline: deadline)
            let turn = try driver.gather()
            if turn.now >= deadline || turn.requests.contains(.stop) { break }
            links.flushAll(now: turn.now)
            control.settleAll(now: turn.now)
        }
    }

    /// Drops the host, which closes the store.
    public func closeHost() {
        search.close()
        blobs.close()
        notices.close()
        mails.close()
        meter.close()
        tokens.close()
        host?.checkpoint(.truncate)
        host = nil
    }

    /// Removes the control socket, after the store is closed: a process that sees no socket may
    /// start again.
    public func end() {
        do throws(SystemError) { try control.removeSocket() } catch {
            log.write(.warning, "control.socket_stays error=\(error.number)")
        }
    }
}
