import CRDTStore
import SyncProtocol
import WorkspaceModel

/// Tells this person's connected devices what was read.
///
/// A marker is written at most once a minute per conversation. Until then an update is sent, so
/// that what was read on one device is not unread on another; whichever of the two is still running
/// writes the pending marker.
extension OwnDocuments {
    // MARK: Telling

    /// When this person's other devices may hear of a conversation again, on the monotonic clock.
    func tellDue(_ name: ConversationName, in workspace: Workspace) -> UInt64 {
        workspace.own.readMarks.told[name].map { $0 &+ Limits.readWordMilliseconds } ?? 0
    }

    /// Tells of the markers that wait to be written.
    func tellMarkers() throws(StorageError) {
        guard home != nil else { return }
        for workspace in workspaces.values.sorted(by: { $0.number < $1.number })
        where workspace.own.readMarks.pending.values.contains(where: \.isUntold) {
            let links = network.ordered.filter { isOwnDevice(on: $0, in: workspace) }
            let due = workspace.own.readMarks.pending.filter {
                $0.value.isUntold && tellDue($0.key, in: workspace) <= time.monotonic
            }
            for (name, mark) in due.sorted(by: {
                $0.key.bytes.lexicographicallyPrecedes($1.key.bytes)
            }) {
                workspace.own.readMarks.noteTold(name, at: time.monotonic)
                try tell(name, mark, on: links, in: workspace)
            }
        }
    }

    private func tell(
        _ name: ConversationName, _ mark: Workspace.ReadMarks.Pending, on links: [PeerLink],
        in workspace: Workspace
    ) throws(StorageError) {
        let known = try store.view.own.frontier(place(.read, name, in: workspace))
        let pieces = mark.frontier.pieces(beyond: known)
        for link in links {
            guard let sync = link.syncs[workspace.number], sync.standing == .full else { continue }
            for piece in pieces.isEmpty ? [ReadFrontier()] : pieces
            where link.session.unsentBytes < Limits.unaskedUnsentBytesMax {
                let word = ReadMarkerUpdate(name, upTo: mark.key, frontier: piece)
                link.session.send(.reading(sync.number, word), in: .live, isUnasked: false)
            }
        }
    }

    private func isOwnDevice(on link: PeerLink, in workspace: Workspace) -> Bool {
        guard !link.isClosing, let device = link.peer?.device else { return false }
        return workspace.members.contains {
            $0.member == workspace.member && $0.devices.contains(device)
        }
    }

    // MARK: Hearing

    /// Takes an update from another device of this person. The link's handshake authenticates it.
    func readingHeard(
        _ word: ReadMarkerUpdate, in workspace: Workspace, on link: PeerLink
    ) throws(StorageError) {
        let name = word.conversation
        guard home != nil, let sync = link.syncs[workspace.number], sync.standing == .full,
            sync.passing.take(at: time.monotonic), isOwnDevice(on: link, in: workspace),
            workspace.standing == .member,
            workspace.channelIndex.place(of: PublicID.conversation(name.bytes)) != nil
        else { return }
        let place = place(.read, name, in: workspace)
        let before = try marker(place, in: workspace)
        let pending = workspace.own.readMarks.pending[name]
        var known = try store.view.own.frontier(place)
        known.merge(pending?.frontier ?? ReadFrontier())
        let isFurther = before.map { $0 < word.key } ?? true
        guard isFurther || !word.frontier.pieces(beyond: known).isEmpty else { return }
        try write()
        // The device that sent it writes it first, unless it has gone offline.
        var mark =
            pending
            ?? .init(
                key: word.key, frontier: word.frontier,
                due: time.monotonic &+ 2 * Limits.readMarkerMilliseconds)
        mark.key = max(mark.key, word.key)
        mark.frontier.merge(word.frontier)
        workspace.own.readMarks.keep(mark, of: name)
        try reviewLate(name, after: before, in: workspace)
        try tellRead(name.bytes, in: workspace, isBackfill: false)
    }
}
