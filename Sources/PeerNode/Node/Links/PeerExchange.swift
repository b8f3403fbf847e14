import CRDTStore
import SyncProtocol
import WorkspaceCrypto
import WorkspaceModel

/// Peer addresses: told inside a workspace, remembered, and dialled.
extension Links {
    /// This store's identity in a handshake, `nil` without one.
    var localIdentity: LocalIdentity? {
        guard let home, let storeIdentity else { return turn.session.lock.certified?.identity }
        return LocalIdentity(
            certifiedBy: home.signing, staticKey: storeIdentity.staticKey,
            store: storeIdentity.store, features: PeerLink.blobFeature)
    }

    /// Takes up the address book and the peers of the last run.
    func openNetwork() throws(StorageError) {
        network.strangers.budget = HandshakeBudget(
            now: time.monotonic, anonymousMax: environment.anonymousLinksMax)
        for (name, value) in try store.peers.entries() {
            if name.first == Self.bookPrefix {
                if let record = try? AddressRecord(row: value) {
                    _ = network.addresses.book.add(record, wallMilliseconds: time.wall)
                }
            } else if let row = try? PeerRow(value) {
                network.registry.restore(row)
            }
        }
        for peer in network.registry.peers {
            guard case .device(let device) = peer.name, isStranger(device) else { continue }
            network.registry.forgetStranger(device)
            try write()
            try store.peers.setEntry(nil, name: [Self.registryPrefix] + device.bytes)
        }
        workspaceListChanged()
    }

    static var bookPrefix: UInt8 { UInt8(ascii: "b") }
    private static var registryPrefix: UInt8 { UInt8(ascii: "r") }

    /// Members' devices whose addresses are known are worth dialling.
    func workspaceListChanged() {
        network.candidates = nil
        for workspace in workspaces.values.sorted(by: { $0.number < $1.number }) {
            for device in devices(of: workspace) where device != turn.session.ownDevice {
                let person = workspace.owner(of: device)?.bytes
                network.registry.note(device, isOf: person)
                network.addresses.book.note(device, isOf: person)
                let record = network.addresses.book.record(of: device)
                let addresses = record?.dialable(isAlone: network.addresses.isAlone) ?? []
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

    /// Forgets a device that is nobody's. Addresses that somebody typed stay.
    func forgetStranger(_ device: DeviceID) throws(StorageError) {
        network.registry.forgetStranger(device)
        network.addresses.book.remove(device)
        try write()
        for prefix in [Self.registryPrefix, Self.bookPrefix] {
            try store.peers.setEntry(nil, name: [prefix] + device.bytes)
        }
    }

    func forgetPeer(_ name: PeerName) throws(StorageError) {
        network.registry.remove(name)
        try write()
        switch name {
        case .device(let device):
            network.addresses.book.remove(device)
            try store.peers.setEntry(nil, name: [Self.registryPrefix] + device.bytes)
            try store.peers.setEntry(nil, name: [Self.bookPrefix] + device.bytes)
        case .address(let address):
            try store.peers.setEntry(
                nil, name: [Self.registryPrefix] + Array(address.text.utf8))
        }
    }
}
