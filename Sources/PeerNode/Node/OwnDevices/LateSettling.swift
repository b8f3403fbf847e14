import CRDTStore
import WorkspaceModel

/// Which messages are late is a function of messages, markers, and the time at which the local
/// member joined. Messages and markers update it incrementally. The time of joining may change in
/// many ways, by anyone's operations: then the rows are outdated, and are rebuilt once before
/// anybody sees them, however often it changed.
extension OwnDocuments {
    /// Brings the late messages of a conversation up to date.
    func settleLate(
        _ channel: Workspace.Channel, in workspace: Workspace
    ) throws(StorageError) {
        guard core.mayTidy, home != nil else { return }
        for document in [channel.number] + channel.others {
            workspace.own.readMarks.lateLimits[document] = nil
            let basis = try store.view.lateBasis(of: document)
            guard let limit = try lateLimit(document, workspace) else {
                let first = try store.view.firstLate(in: document)
                guard basis != nil || first != nil else { continue }
                try store.begin()
                try store.view.removeLate(in: document)
                try store.view.setLateBasis(nil, of: document)
                continue
            }
            if limit.basis != basis { try renewLate(in: document, limit, workspace) }
        }
    }

    /// The same for all conversations, for comparison with a rebuilt store.
    func settleLate() throws(StorageError) {
        guard mayWrite, home != nil else { return }
        var seen: Set<Int64> = []
        for workspace in workspaces.values.sorted(by: { $0.number < $1.number }) {
            for channel in workspace.channelIndex.all {
                try settleLate(channel, in: workspace)
                seen.formUnion([channel.number] + channel.others)
            }
        }
        try store.begin()
        try store.view.removeLate(exceptIn: seen)
    }

    /// Looks for the late messages of a document among its newest ones.
    private func renewLate(
        in document: Int64, _ limit: LateLimit, _ workspace: Workspace
    ) throws(StorageError) {
        try store.begin()
        turn.tally.noteLateRenewed()
        try store.view.removeLate(in: document)
        let isPending = ConversationName(limit.place.subject).map {
            workspace.own.readMarks.pending[$0] != nil
        }
        try store.view.setLateBasis(limit.basis, of: document, isStored: isPending != true)
        let hasFrontier = try store.view.own.hasFrontier(limit.place)
        if limit.isOfOlderForm, !hasFrontier { return }
        var known = try store.view.own.frontier(limit.place)
        known.merge(limit.pending)
        var names: [Int64: UInt64] = [:]
        for message in try store.view.newestLogged(in: document) {
            let row = message.row
            let displayed = max(row.key.timestamp.rawValue, UInt64(max(row.position.sort, 0)))
            guard limit.beginning.rawValue < displayed, ViewStore.readKey(of: row) <= limit.upTo,
                core.membership.author(ofGrant: row.grant, in: workspace) != workspace.member,
                let log = names[message.branch]
                    ?? store.operations.branch(message.branch).map({ OwnDocuments.name(of: $0.log) }
                    )
            else { continue }
            names[message.branch] = log
            guard message.sequence >= known.counts[log] ?? 0 else { continue }
            try store.view.putLate(
                row.position, in: document, log: log, sequence: message.sequence)
        }
    }

    /// Schedules a new search for the late messages of a conversation: less of it was read than
    /// before, or its markers have changed.
    func forgetLate(_ name: ConversationName, in workspace: Workspace) throws(StorageError) {
        workspace.own.readMarks.lateLimits = [:]
        guard let index = workspace.channelIndex.place(of: PublicID.conversation(name.bytes))
        else { return }
        let channel = workspace.channelIndex.all[index]
        for document in [channel.number] + channel.others
        where try store.view.lateBasis(of: document) != nil {
            try store.begin()
            try store.view.setLateBasis(nil, of: document)
        }
    }
}
