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
    func judgeFollowing(
        _ positions: [ViewStore.Position], in document: Int64, isValid: Bool,
        _ workspace: Workspace
    ) throws(StorageError) {
        var words: [Word] = []
        for position in positions where try !store.view.isAboutMessages(position, in: document) {
            if let word = try word(position.arrival, in: workspace) { words.append(word) }
        }
        guard !words.isEmpty else { return }
        workspace.readMarks.lateLimits = [:]
        guard !isValid else {
            for word in words { try fold(word, of: nil, in: document) }
            return
        }
        var silenced: Set<MemberID> = []
        for word in words {
            for member in word.members
            where try store.view.forget(member, in: document, saidBy: word.stored.place.link.id) {
                silenced.insert(member)
            }
        }
        guard !silenced.isEmpty else { return }
        for arrival in try store.view.wordsBesideMessages(in: document) {
            guard let word = try word(arrival, in: workspace),
                store.operations.isValid(word.stored.place.sequence, in: word.stored.place.branch)
            else { continue }
            try fold(word, of: silenced, in: document)
        }
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
