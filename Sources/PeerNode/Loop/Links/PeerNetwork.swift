import WorkspaceModel

/// The listening side of the network: the port for peers, the beacon, and changes of addresses.
///
/// - Not thread-safe: it belongs to the loop's thread.
final class PeerNetwork {
    private let driver: NodeDriver
    private let buffer: ReadBuffer
    private let log: NodeLog
    private let home: HomeFolder
    private let given: ListenAddress?
    private let announces: Bool
    private let seed: UInt64

    private var listener: TCPListener?
    private var listenerToken: UInt64 = 0
    private var beacon: LANBeacon?
    private var beaconTokens: Set<UInt64> = []
    /// Whether somebody waits to be taken in.
    private var mustAccept = false
    private var changes: NetworkChanges?
    private var changesToken: UInt64 = 0
    private var isOn = false
    /// The last reported addresses.
    private var addresses: [String]?
    private var beaconSources: [String] = []
    /// The last known network attachment of this machine, and whether it has changed.
    private var surroundings = NetworkSurroundings()
    private var hasChanged = false
    private var inputs: [NodeInput] = []

    /// - Parameter seed: a random number, from which the order of ports to try follows.
    init(
        home: HomeFolder, given: ListenAddress?, announces: Bool, seed: UInt64,
        driver: NodeDriver, buffer: ReadBuffer, log: NodeLog
    ) {
        self.home = home
        self.given = given
        self.announces = announces
        self.seed = seed
        self.driver = driver
        self.buffer = buffer
        self.log = log
    }

    /// Whether `takeInputs` would give something.
    var hasInputs: Bool { !inputs.isEmpty }
    /// When something must be looked at although nothing is ready.
    var nextDeadline: UInt64? { listener?.pausedUntil }
    /// Where it listens, `nil` while it does not.
    var boundAddress: SocketAddress? { listener?.address }

    /// The inputs since the last call.
    func takeInputs() -> [NodeInput] {
        defer { inputs = [] }
        return inputs
    }

    /// The addresses of this machine, where they, or what carries them, are others than before.
    func takeChange() -> Set<IPAddress>? {
        guard hasChanged else { return nil }
        hasChanged = false
        return surroundings.addresses
    }

    /// Begins to listen and to hear beacons.
    ///
    /// - Throws: `SystemError` of the listener. Beacons are a bonus, and only their loss is logged.
    func turnOn() throws(SystemError) {
        // Somebody waits to hear where it listens, or that it cannot.
        defer { tellAddresses(always: true) }
        guard listener == nil else { return }
        if !isOn {
            isOn = true
            watchChanges()
            surroundings = .current()
            openBeacon()
        }
        let opened = try ListenAddress.listen(
            given: addresses == nil ? given : nil,
            remembered: ListenAddress(rememberedIn: home), seed: seed)
        listenerToken = driver.newToken()
        try driver.poller.watch(
            opened.descriptor, token: listenerToken, interest: opened.interest)
        listener = opened
        ListenAddress.remember(opened.address, in: home)
        log.write(.info, "net.listening address=\(opened.address)")
    }

    /// Stops listening and hearing.
    func turnOff() {
        guard isOn else { return }
        isOn = false
        if let listener { driver.poller.forget(listener.descriptor) }
        listener = nil
        for descriptor in beacon?.descriptors ?? [] { driver.poller.forget(descriptor) }
        beacon = nil
        beaconTokens = []
        tellAddresses()
    }

    /// Sends one datagram to every node on the same network, from an address of this machine.
    func announce(_ bytes: [UInt8], from host: String) {
        if isOn, announces, let host = IPAddress(host) { beacon?.send(bytes, from: host) }
    }

    /// Takes what is ready.
    ///
    /// - Returns: whether the socket is one of these.
    func handle(_ ready: Poller.Ready) -> Bool {
        if ready.token == listenerToken, listener != nil {
            mustAccept = true
        } else if beaconTokens.contains(ready.token) {
            for heard in beacon?.receive(countMax: 32, into: buffer) ?? [] {
                inputs.append(.beacon(heard.bytes, host: heard.source.host.description))
            }
        } else if ready.token == changesToken {
            noteChanges()
        } else {
            return false
        }
        return true
    }

    /// Accepts waiting connections, after reading the established links, so that a peer that has
    /// just proved to know a secret does not lose its place to newer ones. The number per turn is
    /// bounded; the poller reports the rest again.
    func acceptWaiting(_ links: PeerLinks, now: UInt64) {
        guard let listener else { return }
        let isPauseOver = listener.pausedUntil.map { $0 <= now } ?? false
        guard mustAccept || isPauseOver else { return }
        mustAccept = false
        let (accepted, problem) = listener.accept(
            countMax: Limits.acceptedPerTurnMax, now: now)
        for link in accepted { links.accept(link, now: now) }
        if let problem { log.write(.warning, "net.accept_paused error=\(problem.number)") }
        try? driver.poller.watch(
            listener.descriptor, token: listenerToken, interest: listener.interest)
    }

    // MARK: Surroundings

    private func watchChanges() {
        guard changes == nil, let opened = try? NetworkChanges() else { return }
        changesToken = driver.newToken()
        guard
            (try? driver.poller.watch(
                opened.descriptor, token: changesToken, interest: .readable)) != nil
        else { return }
        changes = opened
    }

    private func openBeacon() {
        guard announces else { return }
        do throws(SystemError) {
            let opened = try LANBeacon(interfaces: multicastInterfaces)
            for descriptor in opened.descriptors {
                let token = driver.newToken()
                try driver.poller.watch(descriptor, token: token, interest: .readable)
                beaconTokens.insert(token)
            }
            beacon = opened
        } catch {
            beaconTokens = []
            log.write(.warning, "beacon.off error=\(error.number)")
        }
    }

    private var multicastInterfaces: [NetworkInterface] {
        ((try? NetworkInterface.allUp()) ?? []).filter(\.isMulticast)
    }

    private func noteChanges() {
        guard let changes else { return }
        do throws(SystemError) {
            guard try changes.take() else { return }
        } catch {
            driver.poller.forget(changes.descriptor)
            self.changes = nil
            return
        }
        guard isOn else { return }
        beacon?.join(multicastInterfaces)
        tellAddresses()
        // The kernel also reports what changes nothing, such as a lease that was renewed.
        let current = NetworkSurroundings.current()
        guard current != surroundings else { return }
        surroundings = current
        hasChanged = true
    }

    /// Tells from where beacons leave: not from addresses at which nobody listens.
    private func tellBeaconSources() {
        let bound = listener?.address.host
        let current = (beacon?.sources ?? []).filter { source in
            guard let bound else { return false }
            return bound.isWildcard ? source.isV4 || !bound.isV4 : source == bound
        }.map(\.description)
        guard current != beaconSources else { return }
        beaconSources = current
        inputs.removeAll { if case .beaconSources = $0 { true } else { false } }
        inputs.append(.beaconSources(current))
    }

    /// - Parameter always: also when they are those told last.
    private func tellAddresses(always: Bool = false) {
        tellBeaconSources()
        let reachable = (try? NetworkInterface.reachableAddresses()) ?? []
        let current = listener.map { ListenAddress.dialable($0.address, among: reachable) } ?? []
        guard always || current != addresses else { return }
        addresses = current
        // Of several pending ones only the last is valid.
        inputs.removeAll { if case .listening = $0 { true } else { false } }
        inputs.append(.listening(current))
    }
}
