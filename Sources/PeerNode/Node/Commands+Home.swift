import CRDTStore
import WorkspaceModel

/// Where the caller stands.
extension NodeCore {
    func home(_ scope: CallScope) throws(NodeError) -> HomeObject {
        var home = HomeObject()
        home.identity = identityObject()
        let named = try scope.workspace.map { (reference) throws(NodeError) in
            try workspace(reference)
        }
        try stored { () throws(StorageError) in
            let all = workspaces.values.filter { $0.standing == .member }
                .sorted { $0.number < $1.number }
            for workspace in all { home.workspaces.append(try object(of: workspace)) }
            let selected = try selectedWorkspace()
            home.selected = selected.map { PublicID.workspace($0.id) }
            guard let shown = named ?? selected, shown.fields.deletion == nil else { return }
            try addConversations(of: shown, to: &home)
        }
        return home
    }

    private func addConversations(
        of workspace: Workspace, to home: inout HomeObject
    ) throws(StorageError) {
        let isOut = ownEnd(in: workspace) != nil
        home.refused = try store.view.refusedCount(
            in: Set(workspace.channelIndex.all.flatMap { [$0.number] + $0.others }))
        for channel in workspace.channelIndex.all {
            let object = try object(of: channel, in: workspace)
            // Where one is out one is in no channel, and reads on in those that one was in.
            let wasIn = isOut ? try beginning(channel, workspace) != nil : false
            guard object.isJoined || channel.isDirect || wasIn else { continue }
            home.unread += object.unread
            home.mentions += object.mentions
            if channel.isDirect {
                home.directs.append(object)
            } else {
                home.channels.append(object)
            }
        }
        home.channels.sort(by: Self.isShownBefore)
        home.directs.sort(by: Self.isShownBefore)
    }

    /// What wants to be read comes first, and of the rest what moved last.
    private static func isShownBefore(_ left: ChannelObject, _ right: ChannelObject) -> Bool {
        func rank(_ channel: ChannelObject) -> (Int, Int, Int64, String) {
            (
                channel.mentions > 0 ? 1 : 0, channel.unread > 0 ? 1 : 0,
                channel.last?.at ?? channel.createdAt, channel.id
            )
        }
        return rank(left) > rank(right)
    }
}
