import CRDTStore
import WorkspaceModel

/// Events of private channels.
extension Channels {
    /// Reports what has changed in a private document since the last report.
    func tell(
        _ document: PrivateDocument, in workspace: Workspace, from source: OperationSource
    ) throws(StorageError) {
        let (wasTold, before) = (document.isTold, document.told)
        let channel = workspace.channel(of: document)
        document.noteTold(channel)
        let arrival = document.order.last.flatMap { document.records[$0]?.arrival } ?? 0
        let cause = ChannelCause(arrival: arrival, isBackfill: source.isBackfill)
        guard let channel else {
            guard wasTold, let deletion = document.deletion else { return }
            return try turn.record(
                .channelDeleted, workspace: workspace.number, document: document.number,
                arrival: cause.arrival, extra: document.records[deletion]?.author?.bytes,
                isBackfill: cause.isBackfill)
        }
        // A conversation shows with its first message, not with its making.
        if channel.isDirect { return }
        try tell(channel, before, wasDeleted: false, in: workspace, cause)
        let (old, new) = (
            before?.privateMembership?.roles ?? [:], channel.privateMembership?.roles ?? [:]
        )
        // A new member of the channel is only told of their own membership, not of everybody's.
        let touched = before == nil ? [workspace.member] : Set(old.keys).union(new.keys)
        for member in touched.sorted() {
            let (wasIn, isIn) = (old[member] != nil, new[member] != nil)
            if wasIn != isIn {
                try turn.record(
                    wasIn ? .channelMemberRemoved : .channelMemberAdded,
                    workspace: workspace.number, document: document.number, arrival: cause.arrival,
                    extra: member.bytes, isBackfill: cause.isBackfill)
            }
        }
    }
}
