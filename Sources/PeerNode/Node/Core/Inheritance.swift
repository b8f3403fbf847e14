import CRDTStore
import WorkspaceCrypto
import WorkspaceModel

/// What a core that is rebuilt after a failed COMMIT takes over from its predecessor, so that a
/// full disk neither unlocks a locked node nor locks an open one.
struct Inheritance {
    let home: HomeIdentity?
    let lock: LockState
    let storeIdentity: StoreIdentity?
    let secrets: [WorkspaceID: LinkSecrets]
    /// The index that the core before had: what that still answers is for nobody.
    let searchGeneration: UInt64

    /// What the links of one workspace need while the node is locked.
    struct LinkSecrets {
        let discovery: DiscoverySecrets
        let invites: [OperationID: SymmetricKey]
    }
}

extension NodeCore {
    /// What the next core takes over.
    var inheritance: Inheritance {
        var lock = session.lock
        lock.isUnfoldedStored = false
        return Inheritance(
            home: session.home, lock: lock, storeIdentity: session.storeIdentity,
            secrets: Dictionary(
                uniqueKeysWithValues: workspaces.values.map {
                    ($0.id, .init(discovery: $0.secrets.discovery, invites: $0.secrets.invitePSKs))
                }), searchGeneration: queries.search.generation)
    }

    /// Reads the identity file, and says how it is unlocked.
    func readIdentity(after former: Inheritance?) throws(HomeFileError) {
        if let former { session.lock = former.lock }
        var file: IdentityFile?
        if var bytes = try turn.environment.files.readIdentity() {
            defer { SecretBytes.wipe(&bytes) }
            file = try IdentityFile(fileBytes: bytes)
        }
        switch file {
        case nil: session.lock = LockState()
        case .clear(let identity)?:
            session.home = identity
            session.lock.sealed = nil
            session.lock.phase = .open
        case .sealed(let sealed)?:
            session.lock.sealed = sealed
            if former == nil {
                session.lock.phase = .closed
                let tries = try? turn.store.registry.value(IdentityHandler.triesName)
                session.lock.tries = UnlockTries(stored: tries ?? nil, now: turn.time.monotonic)
            } else if let known = former?.home, known.device == sealed.device {
                session.home = known
            } else if session.lock.phase != .relaying {
                session.lock.phase = .closed
            }
        }
    }

    /// Goes on as a node that has dropped its keys.
    func reopenLocked(_ former: Inheritance) throws(StorageError) {
        session.storeIdentity = former.storeIdentity
        try turn.store.begin()
        for row in try turn.store.registry.workspaces() {
            if row.standing == .forgotten {
                integrity.forgotten.append(row.number)
                continue
            }
            guard let id = turn.store.operations.document(numbered: row.number)?.id else {
                continue
            }
            let workspace = Workspace(id: id, row: row, vault: session.vault)
            workspaces[row.number] = workspace
            guard row.standing == .member else {
                try enrolment.abandon(row.number)
                continue
            }
            workspace.secrets.discovery = former.secrets[id]?.discovery ?? DiscoverySecrets()
            workspace.secrets.invitePSKs = former.secrets[id]?.invites ?? [:]
            try loadAuthority(of: workspace)
            try derivation.finishLoading(workspace)
        }
        try session.storeUnfolded()
        try turn.store.commit()
        try links.openNetwork()
    }

    /// Goes on in the place of a core that was discarded.
    ///
    /// - Parameter isTold: whether streams of events have heard of the failure of the disk.
    func goOn(after former: NodeCore, _ stop: WritingStop?, isTold: Bool) {
        turn.tally = former.turn.tally
        for (component, former) in zip(components, former.components) {
            component.goOn(after: former)
        }
        guard let stop else { return }
        if !isTold { events.subscriptions.say(.writingStopped, as: .kept(.nodeWarning)) }
        turn.refuseWriting(because: stop)
        // Operations from peers could not be stored.
        links.network.registry.suspend()
    }
}
