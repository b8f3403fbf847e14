import CRDTStore
import SyncProtocol
import WorkspaceCrypto
import WorkspaceModel

extension Links {
    // MARK: Keys

    /// The keys of what else beacons are sent for: open invites, and joins and links under way.
    private var otherBeaconKeys: [SymmetricKey] {
        madeLinkKeys + network.joining.joins.map(\.link.secret.beaconKey)
            + [network.joining.linking?.link.secret.beaconKey].compactMap { $0 }
    }

    /// The beacon keys of links by which others join.
    private var madeLinkKeys: [SymmetricKey] {
        var keys: [SymmetricKey] = []
        for candidate in pskCandidates() {
            if case .invite = candidate.label {
                keys.append(InviteSecret.beaconKey(psk: candidate.psk))
            }
        }
        if !core.entrances.deviceLinkCandidates.isEmpty {
            network.joining.issuedLink.map { keys.append($0.link.secret.beaconKey) }
        }
        return keys
    }

    private var workspaceBeaconKeys: [SymmetricKey] {
        workspaces.values.sorted { $0.number < $1.number }
            .filter { $0.standing == .member }
            .compactMap { $0.discovery.last?.derived(Array("beacon".utf8)) }
    }

    // MARK: Hearing

    func heard(_ bytes: [UInt8], from host: String) throws(StorageError) {
        guard network.addresses.announces, let packet = BeaconPacket(untrusted: bytes),
            let address = PeerAddress(
                host.contains(":")
                    ? "[\(host)]:\(packet.port)"
                    : "\(host):\(packet.port)", defaultPort: packet.port),
            network.beacons.isWorthLooking(packet)
        else { return }
        func matches(_ key: SymmetricKey) -> Bool {
            guard packet.matches(key, from: address.host, wallMilliseconds: time.wall) else {
                return false
            }
            network.beacons.understood(packet)
            return true
        }
        if isOfMember(matches), network.registry.heard(address, wallMilliseconds: time.wall) {
            try tellDiscovered(address)
        }
        for index in network.joining.joins.indices
        where matches(network.joining.joins[index].link.secret.beaconKey) {
            network.joining.joins[index].heard(address)
        }
        if let key = network.joining.linking?.link.secret.beaconKey, matches(key) {
            network.joining.linking?.heard(address)
        }
        answerSeekers(matches)
    }

    /// Answers at once a peer that looks for this node by a link this node made; otherwise it would
    /// wait most of a minute.
    private func answerSeekers(_ matches: (SymmetricKey) -> Bool) {
        let keys = madeLinkKeys
        let tries = keys.count * BeaconPacket.triedWindowCount
        guard tries > 0, network.beacons.isAttentive(for: tries, at: time.monotonic),
            let key = keys.first(where: matches)
        else { return }
        network.beacons.hurry(for: key, at: time.monotonic)
    }

    /// Whether a member may have sent it, who may not have heard of the newest secret yet.
    private func isOfMember(_ matches: (SymmetricKey) -> Bool) -> Bool {
        let secrets = workspaces.values.filter { $0.standing == .member }.map(\.discovery)
        func isOne(of secrets: some Sequence<SymmetricKey>) -> Bool {
            secrets.contains { matches($0.derived(Array("beacon".utf8))) }
        }
        if isOne(of: secrets.compactMap(\.last)) { return true }
        let older = secrets.flatMap { $0.dropLast() }
        let tries = older.count * BeaconPacket.triedWindowCount
        return tries > 0 && network.beacons.isAttentive(for: tries, at: time.monotonic)
            && isOne(of: older)
    }

    /// Reports a peer at an address that was unknown: once per start, since a peer that comes and
    /// goes without answering is heard again and again.
    private func tellDiscovered(_ address: PeerAddress) throws(StorageError) {
        let isKnown = network.registry.peers.contains { peer in
            guard case .device = peer.name else { return false }
            return peer.addresses.contains { $0.address == address }
        }
        guard !isKnown, mayWrite, network.addresses.told.count < Limits.heardAddressesMax,
            network.addresses.told.insert(address.text).inserted
        else { return }
        try turn.record(.peerDiscovered, workspace: nil, extra: Array(address.text.utf8))
    }

    // MARK: Sending

    /// Takes over from which addresses beacons leave.
    func beaconsLeave(from hosts: [String]) {
        network.beacons.sources = hosts.compactMap { host in
            let text = host.contains(":") ? "[\(host)]:1" : "\(host):1"
            return PeerAddress(text).map(\.host)
        }.filter { if case .name = $0 { false } else { true } }
    }

    /// Sends a beacon from each address when it is time.
    func announceWhenDue() {
        guard network.addresses.announces, !network.registry.isSuspended,
            home != nil || turn.session.lock.certified != nil,
            network.beacons.next <= time.monotonic,
            let port = network.addresses.listening.first?.port
        else { return }
        let keys = BeaconPacket.keys(
            first: [network.beacons.wanted].compactMap { $0 } + workspaceBeaconKeys,
            others: otherBeaconKeys, turn: network.beacons.turn)
        guard !keys.isEmpty, !network.beacons.sources.isEmpty else {
            network.beacons.next = time.monotonic + 5_000
            return
        }
        for source in network.beacons.nextSources {
            let packet = BeaconPacket(
                from: source, port: port, keys: keys, wallMilliseconds: time.wall,
                using: environment.random)
            network.beacons.sent(packet)
            turn.emit(.announce(packet.bytes, from: source.text))
        }
        network.beacons.turn &+= 1
        network.beacons.wanted = nil
        network.beacons.first = network.beacons.first ?? time.monotonic
        network.beacons.next =
            time.monotonic + 40_000 + environment.random.number(below: 10_000)
    }
}
