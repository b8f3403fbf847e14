import CRDTStore
import WorkspaceModel

/// The operation that caused channels to be folded again, for the resulting events.
struct ChannelCause {
    let arrival: Int64
    let isBackfill: Bool
}

/// The public channels of a workspace, from its valid authority operations: a pure fold.
extension Channels {
    /// Keeps in mind what an authority operation says about a channel, valid or not.
    func note(_ payload: AuthorityPayload, _ id: OperationID, in workspace: Workspace) {
        if case .createDocument(1, _) = payload { workspace.book.creations.append(id) }
        if case .setDocument(let settings) = payload {
            for cut in settings.cuts ?? [] {
                workspace.book.cuts[cut.log, default: []].insert(cut.sequence)
            }
        }
        guard let (document, claim) = payload.claim(id) else { return }
        workspace.book.claims[document, default: []].append(claim)
    }

    /// Judges all channels again, from the operations alone.
    func refreshChannels(of workspace: Workspace) throws(StorageError) {
        workspace.book.folds = [:]
        workspace.book.made = workspace.judged.madeChannels(by: workspace.book.creations)
        var touched = workspace.book.creations.map { DocumentID(sameBytesAs: $0) }
        touched += chooseDefault(of: workspace)
        try refresh(touched, of: workspace, because: nil)
    }

    /// Judges again those channels whose operations started or stopped to count, and reports the
    /// changes: nothing else affects a channel.
    ///
    /// - Parameter creation: a channel that is new, whether its creation counts or not.
    func refreshChannels(
        of workspace: Workspace, after change: AuthChange, of creation: OperationID? = nil,
        because cause: ChannelCause
    ) throws(StorageError) {
        var claims: [DocumentID: [ChannelClaim]] = [:]
        for id in change.becameValid + change.becameInvalid + (creation.map { [$0] } ?? []) {
            guard let payload = workspace.authority[id]?.payload else { continue }
            if case .createDocument(1, _) = payload {
                claims[DocumentID(sameBytesAs: id), default: []] += []
                workspace.judged.note(id, in: &workspace.book.made)
            }
            guard let (document, claim) = payload.claim(id) else { continue }
            claims[document, default: []].append(claim)
        }
        for (document, claims) in claims {
            workspace.book.folds[document]?.update(with: claims, in: workspace)
        }
        let arrivals = claims.keys.map { document in
            (workspace.authority[OperationID(sameBytesAs: document)]?.arrival ?? 0, document)
        }
        let touched = arrivals.sorted { $0 < $1 }.map(\.1) + chooseDefault(of: workspace)
        try refresh(touched, of: workspace, because: cause)
    }

    /// - Returns: the channels that have become the default one, or have stopped being it.
    private func chooseDefault(of workspace: Workspace) -> [DocumentID] {
        let (first, before) = (workspace.book.made.first, workspace.book.defaultChannel)
        guard first != before else { return [] }
        workspace.book.defaultChannel = first
        return [first, before].compactMap { $0 }
    }

    /// - Parameter cause: without one nothing is told.
    private func refresh(
        _ touched: [DocumentID], of workspace: Workspace, because cause: ChannelCause?
    ) throws(StorageError) {
        for document in touched {
            let before = workspace.book.channels[document]
            let ruled = workspace.ruling(ofChannel: document)
            let wasDeleted = workspace.book.deleted[document] != nil
            let (channel, deleted) = try judge(document, in: workspace)
            workspace.set(channel, of: document)
            workspace.book.deleted[document] = deleted
            if wasDeleted != (deleted != nil) { compareAnew(document, in: workspace) }
            guard let cause else { continue }
            try core.sink.reviewRedactions(of: channel ?? deleted?.last, since: ruled)
            guard workspace.ownRole != .guest else { continue }
            if let deleted {
                guard !wasDeleted else { continue }
                try turn.record(
                    .channelDeleted, workspace: workspace.number, document: deleted.number,
                    arrival: cause.arrival, extra: deleted.author?.bytes,
                    isBackfill: cause.isBackfill)
            } else if let channel {
                try tell(channel, before, wasDeleted: wasDeleted, in: workspace, cause)
            }
        }
    }

    /// Digests leave a deleted channel out, and peers hear of one that came back.
    func compareAnew(_ document: DocumentID, in workspace: Workspace) {
        workspace.held.staleDocuments.insert(document)
        for branch in store.operations.branches(in: document, of: workspace.number) {
            core.log.retention.moved[workspace.number, default: []].insert(branch.number)
        }
    }

    private func judge(
        _ document: DocumentID, in workspace: Workspace
    ) throws(StorageError) -> (Workspace.Channel?, Workspace.DeletedChannel?) {
        let id = OperationID(sameBytesAs: document)
        let isDefault = document == workspace.book.defaultChannel
        guard let record = workspace.authority[id], case .createDocument(1, _) = record.payload,
            let number = store.operations.document(document, in: workspace.number)?.number,
            let lamport = workspace.judged.lamport(of: id),
            let fold = fold(of: document, in: workspace),
            let ruling = workspace.judged.ruling(on: fold.ledger, isDefault: isDefault)
        else { return (nil, nil) }
        var channel = Workspace.Channel(
            id: document, publicID: PublicID.channel(document), number: number,
            createdAt: record.timestamp.milliseconds, rank: (lamport, id), rule: .open(ruling),
            isDefault: isDefault)
        fold.texts.apply(to: &channel, in: workspace)
        guard let deletion = ruling.deletion, let deleting = workspace.authority[deletion] else {
            return (channel, nil)
        }
        let seen = try store.operations.operation(deleting.arrival)?.seen ?? 0
        return (
            nil,
            Workspace.DeletedChannel(
                number: number, author: workspace.judged.author(of: deletion),
                seen: UInt64(max(seen, 0)), last: channel)
        )
    }

    /// The effective state of a channel, folded from all claims about it on first use.
    private func fold(of document: DocumentID, in workspace: Workspace) -> ChannelFold? {
        if let known = workspace.book.folds[document] { return known }
        var fold = ChannelFold(of: document, in: workspace)
        fold.update(with: workspace.book.claims[document] ?? [], in: workspace)
        workspace.book.folds[document] = fold
        return fold
    }

    // MARK: Events

    func tell(
        _ channel: Workspace.Channel, _ before: Workspace.Channel?, wasDeleted: Bool,
        in workspace: Workspace, _ cause: ChannelCause
    ) throws(StorageError) {
        for type in Self.changes(of: channel, since: before, wasDeleted: wasDeleted) {
            try turn.record(
                type, workspace: workspace.number, document: channel.number, arrival: cause.arrival,
                isBackfill: cause.isBackfill)
        }
        guard let before, before.ruling?.lastLink != channel.ruling?.lastLink || channel.isPrivate
        else {
            return
        }
        let people = [before, channel].flatMap { [$0.owner].compactMap { $0 } + $0.admins }
        for member in Set(people).sorted()
        where before.role(of: member) != channel.role(of: member)
            && before.includes(member) && channel.includes(member)
        {
            let role = UInt8(channel.role(of: member).rawValue)
            try turn.record(
                .channelRoleChanged, workspace: workspace.number, document: channel.number,
                arrival: cause.arrival, extra: member.bytes + [role],
                isBackfill: cause.isBackfill)
        }
    }

    private static func changes(
        of channel: Workspace.Channel, since before: Workspace.Channel?, wasDeleted: Bool
    ) -> [EventType] {
        guard let before else { return wasDeleted ? [.channelEdited] : [.channelCreated] }
        var changes: [EventType] = []
        // The first settings of a channel are part of its creation.
        let isEdited =
            before.name != channel.name || before.topic != channel.topic
            || before.description != channel.description
            || before.image != channel.image || before.copies != channel.copies
        if isEdited, before.name != nil { changes.append(.channelEdited) }
        if before.isArchived != channel.isArchived {
            changes.append(channel.isArchived ? .channelArchived : .channelUnarchived)
        }
        return changes
    }
}

extension AuthorityPayload {
    /// The claim of an operation about a channel, if it makes one.
    fileprivate func claim(_ id: OperationID) -> (channel: DocumentID, claim: ChannelClaim)? {
        switch self {
        case .setDocument(let settings):
            let claim = ChannelClaim(id: id, link: settings.replaces, change: settings.change)
            return (settings.document, claim)
        case .deleteDocument(let document, let link):
            return (document, ChannelClaim(id: id, link: link, change: nil))
        default:
            return nil
        }
    }
}

extension AuthorityPayload.DocumentSettings {
    /// What the settings change, as far as authority goes.
    var change: ChannelChange {
        ChannelChange(
            owner: owner, admins: roles.map { $0.filter { $0.role <= .admin }.map(\.member) },
            archived: archived, history: history)
    }
}
