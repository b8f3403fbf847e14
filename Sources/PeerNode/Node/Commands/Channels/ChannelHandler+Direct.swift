import CRDTStore
import WorkspaceModel

/// Opens and lists direct conversations.
extension ChannelHandler {
    func openDirect(
        _ members: [MemberReference], _ scope: CallScope
    ) throws(NodeError) -> ChannelObject {
        let workspace: Workspace = try core.queries.workspace(scope)
        var people: Set<MemberID> = [workspace.member]
        for reference in members {
            people.insert(
                try core.channels.someone(reference, field: "members", in: workspace, for: .talk))
        }
        let channel = try opened(workspace.direct(of: people.sorted()), in: workspace)
        return try stored { () throws(StorageError) in
            try core.queries.object(of: channel, in: workspace)
        }
    }

    /// The conversation, with a document of its own if it had none: called where something is
    /// about to be written into it.
    func opened(
        _ channel: Workspace.Channel, in workspace: Workspace
    ) throws(NodeError) -> Workspace.Channel {
        guard channel.number == 0 else { return channel }
        let people = channel.people
        let made = try stored { () throws(StorageError) in
            try core.privates.authoring.makePrivate(
                PrivateRoot(
                    subtype: .directMessage,
                    seats: people.map {
                        PrivateSeat($0, $0 == workspace.member ? .owner : .member)
                    }), in: workspace)
        }
        guard made != nil,
            let opened = workspace.channelIndex.direct(workspace.publicID(ofDirect: people))
        else { throw core.membership.notAllowed(in: workspace) }
        return opened
    }

    func directs(
        _ request: PageRequest, _ scope: CallScope
    ) throws(NodeError) -> Page<ChannelObject> {
        let workspace: Workspace = try core.queries.workspace(scope)
        let all = workspace.channelIndex.all
        let shown = try stored { () throws(StorageError) in
            try core.channels.overview(of: workspace).filter(\.isDirect)
        }
        let (part, next) = try PageEnd.part(of: shown.count, request)
        let latest = shown.leading(part.upperBound) {
            ($0.entry.moved, all[$0.place].publicID) > ($1.entry.moved, all[$1.place].publicID)
        }
        return Page(
            try stored { () throws(StorageError) in
                try latest[part.clamped(to: latest.indices)].map { (row) throws(StorageError) in
                    try core.queries.object(of: all[row.place], in: workspace)
                }
            }, next: next)
    }
}
