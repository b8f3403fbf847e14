import CRDTStore
import WorkspaceModel

/// Records the files of messages that an earlier version has folded while recording less about
/// them, for example files inside messages. A few messages per turn, so that a node with very many
/// keeps serving.
extension Integrity {
    /// The progress. A process that ends in the middle starts over: recording twice has no further
    /// effect.
    enum EarlierFiles: Equatable {
        /// It was not looked yet whether there is anything to note.
        case unknown
        /// All messages up to this one are recorded.
        case left(behind: ViewStore.MessagePlace?)
        case noted
    }

    /// Notes the files of some more messages.
    func noteEarlierFiles() throws(StorageError) {
        // A sealed or unjudged message has no key so far.
        guard earlierFiles != .noted, mayWrite, home != nil, !turn.session.lock.isLocked,
            turn.session.folding == nil, core.privates.judgings.isEmpty,
            core.privates.wholeFolds.isEmpty
        else { return }
        if earlierFiles == .unknown {
            let isDone = try store.registry.value(BlobTable.unreadFiles) == nil
            earlierFiles = isDone ? .noted : .left(behind: nil)
        }
        guard case .left(let last) = earlierFiles else { return }
        let places = try store.view.messages(
            behind: last, limit: Limits.earlierMessagesPerTurnMax)
        for place in places { try noteFiles(of: place) }
        guard places.count == Limits.earlierMessagesPerTurnMax else {
            try write()
            try store.registry.setValue(nil, of: BlobTable.unreadFiles)
            return earlierFiles = .noted
        }
        earlierFiles = .left(behind: places.last)
        turn.hasMoreToDo = true
    }

    private func noteFiles(of place: ViewStore.MessagePlace) throws(StorageError) {
        guard let stored = try store.operations.operation(place.position.arrival),
            let document = store.operations.document(numbered: place.document),
            let workspace = core.workspaces[document.workspace],
            case .message(let message)? = try core.keys.content(of: stored, in: workspace)
        else { return }
        try core.files.note(
            message,
            at: .init(
                arrival: place.position.arrival, document: place.document,
                isShown: place.isShown, isBackfill: true))
    }
}
