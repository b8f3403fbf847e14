import CRDTStore
import SyncProtocol
import WorkspaceCrypto
import WorkspaceModel

/// Dropping the keys of a running node, and loading them again (PROTOCOL.md, 6.3).
///
/// A locked node keeps the Noise static key and its certificate, discovery secrets, and the psks of
/// group keys and invites, so that links continue. It drops signing, box, home and epoch keys,
/// everything derived from them, and every text that they opened.
extension HomeSession {
    // MARK: Locking

    /// Drops the keys; links continue.
    func lockKeys() throws(StorageError) {
        guard let home, let identity = core.links.localIdentity else { return }
        // Keys go although the disk fails: what could be noted of it is less than that.
        if mayWrite { try write() }
        try core.privates.judgeWaiting(all: true)
        try core.own.writeMarkers(all: true)
        try core.notes.closeAll()
        try core.ledgers.tellChanges()
        let certified = LockState.Certified(
            identity: identity, createdAt: home.createdAt)
        try endWhatNeedsKeys()
        try noteUnfolded()
        let isTold = lock.lastEvent != nil
        lock.certified = certified
        lock.phase = .relaying
        core.queries.stopSearch()
        forgetKeys()
        if !isTold { try tellLocked() }
    }

    /// Drops all secrets that a lock removes. Each room drops its own, so that later additions are
    /// not forgotten here.
    private func forgetKeys() {
        for workspace in workspaces.values { workspace.forgetSecrets() }
        for component in core.components { component.forgetSecrets() }
    }

    /// Tells readers of events, who are given no later one until the node is open again.
    func tellLocked() throws(StorageError) {
        if mayWrite { try turn.record(.sessionLocked, workspace: nil) }
        core.events.notices.fresh = []
        // It holds names and texts that keys have opened.
        core.events.subscriptions.forgetPassing(isCounted: false)
        turn.emit(.forgetNotices)
        lock.lastEvent = store.events.newest
        turn.emit(.log(.info, "session.locked"))
    }

    /// Joins, checks and held calls cannot continue without keys, and their callers are told so.
    /// Joins that wait for an admin's approval are on the disk and resume when the node is
    /// unlocked.
    private func endWhatNeedsKeys() throws(StorageError) {
        let failure = Result<JSONValue, NodeError>.failure(.locked(.relaying))
        let joins = network.joining.joins
        network.joining.joins = []
        for join in joins {
            if let scope = join.scope { turn.emit(.answer(scope.call, failure)) }
            try leaveBehind(join.linkID, join.workspace.map { [$0] } ?? [])
        }
        if let linking = network.joining.linking {
            network.joining.linking = nil
            turn.emit(.answer(linking.scope.call, failure))
            try leaveBehind(linking.connection, linking.workspaces.keys.sorted())
        }
        for case .call(let call, _, _) in network.ownHistory.held {
            turn.emit(.answer(call, failure))
        }
        network.ownHistory.held = []
        if let check = core.integrity.checking { turn.emit(.answer(check.call, failure)) }
        core.integrity.checking = nil
    }

    private func leaveBehind(_ link: LinkID?, _ numbers: [Int64]) throws(StorageError) {
        if let link = link.flatMap({ network.links[$0] }) {
            try core.links.drop(link, because: LinkEnding("session.locked"))
        }
        // While nothing may be written, the next process finds it and drops it.
        for number in numbers where mayWrite { try core.enrolment.abandon(number) }
    }

    /// Drops the keys and the network with them; what is stored stays, sealed.
    func closeSession() throws(StorageError) {
        try lockKeys()
        core.links.endAllAnonymous()
        for link in network.ordered {
            try core.links.drop(link, because: LinkEnding("session.closed"))
        }
        core.workspaces = [:]
        for component in core.components { component.forgetWorkspaces() }
        lock.phase = .closed
        turn.emit(.setNetwork(isOn: false))
    }

    // MARK: Unlocking

    /// Takes up the keys.
    ///
    /// - Throws: `NodeError` for keys that are not those of this store.
    func unlock(with home: HomeIdentity) throws(NodeError) {
        let phase = lock.phase
        if phase == .closed {
            let doubt = try stored { () throws(StorageError) in
                try StoreIdentity.doubt(of: home, in: store.registry)
            }
            if let doubt {
                throw NodeError(
                    .badConfiguration, doubt.message, hint: doubt.hint, reason: "identity.foreign")
            }
        }
        try stored { () throws(StorageError) in
            try write()
            lock.phase = .open
            switch phase {
            case .closed:
                try core.open(home)
                try write()
                turn.emit(.setNetwork(isOn: true))
            case .relaying: try takeUp(home)
            case .gated, .open: break
            }
            lock.certified = nil
            lock.lastEvent = nil
            lock.wrongCodes = 0
            try turn.record(.sessionUnlocked, workspace: nil)
            try foldArrived()
        }
        turn.emit(.log(.info, "session.unlocked"))
    }

    private func takeUp(_ home: HomeIdentity) throws(StorageError) {
        self.home = try core.enrolment.recovery.withLaterPhrase(home)
        network.candidates = nil
        for workspace in workspaces.values.sorted(by: { $0.number < $1.number }) {
            workspace.secrets.invitePSKs = [:]
            workspace.people.ownName = home.name
            try core.keys.loadSecrets(of: workspace)
            // They are stored by their names, and the newest one is what links begin with.
            try core.keys.openDiscovery(of: workspace)
            try core.privates.handover.loadRecoveryBox(of: workspace)
            try core.privates.loadPrivateDocuments(of: workspace)
            try core.channels.refreshChannels(of: workspace)
            try core.messages.reviewRedactions(of: workspace)
            core.keys.planKeyChange(of: workspace)
            core.membership.planConfirming(of: workspace)
            core.privates.guests.planGuests(of: workspace)
            try core.presence.reviewPresence(of: workspace)
        }
        try core.integrity.buildViews()
        try beginFolding()
        try core.enrolment.openPendingJoins()
        try core.queries.startSearch()
    }

    // MARK: What came meanwhile

    /// Operations that are folded in one turn.
    private static let foldedPerTurn: Int64 = 2_048

    /// Notes from where on operations are stored unopened.
    private func noteUnfolded() throws(StorageError) {
        lock.unfolded = try storedUnfolded() ?? store.operations.arrival + 1
        lock.isUnfoldedStored = false
        folding = nil
        try storeUnfolded()
    }

    private func storedUnfolded() throws(StorageError) -> Int64? {
        guard let bytes = try store.registry.value(LockState.unfoldedName), bytes.count == 8 else {
            return nil
        }
        return Int64(bitPattern: bytes.reduce(0) { $0 << 8 | UInt64($1) })
    }

    /// From where on stored operations have not been reported; `nil` for none.
    func firstUnfolded() throws(StorageError) -> Int64? {
        if let first = lock.unfolded { return first }
        return try storedUnfolded()
    }

    /// Writes the note, where a transaction is open anyway.
    func storeUnfolded() throws(StorageError) {
        guard let first = lock.unfolded, !lock.isUnfoldedStored,
            store.connection.isInTransaction
        else { return }
        try store.registry.setValue(
            bigEndianBytes(of: UInt64(bitPattern: first)), of: LockState.unfoldedName)
        lock.isUnfoldedStored = true
    }

    /// Begins with what was stored unopened, in this run or in the last one.
    func beginFolding() throws(StorageError) {
        let noted = (try? storedUnfolded()) ?? nil
        guard let first = lock.unfolded ?? noted else { return }
        lock.unfolded = nil
        folding = (first, store.operations.arrival)
        for number in core.messages.redactedDocuments.sorted() {
            try core.messages.reviewRedactions(inDocument: number)
        }
    }

    /// Opens and shows a part of what was stored unopened.
    func foldArrived() throws(StorageError) {
        guard home != nil, let (first, last) = folding else { return }
        lock.isFolding = true
        defer { lock.isFolding = false }
        try core.integrity.foldFilled()
        try write()
        let end = min(last, first &+ Self.foldedPerTurn - 1)
        var next = first
        var judged: Set<Int64> = []
        while next <= end {
            if let stored = try store.operations.operation(next) {
                try foldArrived(stored, &judged)
            }
            next += 1
        }
        for workspace in workspaces.values.sorted(by: { $0.number < $1.number }) {
            try core.messages.foldUnfolded(
                in: workspace, from: .released(source: 0, isBackfill: false))
        }
        guard end >= last else {
            folding = (end + 1, last)
            try store.registry.setValue(
                bigEndianBytes(of: UInt64(bitPattern: end + 1)), of: LockState.unfoldedName)
            turn.hasMoreToDo = true
            return
        }
        folding = nil
        try store.registry.setValue(nil, of: LockState.unfoldedName)
        for workspace in workspaces.values.sorted(by: { $0.number < $1.number }) {
            // Operations that took effect while no box could be opened.
            let opened = try core.keys.openMissedDiscovery(of: workspace)
            try core.messages.foldOpened(
                by: opened, in: workspace, from: .released(source: 0, isBackfill: false))
            try core.profiles.reloadProfiles(of: workspace)
        }
    }

    /// - Parameter judged: the private documents whose membership operations were all folded in
    ///   this turn. They were opened together when the keys came, so the first of them, which
    ///   precedes what was written after it, covers all; each judgement processes the whole
    ///   document.
    private func foldArrived(
        _ stored: StoredOperation, _ judged: inout Set<Int64>
    ) throws(StorageError) {
        guard let document = store.operations.document(numbered: stored.document),
            let workspace = core.workspaces[document.workspace]
        else { return }
        let source = OperationSource.released(source: 0, isBackfill: false)
        switch document.kind.access {
        case .unsealed:
            guard let payload = workspace.authority[stored.place.link.id]?.payload else { return }
            workspace.secrets.unfolded += try core.keys.openKeys(of: payload, in: workspace)
            return
        case .boxes, .insiders:
            if stored.entry.kind == OperationKind.privateAuthority.rawValue {
                guard judged.insert(document.number).inserted else { return }
                return try core.privates.rejudgePrivate(document.id, in: workspace, from: source)
            }
            return try core.messages.sealed.foldPrivate(stored, in: workspace, from: source)
        case .workspace, .undecided:
            // What came before it is shown before it.
            try core.messages.foldUnfolded(in: workspace, from: source)
            try core.messages.fold(stored, document, in: workspace, from: source)
        }
    }
}

extension Workspace {
    /// Zeroes every key of this workspace but its discovery secrets and what links are opened under
    /// beside them, and forgets every text that they opened. A table that gets to hold keys, or what they opened, is emptied here too.
    ///
    /// The psks of invites are taken out of their seals before, so that holders of links are
    /// answered while the node is locked.
    func forgetSecrets() {
        for (id, record) in authority {
            if case .invite = record.payload {
                secrets.invitePSKs[id] = psk(of: id) ?? secrets.invitePSKs[id]
            }
        }
        // The link secrets of the newest keys are derived while these are there.
        _ = linkEpochs()
        secrets.keys.removeAll()
        // Their keys, and all that these opened: who is in them, and what they are called.
        sealed.documents = [:]
        secrets.mailbox = [:]
        secrets.recoveryBox = nil
        people.openedNames = [:]
        people.foldedNames = FoldedNames()
        people.ownName = nil
        forgetProfiles()
        own.presenceChoice = PresenceChoice()
        own.shownPresence = PresenceChoice()
        forgetChannelNames()
    }
}

extension NodeError {
    /// A node that is locked answers nothing else.
    static func locked(_ phase: LockState.Phase) -> NodeError {
        NodeError(
            .locked,
            phase == .gated
                ? "the node is locked; unlock it with your passcode"
                : "the node is locked; unlock it with your passphrase",
            hint: phase == .gated
                ? "wsx-node session unlock, with the passcode or the passphrase"
                : "wsx-node session unlock",
            reason: phase == .gated ? "session.passcode" : "session.locked")
    }
}
