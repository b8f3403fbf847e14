import CRDTStore
import WorkspaceCrypto
import WorkspaceModel

/// What a core that is made anew after a failed COMMIT takes over from the one before, so that a
/// full disk neither opens a locked node nor locks an open one.
struct Inheritance {
    let home: HomeIdentity?
    let lock: LockState
    let storeIdentity: StoreIdentity?
    let secrets: [WorkspaceID: LinkSecrets]
    /// The index that the core before had: what that still answers is for nobody.
    let searchGeneration: UInt64

    /// What links of one workspace need while its keys are dropped.
    struct LinkSecrets {
        let discovery: DiscoverySecrets
        let invites: [OperationID: SymmetricKey]
    }
}

extension NodeCore {
    /// What the next core goes on with.
    var inheritance: Inheritance {
        var lock = lock
        lock.isUnfoldedStored = false
        // Whoever waits for it was told to ask again.
        lock.stretching = nil
        return Inheritance(
            home: home, lock: lock, storeIdentity: storeIdentity,
            secrets: Dictionary(
                uniqueKeysWithValues: workspaces.values.map {
                    ($0.id, .init(discovery: $0.discoverySecrets, invites: $0.invitePSKs))
                }), searchGeneration: search.generation)
    }

    /// Reads the identity as it lies there, and says what opens it.
    func readIdentity(after former: Inheritance?) throws(HomeFileError) {
        if let former { lock = former.lock }
        var file: IdentityFile?
        if var bytes = try environment.files.readIdentity() {
            defer { SecretBytes.wipe(&bytes) }
            file = try IdentityFile(fileBytes: bytes)
        }
        switch file {
        case nil: lock = LockState()
        case .clear(let identity)?:
            home = identity
            lock.sealed = nil
            lock.phase = .open
        case .sealed(let sealed)?:
            lock.sealed = sealed
            if former == nil {
                lock.phase = .closed
                let tries = try? store.registry.value(Self.triesName)
                lock.tries = UnlockTries(stored: tries ?? nil, now: time.monotonic)
            } else if let known = former?.home, known.device == sealed.device {
                home = known
            } else if lock.phase != .relaying {
                lock.phase = .closed
            }
        }
    }

    /// Goes on as a node that has dropped its keys.
    func reopenLocked(_ former: Inheritance) throws(StorageError) {
        storeIdentity = former.storeIdentity
        try store.begin()
        for row in try store.registry.workspaces() {
            if row.standing == .forgotten {
                forgotten.append(row.number)
                continue
            }
            guard let id = store.operations.document(numbered: row.number)?.id else { continue }
            let workspace = Workspace(id: id, row: row, vault: vault)
            workspaces[row.number] = workspace
            guard row.standing == .member else {
                try abandon(row.number)
                continue
            }
            workspace.discoverySecrets = former.secrets[id]?.discovery ?? DiscoverySecrets()
            workspace.invitePSKs = former.secrets[id]?.invites ?? [:]
            try loadAuthority(of: workspace)
            try finishLoading(workspace)
        }
        try storeUnfolded()
        try store.commit()
        try openNetwork()
    }

    /// Goes on in the place of a core that was discarded: with what is not stored, and with what the
    /// loop says only once.
    ///
    /// - Parameter isTold: whether streams of events have heard of the failure of the disk.
    func goOn(after former: NodeCore, _ stop: WritingStop?, isTold: Bool) {
        subscriptions = former.subscriptions
        // Those who waited were told to ask again.
        subscriptions.waiters = []
        // Some of it may tell of what this turn did, and did not do.
        subscriptions.forgetPassing(isCounted: true)
        tally = former.tally
        (clocks, toldClocks) = (former.clocks, former.toldClocks)
        network.listening = former.network.listening
        if former.network.registry.isSuspended { network.registry.suspend() }
        network.nextJoinDial = former.network.nextJoinDial
        network.registry.goOn(after: former.network.registry)
        network.issuedLink = former.network.issuedLink
        network.fullDisk = former.network.fullDisk
        network.copies = former.network.copies
        noteDepartures(with: former)
        // Whoever waited was told to ask again; and this is no start.
        if !former.network.ownHistory.isAsking { network.ownHistory = OwnHistory() }
        guard let stop else { return }
        if !isTold { subscriptions.say(.writingStopped, as: "node.warning") }
        refuseWriting(because: stop)
        // What peers bring could not be kept.
        network.registry.suspend()
    }
}
