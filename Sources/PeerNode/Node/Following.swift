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

/// Words about following that are read later than they came, or again.
struct OwedWords {
    /// Whether there are any.
    var any = false
    /// How many people may still be taken over in this turn. A word is read whole, so that it may
    /// fall below zero.
    var room = Limits.followersHeardPerTurnMax
}

/// Who follows a channel: of each member the latest word that counts. A word counts while it is valid
/// and no redaction that counts names it; so a newcomer, who never gets what a deleted one said, and
/// whoever has read it come to the same, in whatever order words, redactions and verdicts arrive.
///
/// One word may name thousands of people, and there may be thousands of words. So each is read for as
/// many people as a turn has room for, and what is left is owed to the next. Names that nothing
/// admits are noted in one row a word, until something does.
extension NodeCore {
    /// Takes over a word that came, and tells of it; later, where there are very many.
    func hear(
        _ word: FollowingWord, of members: Set<MemberID>, in workspace: Workspace,
        from source: OperationSource
    ) throws(StorageError) {
        let telling: ViewStore.OwedWord.Telling = source.isBackfill ? .backfill : .news
        guard owedWords.room > 0 else { return try owe(word.arrival, telling) }
        try fold(word, of: members, in: workspace, telling)
    }

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
            try owe(position.arrival, .nothing)
        }
    }

    /// Forgets what an operation says about following, and lets what was said before it count. Opens
    /// nothing, so it is done while the keys are dropped too.
    func silence(_ arrival: Int64, _ workspace: Workspace) throws(StorageError) {
        try store.view.forgetUnheard(arrival)
        guard try !store.view.forgetWord(arrival).isEmpty else { return }
        workspace.readMarks.lateLimits = [:]
    }

    /// Has the words read that name people whom a run of operations has admitted: the notes of all
    /// such words are looked through once for all of them.
    func oweWords(
        onNewcomersTo workspace: Workspace, from source: OperationSource
    ) throws(StorageError) {
        let newcomers = workspace.unheardNewcomers
        guard !newcomers.isEmpty else { return }
        workspace.unheardNewcomers = []
        for arrival in try store.view.unheard(of: newcomers) {
            try owe(arrival, source.isBackfill ? .backfill : .news)
        }
    }

    /// Has a word read as soon as there is room, and the keys are at hand.
    func owe(
        _ arrival: Int64, _ telling: ViewStore.OwedWord.Telling
    ) throws(StorageError) {
        try write()
        try store.view.owe(.init(arrival: arrival, telling: telling))
        owedWords.any = true
    }

    func loadOwedWords() throws(StorageError) {
        owedWords.any = try !store.view.owedWords(limit: 1).isEmpty
    }

    /// Reads of what is owed as much as this turn has room for.
    func hearOwed() throws(StorageError) {
        guard owedWords.any, home != nil, mayWrite || isBuilding else { return }
        while owedWords.room > 0 {
            let words = try store.view.owedWords(limit: 64)
            guard !words.isEmpty else {
                owedWords.any = false
                return
            }
            try write()
            for word in words where owedWords.room > 0 { try hear(word) }
        }
        hasMoreToDo = true
    }

    /// Takes over what a valid operation says about following, unless it is deleted. What cannot be
    /// opened yet comes again with its key.
    private func hear(_ owed: ViewStore.OwedWord) throws(StorageError) {
        guard let stored = try store.operations.operation(owed.arrival),
            let document = store.operations.document(numbered: stored.document),
            document.kind == .channel, let workspace = workspaces[document.workspace],
            stored.entry.kind == OperationKind.content.rawValue, stored.entry.absent == nil,
            store.operations.isValid(stored.place.sequence, in: stored.place.branch),
            try !isDeleted(owed.arrival),
            case .membership(let action, let members)? = try content(of: stored, in: workspace),
            let author = workspace.evaluator.subject(ofGrant: stored.entry.grant)
        else {
            owedWords.room -= 1
            return try store.view.forgetUnheard(owed.arrival)
        }
        let word = FollowingWord(
            isJoined: action.isJoined, document: stored.document,
            timestamp: stored.entry.timestamp, id: stored.place.link.id, arrival: owed.arrival)
        try fold(
            word, of: members.isEmpty ? [author] : Set(members), in: workspace, owed.telling)
    }

    /// Takes over a word that counts, of each whom it names once, and tells of what it changes.
    private func fold(
        _ word: FollowingWord, of members: Set<MemberID>, in workspace: Workspace,
        _ telling: ViewStore.OwedWord.Telling
    ) throws(StorageError) {
        workspace.readMarks.lateLimits = [:]
        var unknown: [MemberID] = []
        for member in members.sorted() {
            guard workspace.evaluator.isAdmitted(member) else {
                unknown.append(member)
                continue
            }
            let isChanged = try store.view.fold(
                member, joined: word.isJoined, in: word.document, at: word.timestamp, by: word.id,
                arrival: word.arrival)
            if isChanged, telling != .nothing {
                try tell(word, of: member, isBackfill: telling == .backfill, workspace)
            }
        }
        owedWords.room -= 1 + members.count - unknown.count + unknown.count / 64
        try store.view.noteUnheard(unknown, in: word.arrival)
    }

    /// Tells that somebody follows a channel now, or does not.
    private func tell(
        _ word: FollowingWord, of member: MemberID, isBackfill: Bool, _ workspace: Workspace
    ) throws(StorageError) {
        let id = store.operations.document(numbered: word.document)?.id
        // Everybody is in the default channel, whatever is said.
        if !word.isJoined, id.flatMap({ workspace.channels[$0] })?.isDefault == true { return }
        guard let id, workspace.deletedChannels[id] == nil else { return }
        try record(
            word.isJoined ? .channelMemberAdded : .channelMemberRemoved, workspace: workspace,
            document: word.document, arrival: word.arrival, extra: member.bytes,
            isBackfill: isBackfill)
    }
}

extension ContentPayload.MembershipAction {
    /// Whether whom it names follows the channel from then on.
    var isJoined: Bool { self == .join || self == .add }
}
