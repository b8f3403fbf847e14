import CRDTStore
import WorkspaceModel

/// Who follows a channel, where words about that get their effect or lose it: a function of what is
/// valid, in whatever order operations come and verdicts change.
extension NodeCore {
    /// What somebody said about following a channel.
    private struct Word {
        let stored: StoredOperation
        let isJoined: Bool
        let members: [MemberID]
    }

    /// To be called when the operations at these places got their effect or lost it.
    ///
    /// - Returns: whose last word lost it; for them `heedAgain`, once all is judged.
    func judgeFollowing(
        _ positions: [ViewStore.Position], in document: Int64, isValid: Bool,
        _ workspace: Workspace
    ) throws(StorageError) -> Set<MemberID> {
        guard isValid else { return try silence(positions, in: document, workspace) }
        for word in try words(at: positions, in: document, workspace) {
            workspace.readMarks.lateLimits = [:]
            try fold(word, of: nil, in: document)
        }
        return []
    }

    /// Forgets what the operations at these places say about following, while they are stored.
    ///
    /// - Returns: whose last word that was.
    func silence(
        _ positions: [ViewStore.Position], in document: Int64, _ workspace: Workspace
    ) throws(StorageError) -> Set<MemberID> {
        var silenced: Set<MemberID> = []
        for word in try words(at: positions, in: document, workspace) {
            workspace.readMarks.lateLimits = [:]
            for member in word.members
            where try store.view.forget(member, in: document, saidBy: word.stored.place.link.id) {
                silenced.insert(member)
            }
        }
        return silenced
    }

    /// Takes over what was said before about following by some members.
    func heedAgain(
        _ silenced: Set<MemberID>, in document: Int64, _ workspace: Workspace
    ) throws(StorageError) {
        guard !silenced.isEmpty else { return }
        for arrival in try store.view.wordsBesideMessages(in: document) {
            guard let word = try word(arrival, in: workspace),
                store.operations.isValid(word.stored.place.sequence, in: word.stored.place.branch)
            else { continue }
            try fold(word, of: silenced, in: document)
        }
    }

    private func words(
        at positions: [ViewStore.Position], in document: Int64, _ workspace: Workspace
    ) throws(StorageError) -> [Word] {
        var words: [Word] = []
        for position in positions where try !store.view.isAboutMessages(position, in: document) {
            if let word = try word(position.arrival, in: workspace) { words.append(word) }
        }
        return words
    }

    private func word(_ arrival: Int64, in workspace: Workspace) throws(StorageError) -> Word? {
        guard let stored = try store.operations.operation(arrival),
            case .membership(let action, let members)? = try content(of: stored, in: workspace),
            let author = workspace.evaluator.subject(ofGrant: stored.entry.grant)
        else { return nil }
        return Word(
            stored: stored, isJoined: action == .join || action == .add,
            members: members.isEmpty ? [author] : members)
    }

    private func fold(
        _ word: Word, of some: Set<MemberID>?, in document: Int64
    ) throws(StorageError) {
        for member in word.members where some?.contains(member) ?? true {
            try store.view.fold(
                member, joined: word.isJoined, in: document, at: word.stored.entry.timestamp,
                by: word.stored.place.link.id)
        }
    }
}
