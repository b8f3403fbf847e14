import CRDTStore
import WorkspaceModel

/// Opening and listing direct conversations.
extension NodeCore {
    func openDirect(
        _ members: [MemberReference], _ scope: CallScope
    ) throws(NodeError) -> ChannelObject {
        let workspace: Workspace = try workspace(scope)
        var people: Set<MemberID> = [workspace.member]
        for reference in members {
            people.insert(
                try someone(reference, field: "members", in: workspace, for: .talk))
        }
        let channel = try opened(workspace.direct(of: people.sorted()), in: workspace)
        return try stored { () throws(StorageError) in try object(of: channel, in: workspace) }
    }

    /// The conversation, with a document of its own if it had none: called where something is
    /// about to be written into it.
    func opened(
        _ channel: Workspace.Channel, in workspace: Workspace
    ) throws(NodeError) -> Workspace.Channel {
        guard channel.number == 0 else { return channel }
        let people = channel.people
        let made = try stored { () throws(StorageError) in
            try makePrivate(
                PrivateRoot(
                    subtype: .directMessage,
                    seats: people.map {
                        PrivateSeat($0, $0 == workspace.member ? .owner : .member)
                    }), in: workspace)
        }
        guard made != nil, let opened = workspace.channelIndex.direct(of: people) else {
            throw notAllowed(in: workspace)
        }
        return opened
    }

    func directs(
        _ request: PageRequest, _ scope: CallScope
    ) throws(NodeError) -> Page<ChannelObject> {
        let workspace: Workspace = try workspace(scope)
        let objects = try stored { () throws(StorageError) in
            var objects: [ChannelObject] = []
            for channel in workspace.channelIndex.all where channel.isDirect {
                objects.append(try object(of: channel, in: workspace))
            }
            return objects
        }
        let latest = objects.sorted {
            ($0.last?.at ?? $0.createdAt, $0.id) > ($1.last?.at ?? $1.createdAt, $1.id)
        }
        let (items, next) = try page(latest, request)
        return Page(Array(items), next: next)
    }
}
