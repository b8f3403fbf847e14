import CRDTStore
import SyncProtocol
import WorkspaceModel

/// Asks peers for this device's own newest operations, and handles what they have.
extension OperationLog {
    // MARK: Asking

    var mustWait: Bool {
        network.ownHistory.isAsking && !network.ownHistory.hasOwnLog && canLearnMore
    }

    /// Whether a peer is there, or being reached, that has not said what it knows.
    var canLearnMore: Bool {
        guard let deadline = network.ownHistory.deadline, time.monotonic < deadline,
            !network.registry.isSuspended
        else { return false }
        let isUnanswered = network.links.values.contains { link in
            guard !link.isClosing else { return false }
            guard link.peer != nil else { return link.attempt != nil }
            return link.syncs.values.contains { $0.standing == .full && !$0.knowsOwnHistory }
        }
        return isUnanswered
            || network.registry.peers.contains { peer in
                switch peer.state {
                case .dialing: true
                case .idle: !peer.addresses.isEmpty
                case .blocked, .connected, .suspended, .waiting: false
                }
            }
    }

    // MARK: The turn

    /// Called before anything is signed. An operation that cannot wait, such as a new key after
    /// somebody left, goes into a new log, where nothing can be in its place.
    func prepareOwnLog() throws(StorageError) {
        try leaveSurpassedLog()
        guard mustWait else { return }
        network.ownHistory.hasOwnLog = true
        try renewIncarnation()
    }

    /// Notes what others brought of a log of ours.
    ///
    /// - Parameter last: when the last operation says that it was written.
    func noteOwn(_ log: LogName, _ last: HybridTimestamp) throws(StorageError) {
        guard log.device == turn.session.ownDevice else { return }
        try sink.noteForeignOwn(log, last)
        guard log.incarnation == storeIdentity?.incarnation else { return }
        network.ownHistory.surpassed = .peersKnowMore
    }

    // MARK: A new store

    func leaveSurpassedLog() throws(StorageError) {
        // A locked node writes nothing, and remembers it.
        guard home != nil, let reason = network.ownHistory.surpassed else { return }
        network.ownHistory.surpassed = nil
        try renewStore()
        try noteRestored(reason.rawValue)
    }

    /// Draws a new store id, incarnation, event epoch and Noise key while the node runs.
    func renewStore() throws(StorageError) {
        guard let home else { return }
        try write()
        let identity = try StoreIdentity.load(
            from: store.registry, home: home, isNew: true, using: environment.random
        ).identity
        turn.session.storeIdentity = identity
        turn.renewedStore = identity.store
        try sink.storeRenewed()
    }

    /// Tells everybody who asks that this store is not the one that it was.
    func noteRestored(_ reason: String) throws(StorageError) {
        let words = Array(reason.utf8)
        try turn.record(.storeRestored, workspace: nil, extra: words)
        try store.registry.setValue(bigEndianBytes(of: time.wall) + words, of: "restored")
        turn.emit(.log(.warning, "store.restored reason=\(reason)"))
    }

    /// When this store last got a new id because it had been copied or restored, and why.
    func lastRestoration() throws(StorageError) -> (at: UInt64, reason: String)? {
        guard let value = try store.registry.value("restored"), value.count > 8,
            let reason = String(validating: value[8...], as: UTF8.self)
        else { return nil }
        return (value[..<8].reduce(0) { $0 << 8 | UInt64($1) }, reason)
    }
}
