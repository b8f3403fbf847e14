import CRDTStore
import WorkspaceCrypto
import WorkspaceModel

/// Opens and judges the membership operations of private documents, in whatever order they and
/// their keys arrive.
extension PrivateDocuments {
    /// Places what can be opened of a private document, and shows what follows from it.
    ///
    /// - Parameter arrivals: membership operations that were just stored.
    func placePrivate(
        _ id: DocumentID, adding arrivals: [Int64] = [], in workspace: Workspace,
        from source: OperationSource
    ) throws(StorageError) {
        guard let document = try privateDocument(id, in: workspace) else { return }
        let count = document.order.count
        for arrival in arrivals { try enter(arrival, into: document, in: workspace) }
        let hasOpened = try openClosed(document, in: workspace)
        let isNew =
            hasOpened || document.order.count != count || document.root == nil
            || document.awaitsNamed
        let keys = document.unfoldedKeys
        guard isNew || !keys.isEmpty else { return }
        document.unfoldedKeys = []
        let changed = isNew ? try judgeAnew(document, in: workspace) : []
        if isNew { guests.guestPlansDue.insert(workspace.number) }
        if source != .ourselves { handover.passOn(keys, of: document, in: workspace) }
        for notice in document.notices
        where document.records[notice.operation].map({ arrivals.contains($0.arrival) }) == true {
            handover.passOn(notice, of: document, in: workspace)
        }
        try settle(
            document, onlyUnder: changed == nil ? nil : keys, at: changed ?? [], in: workspace,
            from: source)
        if isNew { try core.sink.privateDocumentOpened(in: workspace) }
    }

    /// Judges a document again, and finds which of its content that may show or hide. Usually there
    /// is none: a long channel is not scanned whenever somebody is added.
    ///
    /// - Returns: the ranges of logs whose content may be judged otherwise now; `nil` for all.
    private func judgeAnew(
        _ document: PrivateDocument, in workspace: Workspace
    ) throws(StorageError) -> Set<PrivateDocument.LimitPlace>? {
        guard document.root != nil else {
            try judge(document, in: workspace)
            return nil
        }
        try completeLimits(of: document, in: workspace)
        let before = document.rights.limits
        try judge(document, in: workspace)
        return Set(before.keys.filter { document.rights.limits[$0] != before[$0] })
    }

    /// Works out what counts of every range that is stored. After a start nobody has asked yet.
    private func completeLimits(
        of document: PrivateDocument, in workspace: Workspace
    ) throws(StorageError) {
        guard !document.rights.hasAllLimits else { return }
        for range in try store.operations.contentRanges(ofDocument: document.number) {
            guard let branch = store.operations.branch(range.branch),
                let grant = store.operations.grant(range.grant),
                let member = workspace.judged.subject(ofGrant: grant)
            else { continue }
            let place = PrivateDocument.LimitPlace(
                log: branch.log, member: member, key: range.keyID)
            guard document.rights.limits[place] == nil else { continue }
            document.rights.limits[place] = document.contentLimit(at: place)
        }
        document.rights.hasAllLimits = true
    }

    /// Takes a document up once more from the store, where operations were lost or came back.
    func reloadPrivate(
        _ id: DocumentID, in workspace: Workspace, from source: OperationSource
    ) throws(StorageError) {
        guard let former = workspace.sealed.documents.removeValue(forKey: id),
            let document = try privateDocument(id, in: workspace)
        else { return }
        // A lost operation may have told names.
        workspace.forgetChannelIndex()
        turn.tally.noteRejudged()
        _ = try openClosed(document, in: workspace)
        document.noteTold(as: former)
        document.unfoldedKeys = []
        try judge(document, in: workspace)
        try settle(document, onlyUnder: nil, in: workspace, from: source)
    }

    /// Applies operations that were just stored in a private document or the mailbox.
    func applyPrivate(
        _ appended: [OperationStore.Appended], _ document: OperationStore.DocumentRow,
        isJudgedAnew: Bool, in workspace: Workspace, from source: OperationSource
    ) throws(StorageError) {
        switch document.kind.access {
        case .boxes:
            try core.keys.readMailbox(appended, in: workspace, from: source)
        case .insiders:
            let arrivals = appended.filter {
                $0.operation.header.kind == OperationKind.privateAuthority.rawValue
            }.map(\.arrival)
            if !arrivals.isEmpty || isJudgedAnew {
                judgeLater(
                    document.id, adding: arrivals, isAnew: isJudgedAnew, in: workspace,
                    from: source)
            }
            // The rest of the same call depends on it.
            if source == .ourselves { try judgeNow(document.id, in: workspace) }
            guard let known = workspace.sealed.documents[document.id] else { return }
            // After a start nobody has asked how far what was shown before counts.
            if known.membership.hasCuts { try completeLimits(of: known, in: workspace) }
            if !isJudgedAnew, appended.contains(where: { known.isCut(at: $0.operation) }) {
                try refoldLater(known, in: workspace, from: source)
            }
        case .unsealed, .workspace, .undecided: break
        }
    }

    /// Everything of a workspace's private documents, after the store was opened.
    func loadPrivateDocuments(of workspace: Workspace) throws(StorageError) {
        for id in store.operations.documents(ofWorkspace: workspace.number) {
            guard let document = try privateDocument(id, in: workspace) else { continue }
            _ = try openClosed(document, in: workspace)
            try judge(document, in: workspace)
            // While it is at hand who may do what.
            _ = workspace.channel(of: document)
            document.unfoldedKeys = []
        }
        workspace.forgetChannelIndex()
        let first = try core.sink.firstUnfolded()
        let unjudged = try takeUnjudged(of: workspace)
        for document in workspace.sealed.documents.values {
            document.noteTold(
                try toldLast(
                    of: document, before: [first, unjudged[document.id]].compactMap { $0 }.min(),
                    in: workspace))
        }
        try core.sink.oweSettings(of: workspace)
    }

    /// The last reported state of a document: its current state, unless operations arrived while
    /// the node was locked. What these changed is reported as they are folded.
    private func toldLast(
        of document: PrivateDocument, before first: Int64?, in workspace: Workspace
    ) throws(StorageError) -> Workspace.Channel? {
        let now = workspace.channel(of: document)
        guard let first, document.records.values.contains(where: { $0.arrival >= first }) else {
            return now
        }
        let before = PrivateAuthority(
            of: document.id,
            try operations(of: document, ends: document.ends, in: workspace)
                .filter { document.records[$0.id]?.arrival ?? 0 < first }, ends: document.ends)
        return workspace.makeChannel(of: document, as: before)
    }

    /// Judges a document again: a change in the workspace affects what counts in it.
    func rejudgePrivate(
        _ id: DocumentID, in workspace: Workspace, from source: OperationSource
    ) throws(StorageError) {
        guard let document = workspace.sealed.documents[id] else { return }
        turn.tally.noteRejudged()
        try judge(document, in: workspace)
        try settle(document, onlyUnder: nil, in: workspace, from: source)
    }

    /// Judges all private documents of a workspace again without updating views, because everything
    /// is being rebuilt.
    func rejudgeUnshown(in workspace: Workspace) throws(StorageError) {
        for document in workspace.sealed.documents.values.sorted(by: { $0.id < $1.id }) {
            try judge(document, in: workspace)
            document.noteTold(workspace.channel(of: document))
        }
        workspace.forgetChannelIndex()
    }

    // MARK: Opening

    /// Takes a stored membership operation up, not opened yet.
    func enter(
        _ arrival: Int64, into document: PrivateDocument, in workspace: Workspace
    ) throws(StorageError) {
        guard let stored = try store.operations.operation(arrival), let key = stored.entry.keyID
        else { return }
        document.membership.enter(
            stored.place.link.id,
            PrivateDocument.Record(
                author: author(of: stored, in: workspace), log: stored.log,
                sequence: stored.place.sequence, timestamp: stored.entry.timestamp,
                grant: stored.entry.grant, keyID: key, arrival: arrival,
                branch: stored.place.branch,
                previous: try store.operations.nearest(
                    ofKind: .privateAuthority, before: stored.place.sequence,
                    in: stored.place.branch),
                dependencies: stored.entry.dependencies.map(\.id)))
    }

    /// The member whose device wrote something; `nil` where the grant is not for that device.
    private func author(of stored: StoredOperation, in workspace: Workspace) -> MemberID? {
        let grant = stored.entry.grant
        guard workspace.judged.devices(ofGrant: grant).contains(stored.log.device) else {
            return nil
        }
        return workspace.judged.subject(ofGrant: grant)
    }

    /// Opens what can be opened; a key that is found in one operation may open the next. Only what
    /// came since is looked at, so that n epochs cost n openings however they come.
    ///
    /// - Returns: whether anything was opened.
    private func openClosed(
        _ document: PrivateDocument, in workspace: Workspace
    ) throws(StorageError) -> Bool {
        var hasOpened = false
        while true {
            let (operations, epochs) = document.membership.takeUntried()
            guard !operations.isEmpty || !epochs.isEmpty else { return hasOpened }
            for name in epochs {
                // Operations that only the key itself opens.
                for id in document.membership.introducing[name] ?? [] {
                    try takeHandedOn(id, document, in: workspace)
                }
            }
            let found = epochs.flatMap { document.membership.closed(under: $0).sorted() }
            for id in operations + found where document.closed.contains(id) {
                guard try open(id, document) else { continue }
                hasOpened = true
                try takeHandedOn(id, document, in: workspace)
            }
        }
    }

    private func takeHandedOn(
        _ id: OperationID, _ document: PrivateDocument, in workspace: Workspace
    ) throws(StorageError) {
        document.noteLook()
        guard let record = document.records[id], let change = record.change else { return }
        _ = try takeOlder(of: change, under: record.keyID, document, in: workspace)
    }

    private func open(
        _ id: OperationID, _ document: PrivateDocument
    ) throws(StorageError) -> Bool {
        document.noteLook()
        guard let record = document.records[id],
            document.authorityKeys.holds(record.keyID),
            let stored = try store.operations.operation(record.arrival),
            let payload = try? PrivatePayload(decoding: stored.entry.payload)
        else { return false }
        let header = try core.keys.header(of: stored)
        for (place, key) in document.authorityKeys.keys(of: record.keyID).enumerated()
        where key.opens(payload, of: header) {
            document.opened(id, key.open(payload, of: header), by: place)
            return true
        }
        return false
    }

    /// Judges everything of a document, from nothing.
    private func judge(
        _ document: PrivateDocument, in workspace: Workspace
    ) throws(StorageError) {
        workspace.forgetSealing(of: document.id)
        document.shown = nil
        document.noteJudged()
        let before = document.rights.limits
        document.rights.limits = [:]
        document.noteNamed { workspace.judged.hasLetIn($0) }
        document.ends = ends(in: document, of: workspace)
        if workspace.sealed.settledEnds != workspace.memberEnds {
            workspace.sealed.settledEnds = nil
        }
        document.judge(try operations(of: document, ends: document.ends, in: workspace))
        document.notePlace(of: workspace.member)
        document.noteRights()
        try notices.adoptNotices(of: document, in: workspace)
        try notices.heedNotices(of: document, in: workspace)
        authoring.planAnswering(of: document, in: workspace)
        for place in before.keys {
            document.rights.limits[place] = document.contentLimit(at: place)
        }
    }

    /// The operations that ended workspace memberships of people whom the document ever admitted.
    ///
    /// - Parameter new: people who are about to be added.
    func ends(
        in document: PrivateDocument, besides new: [MemberID] = [], of workspace: Workspace
    ) -> [MemberID: Set<OperationID>] {
        workspace.memberEnds.filter { document.everIn.contains($0.key) || new.contains($0.key) }
    }

    /// Those membership ends that a grant knows of.
    func known(
        _ ends: [MemberID: Set<OperationID>], by grant: OperationID, in workspace: Workspace
    ) -> Set<OperationID> {
        Set(ends.values.joined().filter { workspace.judged.isAncestor($0, of: grant) })
    }

    /// The evaluator's input for a document's operations.
    func operations(
        of document: PrivateDocument, ends: [MemberID: Set<OperationID>], in workspace: Workspace
    ) throws(StorageError) -> [PrivateOperation] {
        var knownBy: [OperationID: Set<OperationID>] = [:]
        var operations: [PrivateOperation] = []
        for id in document.membership.telling {
            guard let record = document.records[id] else { continue }
            // Many operations are under one grant, or name one.
            var known: Set<OperationID> = []
            for grant in [record.grant] + grants(namedBy: record.change, ends, in: workspace) {
                let found = knownBy[grant] ?? self.known(ends, by: grant, in: workspace)
                knownBy[grant] = found
                known.formUnion(found)
            }
            let least = record.change?.leastRole
            let stands = try core.membership.standsUnwidened(
                record.sequence, on: record.branch, under: record.grant, asAtLeast: least,
                in: workspace)
            var isAllowed = stands
            if !stands, id == document.rootID,
                store.operations.branch(record.branch)?.kept != nil
            {
                isAllowed = try mayMake(record, asAtLeast: least, workspace)
            }
            // The operations between membership operations of a log are content.
            operations.append(
                PrivateOperation(
                    id: id, author: record.author, previous: record.previous,
                    dependencies: record.dependencies.filter { document.records[$0] != nil },
                    keyID: record.keyID, change: record.change,
                    isAllowed: isAllowed,
                    knownEnds: known, people: document.everIn, cuts: record.cuts))
        }
        return operations
    }

    /// The grants among the answers of the key that a change introduces.
    func grants(
        namedBy change: PrivateChange?, _ ends: [MemberID: Set<OperationID>],
        in workspace: Workspace
    ) -> [OperationID] {
        guard !ends.isEmpty, let answers = change?.action.epoch?.answers else { return [] }
        return answers.filter { workspace.judged.role(ofGrant: $0) != nil }
    }

    /// Whether a root that others depend on is valid: not if its author was made a guest before,
    /// however that device ended.
    private func mayMake(
        _ record: PrivateDocument.Record, asAtLeast least: Role?, _ workspace: Workspace
    ) throws(StorageError) -> Bool {
        guard let least else { return true }
        guard let branch = store.operations.branch(record.branch),
            let limit = workspace.judged.roleLimit(
                grant: record.grant, log: branch.log, leastRole: least)
        else { return false }
        if limit == .everything { return true }
        var search = CutSearch(branch, store.operations, workspace: workspace.number)
        return try search.bound(of: limit).map { record.sequence <= $0 } ?? false
    }

    // MARK: What follows

    private func settle(
        _ document: PrivateDocument, onlyUnder keys: Set<KeyID>?,
        at places: Set<PrivateDocument.LimitPlace> = [], in workspace: Workspace,
        from source: OperationSource
    ) throws(StorageError) {
        workspace.forgetChannelIndex(of: document)
        let opened = try keys.map { (keys) throws(StorageError) in
            try takeSealed(under: keys, of: document)
        }
        // Newly opened content shows which of its targets are messages.
        if document.rights.hasOtherRights || opened?.isEmpty != true {
            document.rights.hasOtherRights = false
            try core.sink.reviewRedactions(inDocument: document.number)
        }
        try authoring.tellThoseNamedWithoutEffect(in: document, of: workspace)
        let wasSeen = document.isTold
        try core.sink.tell(document, in: workspace, from: source)
        // Content that arrived before the channel was visible was not folded.
        let some = wasSeen || !document.isTold ? opened : nil
        try core.sink.refoldPrivate(document, only: some, at: places, in: workspace, from: source)
    }
}
