import CRDTStore
import WorkspaceCrypto
import WorkspaceModel

/// What content operations do: messages, subscriptions and names in the view. A pure fold; any
/// order of operations gives the same rows.
extension NodeCore {
    /// Folds operations that were just stored on one branch.
    func applyContent(
        _ appended: [OperationStore.Appended], log: LogName, branch: Int64,
        in workspace: Workspace, from source: OperationSource
    ) throws(StorageError) {
        guard let document = store.operations.document(log.document) else { return }
        let before = store.operations.branch(branch)?.kept
        var kept = before
        for item in appended {
            let header = item.operation.header
            let isValid = try isContentValid(
                grant: header.grant, log: log, branch: branch, sequence: header.sequence,
                in: workspace)
            if isValid { kept = .init(sequence: header.sequence, id: item.operation.id) }
            guard header.kind == OperationKind.content.rawValue, document.kind != .unknown,
                let content = content(of: item.operation, in: workspace)
            else { continue }
            try fold(
                content,
                Folding(
                    workspace: workspace, document: document, documentID: log.document,
                    arrival: item.arrival, sort: item.sort, id: item.operation.id,
                    timestamp: header.timestamp, grant: header.grant, device: log.device,
                    isValid: isValid, source: source))
        }
        setKept(kept, of: branch, in: workspace)
        guard let tip = kept, tip != before, let own = store.operations.branch(branch) else {
            return
        }
        let first = before.map { $0.sequence + 1 } ?? own.forkSequence
        let isPlain =
            own.parent == nil && first == appended.first?.operation.header.sequence
            && appended.allSatisfy { $0.operation.header.dependencies.isEmpty }
        guard !isPlain, first <= tip.sequence else { return }
        try keepCited(by: [(branch, first...tip.sequence)], of: log.document, in: workspace)
    }

    /// One operation on its way into the view.
    private struct Folding {
        let workspace: Workspace
        let document: OperationStore.DocumentRow
        let documentID: DocumentID
        let arrival: Int64
        let sort: Int64
        let id: OperationID
        let timestamp: HybridTimestamp
        let grant: OperationID
        let device: DeviceID
        let isValid: Bool
        let source: OperationSource
    }

    private func fold(
        _ content: ContentPayload, _ place: Folding
    ) throws(StorageError) {
        let workspace = place.workspace
        switch content {
        case .message(let message):
            guard place.document.kind == .channel,
                let grant = store.operations.number(ofGrant: place.grant)
            else { return }
            try store.view.fold(
                ViewStore.MessageRow(
                    document: place.document.number,
                    position: .init(sort: place.sort, arrival: place.arrival),
                    key: MessageKey(timestamp: place.timestamp, idPrefix: place.id.messagePrefix),
                    grant: grant, thread: message.thread),
                as: place.isValid ? .shown : isOwn(place) ? .refused : .hidden)
            guard place.isValid else {
                if isOwn(place), let stored = try store.operations.operation(place.arrival) {
                    try recordRefused(stored, in: place.document.number, workspace, place.source)
                }
                return
            }
            try record(
                .messageCreated, workspace: workspace, document: place.document.number,
                arrival: place.arrival, isBackfill: place.source.isBackfill)
        case .membership(let action, let members):
            guard place.document.kind == .channel, place.isValid,
                let author = workspace.evaluator.subject(ofGrant: place.grant)
            else { return }
            let isJoined = action == .join || action == .add
            for member in members.isEmpty ? [author] : members {
                try store.view.fold(
                    member, joined: isJoined, in: place.document.number, at: place.timestamp,
                    by: place.id)
            }
            try record(
                isJoined ? .channelMemberAdded : .channelMemberRemoved, workspace: workspace,
                document: place.document.number, arrival: place.arrival,
                extra: (members.first ?? author).bytes, isBackfill: place.source.isBackfill)
        case .profile(let name):
            guard place.document.kind == .profile, place.isValid,
                let author = workspace.evaluator.subject(ofGrant: place.grant),
                (try? CheckedName.checkWire(name)) != nil
            else { return }
            let before = workspace.displayName(of: author)
            take(
                Workspace.Profile(timestamp: place.timestamp, id: place.id, name: name),
                of: author, in: workspace)
            if workspace.displayName(of: author) != before {
                try record(
                    .memberEdited, workspace: workspace, arrival: place.arrival,
                    extra: author.bytes, isBackfill: place.source.isBackfill)
            }
        case .device(let device, let name):
            guard place.document.kind == .profile, place.isValid else { return }
            takeName(
                Workspace.Profile(timestamp: place.timestamp, id: place.id, name: name),
                of: device, under: place.grant, in: workspace)
        }
    }

    private func isOwn(_ place: Folding) -> Bool {
        place.workspace.evaluator.subject(ofGrant: place.grant) == place.workspace.member
    }

    private func take(
        _ profile: Workspace.Profile, of member: MemberID, in workspace: Workspace
    ) {
        if let known = workspace.profiles[member],
            (known.timestamp.rawValue, known.id) > (profile.timestamp.rawValue, profile.id)
        {
            return
        }
        workspace.profiles[member] = profile
    }

    // MARK: Opening

    /// What a content operation says, or `nil` while its key is not held, and for what does not
    /// open or parse.
    func content(
        of operation: CheckedOperation, in workspace: Workspace
    ) -> ContentPayload? {
        content(of: operation.header, payload: operation.payload, in: workspace)
    }

    private func content(
        of header: OperationHeader, payload: [UInt8], in workspace: Workspace
    ) -> ContentPayload? {
        guard let keyID = header.keyID,
            let key = workspace.documentKey(header.document, keyID),
            let plaintext = SealedPayload.open(
                payload, under: key, associatedData: header.associatedData)
        else { return nil }
        return try? ContentPayload(decoding: plaintext)
    }

    /// What a stored content operation says.
    func content(
        of stored: StoredOperation, in workspace: Workspace
    ) throws(StorageError) -> ContentPayload? {
        let entry = stored.entry
        let header = OperationHeader(
            kind: entry.kind, document: stored.log.document, device: stored.log.device,
            incarnation: stored.log.incarnation, sequence: stored.place.sequence,
            previous: try store.operations.previous(of: stored.place), timestamp: entry.timestamp,
            grant: entry.grant, keyID: entry.keyID, dependencies: entry.dependencies,
            payloadLength: 0, payloadHash: .zero)
        return content(of: header, payload: entry.payload, in: workspace)
    }

    // MARK: Validity

    func isContentValid(
        grant: OperationID, log: LogName, branch: Int64, sequence: UInt64,
        in workspace: Workspace
    ) throws(StorageError) -> Bool {
        let place = Workspace.LimitPlace(grant: grant, log: log)
        let limit: ContentLimit
        if let known = workspace.contentLimits[place] {
            limit = known
        } else {
            limit = workspace.evaluator.contentLimit(grant: grant, log: log, leastRole: .member)
            workspace.contentLimits[place] = limit
        }
        guard case .cuts(let groups) = limit else { return limit == .everything }
        var branchHolds: [CutEntry: Bool] = [:]
        for cut in groups.joined() {
            let place = try store.operations.place(in: branch, at: cut.sequence)
            branchHolds[cut] = place.map { Identifier16(prefixOf: $0.link.id) == cut.id } ?? false
        }
        return limit.allows(sequence: sequence) { branchHolds[$0] ?? false }
    }

    /// Makes the kept tips of a content document anew, after verdicts changed.
    func rekeep(_ document: DocumentID, in workspace: Workspace) throws(StorageError) {
        let branches = store.operations.branches(in: document)
        var tips: [Int64: LogBranch.KeptTip] = [:]
        var ranges: [(branch: Int64, places: ClosedRange<UInt64>)] = []
        for branch in branches {
            var tip: LogBranch.KeptTip?
            var sequence = branch.tipSequence
            while tip == nil, sequence >= branch.forkSequence,
                let place = try store.operations.place(in: branch.number, at: sequence)
            {
                if let grant = try store.operations.operation(place.arrival)?.entry.grant,
                    try isContentValid(
                        grant: grant, log: branch.log, branch: branch.number, sequence: sequence,
                        in: workspace)
                {
                    tip = .init(sequence: sequence, id: place.link.id)
                }
                guard sequence > 0 else { break }
                sequence -= 1
            }
            guard let tip else { continue }
            tips[branch.number] = tip
            ranges.append((branch.number, branch.forkSequence...tip.sequence))
        }
        try close(&tips, with: ranges, in: document)
        for branch in branches { setKept(tips[branch.number], of: branch.number, in: workspace) }
    }

    /// Keeps, valid or not, what operations cite that are kept from now on: whoever takes those
    /// over cannot store them without it.
    private func keepCited(
        by ranges: [(branch: Int64, places: ClosedRange<UInt64>)], of document: DocumentID,
        in workspace: Workspace
    ) throws(StorageError) {
        let branches = store.operations.branches(in: document)
        var tips: [Int64: LogBranch.KeptTip] = [:]
        for branch in branches { tips[branch.number] = branch.kept }
        try close(&tips, with: ranges, in: document)
        for branch in branches { setKept(tips[branch.number], of: branch.number, in: workspace) }
    }

    /// Raises `tips` until the past of everything below them is below them.
    private func close(
        _ tips: inout [Int64: LogBranch.KeptTip],
        with ranges: [(branch: Int64, places: ClosedRange<UInt64>)], in document: DocumentID
    ) throws(StorageError) {
        var left = ranges
        while let (number, range) = left.popLast() {
            for place in try past(of: number, range, in: document) {
                guard let owner = store.operations.branch(place.branch) else { continue }
                let next = tips[owner.number].map { $0.sequence + 1 } ?? owner.forkSequence
                guard next <= place.sequence else { continue }
                tips[owner.number] = .init(sequence: place.sequence, id: place.link.id)
                left.append((owner.number, next...place.sequence))
            }
        }
    }

    /// What these operations of a branch cite, and where the branch leaves its parent.
    private func past(
        of branch: Int64, _ range: ClosedRange<UInt64>, in document: DocumentID
    ) throws(StorageError) -> [StoredPlace] {
        var places: [StoredPlace] = []
        for reference in try store.operations.dependencies(in: branch, range) {
            try store.operations.find(reference, in: document).map { places.append($0) }
        }
        if range.lowerBound > 0, range.lowerBound == store.operations.branch(branch)?.forkSequence {
            try store.operations.place(in: branch, at: range.lowerBound - 1)
                .map { places.append($0) }
        }
        return places
    }

    // MARK: Folding again

    /// Folds a document whose channel, or whose key, became known after its operations.
    ///
    /// - Parameter key: only what this epoch key seals, `nil` for all of it.
    func refold(
        _ document: DocumentID, sealedUnder key: KeyID? = nil, in workspace: Workspace,
        from source: OperationSource
    ) throws(StorageError) {
        guard let row = store.operations.document(document) else { return }
        var found: [(StoredOperation, ContentPayload)] = []
        try store.operations.forEachOperation(in: document) { (stored) throws(StorageError) in
            guard key == nil || stored.entry.keyID == key else { return }
            if let content = try content(of: stored, in: workspace) {
                found.append((stored, content))
            }
        }
        for (stored, content) in found {
            let isValid = try isContentValid(
                grant: stored.entry.grant, log: stored.log, branch: stored.place.branch,
                sequence: stored.place.sequence, in: workspace)
            try fold(
                content,
                Folding(
                    workspace: workspace, document: row, documentID: document,
                    arrival: stored.place.arrival, sort: stored.place.sort,
                    id: stored.place.link.id, timestamp: stored.entry.timestamp,
                    grant: stored.entry.grant, device: stored.log.device, isValid: isValid,
                    source: source))
        }
    }

    /// What came before the key that opens it is shown from now on.
    func foldOpened(
        by keys: [KeyID], in workspace: Workspace, from source: OperationSource
    ) throws(StorageError) {
        guard !keys.isEmpty else { return }
        refreshChannels(of: workspace)
        for document in store.operations.documents(ofWorkspace: workspace.number)
        where document != workspace.id
            && store.operations.document(document)?.kind != .unknown
        {
            for key in keys {
                try refold(document, sealedUnder: key, in: workspace, from: source)
            }
        }
    }

    func loadProfiles(of workspace: Workspace) throws(StorageError) {
        let document = workspace.profileDocument
        var found: [(StoredOperation, String)] = []
        var devices: [(StoredOperation, DeviceID, String)] = []
        try store.operations.forEachOperation(in: document) { (stored) throws(StorageError) in
            switch try content(of: stored, in: workspace) {
            case .profile(let name)?: found.append((stored, name))
            case .device(let device, let name)?: devices.append((stored, device, name))
            default: break
            }
        }
        try loadDeviceNames(devices, of: workspace)
        for (stored, name) in found {
            guard let author = workspace.evaluator.subject(ofGrant: stored.entry.grant),
                try isContentValid(
                    grant: stored.entry.grant, log: stored.log, branch: stored.place.branch,
                    sequence: stored.place.sequence, in: workspace)
            else { continue }
            take(
                Workspace.Profile(
                    timestamp: stored.entry.timestamp, id: stored.place.link.id, name: name),
                of: author, in: workspace)
        }
    }

    /// Makes the channel list anew from the valid authority operations.
    func refreshChannels(of workspace: Workspace) {
        workspace.channels = ChannelFolding.channels(of: workspace, numbers: store.operations)
    }
}
