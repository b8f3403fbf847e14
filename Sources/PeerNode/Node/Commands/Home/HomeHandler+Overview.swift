import CRDTStore
import WorkspaceModel

/// The overview for a first screen.
extension HomeHandler {
    func home(_ request: PageRequest, _ scope: CallScope) throws(NodeError) -> HomeObject {
        var home = HomeObject()
        home.identity = core.queries.identityObject()
        let backup = try stored { () throws(StorageError) in try BackupHandler(core).lastBackup() }
        home.backupAt = backup.map { Int64(clamping: $0) }
        home.isBackupDue = BackupHandler(core).isBackupDue(last: backup)
        let named = try scope.workspace.map { (reference) throws(NodeError) in
            try core.queries.workspace(reference)
        }
        let selected = try stored { () throws(StorageError) in
            let all = workspaces.values.filter { $0.standing == .member }
                .sorted { $0.number < $1.number }
            for workspace in all { home.workspaces.append(try core.queries.object(of: workspace)) }
            return try core.membership.selectedWorkspace()
        }
        home.selected = selected.map { PublicID.workspace($0.id) }
        if let shown = named ?? selected, shown.fields.deletion == nil {
            try addConversations(of: shown, request, to: &home)
            home.newDevices = core.queries.newDevices(of: shown)
        }
        return home
    }

    /// A page of the channels, and the same page of the direct conversations.
    private func addConversations(
        of workspace: Workspace, _ request: PageRequest, to home: inout HomeObject
    ) throws(NodeError) {
        let index = workspace.channelIndex
        let shown = try stored { () throws(StorageError) in
            home.refused = try store.view.refusedCount { index.channel($0) != nil }
            return try core.channels.overview(of: workspace).filter(\.entry.isShown)
        }
        for row in shown {
            home.unread += row.entry.unread
            home.mentions += row.entry.mentions
        }
        let lists = [false, true].map { isDirect in shown.filter { $0.isDirect == isDirect } }
        let longest = lists.map(\.count).max() ?? 0
        let (part, end) = try PageEnd.part(of: longest, request)
        let sorted = lists.map { list in
            list.leading(part.upperBound) { first, second in
                let (left, right) = (first.entry.urgency, second.entry.urgency)
                return left == right
                    ? index.all[first.place].publicID > index.all[second.place].publicID
                    : left > right
            }
        }
        let pages = try stored { () throws(StorageError) in
            try sorted.map { (list) throws(StorageError) in
                try list[part.clamped(to: list.indices)].map { (row) throws(StorageError) in
                    try core.queries.object(of: index.all[row.place], in: workspace)
                }
            }
        }
        (home.channels, home.directs) = (pages[0], pages[1])
        home.end = end
    }
}

extension ConversationOverview.Entry {
    /// Unread conversations come first, then those that changed last.
    fileprivate var urgency: (Int, Int, Int64) {
        (mentions > 0 ? 1 : 0, unread > 0 ? 1 : 0, moved)
    }
}
