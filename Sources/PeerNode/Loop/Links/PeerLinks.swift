/// The TCP links to peers, including those that are being established.
///
/// - Not thread-safe: it belongs to the loop's thread.
final class PeerLinks {
    /// How long one address may take to answer. The handshake has its own time after that.
    static let dialMilliseconds: UInt64 = 10_000
    /// How many bytes one link may deliver before the next link's turn: a whole piece of a file, so
    /// that it bears the fixed cost of a turn only once.
    private static let readByteCountMax = 256 * 1024
    /// How much is read from a new link at once: its first message, and whether more follows.
    private static let firstByteCountMax = 1_024

    private final class Dial {
        let number: UInt64
        let dialer: Dialer
        /// Tried when this one fails.
        let others: ArraySlice<SocketAddress>

        init(number: UInt64, dialer: Dialer, others: ArraySlice<SocketAddress>) {
            self.number = number
            self.dialer = dialer
            self.others = others
        }
    }

    private let driver: NodeDriver
    private let buffer: ReadBuffer
    private var links: [UInt64: TCPLink] = [:]
    private var gatherings: [UInt64: LinkGathering] = [:]
    private var dials: [UInt64: Dial] = [:]
    /// Numbers of dials whose names are being looked up.
    private var resolving: Set<UInt64> = []
    /// Links that were written to, or could be written to, in this turn.
    private var touched: Set<UInt64> = []
    private var readable: Set<UInt64> = []
    private var lastRead: UInt64 = 0
    private var inputs: [NodeInput] = []
    /// Bytes that `readAll` took in, the last time.
    private(set) var receivedByteCount = 0

    init(driver: NodeDriver, buffer: ReadBuffer) {
        self.driver = driver
        self.buffer = buffer
    }

    /// How many links are open.
    var count: Int { links.count }
    /// When something must be looked at although nothing is ready.
    var nextDeadline: UInt64? {
        var first = Earliest()
        for dial in dials.values { first.take(dial.dialer.deadline) }
        for gathering in gatherings.values { first.take(gathering.until) }
        return first.moment
    }
    /// Whether `takeInputs` would give something.
    var hasInputs: Bool { !inputs.isEmpty }
    /// Whether a link has not taken all that was written.
    var hasUnsent: Bool { links.values.contains { $0.unsentByteCount > 0 } }

    /// The inputs since the last call, in order for each link.
    func takeInputs() -> [NodeInput] {
        defer { inputs = [] }
        return inputs
    }

    // MARK: Links

    /// Takes over an incoming connection with the bytes it has sent so far: its first message
    /// usually follows the connection at once, and then need not wait for a turn with the anonymous
    /// ones.
    func accept(_ link: TCPLink, now: UInt64) {
        let address = link.remoteAddress.map(\.description) ?? "?"
        guard let id = add(link, isAccepted: true) else { return }
        inputs.append(.accepted(id, address: address))
        let received = read(link, id.number, byteCountMax: Self.firstByteCountMax, now: now)
        if !received.bytes.isEmpty { inputs.append(.received(id, received.bytes)) }
        if received.end != nil { lose(id.number) }
    }

    /// Notes what is ready. Links are read by `readAll`, when it is known which ones there are.
    ///
    /// - Returns: whether the socket is one of these.
    func handle(_ ready: Poller.Ready, now: UInt64) -> Bool {
        if let dial = dials[ready.token] {
            decide(dial, token: ready.token, now: now)
            return true
        }
        guard links[ready.token] != nil else { return false }
        if ready.isReadable || ready.isHangUp { readable.insert(ready.token) }
        if ready.isWritable { touched.insert(ready.token) }
        return true
    }

    /// Reads the links that are ready, a piece of each in turn, the one first that has waited
    /// longest.
    ///
    /// - Parameters:
    ///   - byteCountMax: where to stop; the poller reports the rest again.
    ///   - busy: links that are left out, likewise.
    func readAll(byteCountMax: Int, but busy: [LinkID] = [], now: UInt64) {
        receivedByteCount = 0
        let ids = readable.subtracting(busy.map(\.number)).sorted()
        readable = []
        let first = ids.firstIndex { $0 > lastRead } ?? 0
        for id in ids[first...] + ids[..<first] {
            guard receivedByteCount < byteCountMax else { return }
            guard let link = links[id] else { continue }
            lastRead = id
            let left = max(TurnBudget.byteCountMin, byteCountMax - receivedByteCount)
            let received = read(link, id, byteCountMax: min(Self.readByteCountMax, left), now: now)
            receivedByteCount += received.bytes.count
            if !received.bytes.isEmpty { inputs.append(.received(LinkID(id), received.bytes)) }
            if received.end != nil { lose(id) }
        }
    }

    /// Reads a link, and has the kernel gather what is missing of the frame that has begun.
    private func read(
        _ link: TCPLink, _ id: UInt64, byteCountMax: Int, now: UInt64
    ) -> TCPLink.Received {
        let received = link.receive(byteCountMax: byteCountMax, into: buffer)
        if gatherings[id]?.take(received.bytes, now: now) == true, let gathering = gatherings[id] {
            link.gather(gathering.wanted)
        }
        return received
    }

    /// Puts bytes behind what waits for a link. They leave with `flush`.
    func write(_ id: LinkID, _ bytes: [UInt8], now: UInt64) {
        guard let link = links[id.number] else { return }
        link.write(bytes, now: now)
        touched.insert(id.number)
    }

    /// Writes as much as the kernel takes of a link's pending bytes, and drops the link.
    func close(_ id: LinkID, now: UInt64) {
        guard let link = links.removeValue(forKey: id.number) else { return }
        gatherings[id.number] = nil
        link.lastWords()
        // A peer that was told nothing needs no orderly close, which would occupy the kernel for a
        // minute.
        if link.hasWritten { link.finishWriting(now: now) } else { link.abandon() }
        driver.poller.forget(link.descriptor)
    }

    /// Sends what the kernel takes, and tells for each link that was written to what is left.
    ///
    /// - Parameters:
    ///   - more: is asked for more to write to a link of which so many bytes are left, which then need not
    ///     be told; `nil` where they have to be.
    ///   - isNoted: is asked where there is nothing else to tell: whether it is known by now that these
    ///     links have taken all, so that it need not be told.
    func flush(
        now: UInt64, more: (LinkID, Int) -> [UInt8]? = { _, _ in nil },
        isNoted: ([LinkID]) -> Bool = { _ in false }
    ) {
        var drained: [LinkID] = []
        let ids = touched.sorted()
        touched = []
        for id in ids {
            guard let link = links[id] else { continue }
            switch send(on: link, LinkID(id), now: now, more) {
            case .failed:
                lose(id)
                continue
            case .told(let left) where left > 0:
                inputs.append(.unsent(LinkID(id), byteCount: left))
            case .told: drained.append(LinkID(id))
            case .known: break
            }
            watch(link, id)
        }
        guard !drained.isEmpty, hasInputs || !isNoted(drained) else { return }
        inputs += drained.map { .unsent($0, byteCount: 0) }
    }

    private enum Sending {
        case failed
        /// So many bytes are left, which the next turn has to hear of.
        case told(Int)
        /// What is left is known.
        case known
    }

    /// Hands the kernel what it takes, and then what else there is for the link.
    private func send(
        on link: TCPLink, _ id: LinkID, now: UInt64, _ more: (LinkID, Int) -> [UInt8]?
    ) -> Sending {
        while link.flush(now: now) == nil {
            let left = link.unsentByteCount
            guard let bytes = more(id, left) else { return .told(left) }
            guard !bytes.isEmpty else { return .known }
            link.write(bytes, now: now)
        }
        return .failed
    }

    /// Tries again to send on every link, without telling.
    func flushAll(now: UInt64) {
        for link in links.values where link.unsentByteCount > 0 { link.flush(now: now) }
    }

    private func add(_ link: TCPLink, isAccepted: Bool) -> LinkID? {
        let id = driver.newToken()
        links[id] = link
        gatherings[id] = LinkGathering(isAccepted: isAccepted)
        return watch(link, id) ? LinkID(id) : nil
    }

    @discardableResult
    private func watch(_ link: TCPLink, _ id: UInt64) -> Bool {
        do {
            try driver.poller.watch(link.descriptor, token: id, interest: link.interest)
            return true
        } catch {
            lose(id)
            return false
        }
    }

    private func lose(_ id: UInt64) {
        guard let link = links.removeValue(forKey: id) else { return }
        gatherings[id] = nil
        driver.poller.forget(link.descriptor)
        inputs.append(.linkClosed(LinkID(id)))
    }

    /// Handles new addresses of this machine. A link from an address that is gone is dead, though
    /// no kernel says so.
    func networkChanged(to hosts: Set<IPAddress>) {
        for (id, link) in links.sorted(by: { $0.key < $1.key }) {
            guard let own = link.localAddress?.host, !own.isLoopback, !hosts.contains(own) else {
                continue
            }
            lose(id)
        }
        inputs.append(.networkChanged)
    }

    // MARK: Dialling

    /// Begins to connect to `address`: a name or an address, with a port or without one.
    func dial(number: UInt64, address: String, now: UInt64) {
        guard let place = HostAndPort(address), place.port != 0 else {
            return fail(number, "bad_address")
        }
        let port = place.port ?? PortPolicy.first
        if let host = IPAddress(place.host) {
            return tryNext([SocketAddress(host: host, port: port)], number: number, now: now)
        }
        resolving.insert(number)
        let host = place.host
        let isTaken = driver.jobs.submit(id: number) {
            NameResolution.addresses(of: host, port: port)
        }
        if !isTaken, resolving.remove(number) != nil { fail(number, "stopping") }
    }

    /// Takes the answer to the question for a name.
    func resolved(_ job: JobPool<LookedUp>.Finished, now: UInt64) {
        guard resolving.remove(job.id) != nil else { return }
        switch job.output {
        case .success(let addresses): tryNext(addresses[...], number: job.id, now: now)
        case .failure: fail(job.id, "no_such_name")
        }
    }

    /// Closes what has taken too long, and marks the links that are read although little has
    /// arrived.
    func passTime(now: UInt64) {
        for (id, link) in links where gatherings[id]?.passTime(now: now) == true {
            link.gather(gatherings[id]?.wanted ?? 1)
            readable.insert(id)
        }
        for (token, dial) in dials.sorted(by: { $0.key < $1.key })
        where dial.dialer.deadline <= now {
            decide(dial, token: token, now: now)
        }
    }

    /// Gives up every connection in the making.
    func dropDials() {
        for dial in dials.values { driver.poller.forget(dial.dialer.descriptor) }
        for number in (dials.values.map(\.number) + resolving).sorted() {
            fail(number, "suspended")
        }
        dials = [:]
        resolving = []
    }

    private func tryNext(_ addresses: ArraySlice<SocketAddress>, number: UInt64, now: UInt64) {
        var reason = "no_address"
        for index in addresses.indices {
            do throws(SystemError) {
                let dialer = try Dialer(
                    to: addresses[index], deadline: now + Self.dialMilliseconds)
                let token = driver.newToken()
                try driver.poller.watch(
                    dialer.descriptor, token: token, interest: dialer.interest)
                let others = addresses[(index + 1)...]
                dials[token] = Dial(number: number, dialer: dialer, others: others)
                return
            } catch { reason = error.dialWord }
        }
        fail(number, reason)
    }

    private func decide(_ dial: Dial, token: UInt64, now: UInt64) {
        let outcome = dial.dialer.outcome(now: now)
        if case .pending = outcome { return }
        dials[token] = nil
        driver.poller.forget(dial.dialer.descriptor)
        switch outcome {
        case .pending: break
        case .connected(let link):
            let address = dial.dialer.address.description
            guard let id = add(link, isAccepted: false) else {
                return fail(dial.number, "no_descriptor")
            }
            inputs.append(.dialled(id, number: dial.number, address: address))
        case .failed(let error):
            if dial.others.isEmpty { return fail(dial.number, error.dialWord) }
            tryNext(dial.others, number: dial.number, now: now)
        }
    }

    private func fail(_ number: UInt64, _ reason: String) {
        inputs.append(.dialFailed(number: number, reason: reason))
    }
}
