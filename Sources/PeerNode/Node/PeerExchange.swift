import CRDTStore
import SyncProtocol
import WorkspaceCrypto
import WorkspaceModel

/// Who is where: addresses that are told inside a workspace, remembered, and dialled.
extension NodeCore {
    /// What this store says of itself in a handshake, `nil` without an identity.
    var localIdentity: LocalIdentity? {
        guard let home, let storeIdentity else { return lock.certified?.identity }
        return LocalIdentity(
            certifiedBy: home.signing, staticKey: storeIdentity.staticKey,
            store: storeIdentity.store, features: 0)
    }

    /// Takes up the address book and the peers of the last run.
    func openNetwork() throws(StorageError) {
        network.budget = HandshakeBudget(
            now: time.monotonic, anonymousMax: environment.anonymousLinksMax)
        for (name, value) in try store.peers.entries() {
            if name.first == Self.bookPrefix {
                if let record = try? AddressRecord(row: value) {
                    _ = network.book.add(record, wallMilliseconds: time.wall)
                }
            } else if let row = try? PeerRow(value) {
                network.registry.restore(row)
            }
        }
        workspaceListChanged()
    }

    static var bookPrefix: UInt8 { UInt8(ascii: "b") }
    private static var registryPrefix: UInt8 { UInt8(ascii: "r") }

    /// Members' devices whose addresses are known are worth dialling.
    func workspaceListChanged() {
        network.candidates = nil
        for workspace in workspaces.values.sorted(by: { $0.number < $1.number }) {
            for device in devices(of: workspace) where device != ownDevice {
                let person = workspace.owner(of: device)?.bytes
                network.registry.note(device, isOf: person)
                network.book.note(device, isOf: person)
                let addresses = network.book.record(of: device)?.dialable ?? []
                guard !addresses.isEmpty else { continue }
                network.registry.add(device, of: person, addresses: addresses.map(learnt))
            }
        }
    }

    func learnt(_ address: PeerAddress) -> KnownAddress {
        KnownAddress(address, source: .learnt, freshness: time.wall)
    }

    /// The devices of a workspace's current members.
    func devices(of workspace: Workspace) -> [DeviceID] {
        devicesByMember(of: workspace).flatMap { $0 }
    }

    /// The same of each member.
    func devicesByMember(of workspace: Workspace) -> [[DeviceID]] {
        let recovery = workspace.recoveryDevices
        return workspace.members.map { $0.devices.filter { !recovery.contains($0) } }
    }

    /// Stores what is remembered of peers, when it has changed.
    func writeRegistry() throws(StorageError) {
        guard network.isRegistryDirty else { return }
        network.isRegistryDirty = false
        try write()
        for row in network.registry.rows {
            var name = [Self.registryPrefix]
            switch row.name {
            case .device(let device): name += device.bytes
            case .address(let address): name += Array(address.text.utf8)
            }
            try store.peers.setEntry(row.bytes, name: name)
        }
    }

    func forgetPeer(_ name: PeerName) throws(StorageError) {
        network.registry.remove(name)
        try write()
        switch name {
        case .device(let device):
            network.book.remove(device)
            try store.peers.setEntry(nil, name: [Self.registryPrefix] + device.bytes)
            try store.peers.setEntry(nil, name: [Self.bookPrefix] + device.bytes)
        case .address(let address):
            try store.peers.setEntry(
                nil, name: [Self.registryPrefix] + Array(address.text.utf8))
        }
    }

    // MARK: Beacons

    /// The keys of what else beacons are sent for: open invites, and joins and links under way.
    private var otherBeaconKeys: [SymmetricKey] {
        var keys: [SymmetricKey] = []
        for candidate in pskCandidates() {
            if case .invite = candidate.label {
                keys.append(InviteSecret.beaconKey(psk: candidate.psk))
            }
        }
        keys += network.joins.map(\.link.secret.beaconKey)
        if deviceLinkCandidates.isEmpty == false {
            network.issuedLink.map { keys.append($0.link.secret.beaconKey) }
        }
        network.linking.map { keys.append($0.link.secret.beaconKey) }
        return keys
    }

    private var workspaceBeaconKeys: [SymmetricKey] {
        workspaces.values.sorted { $0.number < $1.number }
            .filter { $0.standing == .member }
            .compactMap { $0.discovery.last?.derived(Array("beacon".utf8)) }
    }

    /// Whether a member may have sent it, who may not have heard of the newest secret yet.
    private func isOfMember(_ packet: BeaconPacket) -> Bool {
        workspaces.values.contains { workspace in
            workspace.standing == .member
                && workspace.discovery.contains {
                    packet.matches(
                        $0.derived(Array("beacon".utf8)), wallMilliseconds: time.wall)
                }
        }
    }

    func heard(_ bytes: [UInt8], from host: String) throws(StorageError) {
        guard network.announces, let packet = BeaconPacket(untrusted: bytes) else { return }
        guard packet.nonce != network.ownBeaconNonce else {
            network.hearsOwnBeacon = true
            return
        }
        guard
            let address = PeerAddress(
                host.contains(":")
                    ? "[\(host)]:\(packet.port)"
                    : "\(host):\(packet.port)", defaultPort: packet.port)
        else { return }
        if isOfMember(packet), network.registry.heard(address, wallMilliseconds: time.wall) {
            try tellDiscovered(address)
        }
        for index in network.joins.indices
        where packet.matches(
            network.joins[index].link.secret.beaconKey, wallMilliseconds: time.wall)
        {
            network.joins[index].heard(address)
        }
        if let key = network.linking?.link.secret.beaconKey,
            packet.matches(key, wallMilliseconds: time.wall)
        {
            network.linking?.heard(address)
        }
    }

    /// Tells of a peer that nobody knew under this address: once a start, for whoever comes and
    /// goes, and fails to answer, is heard again and again.
    private func tellDiscovered(_ address: PeerAddress) throws(StorageError) {
        let isKnown = network.registry.peers.contains { peer in
            guard case .device = peer.name else { return false }
            return peer.addresses.contains { $0.address == address }
        }
        guard !isKnown, mayWrite, network.told.count < Limits.heardAddressesMax,
            network.told.insert(address.text).inserted
        else { return }
        try record(.peerDiscovered, workspace: nil, extra: Array(address.text.utf8))
    }

    /// Sends a beacon when it is time.
    func announceWhenDue() {
        guard network.announces, !network.registry.isSuspended,
            home != nil || lock.certified != nil,
            network.nextBeacon <= time.monotonic, let port = network.listening.first?.port
        else { return }
        let keys = BeaconPacket.keys(
            first: workspaceBeaconKeys, others: otherBeaconKeys, turn: network.beaconTurn)
        guard !keys.isEmpty else {
            network.nextBeacon = time.monotonic + 5_000
            return
        }
        let packet = BeaconPacket(
            port: port, keys: keys, wallMilliseconds: time.wall,
            using: environment.random)
        network.beaconTurn &+= 1
        network.ownBeaconNonce = packet.nonce
        network.firstBeacon = network.firstBeacon ?? time.monotonic
        network.nextBeacon =
            time.monotonic + 40_000 + environment.random.number(below: 10_000)
        effects.append(.announce(packet.bytes))
    }
}
