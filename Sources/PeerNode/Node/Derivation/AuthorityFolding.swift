import CRDTStore
import WorkspaceCrypto
import WorkspaceModel

/// Applies authority operations to a workspace: verdicts, keys, channels, names, events.
extension Derivation {
    /// Applies the verdicts on a stored authority operation, and on all that it affects.
    func applyAuthority(
        _ appended: OperationStore.Appended, _ change: AuthChange, branch: Int64,
        in workspace: Workspace, from source: OperationSource
    ) throws(StorageError) {
        let operation = appended.operation
        guard let payload = operation.authority else { return }
        enter(
            operation.id,
            Workspace.AuthorityRecord(
                payload, operation.header, arrival: appended.arrival, in: workspace.id), change,
            in: workspace)
        let opened = try core.keys.openKeys(of: change.becameValid, in: workspace)
        let isAlone = change.isOnly(operation.id)
        if !isAlone, !change.isEmpty {
            // Operations that were passed over as void may count now, and arrive with the next
            // comparison (S-3).
            try store.peers.forgetAgreed()
        }
        try core.messages.settleLater(change, in: workspace, from: source)
        try core.log.retention.rekeepAuthority(
            after: operation.id, change, on: branch, in: workspace)
        try foldDocuments(after: payload, appended, change, in: workspace, from: source)
        workspace.secrets.unfolded += opened
        if case .admit(let newcomer, _, _, _) = payload {
            workspace.judged.unheardNewcomers.insert(newcomer.member)
        }
        if workspace.judged.isValid(operation.id) {
            if case .confirm = payload {
                core.membership.noteConfirmation(operation.id, in: workspace)
            }
            try core.events.recordAuthorityEvent(
                payload, operation.id, appended.arrival, workspace, source)
        }
        try core.events.tellRoles(
            after: change, of: operation.id, appended.arrival, workspace, source)
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
        let operation = AuthOperation(
            stored.place.link.id, record, previous: try store.operations.previous(of: stored.place),
            dependencies: stored.entry.dependencies.map(\.id), in: workspace)
        // A damaged operation, and what cites it, has no verdict until it is repaired.
        let change = (try? workspace.judged.add(operation)) ?? AuthChange()
        enter(stored.place.link.id, record, change, in: workspace)
    }

    /// Notes what the evaluator does not need to know.
    private func enter(
        _ id: OperationID, _ record: Workspace.AuthorityRecord, _ change: AuthChange,
        in workspace: Workspace
    ) {
        workspace.enter(record, id)
        core.channels.note(record.payload, id, in: workspace)
        if case .request = record.payload { workspace.judged.hasRequests = true }
        workspace.noteKeys(of: record.payload, id, change)
        core.keys.noteKeyChange(id, record, in: workspace)
    }

    // MARK: Keys

    // MARK: Loading

    /// Makes what follows from the whole authority document, after all of it was entered.
    func finishLoading(_ workspace: Workspace) throws(StorageError) {
        try core.keys.openDiscovery(of: workspace)
        try core.keys.loadLackedKeys(of: workspace)
        try core.channels.refreshChannels(of: workspace)
        try core.channels.refreshEnd(of: workspace)
        try core.profiles.loadProfiles(of: workspace)
        try core.privates.loadPrivateDocuments(of: workspace)
        workspace.judged.toldRoles = Dictionary(
            uniqueKeysWithValues: workspace.members.map { ($0.member, $0.role) })
        core.keys.planKeyChange(of: workspace)
        core.membership.planConfirming(of: workspace)
        core.privates.guests.planGuests(of: workspace)
        for document in store.operations.documents(ofWorkspace: workspace.number) {
            let branches = store.operations.branches(in: document, of: workspace.number)
            workspace.held.staleDocuments.insert(document)
            let void = core.log.retention.voidGrants(citedIn: document, of: workspace)
            if document != workspace.id, !void.isEmpty { workspace.judged.grants[document] = void }
            workspace.held.newestTimestamp[document] =
                branches.map(Workspace.latest).max() ?? 0
            for branch in branches { core.log.observe(branch) }
        }
        try core.log.retention.rekeepAuthority(in: workspace)
    }

    private func foldDocuments(
        after payload: AuthorityPayload, _ appended: OperationStore.Appended,
        _ change: AuthChange, in workspace: Workspace, from source: OperationSource
    ) throws(StorageError) {
        let id = appended.operation.id
        let cause = ChannelCause(arrival: appended.arrival, isBackfill: source.isBackfill)
        // Whatever else changed its verdict may bear on any channel.
        let isAlone = change.isOnly(id)
        let isKnown = try core.membership.enterDocument(of: payload, id, in: workspace)
        if case .deleteWorkspace = payload {
            try core.channels.refreshEnd(of: workspace)
        } else if !isAlone, !change.isEmpty {
            try core.channels.refreshEnd(of: workspace)
        }
        switch payload {
        case .createDocument:
            let document = DocumentID(sameBytesAs: id)
            try core.channels.refreshChannels(of: workspace, after: change, of: id, because: cause)
            if isKnown {
                // Guests do not write in public channels, and content that came before the
                // channel was known shows from now on.
                workspace.judged.contentLimits = workspace.judged.contentLimits.filter {
                    $0.key.log.document != document
                }
                if try core.messages.judge(document, citing: nil, in: workspace, because: source) {
                    try core.log.retention.rekeep(document, in: workspace)
                }
                try core.messages.refold(document, in: workspace, from: source)
            }
            return
        case .addDevices:
            // Whose a device is decides whether its name counts.
            try core.profiles.reloadProfilesLater(of: workspace, from: source)
        default:
            break
        }
        try core.channels.refreshChannels(of: workspace, after: change, because: cause)
    }
}
