import CRDTStore
import WorkspaceModel

/// What an operation says about following a channel.
struct FollowingWord {
    let isJoined: Bool
    let document: Int64
    let timestamp: HybridTimestamp
    let id: OperationID
    let arrival: Int64
}

extension FollowingWord {
    init(isJoined: Bool, of stored: StoredOperation) {
        self.init(
            isJoined: isJoined, document: stored.document, timestamp: stored.entry.timestamp,
            id: stored.place.link.id, arrival: stored.place.arrival)
    }
}

/// Who follows a channel: of each member the latest word that counts. A word counts while it is valid
/// and no redaction that counts names it; so a newcomer, who never gets what a deleted one said, and
/// whoever has read it come to the same, in whatever order words, redactions and verdicts arrive.
///
/// Names that nothing admits are noted in a place of their own, until something does: anybody can
/// write thousands of them into one operation, and each row of a member costs far more than the name.
extension NodeCore {
    /// To be called when the operations at these places got their effect or lost it.
    func judgeFollowing(
        _ positions: [ViewStore.Position], in document: Int64, isValid: Bool,
        _ workspace: Workspace
    ) throws(StorageError) {
        for position in positions {
            guard isValid else {
                try silence(position.arrival, workspace)
                continue
            }
            guard try !store.view.isAboutMessages(position, in: document) else { continue }
            try hear(position.arrival, in: workspace)
        }
    }

    /// Forgets what an operation says about following, and lets what was said before it count. Opens
    /// nothing, so it is done while the keys are dropped too.
    func silence(_ arrival: Int64, _ workspace: Workspace) throws(StorageError) {
        try store.view.forgetUnheard(arrival)
        guard try !store.view.forgetWord(arrival).isEmpty else { return }
        workspace.readMarks.lateLimits = [:]
    }

    /// Takes over what a valid operation says about following, unless it is deleted.
    ///
    /// - Parameter newcomers: of whom alone it is taken; `nil` for all whom it names.
    /// - Returns: of whom it is taken over now.
    @discardableResult
    func hear(
        _ arrival: Int64, only newcomers: Set<MemberID>? = nil, in workspace: Workspace
    ) throws(StorageError) -> [MemberID] {
        guard try !isDeleted(arrival), let stored = try store.operations.operation(arrival),
            stored.entry.kind == OperationKind.content.rawValue, stored.entry.absent == nil
        else { return [] }
        guard home != nil else {
            try noteUnreadWords()
            return []
        }
        guard case .membership(let action, let members)? = try content(of: stored, in: workspace),
            let author = workspace.evaluator.subject(ofGrant: stored.entry.grant)
        else { return [] }
        let word = FollowingWord(isJoined: action.isJoined, of: stored)
        let named = Set(members.isEmpty ? [author] : members)
        guard let newcomers else { return try fold(word, of: named, in: workspace) }
        var heard: [MemberID] = []
        for member in named.intersection(newcomers).sorted()
        where try store.view.word(arrival, of: member) == nil {
            try fold(word, of: member, in: workspace)
            heard.append(member)
        }
        if try store.view.heardCount(of: arrival) == named.count {
            try store.view.forgetUnheard(arrival)
        }
        return heard
    }

    /// Takes over a word that counts.
    ///
    /// - Parameter members: each once, however often the word names him.
    /// - Returns: those of the members whom it names that the workspace knows.
    func fold(
        _ word: FollowingWord, of members: Set<MemberID>, in workspace: Workspace
    ) throws(StorageError) -> [MemberID] {
        let known = members.filter(workspace.evaluator.isAdmitted).sorted()
        for member in known { try fold(word, of: member, in: workspace) }
        if known.count < members.count {
            try store.view.noteUnheard(members.subtracting(known).sorted(), in: word.arrival)
        }
        return known
    }

    private func fold(
        _ word: FollowingWord, of member: MemberID, in workspace: Workspace
    ) throws(StorageError) {
        workspace.readMarks.lateLimits = [:]
        try store.view.fold(
            member, joined: word.isJoined, in: word.document, at: word.timestamp, by: word.id,
            arrival: word.arrival)
    }

    /// Tells that somebody follows a channel now, or does not.
    func tell(
        _ word: FollowingWord, of member: MemberID, _ source: OperationSource,
        _ workspace: Workspace
    ) throws(StorageError) {
        let id = store.operations.document(numbered: word.document)?.id
        // Everybody is in the default channel, whatever is said.
        if !word.isJoined, id.flatMap({ workspace.channels[$0] })?.isDefault == true { return }
        guard let id, workspace.deletedChannels[id] == nil else { return }
        try record(
            word.isJoined ? .channelMemberAdded : .channelMemberRemoved, workspace: workspace,
            document: word.document, arrival: word.arrival, extra: member.bytes,
            isBackfill: source.isBackfill)
    }

    /// Takes over what was said of people before the workspace knew of any admission: once for all
    /// whom a run of operations has brought, since it looks through the notes of all such words.
    func hearNewcomers(
        in workspace: Workspace, from source: OperationSource
    ) throws(StorageError) {
        let newcomers = workspace.unheardNewcomers
        guard !newcomers.isEmpty else { return }
        workspace.unheardNewcomers = []
        for arrival in try store.view.unheard(of: newcomers) {
            guard let stored = try store.operations.operation(arrival, hasPayload: false),
                store.operations.isValid(stored.place.sequence, in: stored.place.branch)
            else { continue }
            for member in try hear(arrival, only: newcomers, in: workspace) {
                guard let isJoined = try store.view.word(arrival, of: member) else { continue }
                try tell(
                    FollowingWord(isJoined: isJoined, of: stored), of: member, source, workspace)
            }
        }
    }

    // MARK: What could not be read

    /// What the registry holds while words count that were not read: they got their effect back
    /// while the keys were dropped, or a program of before kept none but the latest.
    static let unreadWordsName = "following.unread"

    private func noteUnreadWords() throws(StorageError) {
        guard !hasUnreadWords else { return }
        try write()
        try store.registry.setValue([1], of: Self.unreadWordsName)
        hasUnreadWords = true
    }

    func loadUnreadWords() throws(StorageError) {
        hasUnreadWords = try store.registry.value(Self.unreadWordsName) != nil
    }

    /// Reads all words about following anew, once the keys are at hand.
    func readUnreadWords() throws(StorageError) {
        guard hasUnreadWords, home != nil, mayWrite else { return }
        try write()
        for workspace in workspaces.values.sorted(by: { $0.number < $1.number }) {
            for document in store.operations.documents(ofWorkspace: workspace.number) {
                guard let row = store.operations.document(document, in: workspace.number),
                    row.kind == .channel
                else { continue }
                try store.view.forgetWords(of: row.number)
                for arrival in try store.view.wordsBesideMessages(in: row.number) {
                    guard let stored = try store.operations.operation(arrival, hasPayload: false),
                        store.operations.isValid(stored.place.sequence, in: stored.place.branch)
                    else { continue }
                    try hear(arrival, in: workspace)
                }
            }
        }
        try store.registry.setValue(nil, of: Self.unreadWordsName)
        hasUnreadWords = false
    }
}

extension ContentPayload.MembershipAction {
    /// Whether whom it names follows the channel from then on.
    var isJoined: Bool { self == .join || self == .add }
}
