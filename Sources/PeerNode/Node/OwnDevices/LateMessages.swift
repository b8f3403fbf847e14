import CRDTStore
import WorkspaceCrypto
import WorkspaceModel

/// Late messages: they arrive after the messages displayed behind them were read, because their
/// author was offline or has a slow clock.
///
/// They are displayed where they were written, and still count as unread. A marker records what had
/// arrived when something was read as a frontier, a count for each log. So all devices of a person
/// agree, in whatever order markers and messages reach them.
struct LateLimit {
    /// The place of the conversation's markers.
    let place: ViewStore.Register.Place
    /// Up to where it counts as read.
    let upTo: MessageKey
    /// When the local member joined: nothing displayed before that is unread.
    let beginning: HybridTimestamp
    /// What was read just now and is not written yet.
    let pending: ReadFrontier
    /// Whether nothing was ever marked: then nothing can have been read.
    let isUnmarked: Bool

    /// What the rows of late messages depend on.
    var basis: ViewStore.LateBasis { .init(beginning: beginning, subject: place.subject) }

    /// Whether markers that name no log, if there are no others, cover everything before them.
    var isOfOlderForm: Bool { !isUnmarked && pending.isEmpty }
}

extension OwnDocuments {
    /// The limit that messages of a document are compared with; `nil` where none is late.
    func lateLimit(
        _ document: Int64, _ workspace: Workspace
    ) throws(StorageError) -> LateLimit? {
        if let known = workspace.own.readMarks.lateLimits[document] { return known }
        let limit = try makeLateLimit(document, workspace)
        workspace.own.readMarks.lateLimits[document] = .some(limit)
        return limit
    }

    private func makeLateLimit(
        _ document: Int64, _ workspace: Workspace
    ) throws(StorageError) -> LateLimit? {
        guard let channel = workspace.channel(numbered: document),
            let name = channel.conversation,
            let beginning = try beginning(channel, workspace)
        else { return nil }
        let place = place(.read, name, in: workspace)
        let marker = try marker(place, in: workspace)
        return LateLimit(
            place: place, upTo: Self.end(of: marker, since: beginning), beginning: beginning,
            pending: workspace.own.readMarks.pending[name]?.frontier ?? ReadFrontier(),
            isUnmarked: marker == nil)
    }

    /// Has to be called when a message was folded: records whether it is late.
    func noteLate(
        _ row: ViewStore.MessageRow, in workspace: Workspace
    ) throws(StorageError) {
        // This person's own messages are never late, whichever device wrote them.
        guard core.membership.author(ofGrant: row.grant, in: workspace) != workspace.member
        else { return }
        workspace.own.readMarks.answered.remove(row.document)
        let basis = try store.view.lateBasis(of: row.document)
        guard let limit = try lateLimit(row.document, workspace), limit.basis == basis else {
            // Nobody asks while this person is out of it; after readmission all are searched again.
            if basis != nil { try store.view.setLateBasis(nil, of: row.document) }
            return
        }
        guard ViewStore.readKey(of: row) <= limit.upTo else { return }
        try noteIfLate(row, limit, workspace)
    }

    /// Records a message that is displayed before what was read, if it had not arrived by then.
    private func noteIfLate(
        _ row: ViewStore.MessageRow, _ limit: LateLimit, _ workspace: Workspace
    ) throws(StorageError) {
        let displayed = max(row.key.timestamp.rawValue, UInt64(max(row.position.sort, 0)))
        guard limit.beginning.rawValue < displayed,
            core.membership.author(ofGrant: row.grant, in: workspace) != workspace.member,
            let stored = try store.operations.operation(row.position.arrival, hasPayload: false)
        else { return }
        let log = Self.name(of: stored.log)
        let pending = limit.pending.counts[log] ?? 0
        let known = try store.view.own.readCount(of: log, limit.place)
        if known == nil, limit.isOfOlderForm { return }
        guard stored.place.sequence >= max(known ?? 0, pending) else { return }
        try store.view.putLate(
            row.position, in: row.document, log: log, sequence: stored.place.sequence)
    }

    /// A frontier's name for a log: the first 8 bytes of H("wsx-readlog", document || device ||
    /// incarnation), big endian.
    static func name(of log: LogName) -> UInt64 {
        Hash.personal(
            "wsx-readlog",
            log.document.bytes + log.device.bytes
                + bigEndianBytes(of: UInt64(log.incarnation)).suffix(4)
        ).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }

    // MARK: Reading

    /// Whether there are late messages up to a place of a conversation.
    func hasLate(
        in channel: Workspace.Channel, upTo sort: Int64, of workspace: Workspace
    ) throws(StorageError) -> Bool {
        try settleLate(channel, in: workspace)
        for document in [channel.number] + channel.others {
            if let first = try store.view.firstLate(in: document), first <= sort { return true }
        }
        return false
    }

    /// How many operations of each log of a conversation are displayed up to a place.
    func frontier(
        of channel: Workspace.Channel, upTo sort: Int64, in workspace: Workspace
    ) -> ReadFrontier {
        var frontier = ReadFrontier()
        for number in [channel.number] + channel.others {
            guard let document = store.operations.document(numbered: number)?.id else { continue }
            for branch in store.operations.branches(in: document, of: workspace.number) {
                guard let count = count(in: branch, upTo: sort), count > 0 else { continue }
                frontier.merge(ReadFrontier([Self.name(of: branch.log): count]))
            }
        }
        return frontier
    }

    /// How many operations of a branch are displayed up to a place: their display order only
    /// rises. `nil` where its rows cannot be read.
    private func count(in branch: LogBranch, upTo sort: Int64) -> UInt64? {
        guard branch.tipSort > sort else { return branch.tipSequence &+ 1 }
        var (low, high) = (UInt64(0), branch.tipSequence)
        while low < high {
            let middle = low + (high - low) / 2
            guard let place = try? store.operations.place(in: branch.number, at: middle) else {
                return nil
            }
            if place.sort <= sort { low = middle + 1 } else { high = middle }
        }
        return low
    }

    // MARK: Markers of other devices

    /// To be called when a marker says more than was known: what it covers is read, and what it
    /// goes past and its device did not have is late.
    ///
    /// - Parameters:
    ///   - before: Up to where the conversation counted as read.
    ///   - isOwn: Whether this device wrote the marker: it then had all that is displayed before.
    func reviewLate(
        _ name: ConversationName, after before: MessageKey?, isOwn: Bool = false,
        in workspace: Workspace
    ) throws(StorageError) {
        workspace.own.readMarks.lateLimits = [:]
        workspace.own.readMarks.answered = []
        let id = PublicID.conversation(name.bytes)
        guard let index = workspace.channelIndex.place(of: id) else { return }
        let channel = workspace.channelIndex.all[index]
        for document in [channel.number] + channel.others {
            guard let limit = try lateLimit(document, workspace),
                try store.view.lateBasis(of: document) == limit.basis
            else { continue }
            // A pending marker is lost in a crash.
            if workspace.own.readMarks.pending[name] != nil {
                try store.begin()
                try store.view.forgetStoredLateBasis(of: document)
            }
            try removeLate(in: document, limit)
            let beginning = MessageKey(timestamp: limit.beginning, idPrefix: .max)
            let lower = max(before ?? beginning, beginning)
            guard lower < limit.upTo else { continue }
            guard
                let rows = try store.view.messages(
                    readAfter: lower, upTo: limit.upTo, in: document)
            else {
                try store.view.setLateBasis(nil, of: document)
                continue
            }
            // This device had everything that is displayed up to where it was read.
            let read = rows.last { ViewStore.readKey(of: $0) == limit.upTo }?.position.sort
            for row in rows where !isOwn || row.position.sort > read ?? .min {
                try noteIfLate(row, limit, workspace)
            }
        }
    }

    /// A late message counts as read once a marker knows of it.
    private func removeLate(in document: Int64, _ limit: LateLimit) throws(StorageError) {
        if limit.isOfOlderForm, try !store.view.own.hasFrontier(limit.place) {
            return try store.view.removeLate(in: document)
        }
        var known = try store.view.own.frontier(limit.place)
        known.merge(limit.pending)
        try store.view.removeLate(in: document, coveredBy: known)
    }
}
