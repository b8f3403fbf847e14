import WorkspaceModel

/// The clients of the control socket: their sockets, and for each a `ControlConnection` between
/// bytes and calls.
///
/// - Not thread-safe: it belongs to the loop's thread.
final class ControlClients {
    /// One client. Its times are milliseconds of the monotonic clock.
    final class Client {
        let link: UnixLink
        /// Which process connected.
        let process: Int32
        var connection: ControlConnection
        /// Calls that were taken and put off, before all others.
        var putOff: [NodeInput] = []
        /// The number of its last answer among all answers; 0 before the first.
        var lastAnswer: UInt64 = 0
        /// Since when more is unsent than may be.
        var fullSince: UInt64?
        /// Since when the rest of a request is waited for.
        var partialSince: UInt64?
        /// How many requests had been taken then.
        var takenCount: UInt64 = 0
        /// The file that goes over it.
        var file: FileFlow?
        /// When something last came from it, or went to it.
        var lastActive: UInt64
        /// When it is told at the latest that there is no room for it; `nil` where there is.
        var refusalDue: UInt64?

        init(_ client: UnixListener.Client, id: UInt64, now: UInt64) {
            link = client.link
            process = client.credentials.process
            connection = ControlConnection(id: id)
            lastActive = now
        }
    }

    /// How long a client may leave `Limits.controlUnsentBytesMax` unread.
    static let slowReaderMilliseconds: UInt64 = 60_000
    /// Bytes that one client may hand in, in one turn.
    private static let readByteCountMax = 256 * 1024
    /// About how many bytes of events are read from the store at a time.
    private static let eventRoom = 128 * 1024
    /// Events that one turn delivers, to all clients together: about 5 ms, during which calls wait.
    /// One client may get more at a time.
    static let eventsPerTurn = 256
    /// How many bytes are passed to the socket at a time, so that the connection knows what is
    /// pending.
    private static let writeByteCount = 64 * 1024

    private let driver: NodeDriver
    private let listener: UnixListener
    private let listenerToken: UInt64
    private let buffer: ReadBuffer
    private let log: NodeLog
    var clients: [UInt64: Client] = [:]
    /// Clients that something happened to since they were last looked after.
    private var touched: Set<UInt64> = []
    /// Jobs for the blob worker.
    var fileJobs: [BlobJob] = []
    private var subscribers: [UInt64] = []
    /// The client that got events last: the next turn continues after it.
    private var lastServed: UInt64 = 0
    private var inputs: [NodeInput] = []
    /// How many answers were given.
    private var answerCount: UInt64 = 0
    /// Inputs of clients that are gone, put off.
    private var leftBehind: [NodeInput] = []
    /// Whether there may be more events for a client that can take them.
    private(set) var hasMoreEvents = false

    /// Listens on the control socket of `home`, whose lock the caller holds.
    init(
        home: HomeFolder, driver: NodeDriver, buffer: ReadBuffer, log: NodeLog
    ) throws(NodeError) {
        self.driver = driver
        self.buffer = buffer
        self.log = log
        do throws(UnixListener.Failure) {
            listener = try UnixListener(path: home.socket)
        } catch { throw .controlSocket(error) }
        listenerToken = driver.newToken()
        do throws(SystemError) {
            try driver.poller.watch(
                listener.descriptor, token: listenerToken, interest: listener.interest)
        } catch { throw .badConfiguration("cannot watch the control socket: \(error)") }
    }

    /// How many clients are served.
    var count: Int { clients.values.count { $0.refusalDue == nil } }

    /// When something must be looked at although nothing is ready.
    var nextDeadline: UInt64? {
        var first = Earliest(listener.pausedUntil)
        for client in clients.values { first.take(client.nextDeadline) }
        return first.moment
    }

    // MARK: From clients

    /// Takes what is ready. Calls come out of `takeInputs`.
    ///
    /// - Returns: whether the socket is one of these.
    func handle(_ ready: Poller.Ready, now: UInt64) -> Bool {
        if ready.token == listenerToken {
            accept(now: now)
            return true
        }
        guard let client = clients[ready.token] else { return false }
        touched.insert(ready.token)
        if ready.isReadable || ready.isHangUp { read(client, isHangUp: ready.isHangUp) }
        return true
    }

    /// Looks at what time alone changes.
    func passTime(now: UInt64) {
        if let paused = listener.pausedUntil, paused <= now { accept(now: now) }
        for (id, client) in clients.sorted(by: { $0.key < $1.key }) {
            guard let due = client.nextDeadline, due <= now else { continue }
            if client.refusalDue != nil {
                part(client, because: .tooManyClients, now: now)
            } else if client.fullSince.map({ $0 + Self.slowReaderMilliseconds <= now }) == true {
                log.write(.info, "control.slow_reader conn=\(id)")
                remove(id)
            } else {
                log.write(.info, "control.slow_request conn=\(id)")
                part(client, because: .requestTooSlow, now: now)
            }
        }
    }

    /// The requests of clients since the last call, in order for each client.
    ///
    /// Postponed requests come after other clients' new ones, those of clients that were answered
    /// longest ago first, and requests of disconnected clients last.
    func takeInputs() -> [NodeInput] {
        var taken = inputs
        inputs = []
        let waiting = clients.values.filter(goesOn).sorted {
            ($0.lastAnswer, $0.connection.id) < ($1.lastAnswer, $1.connection.id)
        }
        for client in waiting {
            taken += client.putOff
            client.putOff = []
        }
        taken += leftBehind
        leftBehind = []
        return taken
    }

    /// Whether `takeInputs` would give something.
    var hasInputs: Bool {
        !inputs.isEmpty || !leftBehind.isEmpty || clients.values.contains(where: goesOn)
    }

    /// Takes back an input that was too much for one turn.
    func putOff(_ input: NodeInput) {
        if case .call(let call, _, _, _) = input, let client = clients[call.connection] {
            client.putOff.append(input)
        } else {
            leftBehind.append(input)
        }
    }

    /// Whether calls of a client that were put off may be handed in again.
    private func goesOn(_ client: Client) -> Bool { !client.putOff.isEmpty && hasRoom(for: client) }

    /// Whether more may be requested for a client: its unread output is below the limit.
    private func hasRoom(for client: Client) -> Bool {
        let unsent = client.connection.unsentCount
        guard unsent > 0 else { return true }
        return unsent < Limits.controlUnsentBytesMax
            && unsentByteCount < Limits.controlUnsentTotalBytesMax
    }

    /// Bytes that wait for all clients.
    var unsentByteCount: Int {
        clients.values.reduce(0) { $0 + $1.connection.unsentCount }
    }

    private func accept(now: UInt64) {
        let (accepted, refused, problem) = listener.accept(
            countMax: 64, allowRoot: false, now: now)
        for who in refused { log.write(.warning, "control.refused uid=\(who.user)") }
        if let problem { log.write(.warning, "control.accept_paused error=\(problem.number)") }
        for client in accepted {
            let id = driver.newToken()
            let newcomer = Client(client, id: id, now: now)
            if !hasRoom(for: newcomer.process, now: now) {
                guard clients.count - count < Limits.controlClientsRefusedMax else {
                    refuse(client.link, now: now)
                    continue
                }
                newcomer.refusalDue = now + Limits.controlRefusalMilliseconds
            }
            clients[id] = newcomer
            touched.insert(id)
        }
        try? driver.poller.watch(
            listener.descriptor, token: listenerToken, interest: listener.interest)
    }

    /// Says why before it hangs up; the line fits in any socket's buffer.
    private func refuse(_ link: UnixLink, now: UInt64) {
        var connection = ControlConnection(id: 0)
        connection.close(because: .tooManyClients)
        link.write(Array(connection.unsent), now: now)
        link.flush(now: now)
    }

    private func read(_ client: Client, isHangUp: Bool) {
        var taken = 0
        if isHangUp {
            client.connection.hangUp()
            inputs += client.putOff
            client.putOff = []
        }
        while client.connection.wantsInput, taken < Self.readByteCountMax || isHangUp {
            let received = client.link.receive(
                byteCountMax: Self.readByteCountMax, into: buffer)
            taken += received.bytes.count
            client.connection.receive(received.bytes)
            if received.end != nil { client.connection.endOfInput() }
            takeRequests(of: client)
            let isAll = received.bytes.isEmpty || received.end != nil
            if isAll || !isHangUp && received.bytes.count < Self.readByteCountMax { break }
        }
        guard isHangUp else { return }
        client.connection.endOfInput()
        takeRequests(of: client)
        remove(client.connection.id)
    }

    private func takeRequests(of client: Client) {
        if client.refusalDue != nil {
            // Now its form is known in which it wants to hear why.
            if client.connection.nextRequest() != nil {
                client.connection.close(because: .tooManyClients)
            }
            return
        }
        guard client.putOff.isEmpty, hasRoom(for: client) else { return }
        client.connection.textRoom = textRoom
        while let request = client.connection.nextRequest() {
            inputs.append(
                .call(
                    request.call, method: request.method, arguments: request.parameters,
                    file: request.file))
        }
    }

    // MARK: To clients

    /// Answers a call whose client may be gone by now.
    func answer(_ call: CallID, _ result: Result<JSONValue, NodeError>) {
        guard let client = clients[call.connection] else { return }
        client.connection.answer(call, result)
        if !client.connection.hasFile { client.file = nil }
        answerCount += 1
        client.lastAnswer = answerCount
        touched.insert(call.connection)
    }

    /// Hands the next events to subscribers whose socket has taken everything so far, one after
    /// the other, until it was enough for one turn.
    func deliverEvents(of host: any TurnHost, now: UInt64) {
        let current = host.subscribers
        for id in subscribers where !current.contains(id) {
            clients[id]?.connection.openSubscriptions = 0
            touched.insert(id)
        }
        subscribers = current
        for id in current { clients[id]?.connection.openSubscriptions = 1 }
        hasMoreEvents = false
        var count = 0
        for id in current.filter({ $0 > lastServed }) + current.filter({ $0 <= lastServed }) {
            guard count < Self.eventsPerTurn else {
                hasMoreEvents = true
                break
            }
            guard let client = clients[id] else { continue }
            // Nothing is written between the bytes of a file. What comes after it wakes the loop.
            guard !client.connection.isSendingFile else { continue }
            // Answers of this turn leave first. If they wait for room, the socket tells when there
            // is some; if they do not, nothing else would wake the loop for the events.
            guard flush(client, now: now), client.connection.unsentCount == 0,
                client.link.unsentByteCount == 0
            else {
                touched.insert(id)
                continue
            }
            let events = host.events(for: id, room: Self.eventRoom)
            if host.looksForEvents(for: id) { hasMoreEvents = true }
            guard !events.isEmpty else { continue }
            for (subscription, event) in events {
                client.connection.notify(subscription: subscription, event)
            }
            touched.insert(id)
            count += events.count
            lastServed = id
            if host.mayHaveEvents(for: id) { hasMoreEvents = true }
        }
    }

    /// Writes what clients can take, takes calls that there is room for now, and drops finished
    /// clients.
    func settle(now: UInt64) {
        let ids = touched.sorted()
        touched = []
        for id in ids {
            guard let client = clients[id] else { continue }
            takeRequests(of: client)
            passFile(of: client)
            guard flush(client, now: now) else {
                // It has disconnected, and its last requests may still be in the kernel.
                read(client, isHangUp: true)
                continue
            }
            // The written bytes make room for the next part of a file.
            passFile(of: client)
            if client.connection.isFinished && client.link.unsentByteCount == 0 {
                remove(id)
                continue
            }
            let isFull = client.connection.unsentCount >= Limits.controlUnsentBytesMax
            client.fullSince = isFull ? client.fullSince ?? now : nil
            client.link.isReadingPaused =
                !client.connection.wantsInput || !client.putOff.isEmpty || !hasRoom(for: client)
            client.noteProgress(now: now)
            do {
                try driver.poller.watch(
                    client.link.descriptor, token: id, interest: client.link.interest)
            } catch { remove(id) }
        }
    }

    /// Marks a client for the end of the turn.
    func touch(_ id: UInt64) { touched.insert(id) }

    /// - Returns: whether the client is still there.
    func flush(_ client: Client, now: UInt64) -> Bool {
        while true {
            if client.link.flush(now: now) != nil { return false }
            let next = client.connection.unsent.prefix(Self.writeByteCount)
            guard client.link.unsentByteCount == 0, !next.isEmpty else { return true }
            client.link.write(Array(next), now: now)
            client.connection.didSend(next.count)
        }
    }

    func remove(_ id: UInt64) {
        guard let client = clients.removeValue(forKey: id) else { return }
        driver.poller.forget(client.link.descriptor)
        // Also where the core that has begun it is another one by now.
        if let file = client.file { fileJobs.append(.abandon(file.task)) }
        inputs += client.putOff
        inputs.append(.controlClosed(connection: id))
    }

    // MARK: The end

    /// Takes nothing more, and tells those who wait for an answer that none will come.
    func beginStopping(now: UInt64) {
        driver.poller.forget(listener.descriptor)
        for (id, client) in clients {
            if client.connection.isWaiting { client.connection.close(because: .stopping) }
            touched.insert(id)
        }
        settle(now: now)
    }

    /// Whether a client has not taken all of its answers.
    var hasUnsent: Bool {
        clients.values.contains { $0.connection.unsentCount + $0.link.unsentByteCount > 0 }
    }

    /// Tries again to write to everybody.
    func settleAll(now: UInt64) {
        touched.formUnion(clients.keys)
        settle(now: now)
    }

    /// Removes the socket's file. Clients stay connected until this object or the process ends.
    func removeSocket() throws(SystemError) { try listener.removeFile() }
}

extension NodeError {
    /// There is no control socket, so nobody could use the node.
    static func controlSocket(_ failure: UnixListener.Failure) -> Self {
        switch failure {
        case .inUse(let path):
            NodeError(
                .inUse, "another wsx-node is running (socket \(NodeError.quotedPath(path)))",
                hint: "wsx-node down", reason: "control.in_use")
        case .pathTooLong:
            .badConfiguration("\(failure)", hint: "give a shorter --home or --socket")
        case .inTheWay(let path, _):
            .badConfiguration("\(failure)", hint: "move \(NodeError.quotedPath(path)) away")
        case .folder, .foreign, .system: .badConfiguration("\(failure)")
        }
    }
}
