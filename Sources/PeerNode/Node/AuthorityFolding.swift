import CRDTStore
import WorkspaceCrypto
import WorkspaceModel

/// What authority operations do to a workspace: verdicts, keys, channels, names, events.
extension NodeCore {
    /// Judges a stored authority operation and everything it bears on.
    func applyAuthority(
        _ appended: OperationStore.Appended, branch: Int64, in workspace: Workspace,
        from source: OperationSource
    ) throws(StorageError) {
        let operation = appended.operation
        guard let payload = operation.authority else { return }
        let record = Workspace.AuthorityRecord(
            payload: payload,
            log: LogName(
                document: workspace.id, device: operation.header.device,
                incarnation: operation.header.incarnation),
            sequence: operation.header.sequence, timestamp: operation.header.timestamp,
            grant: operation.header.grant, arrival: appended.arrival,
            isRoot: operation.header.document == .zero)
        let change = enter(
            operation.id, record, previous: operation.header.previous,
            dependencies: operation.header.dependencies.map(\.id), in: workspace)
        let opened = try openKeys(of: payload, in: workspace)
        try settle(change, in: workspace)
        try keep(operation.id, branch, in: workspace, change)
        try foldDocuments(after: payload, operation.id, in: workspace, from: source)
        try foldOpened(by: opened, in: workspace, from: source)
        if workspace.evaluator.isValid(operation.id) {
            try recordAuthorityEvent(payload, operation.id, appended.arrival, workspace, source)
        }
    }

    /// Puts an operation that is read back from the store into the evaluator; `finishLoading`
    /// does the rest for all of them.
    func restoreAuthority(
        _ stored: StoredOperation, in workspace: Workspace
    ) throws(StorageError) {
        let payload: AuthorityPayload
        do throws(Malformed) {
            payload = try AuthorityPayload(decoding: stored.entry.payload)
        } catch {
            throw StorageError(.corrupt, "an authority operation: \(error)")
        }
        let record = Workspace.AuthorityRecord(
            payload: payload, log: stored.log, sequence: stored.place.sequence,
            timestamp: stored.entry.timestamp, grant: stored.entry.grant,
            arrival: stored.place.arrival,
            isRoot: stored.place.sequence == 0 && stored.entry.grant == .zero)
        _ = enter(
            stored.place.link.id, record, previous: try store.operations.previous(of: stored.place),
            dependencies: stored.entry.dependencies.map(\.id), in: workspace)
    }

    private func enter(
        _ id: OperationID, _ record: Workspace.AuthorityRecord, previous: OperationID?,
        dependencies: [OperationID], in workspace: Workspace
    ) -> AuthChange {
        workspace.authority[id] = record
        workspace.authorityOrder.append(id)
        if case .request = record.payload { workspace.hasRequests = true }
        let isBound = Binding.isGood(
            record.payload, under: record.grant, in: workspace, isRoot: record.isRoot)
        let operation = AuthOperation(
            id: id, device: record.log.device, incarnation: record.log.incarnation,
            sequence: record.sequence, previous: previous, dependencies: dependencies,
            timestamp: record.timestamp.rawValue, grant: record.isRoot ? nil : record.grant,
            isWellBound: isBound, action: record.payload.action, cuts: record.payload.cuts)
        // What it cites is stored, so it can be placed; if not, it has no effect.
        return (try? workspace.evaluator.add(operation)) ?? AuthChange()
    }

    // MARK: Keys

    func loadSecrets(of workspace: Workspace) throws(StorageError) {
        guard let home else { return }
        for row in try store.registry.secrets(of: workspace.number) {
            guard let secret = home.open(row.sealed, name: row.id),
                let key = SymmetricKey(untrusted: secret, lifetime: .long)
            else { continue }
            switch row.kind {
            case .epochKey: KeyID(untrusted: row.id).map { workspace.keys[$0] = key }
            case .discovery: workspace.discovery.append(key)
            }
        }
    }

    /// Opens the box that is for this device, if there is one and its key is new here.
    ///
    /// - Returns: the keys that were not held before.
    private func openKeys(
        of payload: AuthorityPayload, in workspace: Workspace
    ) throws(StorageError) -> [KeyID] {
        var opened: [KeyID] = []
        guard let home, let wrapped = payload.wrappedKeys else { return opened }
        let prefix = [UInt8](home.device.bytes.prefix(8))
        // One box is for us. Whoever writes thousands does not make us try them all.
        for wrap in wrapped.wraps.lazy.filter({ $0.devicePrefix == prefix }).prefix(2) {
            guard let secrets = SealedBox.open(wrap.box, with: home.box), secrets.count == 64,
                let key = SymmetricKey(untrusted: [UInt8](secrets[..<32]), lifetime: .long),
                key.keyID == wrapped.key
            else { continue }
            let discovery = SymmetricKey([UInt8](secrets[32...]), lifetime: .long)
            let isNamed = discoveryNames(of: workspace).contains(DiscoveryName.id(of: discovery))
            if try take(key, discovery: isNamed ? discovery : nil, in: workspace) {
                opened.append(key.keyID)
            }
        }
        return opened
    }

    /// The names of the discovery secrets that the workspace has: a box may hold anything, and
    /// under a wrong secret nobody would find anybody.
    private func discoveryNames(of workspace: Workspace) -> Set<[UInt8]> {
        var names: Set<[UInt8]> = []
        for id in workspace.authorityOrder {
            switch workspace.authority[id]?.payload {
            case .create(let create)?: names.insert(create.discoveryID)
            case .rekey(let change)? where workspace.evaluator.isValid(id):
                change.discoveryID.map { _ = names.insert($0) }
            default: continue
            }
        }
        return names
    }

    /// Stores an epoch key and a discovery secret, where they are new.
    ///
    /// - Returns: whether the epoch key was new.
    @discardableResult
    func take(
        _ key: SymmetricKey, discovery: SymmetricKey?, in workspace: Workspace
    ) throws(StorageError) -> Bool {
        guard let home else { return false }
        let isNew = workspace.keys[key.keyID] == nil
        if isNew {
            workspace.keys[key.keyID] = key
            try store.registry.setSecret(
                home.seal(key.exposedCopy(), name: key.keyID.bytes, using: environment.random),
                kind: .epochKey, id: key.keyID.bytes, workspace: workspace.number,
                names: store.operations)
        }
        guard let discovery else { return isNew }
        let id = DiscoveryName.id(of: discovery)
        if !workspace.discovery.contains(where: { DiscoveryName.id(of: $0) == id }) {
            workspace.discovery.append(discovery)
            try store.registry.setSecret(
                home.seal(discovery.exposedCopy(), name: id, using: environment.random),
                kind: .discovery, id: id, workspace: workspace.number, names: store.operations)
            network.candidates = nil
        }
        return isNew
    }

    // MARK: Verdicts

    /// Shows and hides what changed verdicts bear on.
    private func settle(_ change: AuthChange, in workspace: Workspace) throws(StorageError) {
        guard !change.isEmpty else { return }
        workspace.contentLimits.removeAll()
        let changed = (change.becameValid + change.becameInvalid)
        let grants = Set(changed.flatMap { workspace.evaluator.grants(reachedBy: $0) } + changed)
        let cited = grants.sorted().compactMap { grant in
            store.operations.number(ofGrant: grant).map { (grant, $0) }
        }
        guard !cited.isEmpty else { return }
        for (grant, number) in cited { try settleMessages(under: grant, number, in: workspace) }
        for document in store.operations.documents(ofWorkspace: workspace.number)
        where document != workspace.id {
            try rekeep(document, in: workspace)
        }
        workspace.profiles = [:]
        try loadProfiles(of: workspace)
    }

    /// Hides and shows messages as if the verdict had been there before they came.
    private func settleMessages(
        under grant: OperationID, _ number: Int64, in workspace: Workspace
    ) throws(StorageError) {
        let isValid = workspace.evaluator.isValid(grant)
        try store.view.setHidden(!isValid, grant: number)
        guard isValid else { return }
        for row in try store.view.positions(underGrant: number) {
            guard let stored = try store.operations.operation(row.position.arrival) else {
                continue
            }
            let isShown = try isContentValid(
                grant: grant, log: stored.log, branch: stored.place.branch,
                sequence: stored.place.sequence, in: workspace)
            if !isShown { try store.view.hide(row.position, in: row.document) }
        }
    }

    /// Moves the kept tips of the authority document after an operation came.
    private func keep(
        _ id: OperationID, _ branch: Int64, in workspace: Workspace, _ change: AuthChange
    ) throws(StorageError) {
        // What changes no verdict keeps nothing: it is cited by nobody yet.
        guard !change.isEmpty else { return }
        if change.becameInvalid.isEmpty, change.becameValid == [id],
            let record = workspace.authority[id]
        {
            setKept(.init(sequence: record.sequence, id: id), of: branch, in: workspace)
            // What a valid operation cites is kept with it; usually it is kept already.
            let operation = workspace.evaluator.operation(id)
            guard (operation?.dependencies ?? []).contains(where: { !isKept($0, workspace) })
            else { return }
        }
        try rekeepAuthority(in: workspace)
    }

    private func isKept(_ id: OperationID, _ workspace: Workspace) -> Bool {
        workspace.evaluator.isValid(id)
    }

    /// Makes all kept tips of the authority document anew: valid operations and their past.
    func rekeepAuthority(in workspace: Workspace) throws(StorageError) {
        var kept: Set<OperationID> = []
        for id in workspace.authorityOrder.reversed()
        where kept.contains(id) || workspace.evaluator.isValid(id) {
            kept.insert(id)
            guard let operation = workspace.evaluator.operation(id) else { continue }
            kept.formUnion(operation.dependencies)
            operation.previous.map { _ = kept.insert($0) }
        }
        for branch in store.operations.branches(in: workspace.id) {
            var tip: LogBranch.KeptTip?
            var sequence = branch.tipSequence
            while tip == nil, sequence >= branch.forkSequence {
                if let place = try store.operations.place(in: branch.number, at: sequence),
                    kept.contains(place.link.id)
                {
                    tip = .init(sequence: sequence, id: place.link.id)
                }
                guard sequence > 0 else { break }
                sequence -= 1
            }
            setKept(tip, of: branch.number, in: workspace)
        }
    }

    func setKept(_ tip: LogBranch.KeptTip?, of branch: Int64, in workspace: Workspace) {
        guard store.operations.branch(branch)?.kept != tip else { return }
        store.operations.setKept(tip, of: branch)
        store.operations.branch(branch).map {
            _ = workspace.staleDocuments.insert($0.log.document)
        }
        moved[workspace.number, default: []].insert(branch)
    }

    // MARK: Loading

    /// Makes what follows from the whole authority document, after all of it was entered.
    func finishLoading(_ workspace: Workspace) throws(StorageError) {
        refreshChannels(of: workspace)
        try loadProfiles(of: workspace)
        for document in store.operations.documents(ofWorkspace: workspace.number) {
            let branches = store.operations.branches(in: document)
            workspace.staleDocuments.insert(document)
            workspace.newestTimestamp[document] =
                branches.map(Workspace.latest).max() ?? 0
            for branch in branches { observe(branch) }
        }
    }

    /// The clock goes on after everything stored. After the tips of our own logs it does so
    /// even when they lie far ahead of the wall clock; `nextTimestamp` then begins a new
    /// incarnation.
    private func observe(_ branch: LogBranch) {
        clock.observe(branch.tip.timestamp, wallMilliseconds: time.wall)
        let isOwn =
            branch.log.device == home?.device
            && branch.log.incarnation == storeIdentity?.incarnation
        if isOwn, branch.tip.timestamp.rawValue > clock.last.rawValue {
            clock = HybridClock(last: branch.tip.timestamp)
        }
    }

    private func foldDocuments(
        after payload: AuthorityPayload, _ id: OperationID, in workspace: Workspace,
        from source: OperationSource
    ) throws(StorageError) {
        switch payload {
        case .createDocument:
            let document = DocumentID(sameBytesAs: id)
            let isKnown = store.operations.document(document) != nil
            try store.operations.enter(document, workspace: workspace.number, kind: .channel)
            refreshChannels(of: workspace)
            // Content that came before the channel was known shows from now on.
            if isKnown { try refold(document, in: workspace, from: source) }
        case .setDocument, .deleteDocument:
            refreshChannels(of: workspace)
        case .create:
            try store.operations.enter(
                workspace.profileDocument, workspace: workspace.number, kind: .profile)
        default: break
        }
    }
}

/// The names of discovery secrets.
enum DiscoveryName {
    /// H16("wsx-discid1", disc), 16 bytes.
    static func id(of discovery: SymmetricKey) -> [UInt8] {
        [UInt8](Hash.personal("wsx-discid1", discovery.exposedCopy()).prefix(16))
    }
}
