import CRDTStore
import WorkspaceModel

/// Creates, lists and joins channels.
extension ChannelHandler {
    func createChannel(
        _ draft: ChannelDraft, _ scope: CallScope
    ) throws(NodeError) -> Made<ChannelObject> {
        if let made = try core.replay(scope) {
            guard let id = DocumentID(untrusted: made),
                let workspace = workspaces.values.first(where: {
                    $0.book.channels[id] != nil || $0.book.deleted[id] != nil
                        || $0.sealed.documents[id] != nil
                })
            else { throw .internalFailure(reason: "replay") }
            // A channel that was deleted since is returned as far as it can still be shown.
            guard !core.events.isDeleted(id, in: workspace) else {
                return Made(core.events.goneChannel(id, in: workspace), isReplayed: true)
            }
            let known = try core.queries.channel(.id(PublicID.channel(id)), in: workspace)
            return Made(
                try stored { () throws(StorageError) in
                    try core.queries.object(of: known, in: workspace)
                },
                isReplayed: true)
        }
        let workspace: Workspace = try core.queries.workspace(scope)
        guard draft.isPrivate || draft.history == "all" else {
            throw NodeError(
                .badRequest, "every member can read all of a public channel",
                hint: "wsx-node channel create \(NodeError.shellWord(draft.name)) --private "
                    + "--history from-join",
                reason: "channel.history",
                fields: [.init(name: "history", reason: "not_private")])
        }
        guard let role = workspace.ownRole, role != .guest else {
            throw core.membership.notAllowed(in: workspace)
        }
        let name = try NewNames.channel(draft.name, field: "name")
        try refuseTwin(name, in: workspace)
        var document: DocumentID?
        if draft.isPrivate {
            document = try makePrivateChannel(draft, named: name, in: workspace)
        } else {
            document = try stored { () throws(StorageError) in
                try core.enrolment.founding.makeChannel(
                    named: name, topic: draft.topic, description: draft.description,
                    in: workspace)
            }
        }
        guard let document,
            let channel = workspace.channelIndex.all.first(where: { $0.id == document })
        else { throw core.membership.notAllowed(in: workspace) }
        try core.remember(scope, made: document.bytes)
        return Made(
            try stored { () throws(StorageError) in
                try core.queries.object(of: channel, in: workspace)
            })
    }

    /// - Parameter except: the channel that gets the name, if there is one already.
    func refuseTwin(
        _ name: String, except: DocumentID? = nil, in workspace: Workspace
    ) throws(NodeError) {
        let twin = workspace.channelIndex.called(name).first { $0.id != except }
        guard let twin else { return }
        let shown = NodeError.shellWord(core.channels.shownName(twin, workspace))
        let what: String
        let hint: String
        switch (twin.isPrivate, twin.includes(workspace.member)) {
        case (false, _):
            what = "a channel"
            // What is renamed has a channel already.
            let needsAnother = try except != nil ? true : isIn(twin, workspace)
            hint = needsAnother ? "choose another name" : "wsx-node channel join \(shown)"
        case (true, true):
            let isOwn = twin.owner == workspace.member
            what = isOwn ? "a private channel of yours" : "a private channel that you are in"
            hint =
                "wsx-node channel show \(shown), or choose another name"
                + (isOwn ? ", or: wsx-node channel edit \(shown) --name NEW" : "")
        case (true, false):
            (what, hint) = ("a private channel that you were in", "choose another name")
        }
        throw NodeError(
            .duplicate,
            "there is already \(what) named \(NodeError.quoted(name))",
            hint: hint, reason: "channel.exists",
            fields: [.init(name: "name", reason: "duplicate")])
    }

    func channels(
        all: Bool, _ request: PageRequest, _ scope: CallScope
    ) throws(NodeError) -> Page<ChannelObject> {
        let workspace: Workspace = try core.queries.workspace(scope)
        let index = workspace.channelIndex
        let shown = try stored { () throws(StorageError) in
            try core.channels.overview(of: workspace)
        }
        let wanted = shown.lazy.filter { (all || $0.entry.isShown) && !$0.isDirect }.map(\.place)
        let (items, next) = try core.queries.page(Array(wanted), request)
        return Page(
            try stored { () throws(StorageError) in
                try items.map { (place) throws(StorageError) in
                    try core.queries.object(of: index.all[place], in: workspace)
                }
            }, next: next)
    }

    func channel(
        _ reference: ChannelReference, _ scope: CallScope
    ) throws(NodeError) -> ChannelObject {
        let workspace: Workspace = try core.queries.workspace(scope)
        let channel = try core.queries.channel(reference, in: workspace)
        return try stored { () throws(StorageError) in
            try core.queries.object(of: channel, in: workspace)
        }
    }

    func joinChannel(
        _ reference: ChannelReference, _ scope: CallScope
    ) throws(NodeError) -> ChannelObject {
        let workspace: Workspace = try core.queries.workspace(scope)
        let channel = try core.queries.channel(reference, in: workspace)
        try core.channels.refuseOutsider(of: channel, in: workspace)
        if try !isIn(channel, workspace) {
            try core.channels.say(.join, of: [workspace.member], channel, in: workspace)
        }
        return try stored { () throws(StorageError) in
            try core.queries.object(of: channel, in: workspace)
        }
    }

    /// Whether the caller is in a channel that they may read.
    private func isIn(
        _ channel: Workspace.Channel, _ workspace: Workspace
    ) throws(NodeError) -> Bool {
        if channel.isDefault || channel.isPrivate { return true }
        return try stored { () throws(StorageError) in
            try store.view.following.isFollowing(workspace.member, channel.number)
        }
    }
}
